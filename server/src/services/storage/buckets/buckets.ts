// Rules for buckets. Independent of HTTP.
//  1. In a development branch reading finds the branch's buckets first, then those of the default branch, unless the project shows a
//     branch its own storage only; writing finds only its own.
//  2. Names are checked here and by unique indexes, so two requests at once cannot both win.
//  3. A bucket that others link to cannot be unshared or deleted: what they built on it would be gone.

import { type Db, isUniqueViolation, type Trx } from '../../../engines/metadata-db/dialects.ts'
import type { MetadataPair, MetadataWrite } from '../../../http/metadata-items.ts'
import type { Clock } from '../../../kit/clock.ts'
import { PlatformError } from '../../../kit/errors.ts'
import { type Actor, bucketPermissionOf, mayChangeEverything, seesWholeProject } from '../../../model/actor.ts'
import type { Admin } from '../../../model/admin.ts'
import { BACKEND } from '../../../model/backend.ts'
import { type EventSource, eventOf, type NewEvent, NO_ORIGIN, type Origin, type RecordEvent } from '../../../model/event.ts'
import type { EventName, EventParams } from '../../../model/event-definitions.ts'
import type { Scope } from '../../../model/scope.ts'
import { type Bucket, type BucketChange, createBucketsStore, type NewBucket, STAGES, type Stage } from './buckets.store.ts'

export interface Branch {
  readonly id: number
  readonly isDefault: boolean
}

/** What this module calls of tables. */
/** A table that went with its bucket. */
export interface DroppedTable {
  readonly id: string
  readonly name: string
  readonly branchId: number
}

export interface TablesOfBuckets {
  usage(
    buckets: readonly number[],
  ): Promise<ReadonlyMap<number, { readonly tables: number; readonly rows: number; readonly bytes: number }>>
  /** Drops every table of a bucket, and with them the aliases that show them. */
  /** Answers the tables and aliases that are gone. */
  dropAll(trx: Trx, projectId: number, bucket: number): Promise<readonly DroppedTable[]>
  /** Names of the project's aliases that show tables of a bucket, through a link. */
  listAliasesInto(projectId: number, bucket: number): Promise<readonly string[]>
  dropAliasesInto(trx: Trx, projectId: number, bucket: number): Promise<void>
}

type ProvidedPair = MetadataPair & { readonly provider: string }

/** What this module calls of storage-metadata. */
export interface BucketMetadata {
  list(projectId: number, bucket: number): Promise<readonly ProvidedPair[]>
  listMany(projectId: number, buckets: readonly number[], trx?: Trx): Promise<ReadonlyMap<number, readonly ProvidedPair[]>>
  set(trx: Trx, projectId: number, bucket: number, written: MetadataWrite): Promise<void>
  remove(trx: Trx, projectId: number, bucket: number, id: number): Promise<void>
  forget(trx: Trx, bucket: number): Promise<void>
}

export interface BucketsDeps {
  readonly db: Db
  readonly inTransaction: <T>(work: (trx: Trx) => Promise<T>) => Promise<T>
  readonly clock: Clock
  readonly recordEvent: RecordEvent
  readonly defaultBranchId: (projectId: number) => Promise<number>
  /** The name of the backend that the project reports; undefined when it is the real one. */
  readonly backendName: (projectId: number) => Promise<string | undefined>
  readonly tables: TablesOfBuckets
  readonly metadata: BucketMetadata
  /** A member of the project: by id, or a user by e-mail. */
  readonly findAdmin: (projectId: number, wanted: { readonly id?: number; readonly email?: string }) => Promise<Admin | undefined>
  /** What tokens may do with a bucket goes with the bucket: a later one of the same name is another. */
  readonly permissions: {
    forget(trx: Trx, projectId: number, bucketId: string): Promise<void>
    /** Once a transaction that forgot some has ended. */
    forgotten(): void
  }
}

export interface NewBucketRequest {
  readonly name: string
  readonly stage?: string
  readonly displayName?: string | null
  readonly description?: string | null
  readonly color?: string | null
  readonly backend?: string | null
}

const NAME = /^[A-Za-z0-9_][A-Za-z0-9_-]*$/
const MAX_NAME = 96
const MAX_COLOR = 30
const BRANCH_OF_BUCKET = 'KBC.createdBy.branch.id'

export type Buckets = ReturnType<typeof createBuckets>

export function createBuckets(deps: BucketsDeps) {
  const { db, inTransaction, clock, recordEvent, defaultBranchId, tables, metadata, findAdmin, permissions } = deps
  const store = createBucketsStore(db)

  async function find({ actor, branch }: Scope, id: string): Promise<Bucket | undefined> {
    const own = await store.find(actor.projectId, branch.id, id)
    if (own || branch.isDefault || branch.isOwnOnly) return own
    return store.find(actor.projectId, await defaultBranchId(actor.projectId), id)
  }

  /** For reading. */
  async function get(scope: Scope, id: string): Promise<Bucket> {
    const bucket = await find(scope, id)
    if (!bucket) throw notFound(scope.actor, id)
    if (bucketPermissionOf(scope.actor, id) === undefined) throw new PlatformError('accessDenied')
    return bucket
  }

  /** For changing what is in it (`write`) or the bucket itself (`manage`). */
  async function getForChange({ actor, branch }: Scope, id: string, needed: 'write' | 'manage'): Promise<Bucket> {
    const bucket = await store.find(actor.projectId, branch.id, id)
    if (!bucket) throw notFound(actor, id)
    const permission = bucketPermissionOf(actor, id)
    if (permission !== 'manage' && permission !== needed) throw new PlatformError('accessDenied')
    return bucket
  }

  const getInDefaultBranch = async ({ actor }: Scope, id: string): Promise<Bucket> =>
    get({ actor, branch: { id: await defaultBranchId(actor.projectId), isDefault: true } }, id)

  /** The bucket of the same id in the branch, created like the given one when it does not exist. */
  async function ensureInBranch({ actor, branch }: Scope, id: string, origin: Origin): Promise<Bucket> {
    const there = await store.find(actor.projectId, branch.id, id)
    if (there) return getForChange({ actor, branch }, id, 'write')
    const like = await getInDefaultBranch({ actor, branch }, id)
    const request = { name: like.name, stage: like.stage, displayName: like.displayName, description: like.description }
    return create({ actor, branch }, request, origin)
  }

  /** For a table that a proposal creates: the bucket of the branch, made like that of the default branch if that exists. */
  async function ensureForProposal(scope: Scope, id: string): Promise<Bucket> {
    const { actor, branch } = scope
    if (await store.find(actor.projectId, branch.id, id)) return getForChange(scope, id, 'write')
    const home = await store.find(actor.projectId, await defaultBranchId(actor.projectId), id)
    if (home) return ensureInBranch(scope, id, NO_ORIGIN)
    const [stage = '', ...name] = id.split('.')
    return create({ actor, branch }, { stage, name: name.join('.') }, NO_ORIGIN)
  }

  /** The same bucket in another branch, without its tables. */
  async function copyInto(trx: Trx, source: EventSource, bucket: { readonly key: number }, branchId: number): Promise<Bucket> {
    const like = await store.findByKey(bucket.key, trx)
    if (!like) throw notFound(source, String(bucket.key))
    const { projectId, id, name, stage, displayName, description, color } = like
    const copy = { projectId, branchId, id, name, stage, displayName, description, color, sourceKey: undefined }
    return insertIn(trx, source, { ...copy, createdAt: clock.now() }, NO_ORIGIN)
  }

  /** The branch whose buckets are seen where the branch has none of the same id. */
  const fallbackOf = async ({ actor, branch }: Scope): Promise<number | undefined> =>
    branch.isDefault || branch.isOwnOnly ? undefined : defaultBranchId(actor.projectId)

  /** The buckets of `list`, for a statement of the database; `ids` is undefined when the caller may read all. */
  const visibleTo = async (scope: Scope) => ({
    projectId: scope.actor.projectId,
    branchId: scope.branch.id,
    fallbackBranchId: await fallbackOf(scope),
    ids: seesWholeProject(scope.actor) ? undefined : Object.keys(scope.actor.bucketPermissions),
  })

  async function list(scope: Scope): Promise<Bucket[]> {
    const { actor, branch } = scope
    const fallback = await fallbackOf(scope)
    const found = await store.list(actor.projectId, fallback === undefined ? [branch.id] : [branch.id, fallback])
    const own = new Set(found.filter((bucket) => bucket.branchId === branch.id).map((bucket) => bucket.id))
    return found.filter(
      (bucket) => (bucket.branchId === branch.id || !own.has(bucket.id)) && bucketPermissionOf(actor, bucket.id) !== undefined,
    )
  }

  async function create(scope: Scope, request: NewBucketRequest, origin: Origin): Promise<Bucket> {
    const { actor, branch } = scope
    if (!actor.isMasterToken && !actor.canManageBuckets) throw new PlatformError('accessDenied')
    const named = await checkNew(scope, request)
    return insert(actor, { ...named, projectId: actor.projectId, branchId: branch.id, sourceKey: undefined }, origin)
  }

  /** The fields of a new bucket, once its name is valid and free. */
  async function checkNew({ actor, branch }: Scope, request: NewBucketRequest) {
    const stage = stageFrom(request.stage ?? 'in')
    checkName('name', request.name)
    if (request.backend && request.backend !== BACKEND && request.backend !== (await deps.backendName(actor.projectId)))
      throw invalid('backend', `'${request.backend.slice(0, 60)}' is not available here. Omit it; the backend is ${BACKEND}.`)
    const name = request.name.startsWith('c-') ? request.name : `c-${request.name}`
    const displayName = request.displayName || name.slice(2)
    checkName('displayName', displayName)
    const id = `${stage}.${name}`
    await checkDisplayName(actor.projectId, branch.id, stage, displayName)
    if (await store.find(actor.projectId, branch.id, id))
      throw new PlatformError('storage.buckets.alreadyExists', { what: `bucket "${id}"` })
    const { description, color } = request
    return { id, name, stage, displayName, description: description ?? '', color: colorFrom(color), createdAt: clock.now() }
  }

  async function insertIn(trx: Trx, source: EventSource, bucket: NewBucket, origin: Origin): Promise<Bucket> {
    try {
      const row = await store.insert(trx, bucket)
      await recordEvent(trx, source, bucketEvent(row, 'storage.bucketCreated', {}), origin)
      return row
    } catch (error) {
      throw isUniqueViolation(error)
        ? new PlatformError('storage.buckets.alreadyExists', { what: `bucket "${bucket.id}"` })
        : error
    }
  }

  /** A linked bucket starts with the description of the one it shows; metadata of that one is always shown (`shown-metadata.ts`). */
  async function insertLink(trx: Trx, source: EventSource, link: NewBucket, origin: Origin): Promise<Bucket> {
    const shown = link.sourceKey === undefined ? undefined : await store.findByKey(link.sourceKey, trx)
    const description = link.description || (shown?.description ?? '')
    return insertIn(trx, source, { ...link, description }, origin)
  }

  const insert = (source: EventSource, bucket: NewBucket, origin: Origin): Promise<Bucket> =>
    inTransaction((trx) => insertIn(trx, source, bucket, origin))

  async function checkDisplayName(
    projectId: number,
    branchId: number,
    stage: Stage,
    name: string,
    except?: number,
  ): Promise<void> {
    const same = await store.findByDisplayName(projectId, branchId, stage, name)
    if (same && same.key !== except) throw new PlatformError('storage.buckets.alreadyExists', { what: `display name "${name}"` })
  }

  async function checkUpdate(
    bucket: Bucket,
    change: { displayName?: string | null; color?: string | null },
  ): Promise<BucketChange> {
    const { displayName, color } = change
    if (displayName !== undefined && displayName !== null) {
      checkName('displayName', displayName)
      await checkDisplayName(bucket.projectId, bucket.branchId, bucket.stage, displayName, bucket.key)
    }
    return {
      ...(displayName !== undefined && displayName !== null && { displayName }),
      ...(color !== undefined && { color: colorFrom(color) }),
    }
  }

  /** In the caller's transaction; the caller has called checkUpdate. */
  async function update(trx: Trx, source: EventSource, bucket: Bucket, change: BucketChange, origin: Origin): Promise<Bucket> {
    const changed = await store.update(trx, bucket.projectId, bucket.key, change)
    if (!changed) throw notFound(source, bucket.id)
    await recordEvent(trx, source, bucketEvent(changed, 'storage.bucketUpdated', {}), origin)
    return changed
  }

  /** A link was granted to the project as a whole: a token for scripts does not end it. */
  function checkDeleter(actor: Actor, bucket: Bucket): void {
    if (bucket.sourceKey !== undefined && !mayChangeEverything(actor)) throw new PlatformError('accessDenied')
  }

  async function checkDelete(bucket: Bucket, force: boolean): Promise<void> {
    await refuseIfLinked(bucket, 'storage.buckets.alreadyLinked')
    const count = (await tables.usage([bucket.key])).get(bucket.key)?.tables ?? 0
    if (count > 0 && !force) throw new PlatformError('buckets.deleteNotEmpty', { count })
    const aliases = force || bucket.sourceKey === undefined ? [] : await aliasesThrough(bucket, bucket.sourceKey)
    if (aliases.length > 0)
      throw new PlatformError('storage.buckets.linkInUse', { bucket: bucket.id, aliases: aliases.join(', ') })
  }

  /** Aliases that lose their tables when this link goes; none while the project has another link to the same bucket. */
  async function aliasesThrough(link: Bucket, sourceKey: number): Promise<readonly string[]> {
    const others = (await store.listLinksTo([sourceKey])).filter(
      (other) => other.projectId === link.projectId && other.key !== link.key,
    )
    return others.length > 0 ? [] : tables.listAliasesInto(link.projectId, sourceKey)
  }

  async function refuseIfLinked(
    bucket: Bucket,
    code: 'storage.buckets.linked' | 'storage.buckets.alreadyLinked' = 'storage.buckets.linked',
  ): Promise<void> {
    const links = await store.listLinksTo([bucket.key])
    if (links.length === 0) return
    const projects = [...new Set(links.map((link) => link.projectId))].join(', ')
    const { message: text } = new PlatformError('storage.buckets.linked', { bucket: bucket.id, projects })
    throw new PlatformError(code, { bucket: bucket.id }, { text })
  }

  async function remove(trx: Trx, source: EventSource, bucket: Bucket, origin: Origin): Promise<void> {
    const dropped = await erase(trx, bucket)
    if (!dropped) throw notFound(source, bucket.id)
    for (const { id, name, branchId } of dropped)
      await recordEvent(trx, source, eventOf('storage.tableDeleted', {}, { objectId: id, objectName: name, branchId }), origin)
    await recordEvent(trx, source, bucketEvent(bucket, 'storage.bucketDeleted', {}), origin)
  }

  /** Deletes the record and everything that belongs to it; undefined when it was already deleted. Call `permissions.forgotten` when the transaction has ended. */
  async function erase(trx: Trx, bucket: Bucket): Promise<readonly DroppedTable[] | undefined> {
    const dropped = await tables.dropAll(trx, bucket.projectId, bucket.key)
    if (bucket.sourceKey !== undefined && (await aliasesThrough(bucket, bucket.sourceKey)).length > 0)
      await tables.dropAliasesInto(trx, bucket.projectId, bucket.sourceKey)
    await metadata.forget(trx, bucket.key)
    const isErased = await store.remove(trx, bucket.projectId, bucket.key)
    const sameId = await store.listIds(bucket.projectId, trx)
    if (isErased && !sameId.includes(bucket.id)) await permissions.forget(trx, bucket.projectId, bucket.id)
    return isErased ? dropped : undefined
  }

  async function setMetadata(actor: Actor, bucket: Bucket, provider: string, pairs: readonly MetadataPair[], origin: Origin) {
    const now = clock.now()
    const description = provider && pairs.find((pair) => pair.key === 'KBC.description')?.value
    await inTransaction(async (trx) => {
      await metadata.set(trx, bucket.projectId, bucket.key, { provider, pairs, at: now })
      const change = { updatedAt: now, ...(description && { description }) }
      await store.update(trx, bucket.projectId, bucket.key, change)
      await recordEvent(trx, actor, bucketEvent(bucket, 'storage.bucketMetadataSet', {}), origin)
    })
  }

  const removeMetadata = (bucket: Bucket, id: number): Promise<void> =>
    inTransaction((trx) => metadata.remove(trx, bucket.projectId, bucket.key, id)).catch((error: unknown) => {
      throw error instanceof PlatformError && error.code === 'storage.metadata.notFound' ? metadataNotFound(bucket, id) : error
    })

  async function setOwner(
    actor: Actor,
    bucket: Bucket,
    wanted: { readonly id?: number; readonly email?: string },
    origin: Origin,
  ): Promise<Admin> {
    const owner = await findAdmin(bucket.projectId, wanted)
    if (!owner) throw new PlatformError('storage.bucket.holderNotFound', { who: String(wanted.id ?? wanted.email).slice(0, 200) })
    await inTransaction((trx) => update(trx, actor, bucket, { owner, updatedAt: clock.now() }, origin))
    return owner
  }

  /** Whether a bucket represents one of a development branch, as older clients keep them in the default branch. */
  const isOfBranch = async ({ projectId, key }: Bucket): Promise<boolean> =>
    (await metadata.list(projectId, key)).some((item) => item.key === BRANCH_OF_BUCKET)

  /** Buckets of the default branch that the system's metadata assigns to a branch, with its id (corrections-2 A16). */
  async function assignedToBranches(projectId: number, trx?: Trx): Promise<ReadonlyMap<Bucket, number>> {
    const found = await store.list(projectId, [await defaultBranchId(projectId)], trx)
    const keys = found.map((bucket) => bucket.key)
    const items = await metadata.listMany(projectId, keys, trx)
    const branchOf = ({ key }: Bucket) =>
      Number(items.get(key)?.find((item) => item.key === BRANCH_OF_BUCKET && item.provider === 'system')?.value)
    return new Map(found.map((bucket) => [bucket, branchOf(bucket)] as const).filter(([, branch]) => Number.isInteger(branch)))
  }

  /** A linked bucket is as large as what it shows. */
  async function usageOf(found: readonly Bucket[]) {
    const usage = await tables.usage(found.map((bucket) => bucket.sourceKey ?? bucket.key))
    return new Map(found.map((bucket) => [bucket.key, usage.get(bucket.sourceKey ?? bucket.key)]))
  }

  /** After a table of it changed. */
  const touch = async (trx: Trx, bucket: Pick<Bucket, 'projectId' | 'key'>): Promise<void> => {
    await store.update(trx, bucket.projectId, bucket.key, { lastChangeAt: clock.now() })
  }

  /** With the development branch go its buckets, and those of the default branch that are assigned to it and that no project links. */
  async function removeOfBranch(trx: Trx, source: EventSource, branchId: number): Promise<void> {
    const { projectId } = source
    for (const bucket of await store.listOfBranch(projectId, branchId, trx)) await erase(trx, bucket)
    for (const [bucket, branch] of await assignedToBranches(projectId, trx))
      if (branch === branchId && (await store.listLinksTo([bucket.key], trx)).length === 0)
        await remove(trx, source, bucket, NO_ORIGIN)
  }

  return {
    backendName: deps.backendName,
    find,
    get,
    getForChange,
    getInDefaultBranch,
    ensureInBranch,
    ensureForProposal,
    copyInto,
    list,
    visibleTo,
    create,
    checkNew,
    insert,
    insertLink,
    checkUpdate,
    update,
    checkDeleter,
    checkDelete,
    remove,
    refuseIfLinked,
    setMetadata,
    removeMetadata,
    setOwner,
    touch,
    removeOfBranch,
    usageOf,
    isOfBranch,
    assignedToBranches,
    erase,
    permissionsForgotten: permissions.forgotten,
    store,
  }
}

export const bucketEvent = <N extends EventName>(bucket: Bucket, name: N, params: EventParams<N>): NewEvent =>
  eventOf(name, params, { objectId: bucket.id, objectName: bucket.displayName, branchId: bucket.branchId })

const notFound = (actor: Pick<Actor, 'projectId'>, id: string) =>
  new PlatformError('storage.buckets.notFound', { id: id.slice(0, 200), project: actor.projectId })

/** The text that clients expect for buckets (spec storage 2.4). */
export const metadataNotFound = (bucket: Bucket, id: number | string) =>
  new PlatformError('storage.metadata.notFound', { id }, { text: `Metadata "${id}" not found for bucket "${bucket.id}".` })

const invalid = (field: string, reason: string) =>
  new PlatformError('storage.buckets.validation', { field, reason }, { errors: [{ key: field, message: reason }] })

function stageFrom(text: string): Stage {
  const stage = STAGES.find((known) => known === text)
  if (!stage) throw invalid('stage', `'${text.slice(0, 60)}' is not a stage. Stages: ${STAGES.join(', ')}.`)
  return stage
}

function checkName(field: string, name: string): void {
  if (name === '') throw invalid(field, 'This value should not be blank.')
  if (!NAME.test(name))
    throw invalid(
      field,
      `'${name.slice(0, 120)}' contains not allowed characters. Only alphanumeric characters dash and underscores are allowed.`,
    )
  if (name.startsWith('_'))
    throw invalid(field, `'${name.slice(0, 120)}' contains not allowed characters. Cannot start with underscore.`)
  if (name.length > MAX_NAME) throw invalid(field, `'${name.slice(0, 120)}' is longer than ${MAX_NAME} characters.`)
}

function colorFrom(color: string | null | undefined): string | null {
  if (color === undefined || color === null || color === '') return null
  if (color.length > MAX_COLOR) throw invalid('color', `This value is longer than ${MAX_COLOR} characters.`)
  return color
}
