// Rules for branches. The default branch is named Main, cannot be renamed and cannot be deleted.

import { type Db, isUniqueViolation, type Trx } from '../../../engines/metadata-db/dialects.ts'
import type { Clock } from '../../../kit/clock.ts'
import { PlatformError } from '../../../kit/errors.ts'
import type { Actor } from '../../../model/actor.ts'
import { type EventSource, eventOf, type NewEvent, type Origin, type RecordEvent } from '../../../model/event.ts'
import type { EventName, EventParams } from '../../../model/event-definitions.ts'
import {
  type BranchMetadata,
  type BranchRecord,
  deleteBranch,
  deleteBranchMetadata,
  findBranch,
  findBranchByName,
  findDefaultBranch,
  insertBranch,
  listBranches,
  listBranchMetadata,
  lockBranch,
  setBranchMetadata,
  updateBranch,
} from './branches.store.ts'

export interface BranchesDeps {
  readonly db: Db
  readonly inTransaction: <T>(work: (trx: Trx) => Promise<T>) => Promise<T>
  readonly recordEvent: RecordEvent
  readonly clock: Clock
  /** Fills a new branch: what other modules keep for each branch. */
  readonly onCreate: (trx: Trx, defaultBranch: BranchRecord, branch: BranchRecord, source: EventSource) => Promise<void>
  /** Whether a merge reads the branch, so that nothing may be written into it. */
  readonly isMerging: (projectId: number, id: number, from: Db) => Promise<boolean>
  /** Empties a branch before it goes. */
  readonly onDelete: (trx: Trx, branch: BranchRecord, source: EventSource) => Promise<void>
}

export interface BranchInput {
  readonly name?: string | undefined
  readonly description?: string | undefined
}

export interface ResolvedBranch {
  readonly id: number
  readonly isDefault: boolean
}

export interface Branches {
  /** For the HTTP kernel: undefined names the default branch. A default branch that was seen before is answered at once. */
  resolve(projectId: number, name: string | undefined): ResolvedBranch | Promise<ResolvedBranch | undefined>
  /** For what will be written into the branch: refuses one that is being merged. */
  resolveOpen(projectId: number, name: string | undefined): Promise<ResolvedBranch | undefined>
  list(projectId: number): Promise<readonly BranchRecord[]>
  /** By id or `default`. */
  get(projectId: number, name: string, from?: Db): Promise<BranchRecord>
  find(projectId: number, id: number): Promise<BranchRecord | undefined>
  checkNew(actor: Actor, input: BranchInput): Promise<void>
  /** In the transaction that ends the job; the caller was checked when the job was created. */
  create(trx: Trx, source: EventSource, input: BranchInput, origin: Origin): Promise<BranchRecord>
  update(actor: Actor, name: string, input: BranchInput, origin: Origin): Promise<BranchRecord>
  checkDelete(actor: Actor, name: string): Promise<BranchRecord>
  /** A branch that is about to be written into stays until the transaction ends; one that is gone or being merged is an error. */
  hold(trx: Trx, projectId: number, id: number): Promise<void>
  remove(trx: Trx, source: EventSource, id: number, origin: Origin): Promise<void>
  /** The branch to merge, and the one it goes into. */
  checkMerge(actor: Actor, name: string): Promise<{ readonly branch: BranchRecord; readonly into: BranchRecord }>
  /** The same two, to look at what differs. */
  compared(actor: Actor, name: string): Promise<{ readonly branch: BranchRecord; readonly into: BranchRecord }>
  findDefault(projectId: number): Promise<BranchRecord>
  defaultId(projectId: number): Promise<number>
  listMetadata(projectId: number, branchId: number): Promise<readonly BranchMetadata[]>
  setMetadata(
    actor: Actor,
    branchId: number,
    items: readonly { readonly key: string; readonly value: string }[],
    origin: Origin,
  ): Promise<readonly BranchMetadata[]>
  removeMetadata(actor: Actor, branchId: number, metadataId: number, origin: Origin): Promise<void>
}

const MAX_NAME = 255
const MAX_DESCRIPTION = 65_536

export function createBranches({ db, inTransaction, recordEvent, clock, onCreate, onDelete, isMerging }: BranchesDeps): Branches {
  /** Never changes once a project has it, and every request reads it. */
  const defaults = new Map<number, ResolvedBranch>()

  function resolve(projectId: number, name: string | undefined): ResolvedBranch | Promise<ResolvedBranch | undefined> {
    const known = defaults.get(projectId)
    if (known && (name === undefined || name === 'default' || name === String(known.id))) return known
    return lookUp(projectId, name)
  }

  async function resolveOpen(projectId: number, name: string | undefined): Promise<ResolvedBranch | undefined> {
    const found = await resolve(projectId, name)
    if (found && !found.isDefault && (await isMerging(projectId, found.id, db))) throw new PlatformError('accessDenied')
    return found
  }

  async function lookUp(projectId: number, name: string | undefined): Promise<ResolvedBranch | undefined> {
    if (name === undefined || name === 'default') {
      const found = await findDefaultBranch(db, projectId)
      const branch = found && { id: found.id, isDefault: true }
      if (branch) defaults.set(projectId, branch)
      return branch
    }
    return /^[0-9]{1,15}$/.test(name) ? await findBranch(db, projectId, Number(name)) : undefined
  }

  async function get(projectId: number, name: string, from: Db = db): Promise<BranchRecord> {
    const found =
      name === 'default'
        ? await findDefaultBranch(from, projectId)
        : /^[0-9]{1,15}$/.test(name)
          ? await findBranch(from, projectId, Number(name))
          : undefined
    if (!found) throw branchNotFound(name)
    return found
  }

  async function checkNew(actor: Actor, input: BranchInput): Promise<void> {
    mustManage(actor)
    descriptionOf(input)
    await checkName(db, actor.projectId, nameOf(input))
  }

  async function create(trx: Trx, source: EventSource, input: BranchInput, origin: Origin): Promise<BranchRecord> {
    const { projectId, tokenId, tokenDescription } = source
    const name = nameOf(input)
    await checkName(trx, projectId, name)
    const defaultBranch = await findDefaultBranch(trx, projectId)
    if (!defaultBranch) throw branchNotFound('default')
    const branch = await insertBranch(trx, {
      projectId,
      name,
      description: descriptionOf(input) ?? '',
      isDefault: false,
      createdAt: clock.now().getTime(),
      creator: { tokenId, tokenDescription },
    })
    const said = await listBranchMetadata(trx, projectId, defaultBranch.id)
    await setBranchMetadata(trx, projectId, branch.id, said, clock.now().getTime())
    await onCreate(trx, defaultBranch, branch, source)
    await recordEvent(trx, source, branchEvent('storage.devBranchCreated', branch, namedBranch(branch)), origin)
    return branch
  }

  async function update(actor: Actor, id: string, input: BranchInput, origin: Origin): Promise<BranchRecord> {
    mustManage(actor)
    const { id: branchId } = await get(actor.projectId, id)
    const wanted = input.name === undefined ? undefined : nameOf(input)
    const description = descriptionOf(input)
    const change = async (trx: Trx): Promise<BranchRecord> => {
      const before = await lockBranch(trx, actor.projectId, branchId)
      if (!before) throw branchNotFound(id)
      const name = wanted ?? before.name
      if (before.isDefault && name !== before.name) throw new PlatformError('devBranch.defaultName')
      if (name !== before.name) await checkName(trx, actor.projectId, name)
      const after = { ...before, name, description: description ?? before.description }
      await updateBranch(trx, after)
      await recordEvent(trx, actor, branchEvent('storage.devBranchUpdated', before, namedBranch(after)), origin)
      return after
    }
    // Of two who take the same name at once, the index lets one through.
    return await inTransaction(change).catch((error: unknown) => {
      throw isUniqueViolation(error) ? new PlatformError('devBranch.duplicateName', { name: wanted ?? '' }) : error
    })
  }

  async function checkDelete(actor: Actor, name: string): Promise<BranchRecord> {
    mustManage(actor)
    const branch = await get(actor.projectId, name)
    if (branch.isDefault) throw new PlatformError('devBranch.deleteDefault')
    return branch
  }

  async function checkMerge(actor: Actor, name: string) {
    mustManage(actor)
    return compared(actor, name)
  }

  async function compared(actor: Actor, name: string) {
    const branch = await get(actor.projectId, name)
    if (branch.isDefault) throw new PlatformError('devBranch.mergeDefault')
    return { branch, into: await get(actor.projectId, 'default') }
  }

  async function hold(trx: Trx, projectId: number, id: number): Promise<void> {
    const branch = await lockBranch(trx, projectId, id)
    if (!branch) throw branchNotFound(String(id))
    if (!branch.isDefault && (await isMerging(projectId, id, trx))) throw new PlatformError('accessDenied')
  }

  async function remove(trx: Trx, source: EventSource, id: number, origin: Origin): Promise<void> {
    const branch = await lockBranch(trx, source.projectId, id)
    if (!branch || branch.isDefault) throw branchNotFound(String(id))
    await onDelete(trx, branch, source)
    await deleteBranch(trx, source.projectId, id)
    await recordEvent(trx, source, branchEvent('storage.devBranchDeleted', branch, namedBranch(branch)), origin)
  }

  async function setMetadata(
    actor: Actor,
    branchId: number,
    items: readonly { readonly key: string; readonly value: string }[],
    origin: Origin,
  ): Promise<readonly BranchMetadata[]> {
    mustDescribe(actor)
    return await inTransaction(async (trx) => {
      const branch = await mustFind(trx, actor.projectId, branchId)
      await setBranchMetadata(trx, actor.projectId, branchId, items, clock.now().getTime())
      const metadata = items.map(({ key, value }) => ({ key, value }))
      const event = { ...branchEvent('storage.devBranchMetadataSet', branch, { metadata }), branchId: branch.id }
      await recordEvent(trx, actor, event, origin)
      return await listBranchMetadata(trx, actor.projectId, branchId)
    })
  }

  async function removeMetadata(actor: Actor, branchId: number, metadataId: number, origin: Origin): Promise<void> {
    mustDescribe(actor)
    await inTransaction(async (trx) => {
      const branch = await mustFind(trx, actor.projectId, branchId)
      const key = await deleteBranchMetadata(trx, actor.projectId, branchId, metadataId)
      if (key === undefined) throw new PlatformError('storage.metadata.notFound', { id: metadataId })
      const event = { ...branchEvent('storage.devBranchMetadataDeleted', branch, { metadataId, key }), branchId: branch.id }
      await recordEvent(trx, actor, event, origin)
    })
  }

  return {
    resolve,
    resolveOpen,
    list: (projectId) => listBranches(db, projectId),
    get,
    checkNew,
    create,
    update,
    checkDelete,
    checkMerge,
    compared,
    find: (projectId, id) => findBranch(db, projectId, id),
    findDefault: (projectId) => get(projectId, 'default'),
    defaultId: async (projectId) => (await resolve(projectId, undefined))?.id ?? (await get(projectId, 'default')).id,
    hold,
    remove,
    listMetadata: (projectId, branchId) => listBranchMetadata(db, projectId, branchId),
    setMetadata,
    removeMetadata,
  }
}

async function mustFind(trx: Db, projectId: number, id: number): Promise<BranchRecord> {
  const branch = await findBranch(trx, projectId, id)
  if (!branch) throw branchNotFound(String(id))
  return branch
}

async function checkName(db: Db, projectId: number, name: string): Promise<void> {
  if (await findBranchByName(db, projectId, name)) throw new PlatformError('devBranch.duplicateName', { name })
}

function nameOf({ name = '' }: BranchInput): string {
  const trimmed = name.trim().toWellFormed()
  if (trimmed === '') throw invalid('name', 'This value should not be blank.')
  return storable('name', trimmed, MAX_NAME)
}

const descriptionOf = ({ description }: BranchInput): string | undefined =>
  description === undefined ? undefined : storable('description', description.toWellFormed(), MAX_DESCRIPTION)

/** PostgreSQL has no NUL in texts; a branch that one database takes and the other does not would be worse than a refusal. */
function storable(field: string, text: string, longest: number): string {
  if (text.length > longest || text.includes('\u0000'))
    throw invalid(field, `This value is longer than ${longest} characters or contains NUL.`)
  return text
}

const invalid = (field: string, reason: string) =>
  new PlatformError('storage.validation', { field, reason }, { errors: [{ key: field, message: reason }] })

function mustManage(actor: Actor): void {
  if (!actor.isMasterToken && !actor.canManageDevBranches) throw new PlatformError('accessDenied')
}

/** The metadata of a branch: also for tokens that manage all buckets and configurations. */
function mustDescribe(actor: Actor): void {
  if (!actor.canManageBuckets) mustManage(actor)
}

export const branchNotFound = (id: string) => new PlatformError('devBranch.notFound', { id: id.slice(0, 60) })

const namedBranch = ({ id, name }: BranchRecord) => ({ devBranchName: name, devBranchId: id })

/** That a branch comes, changes or goes belongs to the default branch: the other one may be gone. */
const branchEvent = <N extends EventName>(name: N, branch: BranchRecord, params: EventParams<N>): NewEvent =>
  eventOf(name, params, { objectId: String(branch.id), objectName: branch.name })
