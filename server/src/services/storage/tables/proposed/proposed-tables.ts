// Tables of proposals. A token that only proposes creates empty tables in its branch, and describes tables of the default branch; both
// become real when the proposal is accepted.
//  1. Only what the token defined itself is applied: a rehearsal writes tables into the same branch, and those stay there.
//  2. Rows are not proposed: a review cannot show them, and undoing could not distinguish them from those of later loads. They come from
//     configurations, which are reviewed.
//  3. Undoing drops a table that was created only while it is empty.

import type { Db, Trx } from '../../../../engines/metadata-db/dialects.ts'
import { emptySnapshot } from '../../../../engines/table-engine/snapshot.ts'
import type { MetadataPair } from '../../../../http/metadata-items.ts'
import { PlatformError } from '../../../../kit/errors.ts'
import { tablePermissionOf } from '../../../../model/actor.ts'
import { type EventSource, NO_ORIGIN } from '../../../../model/event.ts'
import type { AppliedStorageChange, ProposalPlace, StorageChange } from '../../../../model/hooks.ts'
import type { Scope } from '../../../../model/scope.ts'
import {
  type BucketRef,
  refuseLinked,
  STORAGE_PROVIDER,
  type Table,
  type TableParts,
  tableEvent,
  tableExists,
} from '../catalog/table-catalog.ts'
import { describeTypes } from '../rows/table-load.ts'
import {
  findProposed,
  listProposed,
  type MetadataValue,
  type NewTable,
  type ProposedTable,
  removeProposedOfBranch,
  saveProposed,
} from './proposed-tables.store.ts'

/** What this needs of buckets besides what all tables need. */
export interface BucketsOfProposals {
  /** Of the branch itself, without a check of permissions. */
  findIn(projectId: number, branchId: number, id: string, trx?: Trx): Promise<BucketRef | undefined>
  /** The bucket in the branch of the proposal, created when it does not exist. */
  ensureForProposal(scope: Scope, id: string): Promise<BucketRef>
  /** In another branch, with the names of this one. */
  copyInto(trx: Trx, source: EventSource, bucket: BucketRef, branchId: number): Promise<BucketRef>
  remove(trx: Trx, source: EventSource, bucket: BucketRef): Promise<void>
}

/** Of the metadata of a table that is proposed. */
const MAX_METADATA = 1 << 20

/** As `apply` wrote it. */
interface AppliedTable {
  readonly tableKey: number
  readonly hasNewBucket: boolean
}

export type ProposedTables = ReturnType<typeof createProposedTables>

export function createProposedTables(parts: TableParts, db: Db, bucketsOfProposals: BucketsOfProposals) {
  const { catalog, store, metadata, inTransaction, recordEvent, clock } = parts
  const placeOf = ({ actor, branch }: Scope) => ({ projectId: actor.projectId, branchId: branch.id })

  /** The bucket in which the token may define a table, which production must not have. */
  async function bucketForNew(scope: Scope, bucketId: string, name: string): Promise<BucketRef> {
    const tableId = `${bucketId}.${name}`
    const isKnown = await catalog.getInDefaultBranch(scope, tableId).then(
      () => true,
      (error: unknown) => {
        if (error instanceof PlatformError && error.kind === 'not-found') return false
        throw error
      },
    )
    if (isKnown) throw tableExists(name, name)
    return bucketsOfProposals.ensureForProposal(scope, bucketId)
  }

  /** In the transaction that creates the table in the branch. */
  const record = (trx: Trx, { projectId, branchId, id }: BucketRef, definition: NewTable): Promise<void> =>
    saveProposed(trx, { projectId, branchId }, { tableId: `${id}.${definition.name}`, definition, metadata: [] })

  /** The table of the default branch that the token describes; undefined for one that the token created, which is described as any other. */
  async function describedBy(scope: Scope, tableId: string): Promise<Table | undefined> {
    if (!scope.actor.onlyProposes) return undefined
    if ((await findProposed(db, placeOf(scope), tableId))?.definition) return undefined
    const table = await catalog.getInDefaultBranch(scope, tableId)
    const permission = tablePermissionOf(scope.actor, tableId)
    if (permission !== 'write' && permission !== 'manage') throw new PlatformError('accessDenied')
    refuseLinked(table.bucket)
    return table
  }

  async function describe(scope: Scope, { id: tableId }: Table, added: readonly MetadataValue[]): Promise<void> {
    await inTransaction(async (trx) => {
      const known = await findProposed(trx, placeOf(scope), tableId)
      const values = new Map([...(known?.metadata ?? []), ...added].map((one) => [nameOf(one), one]))
      const all = [...values.values()]
      if (JSON.stringify(all).length > MAX_METADATA)
        throw new PlatformError('storage.metadata.invalidStructure', {
          reason: `a proposal can set ${MAX_METADATA} characters of metadata for each table.`,
        })
      await saveProposed(trx, placeOf(scope), { tableId, definition: undefined, metadata: all })
    })
  }

  /** Tables of the branch that the token created and that are still there. */
  async function created(from: Db, { projectId, branchId }: ProposalPlace): Promise<ProposedTable[]> {
    const found: ProposedTable[] = []
    for (const proposed of await listProposed(from, { projectId, branchId }))
      if (!proposed.definition || (await ownOf({ projectId, branchId }, proposed))) found.push(proposed)
    return found
  }

  async function ownOf(place: { readonly projectId: number; readonly branchId: number }, { tableId }: ProposedTable, trx?: Trx) {
    const bucket = await bucketsOfProposals.findIn(place.projectId, place.branchId, bucketIdOf(tableId), trx)
    const row = bucket && (await store.find(bucket.key, nameIn(tableId)))
    return bucket && row && { bucket, row }
  }

  async function list(place: ProposalPlace): Promise<StorageChange[]> {
    const changes: StorageChange[] = []
    for (const proposed of await created(db, place)) {
      const { tableId, definition } = proposed
      const own = definition ? await ownOf(place, proposed) : undefined
      const home = await ownOf({ ...place, branchId: place.branchIntoId }, proposed)
      if (definition && own) {
        const described = await descriptionsOf(place.projectId, own.row.key)
        const after = { ...definitionView(definition), ...metadataView(described) }
        changes.push({ kind: 'table', tableId, name: tableId, before: undefined, after, isConflict: home !== undefined })
      } else {
        const known = home ? await descriptionsOf(place.projectId, home.row.key) : []
        const before = known.filter((one) => proposed.metadata.some((other) => nameOf(other) === nameOf(one)))
        const after = metadataView(proposed.metadata)
        const isConflict = proposed.metadata.some(({ column }) => (column === null ? !home : !home?.row.columns.includes(column)))
        changes.push({ kind: 'tableMetadata', tableId, name: tableId, before: metadataView(before), after, isConflict })
      }
    }
    return changes
  }

  /** What others than the platform wrote about a table and its columns. */
  async function descriptionsOf(projectId: number, key: number, trx?: Trx): Promise<MetadataValue[]> {
    const ofTable = (await metadata.listTables(projectId, [key], trx)).get(key) ?? []
    const ofColumns = (await metadata.listColumns(projectId, [key], trx)).get(key) ?? {}
    const valuesOf = (column: string | null, items: typeof ofTable) =>
      items
        .filter(({ provider }) => provider !== STORAGE_PROVIDER)
        .map((item) => ({ column, provider: item.provider, key: item.key, value: item.value }))
    return [...valuesOf(null, ofTable), ...Object.entries(ofColumns).flatMap(([column, items]) => valuesOf(column, items))]
  }

  async function apply(trx: Trx, source: EventSource, place: ProposalPlace): Promise<AppliedStorageChange[]> {
    const applied: AppliedStorageChange[] = []
    for (const proposed of await created(trx, place)) {
      const { definition } = proposed
      applied.push(
        definition
          ? await applyTable(trx, source, place, { ...proposed, definition })
          : await applyMetadata(trx, source, place, proposed),
      )
    }
    return applied
  }

  async function applyTable(
    trx: Trx,
    source: EventSource,
    place: ProposalPlace,
    proposed: ProposedTable & { readonly definition: NewTable },
  ): Promise<AppliedStorageChange> {
    const { projectId, branchIntoId } = place
    const { tableId, definition } = proposed
    const { name, displayName, columns, primaryKey, typed, layout } = definition
    const own = (await ownOf(place, proposed, trx))! // `created` has found it
    const home = await bucketsOfProposals.findIn(projectId, branchIntoId, own.bucket.id, trx)
    if (home) refuseLinked(home)
    const bucket = home ?? (await bucketsOfProposals.copyInto(trx, source, own.bucket, branchIntoId))
    const snapshot = emptySnapshot(
      columns.map(({ column }) => column),
      { primaryKey, typed },
    )
    const table = await catalog.insert(trx, bucket, { name, displayName }, snapshot, { layout })
    if (typed) await describeTypes(parts, trx, projectId, table.row.key, columns)
    await setAll(trx, table.row, await descriptionsOf(projectId, own.row.key, trx))
    const params = { name, primaryKey: table.primaryKey, columns: table.columns }
    await recordEvent(trx, source, tableEvent(table, 'storage.tableCreated', params), NO_ORIGIN)
    const value: AppliedTable = { tableKey: table.row.key, hasNewBucket: home === undefined }
    return { kind: 'table', tableId, name: tableId, replaced: null, applied: value }
  }

  async function applyMetadata(
    trx: Trx,
    source: EventSource,
    { projectId, branchIntoId }: ProposalPlace,
    proposed: ProposedTable,
  ): Promise<AppliedStorageChange> {
    const { tableId } = proposed
    const table = await homeOf(projectId, branchIntoId, tableId, trx)
    const gone = proposed.metadata.find(({ column }) => column !== null && !table.columns.includes(column))
    if (gone) throw new PlatformError('notFound', { what: `The column "${gone.column}" of table "${tableId}"` })
    const known = new Map((await descriptionsOf(projectId, table.row.key, trx)).map((one) => [nameOf(one), one]))
    await setAll(trx, table.row, proposed.metadata)
    await recordEvent(trx, source, tableEvent(table, 'storage.tableMetadataSet', {}), NO_ORIGIN)
    const replaced = proposed.metadata.flatMap((one) => known.get(nameOf(one)) ?? [])
    return { kind: 'tableMetadata', tableId, name: tableId, replaced, applied: proposed.metadata }
  }

  async function homeOf(projectId: number, branchId: number, tableId: string, trx: Trx): Promise<Table> {
    const bucket = await bucketsOfProposals.findIn(projectId, branchId, bucketIdOf(tableId), trx)
    if (!bucket)
      throw new PlatformError('storage.tables.notFound', {
        ...{ table: nameIn(tableId), bucket: bucketIdOf(tableId), project: projectId },
      })
    return catalog.getInBucket(bucket, nameIn(tableId))
  }

  async function setAll(
    trx: Trx,
    { projectId, key }: { readonly projectId: number; readonly key: number },
    values: readonly MetadataValue[],
  ): Promise<void> {
    for (const { column, provider, key: name, value } of values) {
      const pairs: MetadataPair[] = [{ key: name, value }]
      await metadata.set(trx, projectId, key, column ?? undefined, { provider, pairs, at: clock.now() })
    }
  }

  async function undo(
    trx: Trx,
    source: EventSource,
    { id, branchIntoId }: { readonly id: number; readonly branchIntoId: number },
    all: readonly AppliedStorageChange[],
  ): Promise<void> {
    // The first table of a new bucket has created it, so it goes last.
    for (const { kind, tableId, applied, replaced } of all.toReversed()) {
      if (kind !== 'table' && kind !== 'tableMetadata') continue
      const table = await homeOf(source.projectId, branchIntoId, tableId, trx).catch((error: unknown) => {
        if (error instanceof PlatformError && error.kind === 'not-found') return undefined // deleted since
        throw error
      })
      if (!table) continue
      if (kind === 'table') await dropIfEmpty(trx, source, table, applied as AppliedTable)
      else
        await bringBackMetadata(trx, source, table, {
          ...{ id, applied: applied as readonly MetadataValue[], replaced: replaced as readonly MetadataValue[] }, // as `applyMetadata` wrote them
        })
    }
  }

  /** With rows, or seen through an alias, it is used by now. */
  async function dropIfEmpty(
    trx: Trx,
    source: EventSource,
    table: Table,
    { tableKey, hasNewBucket }: AppliedTable,
  ): Promise<void> {
    const { row, bucket } = table
    if (row.key !== tableKey || row.rowsCount > 0 || row.lastImportAt || (await catalog.aliasesOf(row.key)).length > 0) return
    await catalog.drop(trx, table)
    await recordEvent(trx, source, tableEvent(table, 'storage.tableDeleted', {}), NO_ORIGIN)
    if (hasNewBucket && (await store.listOfBuckets([bucket.key], trx)).length === 0)
      await bucketsOfProposals.remove(trx, source, bucket)
  }

  async function bringBackMetadata(
    trx: Trx,
    source: EventSource,
    table: Table,
    {
      id,
      applied,
      replaced,
    }: { readonly id: number; readonly applied: readonly MetadataValue[]; readonly replaced: readonly MetadataValue[] },
  ): Promise<void> {
    const { projectId, key } = table.row
    const known = new Map((await descriptionsOf(projectId, key, trx)).map((one) => [nameOf(one), one.value]))
    const changed = applied.find((one) => known.get(nameOf(one)) !== one.value)
    if (changed)
      throw new PlatformError('proposals.storageChangedSince', { what: `metadata ${changed.key}`, table: table.id, id })
    const before = new Set(replaced.map(nameOf))
    const items = (await metadata.listTables(projectId, [key], trx)).get(key) ?? []
    const ofColumns = (await metadata.listColumns(projectId, [key], trx)).get(key) ?? {}
    for (const one of applied.filter((value) => !before.has(nameOf(value)))) {
      const item = (one.column === null ? items : (ofColumns[one.column] ?? [])).find(
        (other) => other.provider === one.provider && other.key === one.key,
      )
      if (item) await metadata.remove(trx, projectId, key, one.column ?? undefined, item.id)
    }
    await setAll(trx, table.row, replaced)
    await recordEvent(trx, source, tableEvent(table, 'storage.tableMetadataSet', {}), NO_ORIGIN)
  }

  const forget = (trx: Trx, { projectId, id }: { readonly projectId: number; readonly id: number }): Promise<void> =>
    removeProposedOfBranch(trx, { projectId, branchId: id })

  return { bucketForNew, record, describedBy, describe, list, apply, undo, forget }
}

const nameOf = ({ column, provider, key }: MetadataValue): string => JSON.stringify([column, provider, key])
const bucketIdOf = (tableId: string): string => tableId.slice(0, tableId.lastIndexOf('.'))
const nameIn = (tableId: string): string => tableId.slice(tableId.lastIndexOf('.') + 1)

const definitionView = ({ columns, primaryKey, typed }: NewTable) => ({
  columns: Object.fromEntries(columns.map(({ column: { name, ...column } }) => [name, typed ? column : {}])),
  primaryKey,
})

/** By column, provider and key. */
function metadataView(values: readonly MetadataValue[]): { readonly metadata?: object; readonly columnsMetadata?: object } {
  const named = (all: readonly MetadataValue[]) =>
    Object.fromEntries(all.map(({ provider, key, value }) => [provider === 'user' ? key : `${provider} ${key}`, value]))
  const byColumn = Map.groupBy(values, ({ column }) => column)
  const ofTable = byColumn.get(null) ?? []
  const ofColumns = [...byColumn].flatMap(([column, all]) => (column === null ? [] : [[column, named(all)] as const]))
  return {
    ...(ofTable.length > 0 && { metadata: named(ofTable) }),
    ...(ofColumns.length > 0 && { columnsMetadata: Object.fromEntries(ofColumns) }),
  }
}
