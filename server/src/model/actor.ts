// Who is asking, and what that token may do. Every rule that depends on permissions asks these functions.

export type BucketPermission = 'read' | 'write' | 'manage'

export interface Actor {
  readonly projectId: number
  readonly tokenId: number
  readonly tokenDescription: string
  readonly isMasterToken: boolean
  readonly canManageBuckets: boolean
  readonly canManageTokens: boolean
  readonly canReadAllFileUploads: boolean
  readonly canPurgeTrash: boolean
  readonly canReadAllProjectEvents: boolean
  readonly canManageDevBranches: boolean
  readonly bucketPermissions: Readonly<Record<string, BucketPermission>>
  /** Component ids this token may configure; empty means none beyond what canManageBuckets gives. */
  readonly componentAccess: readonly string[]
}

/** The embedded object that records show for who made them. */
export const creatorTokenOf = (actor: Actor) => ({ id: actor.tokenId, description: actor.tokenDescription })

export const isAdmin = (actor: Actor): boolean => actor.isMasterToken

/** Everything of buckets and components is open to these tokens; others see what was given to them, and what they made themselves. */
export const seesWholeProject = (actor: Actor): boolean => actor.isMasterToken || actor.canManageBuckets

export function bucketPermissionOf(actor: Actor, bucketId: string): BucketPermission | undefined {
  if (seesWholeProject(actor)) return 'manage'
  return Object.hasOwn(actor.bucketPermissions, bucketId) ? actor.bucketPermissions[bucketId] : undefined
}

/** The same for a table, which has the permissions of its bucket; also takes the id of a bucket. */
export const tablePermissionOf = (actor: Actor, tableId: string): BucketPermission | undefined =>
  bucketPermissionOf(actor, tableId.split('.').slice(0, 2).join('.'))

/**
 * Component and configuration routes are open to master tokens, to tokens that manage buckets, and to tokens given that component.
 * Both the token and the request may name it by an alias; `canonicalId` brings the two together.
 */
export const canUseComponent = (actor: Actor, componentId: string, canonicalId: (id: string) => string = (id) => id): boolean =>
  seesWholeProject(actor) || actor.componentAccess.some((allowed) => canonicalId(allowed) === canonicalId(componentId))
