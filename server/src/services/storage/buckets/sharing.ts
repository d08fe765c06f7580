// Sharing and linking between the projects of one stack. A linked bucket shows the tables of its source, read only and always current.

import type { Trx } from '../../../engines/metadata-db/dialects.ts'
import { type Clock, formatTimestamp } from '../../../kit/clock.ts'
import { PlatformError } from '../../../kit/errors.ts'
import type { Actor } from '../../../model/actor.ts'
import type { Admin } from '../../../model/admin.ts'
import type { EventSource, Origin, RecordEvent } from '../../../model/event.ts'
import type { Scope } from '../../../model/scope.ts'
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
  /** A person of the stack by id or e-mail, or the master token of a project by its id as an admin. */
  readonly findAdmin: (user: string) => Promise<Admin | undefined>
}

export interface Link {
  readonly bucket: Bucket
  readonly project: Project
}

/** What decides who may link a bucket. */
export type Linker = Pick<Actor, 'projectId' | 'adminId'>

export type SharingRules = ReturnType<typeof createSharing>

export function createSharing({ buckets, inTransaction, clock, recordEvent, findProject, findAdmin }: SharingDeps) {
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

  /** Resolved once: a user who takes the name later gets nothing. */
  async function adminsFrom(users: readonly string[]): Promise<Admin[]> {
    const admins = new Map<number, Admin>()
    for (const user of users) {
      const admin = await findAdmin(user)
      if (!admin) throw new PlatformError('storage.buckets.targetAdminsAreNotPartOfOrganization', { user: user.slice(0, 200) })
      admins.set(admin.id, admin)
    }
    return [...admins.values()]
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

  const isVisibleTo = ({ projectId, adminId }: Linker, { sharing, sharingParameters: { projects, users } }: Bucket): boolean => {
    if (sharing === 'specific-projects') return projects?.includes(projectId) ?? false
    if (sharing === 'specific-users') return adminId !== undefined && (users ?? []).some(({ id }) => id === adminId)
    return sharing !== null
  }

  /** Those of the own project, too (corrections-2, S6). */
  const listShared = async (actor: Actor): Promise<Bucket[]> =>
    (await store.listShared()).filter((bucket) => bucket.projectId === actor.projectId || isVisibleTo(actor, bucket))

  /** A bucket that is shared: by another project, or by the own one. */
  async function getShared(scope: Scope, projectId: number, id: string): Promise<Bucket> {
    if (projectId === scope.actor.projectId) {
      const own = await buckets.getInDefaultBranch(scope, id)
      if (own.sharing === null) throw new PlatformError('storage.bucket.notShared', { bucket: own.id })
      return own
    }
    const shared = await store.listShared()
    const bucket = shared.find((one) => one.projectId === projectId && one.id === id)
    if (!bucket) throw new PlatformError('storage.buckets.notFound', { id: id.slice(0, 200), project: projectId })
    return bucket
  }

  /** Checked again by a job, which may run after the sharing has changed. */
  function checkLinker(linker: Linker, source: Bucket): void {
    if (!isVisibleTo(linker, source))
      throw new PlatformError('accessDenied', {}, { text: 'You do not have permission to link this bucket.' })
  }

  /** The checked fields of a new linked bucket. */
  async function checkLink(scope: Scope, request: NewBucketRequest & { sourceProjectId: number; sourceBucketId: string }) {
    const { actor } = scope
    if (!actor.isMasterToken && !actor.canManageBuckets) throw new PlatformError('accessDenied')
    const source = await getShared(scope, request.sourceProjectId, request.sourceBucketId)
    checkLinker(actor, source)
    // Clients expect this text for a name that is taken, unless they choose what is shown (corrections-2, S4).
    const named = await buckets.checkNew(scope, request).catch((error: unknown) => {
      const isTaken = error instanceof PlatformError && error.code === 'storage.buckets.alreadyExists' && !request.displayName
      const text = `The bucket ${request.name} already exists.`
      throw isTaken ? new PlatformError('storage.buckets.alreadyExists', { what: request.name }, { text }) : error
    })
    const links = await store.listLinksTo([source.key])
    const known = links.find((link) => link.projectId === actor.projectId && link.branchId === scope.branch.id)
    if (known)
      throw new PlatformError('storage.buckets.alreadyLinked', { bucket: source.id, project: source.projectId, link: known.id })
    return { ...named, projectId: actor.projectId, branchId: scope.branch.id, sourceKey: source.key }
  }

  /** Removes a link from the project that has it, on request of the project that shares. */
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
    adminsFrom,
    share,
    unshare,
    checkUnshare,
    listShared,
    checkLink,
    checkLinker,
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
  throw invalidSharing(`'${text.slice(0, 60)}' is not a known way of sharing. Known ways: ${SHARINGS.join(', ')}.`)
}

/** What stays of the parameters when the way of sharing changes: those of the new way, which only its own address can name. */
export function parametersFor(way: Sharing, { id, sharingParameters: { projects, users } }: Bucket): SharingParameters {
  if (way === 'specific-projects') return projects ? { projects } : refuseUnnamed(id, 'share-to-projects')
  if (way === 'specific-users') return users ? { users } : refuseUnnamed(id, 'share-to-users')
  return {}
}

function refuseUnnamed(id: string, address: string): never {
  throw invalidSharing(`This way of sharing names who may link the bucket. Send them to POST buckets/${id}/${address}.`)
}

const invalidSharing = (reason: string) =>
  new PlatformError('storage.buckets.validation', { field: 'sharing', reason }, { errors: [{ key: 'sharing', message: reason }] })
