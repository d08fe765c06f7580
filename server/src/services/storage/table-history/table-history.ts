// The history of a table: a log of its changes, `<table>_history`, to which each new state adds what differs from the one before. The rows and
// the position of the log are one transaction, so a state is in it once, whatever is killed when.

import { randomUUID } from 'node:crypto'
import type { Db, Trx } from '../../../engines/metadata-db/dialects.ts'
import { removeFile, saveText } from '../../../engines/sql/database-files.ts'
import type { SqlEngine, SqlTable } from '../../../engines/sql/sql-engine.ts'
import { changedKeys, changesSelect } from '../../../engines/table-engine/history/changes.ts'
import { HISTORY_COLUMNS, historyTableOf } from '../../../engines/table-engine/history/validity.ts'
import type { TableSnapshot } from '../../../engines/table-engine/snapshot.ts'
import { identifier, literal } from '../../../engines/table-engine/sql.ts'
import type { QueryRequest } from '../../../engines/table-engine/table-engine.ts'
import type { Clock } from '../../../kit/clock.ts'
import { PlatformError } from '../../../kit/errors.ts'
import { tablePermissionOf } from '../../../model/actor.ts'
import { eventOf, type Origin, type RecordEvent } from '../../../model/event.ts'
import type { ColumnSchema, RunTables, TableLoad } from '../../../model/run-ports.ts'
import type { Scope } from '../../../model/scope.ts'
import { createTableHistoryStore, type TableHistory } from './table-history.store.ts'

export interface TableHistoryDeps {
  readonly db: Db
  readonly inTransaction: <T>(work: (trx: Trx) => Promise<T>) => Promise<T>
  readonly clock: Clock
  readonly recordEvent: RecordEvent
  readonly engine: Pick<SqlEngine, 'open'>
  readonly scratchDir: string
  readonly getTable: (
    scope: Scope,
    tableId: string,
  ) => Promise<{
    readonly source: object | undefined
    readonly data: { readonly key: number }
    readonly primaryKey: readonly string[]
    readonly columns: readonly string[]
  }>
  readonly listStates: (projectId: number, tableKey: number) => Promise<readonly { readonly id: number }[]>
  readonly readState: (
    tableKey: number,
    id: number,
  ) => Promise<{ readonly snapshot: TableSnapshot; readonly createdAt: Date } | undefined>
  /** Whether only files were rewritten between two states. */
  readonly hasSameRows: (
    table: { readonly projectId: number; readonly key: number },
    from: number,
    to: number,
  ) => Promise<boolean>
  readonly ofState: (request: QueryRequest, version: string) => SqlTable
  readonly tables: Pick<RunTables, 'loadAll'>
  readonly isDefaultBranch: (projectId: number, branchId: number) => Promise<boolean>
  readonly baseUrl: () => string
}

export type TableHistories = ReturnType<typeof createTableHistories>

/** The name under which the session that computes changes finds them; no table of the project has it. */
const CHANGES = '"in.c-history"."changes"'

export function createTableHistories(deps: TableHistoryDeps) {
  const { db, inTransaction, clock, recordEvent } = deps
  const store = createTableHistoryStore(db)

  async function get(scope: Scope, tableId: string) {
    const { data } = await deps.getTable(scope, tableId)
    const found = await store.find(scope.actor.projectId, scope.branch.id, tableId)
    const newest = found && (await deps.listStates(scope.actor.projectId, data.key)).at(-1)?.id
    return {
      tableId,
      isEnabled: found !== undefined,
      historyTableId: found ? historyTableOf(tableId) : null,
      isCurrent: found !== undefined && found.lastState === (newest ?? null),
      updated: found?.lastState ? found.updatedAt.toISOString() : null,
      problem: found?.problem ?? null,
    }
  }

  async function set(scope: Scope, tableId: string, isEnabled: boolean, origin: Origin) {
    requireWrite(scope, tableId)
    const { projectId } = scope.actor
    const table = await deps.getTable(scope, tableId)
    if (isEnabled) checkTable(tableId, table)
    const place = { projectId, branchId: scope.branch.id, tableId }
    await inTransaction(async (trx) => {
      if (isEnabled) await store.insert(trx, { ...place, tableKey: table.data.key, actor: scope.actor }, clock.now())
      else await store.remove(trx, projectId, scope.branch.id, tableId)
      const event = isEnabled ? 'storage.tableHistoryEnabled' : 'storage.tableHistoryDisabled'
      await recordEvent(
        trx,
        scope.actor,
        eventOf(event, {}, { objectId: tableId, objectName: tableId, branchId: scope.branch.id }),
        origin,
      )
    })
    return get(scope, tableId)
  }

  /** Adds all states that the log does not have, one by one. Throws what prevents it. */
  async function maintain(history: TableHistory, signal: AbortSignal): Promise<void> {
    const { projectId, tableKey } = history
    let last = history.lastState
    for (const { id } of await statesToAdd(history)) {
      if (signal.aborted) return
      const from = { ...history, lastState: last }
      if (last !== null && (await deps.hasSameRows({ projectId, key: tableKey }, last, id)))
        await inTransaction((trx) => advance(trx, from, id))
      else if (!(await add(from, id, signal))) return
      last = id
    }
  }

  /** A log starts with the current state, not with the oldest one that is kept. */
  async function statesToAdd({ projectId, tableKey, lastState }: TableHistory) {
    const states = await deps.listStates(projectId, tableKey)
    return lastState === null ? states.slice(-1) : states.filter(({ id }) => id > lastState)
  }

  async function advance(trx: Trx, history: TableHistory, to: number): Promise<void> {
    if (await store.advance(trx, history, to, clock.now())) return
    throw new PlatformError('storage.history.advanced', { table: history.tableId })
  }

  /** False if the state is gone: its retention ended, or the table was dropped. */
  async function add(history: TableHistory, to: number, signal: AbortSignal): Promise<boolean> {
    const { projectId, branchId, tableId, tableKey, lastState, actor } = history
    const after = await deps.readState(tableKey, to)
    if (!after) return false
    const before = lastState === null ? undefined : await deps.readState(tableKey, lastState)
    if (lastState !== null && !before) throw new PlatformError('storage.history.gap', { table: tableId })
    const isDefaultBranch = await deps.isDefaultBranch(projectId, branchId)
    const dropped = await droppedColumns({ actor, branch: { id: branchId, isDefault: isDefaultBranch } }, tableId, after.snapshot)
    const path = `${deps.scratchDir}/history-${randomUUID()}.csv`
    const commit = (trx: Trx) => advance(trx, history, to)
    try {
      const rows = await writeChanges(
        path,
        { before: before?.snapshot, after: after.snapshot, dropped, at: after.createdAt, state: to },
        signal,
      )
      if (rows === 0 && before) {
        await inTransaction(commit)
        return true
      }
      const scope = { actor, projectId, branchId, isDefaultBranch, runId: '', baseUrl: deps.baseUrl() }
      await deps.tables.loadAll(scope, [appendTo(tableId, path, after.snapshot, branchId)], commit, signal)
      return true
    } finally {
      await removeFile(path)
    }
  }

  /** Columns of the log that the table no longer has: versions from now on have no value in them. */
  async function droppedColumns(scope: Scope, tableId: string, { columns }: TableSnapshot): Promise<readonly string[]> {
    const log = await deps.getTable(scope, historyTableOf(tableId)).catch((error: unknown) => {
      if (!(error instanceof PlatformError && error.kind === 'not-found')) throw error
    })
    const kept = new Set([...columns.map(({ name }) => name), ...HISTORY_COLUMNS].map((name) => name.toLowerCase()))
    return log?.columns.filter((name) => !kept.has(name.toLowerCase())) ?? []
  }

  interface Step {
    readonly before: TableSnapshot | undefined
    readonly after: TableSnapshot
    /** Further columns of the log. */
    readonly dropped: readonly string[]
    readonly at: Date
    readonly state: number
  }

  /** As CSV with a header; the number of rows. */
  async function writeChanges(path: string, { before, after, dropped, at, state }: Step, signal: AbortSignal): Promise<number> {
    const changes: SqlTable = before
      ? {
          version: randomUUID(),
          keys: changedKeys(before, after),
          select: (local) => changesSelect(before, after, local),
        }
      : deps.ofState({ snapshot: after }, randomUUID())
    const none = dropped.map((name) => `NULL AS ${identifier(name)}`)
    const names = [...after.columns.map(({ name }) => identifier(name)), ...none].join(', ')
    const kind = before ? `CASE _change WHEN 'update_after' THEN 'update' ELSE _change END` : `'insert'`
    const where = before ? ` WHERE _change <> 'update_before'` : ''
    const [validFrom, stateColumn, change] = HISTORY_COLUMNS
    const behind = (how: string) => `${literal(timeText(at))} AS ${validFrom}, ${state} AS ${stateColumn}, ${how} AS ${change}`
    // A log that was ended and restarted lacks the changes in between: earlier versions end here.
    const nothing = [...after.columns.map(({ name }) => `NULL AS ${identifier(name)}`), ...none].join(', ')
    const start = before ? '' : ` UNION ALL SELECT ${nothing}, ${behind(`'start'`)}`
    const sql = `SELECT ${names}, ${behind(kind)} FROM ${CHANGES}${where}${start}`
    await using session = await deps.engine.open({ mode: 'read', findTable: async () => changes, signal })
    const { bytes, end } = await session.copy(sql, 'csv', { signal })
    await saveText(path, bytes)
    return (await end).rows ?? 0
  }

  return { get, set, maintain, store, inTransaction }
}

const timeText = (at: Date): string => at.toISOString().replace('T', ' ').replace('Z', '')

function checkTable(tableId: string, { source, primaryKey, columns }: Awaited<ReturnType<TableHistoryDeps['getTable']>>): void {
  const refuse = (reason: string) => new PlatformError('storage.history.notPossible', { table: tableId, reason })
  if (source) throw refuse('it is an alias or belongs to another project. Keep the history of the table that it shows')
  if (primaryKey.length === 0) throw refuse('it has no primary key, by which versions of a row are recognised. Set one first')
  const taken = columns.find((name) => [...HISTORY_COLUMNS, 'valid_to', 'is_current'].some((own) => own === name.toLowerCase()))
  if (taken !== undefined) throw refuse(`it has a column ${taken}, which the history needs. Rename it first`)
}

function requireWrite({ actor }: Scope, tableId: string): void {
  const permission = tablePermissionOf(actor, tableId)
  if (permission !== 'write' && permission !== 'manage') throw new PlatformError('accessDenied')
}

const appendTo = (tableId: string, path: string, snapshot: TableSnapshot, branchId: number): TableLoad => ({
  destination: historyTableOf(tableId),
  files: [path],
  columns: undefined,
  hasHeader: true,
  incremental: true,
  primaryKey: undefined,
  delimiter: ',',
  enclosure: '"',
  schema: snapshot.typed ? schemaOf(snapshot) : undefined,
  nullValues: undefined,
  modifications: undefined,
  deduplication: undefined,
  deleteWhere: [],
  metadata: [],
  columnMetadata: {},
  description: `Changes of ${tableId}, one row for each version of a row. Read it with table_history('${tableId}').`,
  writer: { componentId: 'platform.table-history', configurationId: null, rowId: null, branchId },
})

function schemaOf({ columns }: TableSnapshot): readonly ColumnSchema[] {
  const own = (name: string, baseType: string): ColumnSchema => ({
    name,
    baseType,
    length: undefined,
    nullable: true,
    default: undefined,
  })
  const [validFrom, state, change] = HISTORY_COLUMNS
  return [
    ...columns.map(({ name, type, length }) => ({ name, baseType: type, length, nullable: true, default: undefined })),
    own(validFrom, 'TIMESTAMP'),
    own(state, 'INTEGER'),
    own(change, 'STRING'),
  ]
}
