// Sharing and linking between the projects of one stack. A linked bucket shows the tables of its source, read only and always current.

import type { Trx } from '../../engines/metadata-db/dialects.ts'
import { type Clock, formatTimestamp } from '../../kit/clock.ts'
import { PlatformError } from '../../kit/errors.ts'
import type { Actor } from '../../model/actor.ts'
import type { EventSource, Origin, RecordEvent } from '../../model/event.ts'
import type { Scope } from '../../model/scope.ts'
import { type Bucket, SHARINGS, type Sharing, type SharingParameters } from './buckets.store.ts'
import { type Branch, type Buckets, bucketEvent, type NewBucketRequest } from './buckets.ts'

export interface Project {
  readonly id: number
  readonly name: string
}

export interface SharingDeps {
  readonly buckets: Buckets
  readonly inTransaction: <T>(work: (trx: Trx) => Promise<T>) => Promise<T>
  readonly clock: Clock
  readonly recordEvent: RecordEvent
  readonly findProject: (id: number) => Promise<Project | undefined>
  /** Whether somebody on the stack holds a token of this id or description. */
  readonly isHolder: (user: string) => Promise<boolean>
}

export interface Link {
  readonly bucket: Bucket
  readonly project: Project
}

export type SharingRules = ReturnType<typeof createSharing>

export function createSharing({ buckets, inTransaction, clock, recordEvent, findProject, isHolder }: SharingDeps) {
  const { store } = buckets

  async function checkSharable(bucket: Bucket, branch: Branch): Promise<void> {
    if (!branch.isDefault || (await buckets.isOfBranch(bucket)))
      throw new PlatformError('storage.buckets.sharingInBranch', { bucket: bucket.id })
    if (bucket.sourceKey !== undefined) throw new PlatformError('storage.buckets.linkedCannotBeShared', { bucket: bucket.id })
  }

  async function checkProjects(ids: readonly number[]): Promise<void> {
    for (const id of ids)
      if (!(await findProject(id)))
        throw new PlatformError('storage.buckets.targetProjectIdsAreNotPartOfOrganization', { project: id })
  }

  async function checkUsers(users: readonly string[]): Promise<void> {
    for (const user of users)
      if (!(await isHolder(user)))
        throw new PlatformError('storage.buckets.targetAdminsAreNotPartOfOrganization', { user: user.slice(0, 200) })
  }

  /** In the transaction that ends the job. */
  async function share(
    trx: Trx,
    { source, origin }: { readonly source: EventSource; readonly origin: Origin },
    bucket: Bucket,
    sharing: Sharing,
    sharingParameters: SharingParameters,
  ): Promise<Bucket> {
    const sharedBy = { id: source.tokenId, name: source.tokenDescription, date: formatTimestamp(clock.now()) }
    const shared = await store.update(trx, bucket.projectId, bucket.key, { sharing, sharingParameters, sharedBy })
    if (!shared) throw new PlatformError('storage.buckets.notFound', { id: bucket.id, project: bucket.projectId })
    const event = bucket.sharing === null ? 'storage.bucketSharingEnabled' : 'storage.bucketSharingTypeChanged'
    await recordEvent(trx, source, bucketEvent(shared, event, { sharing }), origin)
    return shared
  }

  async function unshare(trx: Trx, source: EventSource, bucket: Bucket, origin: Origin): Promise<Bucket> {
    const change = { sharing: null, sharingParameters: {}, sharedBy: null }
    const unshared = await store.update(trx, bucket.projectId, bucket.key, change)
    if (!unshared) throw new PlatformError('storage.buckets.notFound', { id: bucket.id, project: bucket.projectId })
    await recordEvent(trx, source, bucketEvent(unshared, 'storage.bucketSharingDisabled', {}), origin)
    return unshared
  }

  async function checkUnshare(bucket: Bucket): Promise<void> {
    if (bucket.sharing === null) throw new PlatformError('storage.bucket.notShared', { bucket: bucket.id })
    await buckets.refuseIfLinked(bucket)
  }

  const isVisibleTo = (actor: Actor, bucket: Bucket): boolean => {
    if (bucket.sharing === 'specific-projects') return bucket.sharingParameters.projects?.includes(actor.projectId) ?? false
    if (bucket.sharing === 'specific-users')
      return (
        bucket.sharingParameters.users?.some((user) => user === actor.tokenDescription || user === String(actor.tokenId)) ?? false
      )
    return bucket.sharing !== null
  }

  const listShared = async (actor: Actor): Promise<Bucket[]> =>
    (await store.listSharedByOthers(actor.projectId)).filter((bucket) => isVisibleTo(actor, bucket))

  /** A bucket that this token may link: of another project, or shared by its own. */
  async function findShared(scope: Scope, projectId: number, bucketId: string): Promise<Bucket | undefined> {
    const { actor } = scope
    if (projectId !== actor.projectId)
      return (await listShared(actor)).find((bucket) => bucket.projectId === projectId && bucket.id === bucketId)
    const own = await buckets.getInDefaultBranch(scope, bucketId)
    if (own.sharing === null) throw new PlatformError('storage.bucket.notShared', { bucket: own.id })
    return isVisibleTo(actor, own) ? own : undefined
  }

  /** The checked fields of a new linked bucket. What is not shared with the asker does not exist for them. */
  async function checkLink(scope: Scope, request: NewBucketRequest & { sourceProjectId: number; sourceBucketId: string }) {
    const { actor } = scope
    if (!actor.isMasterToken && !actor.canManageBuckets) throw new PlatformError('accessDenied')
    const source = await findShared(scope, request.sourceProjectId, request.sourceBucketId)
    if (!source)
      throw new PlatformError('storage.buckets.notFound', {
        id: request.sourceBucketId.slice(0, 200),
        project: request.sourceProjectId,
      })
    const named = await buckets.checkNew(scope, request)
    const links = await store.listLinksTo([source.key])
    const known = links.find((link) => link.projectId === actor.projectId && link.branchId === scope.branch.id)
    if (known)
      throw new PlatformError('storage.buckets.alreadyLinked', { bucket: source.id, project: source.projectId, link: known.id })
    return { ...named, projectId: actor.projectId, branchId: scope.branch.id, sourceKey: source.key }
  }

  /** Takes a link away from the project that has it; asked for by the project that shares. */
  async function checkForceUnlink(bucket: Bucket, projectId: number): Promise<Bucket> {
    const link = (await store.listLinksTo([bucket.key])).find((one) => one.projectId === projectId)
    if (!link) throw new PlatformError('storage.buckets.linkNotFound', { bucket: bucket.id, project: projectId })
    return link
  }

  async function forceUnlink(trx: Trx, source: EventSource, bucket: Bucket, link: Bucket, origin: Origin): Promise<void> {
    await buckets.erase(trx, link)
    const params = { projectId: link.projectId, bucketId: link.id }
    await recordEvent(trx, source, bucketEvent(bucket, 'storage.bucketForceUnlinked', params), origin)
  }

  async function linksOf(keys: readonly number[]): Promise<ReadonlyMap<number, Link[]>> {
    const found = new Map<number, Link[]>(keys.map((key) => [key, []]))
    for (const bucket of await store.listLinksTo(keys)) {
      const project = (await findProject(bucket.projectId)) ?? { id: bucket.projectId, name: '' }
      found.get(bucket.sourceKey ?? -1)?.push({ bucket, project })
    }
    return found
  }

  async function sourceOf(bucket: Pick<Bucket, 'sourceKey'>): Promise<Link | undefined> {
    const source = bucket.sourceKey === undefined ? undefined : await store.findByKey(bucket.sourceKey)
    if (!source) return undefined
    return { bucket: source, project: (await findProject(source.projectId)) ?? { id: source.projectId, name: '' } }
  }

  return {
    checkSharable,
    checkProjects,
    checkUsers,
    share,
    unshare,
    checkUnshare,
    listShared,
    checkLink,
    checkForceUnlink,
    forceUnlink,
    linksOf,
    sourceOf,
    findProject,
    inTransaction,
  }
}

export function sharingFrom(text: string): Sharing {
  const sharing = SHARINGS.find((known) => known === text)
  if (sharing) return sharing
  const reason = `'${text.slice(0, 60)}' is not a known way of sharing. Known ways: ${SHARINGS.join(', ')}.`
  throw new PlatformError(
    'storage.buckets.validation',
    { field: 'sharing', reason },
    { errors: [{ key: 'sharing', message: reason }] },
  )
}
