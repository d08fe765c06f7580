// What a token may do, and who may let it: flags, buckets, components.

import { PlatformError } from '../../../kit/errors.ts'
import { type Actor, type BucketPermission, bucketPermissionOf, canUseComponent } from '../../../model/actor.ts'
import type { Permissions, Token } from './tokens.store.ts'

export interface PermissionsRequest {
  readonly canManageBuckets?: boolean
  readonly canManageTokens?: boolean
  readonly canReadAllFileUploads?: boolean
  readonly canPurgeTrash?: boolean
  readonly canManageProtectedDefaultBranch?: boolean
  readonly canCreateJobs?: boolean
  readonly canReadAllProjectEvents?: boolean
  readonly canManageDevBranches?: boolean
  readonly bucketPermissions?: Readonly<Record<string, string>>
  readonly componentAccess?: readonly string[]
  readonly onlyProposes?: boolean | undefined
}

const FLAGS = [
  'canManageBuckets',
  'canManageTokens',
  'canReadAllFileUploads',
  'canPurgeTrash',
  'canManageProtectedDefaultBranch',
  'canCreateJobs',
  'canReadAllProjectEvents',
  'canManageDevBranches',
] as const

export const EVERYTHING: Permissions = {
  canManageBuckets: true,
  canManageTokens: true,
  canReadAllFileUploads: true,
  canPurgeTrash: true,
  canManageProtectedDefaultBranch: true,
  canCreateJobs: true,
  canReadAllProjectEvents: true,
  canManageDevBranches: true,
  bucketPermissions: {},
}

export function createTokenPermissions(bucketIds: (projectId: number) => Promise<readonly string[]>) {
  /** The requested permissions, if this token may grant them. */
  async function fromRequest(actor: Actor, request: PermissionsRequest): Promise<Permissions> {
    const flags = Object.fromEntries(FLAGS.map((flag) => [flag, request[flag] === true])) as Record<
      (typeof FLAGS)[number],
      boolean
    > // every flag, by FLAGS
    const bucketPermissions = await bucketPermissionsFrom(actor.projectId, request.bucketPermissions ?? {})
    const componentAccess = request.componentAccess
    const asksForSomething =
      FLAGS.some((flag) => flags[flag]) || Object.keys(bucketPermissions).length > 0 || (componentAccess?.length ?? 0) > 0
    if (asksForSomething && !actor.canManageTokens) throw new PlatformError('accessDenied')
    const permissions = {
      ...flags,
      bucketPermissions,
      ...(componentAccess && { componentAccess: [...new Set(componentAccess)] }),
      ...(request.onlyProposes === true && { onlyProposes: true as const }),
    }
    if (!actor.isMasterToken) assertMayGrant(actor, permissions)
    return permissions
  }

  /** Without the buckets that were deleted since. */
  async function stillPossible(projectId: number, held: Readonly<Record<string, BucketPermission>>) {
    const known = Object.keys(held).length === 0 ? [] : await bucketIds(projectId)
    return Object.fromEntries(Object.entries(held).filter(([bucket]) => known.includes(bucket)))
  }

  async function bucketPermissionsFrom(
    projectId: number,
    asked: Readonly<Record<string, string>>,
  ): Promise<Record<string, BucketPermission>> {
    const names = Object.keys(asked)
    if (names.length === 0) return {}
    const known = new Set(await bucketIds(projectId))
    for (const bucket of names) {
      const permission = asked[bucket]
      if (permission !== 'read' && permission !== 'write')
        throw new PlatformError('storage.tokens.invalidPermissions', {
          reason: `Permission "${String(permission).slice(0, 40)}" for bucket ${bucket.slice(0, 120)} is not possible. Use "read" or "write".`,
        })
      if (!known.has(bucket))
        throw new PlatformError('storage.tokens.invalidPermissions', {
          reason: `Bucket ${bucket.slice(0, 120)} does not exist, so no permission can be given for it.`,
        })
    }
    return asked as Record<string, BucketPermission> // each value was checked above
  }

  /** The record shows every bucket when the token manages or reads all of them. */
  const bucketsOf = async (token: Token): Promise<Readonly<Record<string, BucketPermission>>> => {
    const everywhere = token.permissions.canManageBuckets ? 'manage' : token.person?.role === 'viewer' ? 'read' : undefined
    if (!everywhere) return token.permissions.bucketPermissions
    return Object.fromEntries((await bucketIds(token.projectId)).map((id) => [id, everywhere]))
  }

  return { request: fromRequest, stillPossible, bucketsOf }
}

/** A token cannot grant permissions that it does not have. Master tokens have all, so they may grant all. */
export function assertMayGrant(actor: Actor, permissions: Permissions): void {
  if (!mayGrant(actor, permissions)) throw new PlatformError('accessDenied')
}

export function mayGrant(actor: Actor, permissions: Permissions): boolean {
  const has: Partial<Record<(typeof FLAGS)[number], boolean>> = {
    canManageBuckets: actor.canManageBuckets,
    canManageTokens: actor.canManageTokens,
    canReadAllFileUploads: actor.canReadAllFileUploads,
    canPurgeTrash: actor.canPurgeTrash,
    canReadAllProjectEvents: actor.canReadAllProjectEvents,
    canManageDevBranches: actor.canManageDevBranches,
  }
  const mayGive = (bucket: string, permission: BucketPermission) => {
    const own = bucketPermissionOf(actor, bucket)
    return own === 'manage' || own === 'write' || own === permission
  }
  return (
    FLAGS.every((flag) => !permissions[flag] || has[flag] === true) &&
    Object.entries(permissions.bucketPermissions).every(([bucket, permission]) => mayGive(bucket, permission)) &&
    (permissions.componentAccess ?? []).every((component) => canUseComponent(actor, component))
  )
}
