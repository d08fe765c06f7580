// What development branches do with configurations: start as copies, change on their own, be compared, reset, rebased and merged back.
//  (1) a copy stores in `baseVersion` which version of the default branch it started from; that is all the history a merge needs;
//  (2) state belongs to one branch: it is neither copied nor merged (spec platform 1.6);
//  (3) a merge is refused as a whole when one configuration changed on both sides, and the error names it.

import type { Db, Trx } from '../../../engines/metadata-db/dialects.ts'
import { PlatformError } from '../../../kit/errors.ts'
import type { EventSource } from '../../../model/event.ts'
import {
  addressOf,
  type Caller,
  checkVersion,
  configurationNotFound,
  type ExpectedVersion,
  existing,
  rowNotFound,
  stampOf,
  usableComponent,
} from './access.ts'
import { configurationEvent, createRecordChange } from './change-events.ts'
import {
  insertWhole,
  replaceWhole,
  sameWhole,
  type WholeChange,
  type WholeVersion,
  wholeVersion,
} from './configuration-with-rows.ts'
import type { ConfigurationsDeps } from './configurations.ts'
import type { RebaseInput } from './input.ts'
import {
  findConfiguration,
  findVersion,
  listConfigurations,
  listRevisions,
  lockBranches,
  lockConfiguration,
  purgeConfiguration,
  setBaseVersion,
} from './records/configurations.store.ts'
import { listMetadata, listOwnMetadata, setMetadata } from './records/metadata.store.ts'
import type { ConfigurationRecord } from './records/records.ts'
import { saveVersion } from './versioning.ts'

export interface BranchRef {
  readonly id: number
  readonly name: string
}

/** A configuration at three points: where the branch started, in the branch, in the default branch now. */
export interface ThreeSides {
  readonly base: WholeVersion | undefined
  readonly ours: WholeVersion
  readonly theirs: WholeVersion | undefined
}

export interface BranchChange {
  readonly componentId: string
  readonly configurationId: string
  readonly kind: 'created' | 'changed' | 'deleted'
  readonly isConflict: boolean
  readonly branchVersionIdentifier: string
  /** Of the version of the default branch that the branch started from. */
  readonly branchBaseIdentifier: string
  readonly defaultVersionIdentifier: string | undefined
}

export interface BranchCopies {
  copyAll(
    trx: Trx,
    projectId: number,
    from: Pick<BranchRef, 'id'>,
    into: Pick<BranchRef, 'id'>,
    source: EventSource,
  ): Promise<void>
  dropAll(trx: Trx, projectId: number, branchId: number): Promise<void>
  diff(caller: Caller, componentId: string, configurationId: string): Promise<ThreeSides>
  diffRow(caller: Caller, componentId: string, configurationId: string, rowId: string): Promise<ThreeSides>
  resetToDefault(caller: Caller, componentId: string, configurationId: string, expected?: ExpectedVersion): Promise<void>
  rebase(
    caller: Caller,
    componentId: string,
    configurationId: string,
    input: RebaseInput,
    expected?: ExpectedVersion,
  ): Promise<ConfigurationRecord>
  changes(db: Db, projectId: number, from: BranchRef, into: BranchRef): Promise<readonly BranchChange[]>
  merge(
    trx: Trx,
    projectId: number,
    sides: { readonly from: BranchRef; readonly into: BranchRef },
    source: EventSource,
    manner?: Partial<MergeManner>,
  ): Promise<readonly BranchChange[]>
}

/** The message of a merge: in the versions it creates, and in the error if it is not possible. */
export interface MergeManner {
  readonly words: (ours: ConfigurationRecord) => string
  readonly refusal: (conflicts: readonly BranchChange[]) => PlatformError
}

export interface BranchCopiesDeps extends ConfigurationsDeps {
  readonly defaultBranchId: (projectId: number) => Promise<number>
}

export function createBranchCopies(deps: BranchCopiesDeps): BranchCopies {
  const { db, inTransaction, components, secretsOf, recordEvent, clock, newId, defaultBranchId } = deps
  const recordChange = createRecordChange(recordEvent)

  const changeBy = (
    source: EventSource,
    changeDescription: string,
    describeRow: (row: { id: string; name: string; version: number }) => string,
  ) => ({
    stamp: { at: clock.now().getTime(), tokenId: source.tokenId, tokenDescription: source.tokenDescription },
    changeDescription,
    describeRow,
    newId,
  })

  const copyAll: BranchCopies['copyAll'] = async (trx, projectId, from, into, source) => {
    for (const record of await headsIn(trx, projectId, from.id, false)) await copyOne(trx, record, into.id, source)
  }

  /** A configuration of the default branch in a branch that does not have it, with its metadata, in the words clients compare. */
  async function copyOne(
    trx: Trx,
    record: ConfigurationRecord,
    branchId: number,
    source: EventSource,
  ): Promise<ConfigurationRecord> {
    const { projectId, configurationId, name, version } = record
    const change = {
      ...changeBy(
        source,
        `Copied from default branch configuration "${name}" (${configurationId}) version ${version}`,
        (row) => `Copied from default branch configuration row "${row.name}" (${row.id}) version ${row.version}`,
      ),
      keepsIdentifiers: true,
      madeBy: record.changed,
      versionDescription: `Copied from default branch configuration version "${name}" (configuration id: ${configurationId}) version ${version}`,
    }
    const content = await wholeVersion(trx, record, version)
    const copy = await insertWhole(trx, { ...record, branchId }, content, change, version)
    const metadata = (await listMetadata(trx, projectId, record.ownerId)).map((item) => ({ ...item, isCopied: true }))
    await setMetadata(trx, projectId, copy.ownerId, metadata, change.stamp.at)
    return copy
  }

  const dropAll: BranchCopies['dropAll'] = async (trx, projectId, branchId) => {
    for (const isDeleted of [false, true]) {
      for (const { ownerId } of await listRevisions(trx, { projectId, branchId, isDeleted })) {
        await purgeConfiguration(trx, projectId, ownerId)
      }
    }
  }

  const diff: BranchCopies['diff'] = async (caller, componentId, configurationId) => {
    if (caller.branch.isDefault) throw new PlatformError('storage.configuration.diffNotAvailableOnDefaultBranch')
    const component = usableComponent(components, caller.actor, componentId)
    const ours = await findConfiguration(db, addressOf(caller, component, configurationId))
    if (!ours) throw configurationNotFound(configurationId)
    const theirs = await findConfiguration(db, { ...ours, branchId: await defaultBranchId(ours.projectId) })
    return {
      base: theirs && ours.baseVersion !== null ? await wholeVersion(db, theirs, ours.baseVersion) : undefined,
      ours: await wholeVersion(db, ours, ours.version),
      theirs: theirs && (await wholeVersion(db, theirs, theirs.version)),
    }
  }

  const diffRow: BranchCopies['diffRow'] = async (caller, componentId, configurationId, rowId) => {
    const sides = await diff(caller, componentId, configurationId)
    const only = (side: WholeVersion) => ({ ...side, rows: side.rows.filter((row) => row.id === rowId) })
    if (![sides.base, sides.ours, sides.theirs].some((side) => side?.rows.some((row) => row.id === rowId)))
      throw rowNotFound(rowId)
    return { base: sides.base && only(sides.base), ours: only(sides.ours), theirs: sides.theirs && only(sides.theirs) }
  }

  const resetToDefault: BranchCopies['resetToDefault'] = async (caller, componentId, configurationId, expected) => {
    if (caller.branch.isDefault) throw new PlatformError('storage.configuration.resetNotAvailableOnDefaultBranch')
    const component = usableComponent(components, caller.actor, componentId)
    const address = addressOf(caller, component, configurationId)
    const defaultId = await defaultBranchId(address.projectId)
    await inTransaction(async (trx) => {
      const theirs = await findConfiguration(trx, { ...address, branchId: defaultId })
      const before = await lockConfiguration(trx, address)
      if (!theirs && !before) throw configurationNotFound(configurationId)
      checkVersion(expected, before?.version ?? 0, `Configuration "${configurationId}"`)
      // As in a branch that was just made: from version 1, and not there when the default branch has deleted or purged it.
      if (before) await purgeConfiguration(trx, before.projectId, before.ownerId)
      const after = !theirs || theirs.isDeleted ? undefined : await copyOne(trx, theirs, address.branchId, caller.actor)
      const event = after ? configurationEvent('Changed', after) : before && configurationEvent('Deleted', before)
      if (event) await recordChange(trx, caller, event)
    })
  }

  const rebase: BranchCopies['rebase'] = async (caller, componentId, configurationId, input, expected) => {
    if (caller.branch.isDefault) throw new PlatformError('storage.configuration.rebaseNotAvailableOnDefaultBranch')
    const component = usableComponent(components, caller.actor, componentId)
    const secrets = await secretsOf(caller.actor.projectId)
    const defaultId = await defaultBranchId(caller.actor.projectId)
    return await inTransaction(async (trx) => {
      const before = existing(await lockConfiguration(trx, addressOf(caller, component, configurationId)), configurationId)
      checkVersion(expected, before.version, `Configuration "${configurationId}"`)
      const theirs = await findConfiguration(trx, { ...before, branchId: defaultId })
      if (!theirs) throw configurationNotFound(configurationId)
      await wholeVersion(trx, theirs, input.version) // the new base must exist
      const current = await wholeVersion(trx, before, before.version)
      const encrypt = (text: string, previous?: string) => secrets.encrypt(text, component, previous)
      const rows = input.rows?.map((row) => {
        const previous = current.rows.find(({ id }) => id === row.id)
        return { ...row, version: previous?.version ?? 0, configuration: encrypt(row.configuration, previous?.configuration) }
      })
      const content = {
        name: input.name ?? current.name,
        description: input.description ?? current.description,
        isDisabled: input.isDisabled ?? current.isDisabled,
        configuration: input.configuration ? encrypt(input.configuration.text, current.configuration) : current.configuration,
        rows: rows ?? current.rows,
        rowsSortOrder: rows ? rows.map((row) => row.id) : current.rowsSortOrder,
      }
      const words = input.changeDescription ?? `Rebased on default branch version ${input.version}`
      const change = { ...changeBy(caller.actor, words, () => words), stamp: stampOf(caller.actor, clock.now().getTime()) }
      const after = await replaceWhole(trx, before, content, change, { baseVersion: input.version })
      await recordChange(trx, caller, configurationEvent('Changed', after))
      return after
    })
  }

  async function headsIn(
    from: Db,
    projectId: number,
    branchId: number,
    isDeleted: boolean,
  ): Promise<readonly ConfigurationRecord[]> {
    const ids = (await listRevisions(from, { projectId, branchId, isDeleted })).map(({ ownerId }) => ownerId)
    const heads: ConfigurationRecord[] = []
    for (let at = 0; at < ids.length; at += 500)
      heads.push(...(await listConfigurations(from, projectId, ids.slice(at, at + 500))))
    return heads.sort((a, b) => a.ownerId - b.ownerId)
  }

  interface Pair extends BranchChange {
    readonly ours: ConfigurationRecord
    readonly theirs: ConfigurationRecord | undefined
  }

  async function compare(from: Db, projectId: number, branchId: number, defaultId: number): Promise<readonly Pair[]> {
    const pairs: Pair[] = []
    for (const ours of [
      ...(await headsIn(from, projectId, branchId, false)),
      ...(await headsIn(from, projectId, branchId, true)),
    ]) {
      const theirs = await findConfiguration(from, { ...ours, branchId: defaultId })
      const isChangedAndDeleted = wasChangedAndDeleted(ours, theirs)
      const kind = (await kindOfChange(from, ours, theirs)) ?? (isChangedAndDeleted ? 'changed' : undefined)
      if (kind === undefined) continue
      pairs.push({
        componentId: ours.listedAs,
        configurationId: ours.configurationId,
        kind,
        isConflict: theirs !== undefined && theirs.version !== ours.baseVersion,
        branchVersionIdentifier: ours.versionIdentifier,
        branchBaseIdentifier: (await baseIdentifier(from, ours, theirs)) ?? ours.versionIdentifier,
        defaultVersionIdentifier: theirs?.versionIdentifier,
        ours,
        theirs,
      })
    }
    return pairs
  }

  async function baseIdentifier(from: Db, ours: ConfigurationRecord, theirs: ConfigurationRecord | undefined) {
    if (!theirs || ours.baseVersion === null || ours.baseVersion === undefined) return undefined
    return (await findVersion(from, ours.projectId, theirs.ownerId, ours.baseVersion))?.versionIdentifier
  }

  /** What the branch did to the configuration since it started; undefined when nothing, or when the default branch has the same content. */
  async function kindOfChange(
    from: Db,
    ours: ConfigurationRecord,
    theirs: ConfigurationRecord | undefined,
  ): Promise<BranchChange['kind'] | undefined> {
    if (!theirs || ours.baseVersion === null) {
      // One that the default branch has purged does not come back by a branch that left it as it was.
      if (ours.isDeleted || (ours.baseVersion !== null && ours.version === 1)) return undefined
      const same =
        theirs &&
        !theirs.isDeleted &&
        sameWhole(await wholeVersion(from, ours, ours.version), await wholeVersion(from, theirs, theirs.version))
      return same ? undefined : 'created'
    }
    if (ours.isDeleted) return theirs.isDeleted ? undefined : 'deleted'
    const mine = await wholeVersion(from, ours, ours.version)
    const base = await baseOf(from, theirs, ours.baseVersion)
    if (base && sameWhole(mine, base)) return undefined
    const already = !theirs.isDeleted && sameWhole(mine, await wholeVersion(from, theirs, theirs.version))
    return already ? undefined : 'changed'
  }

  /** Undefined when it no longer exists in the default branch: a configuration that was purged and created again starts its versions again. */
  async function baseOf(from: Db, theirs: ConfigurationRecord, version: number): Promise<WholeVersion | undefined> {
    return version <= theirs.version ? await wholeVersion(from, theirs, version) : undefined
  }

  const changes: BranchCopies['changes'] = async (from, projectId, branch, into) =>
    (await compare(from, projectId, branch.id, into.id)).map(({ ours: _ours, theirs: _theirs, ...change }) => change)

  const merge: BranchCopies['merge'] = async (trx, projectId, { from, into }, source, manner = {}) => {
    await lockBranches(trx, projectId, [from.id, into.id]) // by (3): what is compared here must still be so when it is written
    const pairs = await compare(trx, projectId, from.id, into.id)
    const { words = plainWords(from), refusal = plainRefusal(from) } = manner
    const conflicts = pairs.filter((pair) => pair.isConflict)
    if (conflicts.length > 0) throw refusal(conflicts)
    for (const pair of pairs) {
      const { ours } = pair
      const description = words(ours)
      const change = { ...changeBy(source, description, () => description), keepsIdentifiers: true }
      const merged = await apply(trx, pair, into.id, change)
      await setBaseVersion(trx, projectId, ours.ownerId, merged.version)
    }
    await mergeMetadata(trx, projectId, from.id, into.id)
    return pairs.map(({ ours: _ours, theirs: _theirs, ...change }) => change)
  }

  /** Of every configuration that both branches have, also of those whose content did not change (corrections-2, M8). */
  async function mergeMetadata(trx: Trx, projectId: number, branchId: number, defaultId: number): Promise<void> {
    for (const ours of await headsIn(trx, projectId, branchId, false)) {
      const set = await listOwnMetadata(trx, projectId, ours.ownerId)
      const theirs = set.length === 0 ? undefined : await findConfiguration(trx, { ...ours, branchId: defaultId })
      if (!theirs || theirs.isDeleted) continue
      const there = new Map((await listMetadata(trx, projectId, theirs.ownerId)).map(({ key, value }) => [key, value]))
      const changed = set.filter(({ key, value }) => there.get(key) !== value)
      await setMetadata(trx, projectId, theirs.ownerId, changed, clock.now().getTime())
    }
  }

  async function apply(
    trx: Trx,
    { ours, theirs, kind }: Pair,
    defaultId: number,
    change: WholeChange,
  ): Promise<ConfigurationRecord> {
    if (!theirs)
      return await insertWhole(trx, { ...ours, branchId: defaultId }, await wholeVersion(trx, ours, ours.version), change)
    if (kind === 'deleted')
      return await saveVersion(trx, theirs, { isDeleted: true }, { ...change, versionIdentifier: ours.versionIdentifier })
    return await replaceWhole(trx, theirs, await wholeVersion(trx, ours, ours.version), change, { isDeleted: false })
  }

  return { copyAll, dropAll, diff, diffRow, resetToDefault, rebase, changes, merge }
}

/** The default branch changed it and then deleted it: a branch that has it unchanged is not based on that (corrections-2, M6). */
const wasChangedAndDeleted = (ours: ConfigurationRecord, theirs: ConfigurationRecord | undefined): boolean =>
  theirs?.isDeleted === true && !ours.isDeleted && ours.baseVersion !== null && theirs.version > ours.baseVersion + 1

const plainWords =
  (from: BranchRef): MergeManner['words'] =>
  (ours) =>
    `Merged from branch "${from.name}" (${from.id}) version ${ours.version}`

const plainRefusal =
  (from: BranchRef): MergeManner['refusal'] =>
  (conflicts) => {
    const names = conflicts.map(({ componentId, configurationId }) => `${componentId}/${configurationId}`)
    return new PlatformError(
      'devBranch.mergeConflict',
      { branch: from.name, configurations: names.slice(0, 10).join(', ') },
      { params: { conflicts: names } },
    )
  }
