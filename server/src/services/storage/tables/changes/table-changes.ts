// Jobs that change a table without loading a file: columns, keys, rows, definitions, names, profiles, the table itself.

import { randomUUID } from 'node:crypto'
import { isUniqueViolation, type Trx } from '../../../../engines/metadata-db/dialects.ts'
import {
  addColumn,
  type Column,
  columnNamed,
  dropColumn,
  dropPrimaryKey,
  emptySnapshot,
  primaryKeyNames,
  renameColumn,
  retypeColumn,
  setPrimaryKey,
  type TableSnapshot,
} from '../../../../engines/table-engine/snapshot.ts'
import type { Filter, TableEngine, UnfitValues } from '../../../../engines/table-engine/table-engine.ts'
import { formatTimestamp } from '../../../../kit/clock.ts'
import { defined } from '../../../../kit/defined.ts'
import { PlatformError } from '../../../../kit/errors.ts'
import { eventOf, type NewEvent } from '../../../../model/event.ts'
import type { Scope } from '../../../../model/scope.ts'
import type { JobHandler, JobRun, StorageJob } from '../../../../model/storage-job.ts'
import { STORAGE_PROVIDER, type Table, type TableParts, tableEvent, tableExists } from '../catalog/table-catalog.ts'
import type { NewTable } from '../proposed/proposed-tables.store.ts'
import type { ProposedTables } from '../proposed/proposed-tables.ts'
import { describeTypes, duplicateKey, keyPrefixOf, needsCompaction, resultView } from '../rows/table-load.ts'
import type { TableQuery, WorkspaceFilter } from '../rows/table-query.ts'
import { checkFits, refuseIfLinked } from '../table-checks.ts'
import type { TableLayout } from '../tables.store.ts'
import { columnDefinition } from '../views/table-view.ts'
import {
  type ColumnChange,
  changeColumn,
  changedMetadata,
  changesType,
  checkDefault,
  describeColumn,
  type TypeChange,
  type TypedColumn,
} from './table-types.ts'

export interface ChangeDeps {
  readonly parts: TableParts
  readonly engine: Pick<TableEngine, 'deleteRows' | 'findDuplicateKey' | 'findUnfit' | 'rewriteAs' | 'profile' | 'compact'>
  /** Different values of a column of a table in a workspace. */
  readonly readWorkspaceColumn: (scope: Scope, by: WorkspaceFilter['by'], signal: AbortSignal) => Promise<readonly string[]>
  readonly proposed: Pick<ProposedTables, 'record'>
}

interface DeletionInput {
  readonly query: TableQuery
  readonly workspaceFilters?: readonly WorkspaceFilter[]
  /** With whose rights workspaces are read. */
  readonly scope?: Scope
}

export interface DefinitionInput {
  readonly bucketKey: number
  readonly name: string
  readonly displayName: string
  readonly columns: readonly TypedColumn[]
  readonly primaryKey: readonly string[]
  readonly typed: boolean
  readonly layout?: TableLayout
  /** By a token that only proposes: it becomes a table of the default branch when the proposal is accepted. */
  readonly isProposed?: true
}

interface PublishOptions {
  /** What else the transaction does, and what the job answers. */
  readonly also?: (trx: Trx) => Promise<{ readonly results: unknown } | undefined>
  /** Whether rows changed. */
  readonly changed?: boolean
  /** Whether the same rows lie in other files now. */
  readonly isTidying?: boolean
}

export interface TableChanges {
  readonly light: Readonly<Record<string, JobHandler>>
  readonly heavy: Readonly<Record<string, JobHandler>>
}

export function createTableChanges({ parts, engine, readWorkspaceColumn, proposed }: ChangeDeps): TableChanges {
  const { catalog, store, buckets, metadata, recordEvent, clock } = parts

  /** The table the job names, and its present state. */
  async function begin<T extends object>(job: StorageJob) {
    const input = job.input as T & { readonly tableKey: number } // written by the routes of this module
    const table = await catalog.getByKey(job.projectId, input.tableKey)
    return { input, table }
  }

  const publishSnapshot = (
    run: JobRun,
    table: Table,
    snapshot: TableSnapshot,
    event: NewEvent,
    { also, changed = false, isTidying = false }: PublishOptions = {},
  ) =>
    run.publish(async (trx) => {
      const { source, origin } = run.job
      const what = { changed, isTidying, needsCompaction: needsCompaction(snapshot) }
      await catalog.publish(trx, table, snapshot, what, { source, origin, value: event })
      return (await also?.(trx)) ?? { results: null }
    })

  /** Which columns an alias shows; what it shows them of stays as it is. */
  const publishAlias = ({ job, publish }: JobRun, table: Table, columns: readonly string[], event: NewEvent) =>
    publish(async (trx) => {
      const { alias } = table.row
      if (!alias) throw new PlatformError('storage.tables.dropped')
      await store.updateAlias(trx, table.row.key, { ...alias, columns })
      await recordEvent(trx, job.source, event, job.origin)
      return { results: null }
    })

  const tableColumnAdd: JobHandler = async (run) => {
    const { input, table } = await begin<TypedColumn & { readonly aliasColumns?: readonly string[] }>(run.job)
    if (input.aliasColumns) {
      const event = tableEvent(table, 'storage.tableColumnAdded', { column: input.column.name })
      return publishAlias(run, table, input.aliasColumns, event)
    }
    const { snapshot } = await catalog.reading(table)
    const { column, metadata: pairs } = input
    checkDefault(column)
    checkFits(table, column)
    await publishSnapshot(
      run,
      table,
      addColumn(snapshot, column),
      tableEvent(table, 'storage.tableColumnAdded', { column: column.name }),
      {
        also: async (trx) => {
          const written = { provider: STORAGE_PROVIDER, pairs, at: clock.now() }
          if (pairs.length > 0) await metadata.set(trx, run.job.projectId, table.row.key, column.name, written)
          return undefined
        },
      },
    )
  }

  const tableColumnDelete: JobHandler = async (run) => {
    const { input, table } = await begin<{ column: string; aliasColumns?: readonly string[] }>(run.job)
    if (input.aliasColumns) {
      const event = tableEvent(table, 'storage.tableColumnDeleted', { column: input.column })
      return publishAlias(run, table, input.aliasColumns, event)
    }
    const { snapshot } = await catalog.reading(table)
    await publishSnapshot(
      run,
      table,
      dropColumn(snapshot, input.column),
      tableEvent(table, 'storage.tableColumnDeleted', { column: input.column }),
      {
        also: async (trx) => {
          await metadata.forget(trx, table.row.key, input.column)
          return undefined
        },
        changed: true,
      },
    )
  }

  const tablePrimaryKeyAdd: JobHandler = async (run) => {
    const { input, table } = await begin<{ columns: string[]; skipDuplicatesCheck: boolean }>(run.job)
    const { snapshot } = await catalog.reading(table)
    const keyed = setPrimaryKey(snapshot, input.columns)
    if (!input.skipDuplicatesCheck) {
      const duplicate = await engine.findDuplicateKey({ snapshot, columns: input.columns }, { signal: run.signal })
      if (duplicate) throw duplicateKey(input.columns, duplicate)
    }
    await publishSnapshot(run, table, keyed, tableEvent(table, 'storage.tablePrimaryKeyAdded', { columns: input.columns }))
  }

  const tablePrimaryKeyDelete: JobHandler = async (run) => {
    const { table } = await begin(run.job)
    const { snapshot } = await catalog.reading(table)
    const event = tableEvent(table, 'storage.tablePrimaryKeyDeleted', { columns: primaryKeyNames(snapshot) })
    await publishSnapshot(run, table, dropPrimaryKey(snapshot), event)
  }

  /** Filters with the values that tables of workspaces have now; undefined when one of them chooses no row. */
  async function workspaceValues({ workspaceFilters = [], scope }: DeletionInput, signal: AbortSignal) {
    const filters: Filter[] = []
    for (const { filter, by } of scope ? workspaceFilters : []) {
      const values = await readWorkspaceColumn(scope!, by, signal) // the loop is empty without one
      if (values.length === 0 && filter.operator === 'eq') return undefined
      if (values.length > 0) filters.push({ ...filter, values })
      else throw new PlatformError('storage.tables.validation.unintendedTruncation')
    }
    return filters
  }

  const tableRowsDelete: JobHandler = async (run) => {
    const { input, table } = await begin<DeletionInput>(run.job)
    const chosen = await workspaceValues(input, run.signal)
    if (!chosen) return { results: { deletedRows: 0 } }
    const { snapshot } = await catalog.reading(table)
    const { orderBy: _, columns: __, ...rest } = input.query
    const filter = { ...rest, filters: [...rest.filters, ...chosen] }
    const keyPrefix = keyPrefixOf(run.job.projectId, table.data.key)
    const { snapshot: after, deletedRows } = await engine.deleteRows({ snapshot, ...filter, keyPrefix }, { signal: run.signal })
    const event = tableEvent(table, 'storage.tableRowsDeleted', { deletedRows })
    await publishSnapshot(run, table, after, event, { also: async () => ({ results: { deletedRows } }), changed: true })
    return undefined
  }

  const tableDefinitionCreate: JobHandler = async ({ job, publish }) => {
    const input = job.input as DefinitionInput // written by the routes of this module
    for (const { column } of input.columns) checkDefault(column)
    const snapshot = emptySnapshot(
      input.columns.map(({ column }) => column),
      { primaryKey: input.primaryKey, typed: input.typed },
    )
    await publish(async (trx) => {
      const bucket = await buckets.findByKey(input.bucketKey)
      if (!bucket || bucket.projectId !== job.projectId) throw new PlatformError('storage.tables.dropped')
      const { name, displayName } = input
      const table = await catalog.insert(trx, bucket, { name, displayName }, snapshot, { layout: input.layout })
      if (input.typed) await describeTypes(parts, trx, job.projectId, table.row.key, input.columns)
      const created = { name, primaryKey: table.primaryKey, columns: table.columns }
      await recordEvent(trx, job.source, tableEvent(table, 'storage.tableCreated', created), job.origin)
      if (input.isProposed) await proposed.record(trx, bucket, definitionOf(input))
      return { results: await resultView(parts, trx, table, snapshot, job.baseUrl), tableId: table.id }
    })
  }

  /** The state with the columns changed; data that breaks a new rule refuses the change. */
  async function withChanges(
    snapshot: TableSnapshot,
    changes: readonly ColumnChange[],
    signal: AbortSignal,
  ): Promise<TableSnapshot> {
    let after = snapshot
    for (const change of changes.filter(changesType)) {
      const known = columnNamed(after, change.column)
      const changed = changeColumn(known, change)
      after = { ...after, columns: after.columns.map((column) => (column.fieldId === known.fieldId ? changed : column)) }
      if (!known.nullable || changed.nullable) continue
      const profile = await engine.profile({ snapshot, columns: [known.name], topValues: 0 }, { signal })
      const nulls = profile.columns[0]?.nulls ?? 0
      if (nulls > 0) throw new PlatformError('storage.tables.columnHasNulls', { column: known.name, rows: nulls })
    }
    return after
  }

  /** The metadata of changed columns: their types under the platform's name, descriptions under the user's. */
  async function describeChanges(trx: Trx, table: Table, after: TableSnapshot, changes: readonly ColumnChange[]): Promise<void> {
    const { projectId, key } = table.row
    const known = (await metadata.listColumns(projectId, [key], trx)).get(key) ?? {}
    for (const change of changes) {
      const { column, description } = change
      if (changesType(change)) {
        const pairs = changedMetadata(columnNamed(after, column), change)
        await metadata.set(trx, projectId, key, column, { provider: STORAGE_PROVIDER, pairs, at: clock.now() })
      }
      const stale = change.default === null ? known[column]?.find((item) => item.key === 'KBC.datatype.default') : undefined
      if (stale) await metadata.remove(trx, projectId, key, column, stale.id)
      if (description !== undefined)
        await metadata.set(trx, projectId, key, column, {
          provider: 'user',
          pairs: descriptionPair(description),
          at: clock.now(),
        })
    }
  }

  const tableColumnDefinitionUpdate: JobHandler = async (run) => {
    const { input, table } = await begin<{ change: ColumnChange }>(run.job)
    const { column, name = column } = input.change
    const isRenamed = name !== column
    const { snapshot } = await catalog.reading(table)
    const changed = await withChanges(snapshot, [input.change], run.signal)
    const after = isRenamed ? renameColumn(changed, column, name) : changed
    const also = async (trx: Trx) => {
      if (isRenamed) await renameInRecords(trx, table, column, name)
      await describeChanges(trx, table, after, [{ ...input.change, column: name }])
      const known = await metadata.listColumns(table.row.projectId, [table.row.key], trx)
      const definition = columnDefinition(columnNamed(after, name), known.get(table.row.key) ?? {})
      return { results: isRenamed ? { name, ...definition } : definition }
    }
    const event = tableEvent(table, 'storage.tableColumnsUpdated', { column, ...(isRenamed && { renamedTo: name }) })
    await publishSnapshot(run, table, after, event, { also, changed: isRenamed })
  }

  /** What is known of a column by its name: its metadata, and aliases that show it or filter by it. */
  async function renameInRecords(trx: Trx, table: Table, column: string, to: string): Promise<void> {
    const { projectId, key: tableKey } = table.row
    await metadata.renameColumn(trx, projectId, tableKey, column, to)
    for (const { key, alias, ...row } of await catalog.aliasesOf(tableKey)) {
      await metadata.renameColumn(trx, row.projectId, key, column, to)
      if (!alias) continue
      const { filter } = alias
      await store.updateAlias(trx, key, {
        ...alias,
        filter: filter?.column === column ? { ...filter, column: to } : filter,
        columns: alias.columns?.map((one) => (one === column ? to : one)),
      })
    }
  }

  /** Every row is rewritten with the converted value; concurrent loads wait for the lock. */
  const tableColumnTypeUpdate: JobHandler = async (run) => {
    const { input, table } = await begin<{ change: TypeChange }>(run.job)
    const { column, invalidValues } = input.change
    const { snapshot } = await catalog.reading(table)
    const shape = retypeColumn(snapshot, column, input.change)
    const to = columnNamed(shape, column)
    const unfit = await engine.findUnfit({ snapshot, column, to }, { signal: run.signal })
    if (unfit.rows > 0 && (invalidValues === 'refuse' || !to.nullable)) throw valuesDoNotFit(to, unfit)
    const keyPrefix = keyPrefixOf(run.job.projectId, table.data.key)
    const after = await engine.rewriteAs({ snapshot, shape, keyPrefix }, { signal: run.signal })
    const key = primaryKeyNames(after)
    const duplicate = key.includes(column)
      ? await engine.findDuplicateKey({ snapshot: after, columns: key }, { signal: run.signal })
      : null
    if (duplicate) throw duplicateKey(key, duplicate)
    const backend = await parts.backendName(run.job.projectId)
    const also = async (trx: Trx) => {
      await describeType(trx, table, { wasTyped: snapshot.typed, after, change: input.change, backend })
      const known = await metadata.listColumns(table.row.projectId, [table.row.key], trx)
      const definition = columnDefinition(to, known.get(table.row.key) ?? {})
      return { results: { ...definition, invalidRows: unfit.rows, invalidExamples: unfit.examples } }
    }
    const event = tableEvent(table, 'storage.tableColumnsUpdated', { column })
    await publishSnapshot(run, table, after, event, { also, changed: true })
  }

  /** The metadata of the new type; an untyped table that became a typed one is described whole. */
  async function describeType(
    trx: Trx,
    table: Table,
    {
      wasTyped,
      after,
      change,
      backend,
    }: {
      readonly wasTyped: boolean
      readonly after: TableSnapshot
      readonly change: TypeChange
      readonly backend: string | undefined
    },
  ): Promise<void> {
    const { projectId, key } = table.row
    const changed = { column: columnNamed(after, change.column), metadata: change.metadata }
    const others = after.columns.filter(({ name }) => name !== change.column).map((one) => describeColumn(one, backend))
    const known = (await metadata.listColumns(projectId, [key], trx)).get(key)?.[change.column] ?? []
    const isStale = (item: { readonly key: string; readonly provider: string }) =>
      item.provider === STORAGE_PROVIDER && item.key === 'KBC.datatype.length'
    for (const { id } of known.filter(isStale)) await metadata.remove(trx, projectId, key, change.column, id)
    await describeTypes(parts, trx, projectId, key, wasTyped ? [changed] : [...others, changed])
  }

  const tableUpdate: JobHandler = async ({ job, publish }) => {
    const { input, table } = await begin<{ displayName: string }>(job)
    await publish(async (trx) => {
      await store.setDisplayName(trx, table.row.key, input.displayName).catch((error: unknown) => {
        throw isUniqueViolation(error) ? tableExists(table.row.name, input.displayName) : error
      })
      await recordEvent(trx, job.source, tableEvent(table, 'storage.tableUpdated', {}), job.origin)
      return undefined
    })
  }

  /** Display name, description and columns in one step, or none of it. */
  const tableDefinitionUpdate: JobHandler = async ({ job, signal, publish }) => {
    const { input, table } = await begin<{ displayName?: string; description?: string; columns?: ColumnChange[] }>(job)
    const { displayName, description, columns = [] } = input
    const { snapshot } = await catalog.reading(table)
    const after = await withChanges(snapshot, columns, signal)
    await publish(async (trx) => {
      const { projectId, key } = table.row
      if (displayName !== undefined)
        await store.setDisplayName(trx, key, displayName).catch((error: unknown) => {
          throw isUniqueViolation(error) ? tableExists(table.row.name, displayName) : error
        })
      if (description !== undefined)
        await metadata.set(trx, projectId, key, undefined, {
          provider: 'user',
          pairs: descriptionPair(description),
          at: clock.now(),
        })
      await describeChanges(trx, table, after, columns)
      const { source, origin } = job
      const value = tableEvent(table, 'storage.tableUpdated', {})
      if (after === snapshot) await recordEvent(trx, source, value, origin)
      else await catalog.publish(trx, table, after, {}, { source, origin, value })
      const row = { ...table.row, ...defined({ displayName }) }
      return { results: await resultView(parts, trx, { ...table, row }, after, job.baseUrl) }
    })
  }

  const tableDrop: JobHandler = async ({ job, publish }) => {
    const { table } = await begin(job)
    await refuseIfLinked(parts, table)
    await publish(async (trx) => {
      await catalog.drop(trx, table)
      await buckets.touch(trx, table.bucket)
      await recordEvent(trx, job.source, tableEvent(table, 'storage.tableDeleted', {}), job.origin)
      return undefined
    })
  }

  const tableSwap: JobHandler = async ({ job, publish }) => {
    const { input, table } = await begin<{ targetKey: number }>(job)
    const target = await catalog.getByKey(job.projectId, input.targetKey)
    await publish(async (trx) => {
      await store.swap(trx, table.row, target.row)
      for (const [one, other] of [
        [table, target],
        [target, table],
      ] as const)
        await recordEvent(trx, job.source, tableEvent(one, 'storage.tableUpdated', { swappedWith: other.id }), job.origin)
      return { results: { tableAStringId: table.id, tableBStringId: target.id } }
    })
  }

  const tableProfile: JobHandler = async ({ job, signal, publish }) => {
    const { table } = await begin(job)
    const { snapshot } = await catalog.reading(table)
    const profile = await engine.profile({ snapshot, columns: table.columns, filters: table.filters, topValues: 0 }, { signal })
    const createdAt = clock.now()
    const value = {
      uuid: randomUUID(),
      bucketId: table.bucket.id,
      tableName: table.id,
      createdAt: formatTimestamp(createdAt),
      profile: { rowCount: profile.rows, columnCount: profile.columns.length },
      columns: profile.columns.map(({ name, nulls, distinct, duplicates }) => ({
        name,
        profile: { nullCount: nulls, distinctCount: distinct, duplicateCount: duplicates },
      })),
    }
    await publish(async (trx) => {
      await store.saveProfile(trx, job.projectId, table.row.key, { uuid: value.uuid, value, at: createdAt })
      return { results: value }
    })
  }

  /** On request, what the loop does regularly. */
  const tableOptimize: JobHandler = async (run) => {
    const { table } = await begin(run.job)
    const { snapshot } = await catalog.reading(table)
    const keyPrefix = keyPrefixOf(run.job.projectId, table.data.key)
    const after = await engine.compact({ snapshot, keyPrefix, force: true }, { signal: run.signal })
    const event = tableEvent(table, 'storage.tableUpdated', { optimized: true })
    if (after) await publishSnapshot(run, table, after, event, { isTidying: true })
  }

  /** Brings a table of the default branch into a development branch: a copy of the value, no bytes move. */
  const devBranchTablePull: JobHandler = async ({ job, publish }) => {
    const input = job.input as { readonly sourceKey: number; readonly bucketKey: number; readonly name: string } // written by the routes
    const source = await catalog.getByKey(job.projectId, input.sourceKey)
    const bucket = await buckets.findByKey(input.bucketKey)
    if (!bucket || bucket.projectId !== job.projectId) throw new PlatformError('storage.tables.dropped')
    const { snapshot } = await catalog.reading(source)
    const existing = await store.find(bucket.key, input.name)
    const backend = await parts.backendName(job.projectId)
    await publish(async (trx) => {
      const now = clock.now()
      if (existing) await store.publish(trx, existing, snapshot, now, { changed: true })
      const names = { name: input.name, displayName: source.row.displayName }
      const { key } = existing ?? (await catalog.insert(trx, bucket, names, snapshot, { importedAt: now })).row
      const described = snapshot.columns.map((column) => describeColumn(column, backend))
      await replaceMetadata(trx, source, key)
      if (snapshot.typed) await describeTypes(parts, trx, job.projectId, key, described)
      const objectId = `${bucket.id}.${input.name}`
      const params = {
        sourceBucketId: source.bucket.id,
        sourceBucketBranch: source.bucket.branchId,
        destinationBucketId: bucket.id,
        destinationBucketBranch: bucket.branchId,
      }
      const place = { objectId, objectName: input.name, branchId: bucket.branchId }
      await recordEvent(trx, job.source, eventOf('storage.tableCopyToBucket', params, place), job.origin)
      return { results: { id: objectId } }
    })
  }

  /** The metadata of a table and its columns become those of the source (corrections-2, A5). */
  async function replaceMetadata(trx: Trx, { row: { projectId, key: from } }: Table, to: number): Promise<void> {
    const at = clock.now()
    const columns = (await metadata.listColumns(projectId, [from], trx)).get(from) ?? {}
    const own = (await metadata.listTables(projectId, [from], trx)).get(from) ?? []
    await metadata.forget(trx, to)
    for (const { provider, key, value } of own)
      await metadata.set(trx, projectId, to, undefined, { provider, pairs: [{ key, value }], at })
    for (const [column, items] of Object.entries(columns))
      for (const { provider, key, value } of items)
        await metadata.set(trx, projectId, to, column, { provider, pairs: [{ key, value }], at })
  }

  return {
    /** These read and write no data; they need not wait for the slots of those that do. */
    light: {
      tableColumnAdd,
      tableColumnDelete,
      tablePrimaryKeyDelete,
      tableDefinitionCreate,
      tableUpdate,
      tableDrop,
      tableSwap,
      devBranchTablePull,
    },
    heavy: {
      tablePrimaryKeyAdd,
      tableRowsDelete,
      tableColumnDefinitionUpdate,
      tableColumnTypeUpdate,
      tableDefinitionUpdate,
      tableProfile,
      tableOptimize,
    },
  }
}

function valuesDoNotFit({ name, type, length, nullable }: Column, { rows, examples }: UnfitValues): PlatformError {
  const details = {
    column: name,
    type: length === undefined ? type : `${type}(${length})`,
    rows,
    examples: examples.map((value) => (value === null ? 'null' : `"${value}"`)).join(', '),
    advice: nullable ? ', or let them become null (invalidValues)' : '',
  }
  return new PlatformError('storage.tables.valuesDoNotFit', details, { params: { ...details, examples } })
}

const definitionOf = ({ name, displayName, columns, primaryKey, typed, layout }: DefinitionInput): NewTable => ({
  ...{ name, displayName, primaryKey, typed },
  columns: columns.map(({ column, metadata }) => ({ column, metadata })),
  ...defined({ layout }),
})

/** A description is metadata; readers of records find it under the usual name. */
const descriptionPair = (value: string) => [{ key: 'KBC.description', value }]
