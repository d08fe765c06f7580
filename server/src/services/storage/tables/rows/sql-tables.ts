// Tables as SQL sees them: a select over the files of one state, with the columns and rows that its asker may see. Aliases and linked
// tables come out as they do everywhere else.

import { HISTORY_SCHEMA, type HistoryName, readHistoryName } from '../../../../engines/sql/history.ts'
import type { SqlTable } from '../../../../engines/sql/sql-engine.ts'
import { changedKeys, changesSelect } from '../../../../engines/table-engine/history/changes.ts'
import { HISTORY_COLUMNS, historyTableOf, validitySelect } from '../../../../engines/table-engine/history/validity.ts'
import { LOAD_TIME, outAs, pathOf, query } from '../../../../engines/table-engine/relation.ts'
import {
  type Column,
  columnNamed,
  countBytes,
  referencedKeys,
  type Segment,
  type TableSnapshot,
} from '../../../../engines/table-engine/snapshot.ts'
import { identifier, paths, sqlType } from '../../../../engines/table-engine/sql.ts'
import type { QueryRequest } from '../../../../engines/table-engine/table-engine.ts'
import { defined } from '../../../../kit/defined.ts'
import { PlatformError } from '../../../../kit/errors.ts'
import { parseMoment } from '../../../../kit/relative-time.ts'
import type { SqlInput } from '../../../../model/run-ports.ts'
import type { Scope } from '../../../../model/scope.ts'
import type { Table, TableParts } from '../catalog/table-catalog.ts'
import { isWhole as isWholeTable } from './open-tables.ts'
import { queryOf } from './table-export.ts'
import { hasNoFilter, type QueryInput, readTableQuery, type TableQuery } from './table-query.ts'
import { whole } from './table-requests.ts'

export type SqlTables = ReturnType<typeof createSqlTables>

export function createSqlTables({ catalog, store, clock }: Pick<TableParts, 'catalog' | 'store' | 'clock'>) {
  /** Undefined when there is none; a table that the asker may not read throws. */
  async function find(scope: Scope, bucketId: string, name: string): Promise<SqlTable | undefined> {
    const history = bucketId === HISTORY_SCHEMA ? readHistoryName(name) : undefined
    if (history?.kind === 'versions') return versions(scope, history.tableId)
    if (history) return history.kind === 'asOf' ? asOf(scope, history) : changes(scope, history)
    const table = await catalog.get(scope, `${bucketId}.${name}`).catch((error: unknown) => {
      if (error instanceof PlatformError && error.code === 'storage.tables.notFound') return undefined
      throw error
    })
    return table && sqlTableOf(table)
  }

  async function asOf(scope: Scope, { tableId, at }: Extract<HistoryName, { kind: 'asOf' }>): Promise<SqlTable> {
    const table = await catalog.get(scope, tableId)
    const { snapshot, id } = await stateAt(table, at)
    const known = new Set(snapshot.columns.map((column) => column.name))
    const asked = queryOf(table, EVERYTHING)
    const columns = (asked.columns ?? snapshot.columns.map((column) => column.name)).filter((column) => known.has(column))
    return stateAsSqlTable({ snapshot, ...asked, columns }, JSON.stringify([id, asked]))
  }

  async function changes(scope: Scope, { tableId, from, to }: Extract<HistoryName, { kind: 'changes' }>): Promise<SqlTable> {
    const table = await catalog.get(scope, tableId)
    if (!isWholeTable(table)) throw new PlatformError('storage.validation.timeTravelNotSupported', { table: tableId })
    const before = await stateAt(table, from)
    const { snapshot: after, snapshotId } = to === undefined ? await catalog.reading(table) : asReading(await stateAt(table, to))
    return {
      version: JSON.stringify([before.id, snapshotId]),
      keys: changedKeys(before.snapshot, after),
      select: (local) => changesSelect(before.snapshot, after, local),
    }
  }

  /** Of a table whose history is kept; the rows of the history are readable with the bucket, like those of the table. */
  async function versions(scope: Scope, tableId: string): Promise<SqlTable> {
    const { columns, primaryKey } = await catalog.get(scope, tableId)
    const log = await catalog.get(scope, historyTableOf(tableId)).catch((error: unknown) => {
      if (error instanceof PlatformError && error.kind === 'not-found')
        throw new PlatformError('sql.noHistory', { table: tableId })
      throw error
    })
    const kept = columns.filter((name) => log.columns.includes(name))
    if (!HISTORY_COLUMNS.every((name) => log.columns.includes(name)) || primaryKey.length === 0)
      throw new PlatformError('sql.noHistory', { table: tableId })
    const rows = await sqlTableOf(log)
    return {
      version: JSON.stringify([rows.version, kept, primaryKey]),
      keys: rows.keys,
      select: (local) => validitySelect(rows.select(local), kept, primaryKey),
    }
  }

  async function stateAt({ id, data }: Table, time: string) {
    const [, number] = /^state:(\d{1,15})$/.exec(time) ?? []
    if (number !== undefined) {
      const named = await store.findStateOf(data.key, Number(number))
      if (!named) throw new PlatformError('sql.noState', { table: id, time })
      return named
    }
    // Phrases mean whole seconds; a table may have been created in this one.
    const at = time.trim().toLowerCase() === 'now' ? clock.now() : parseMoment(time, clock.now())
    if (!at) throw new PlatformError('sql.noTime', { value: time.slice(0, 60) })
    const state = await store.findStateAt(data.key, at)
    if (!state) throw new PlatformError('sql.noState', { table: id, time: at.toISOString() })
    return state
  }

  /** Every table the asker may read. */
  async function list(scope: Scope): Promise<ListedTable[]> {
    return (await catalog.list(scope)).map((table) => ({
      schema: table.bucket.id,
      name: table.row.name,
      primaryKey: table.primaryKey,
      state: JSON.stringify([table.data.key, table.data.snapshotId, table.columns]),
      columns: async () => {
        const { snapshot } = await catalog.reading(table)
        return table.columns.map((name) => {
          const column = columnNamed(snapshot, name)
          return { name, type: sqlType(column), nullable: snapshot.typed && column.nullable }
        })
      },
    }))
  }

  /** A part of a table; `fields` as a client sends them: columns, filters, times and a limit (spec storage 2.9.2). */
  async function part(scope: Scope, tableId: string, { limit, ...fields }: QueryInput & { limit?: unknown }): Promise<TablePart> {
    const table = await catalog.get(scope, tableId)
    const wanted = readTableQuery(fields, table.columns, clock.now())
    const rows = limit === undefined ? undefined : whole('rows', limit)
    return {
      id: table.id,
      columns: wanted.columns ?? table.columns,
      primaryKey: table.primaryKey,
      isWhole: rows === undefined && hasNoFilter(wanted),
      isAlias: table.source !== undefined,
      isChosen: !isWholeTable(table),
      isTyped: table.data.isTyped,
      sizeBytes: async () => countBytes((await catalog.reading(table)).snapshot),
      open: (withLoadTime = false) => sqlTableOf(table, queryOf(table, wanted, rows), withLoadTime),
    }
  }

  /** What an input of a run reads. */
  async function ofRun(scope: Scope, { tableId, query: asked }: Pick<SqlInput, 'tableId' | 'query'>): Promise<SqlTable> {
    const table = await catalog.get(scope, tableId)
    const { columns, changedSince } = asked
    const wanted = { filters: asked.where ? [asked.where] : [], orderBy: [], ...defined({ columns, changedSince }) }
    return sqlTableOf(table, queryOf(table, wanted, asked.limit))
  }

  async function sqlTableOf(
    table: Table,
    asked: Omit<QueryRequest, 'snapshot'> = queryOf(table, EVERYTHING),
    withLoadTime = false,
  ): Promise<SqlTable> {
    const { snapshot, snapshotId } = await catalog.reading(table)
    return stateAsSqlTable({ snapshot, ...asked }, JSON.stringify([snapshotId, asked, withLoadTime]), withLoadTime)
  }

  return { find, list, part, ofRun, ofState: stateAsSqlTable }
}

const asReading = ({ id, snapshot }: { readonly id: number; readonly snapshot: TableSnapshot }) => ({ snapshotId: id, snapshot })

/** A state of a table as a select over its files, whether it is published or not. Another `version` is another state. */
function stateAsSqlTable(request: QueryRequest, version: string, withLoadTime = false): SqlTable {
  const also = withLoadTime ? [LOAD_TIME] : []
  return {
    version,
    keys: referencedKeys(request.snapshot),
    select: (local) => {
      const plain = withLoadTime ? undefined : byName(request, local)
      if (plain) return plain
      const { from, columns } = query(request, local, also)
      return `SELECT ${[...columns, ...also].map(outAs).join(', ')} ${from}`
    },
  }
}

/**
 * The same rows by the names in the files, where every file has every column and no row is dead: DuckDB reads that twice as fast as by
 * field ids. Files of other engines are left out, as they may spell the names otherwise; decimals may have become wider since the first
 * file was written, which fits one file only.
 */
function byName(
  { snapshot, columns, filters, orderBy, ...rest }: QueryRequest,
  local: Readonly<Record<string, string>>,
): string | undefined {
  const { segments } = snapshot
  const asked = columns?.map((name) => columnNamed(snapshot, name)) ?? snapshot.columns
  const isPlain = !filters?.length && !orderBy?.length && Object.values(rest).every((value) => value === undefined)
  const areWhole = segments.every(
    ({ deletes, fieldIds, loadedAt }) =>
      deletes === null && loadedAt === undefined && asked.every(({ fieldId }) => fieldIds.includes(fieldId)),
  )
  const areNamesKnown = asked.every(({ isRenamed }) => !isRenamed)
  const isMixed = segments.length > 1 && asked.some(({ type }) => type === 'NUMERIC')
  if (!isPlain || !areNamesKnown || !areWhole || isMixed || segments.length === 0) return undefined
  const alike = namedAlike(segments, asked)
  if (alike.length > MAX_NAMINGS) return undefined
  const selects = alike.map(({ names, keys }) => {
    const list = asked.map((column, i) => `CAST(${identifier(names[i]!)} AS ${sqlType(column)}) AS ${identifier(column.name)}`)
    return `SELECT ${list.join(', ')} FROM read_parquet(${paths(keys.map((key) => pathOf(local, key)))})`
  })
  return selects.join(' UNION ALL ')
}

/** Beyond this the names of columns were changed between loads again and again. */
const MAX_NAMINGS = 8

/** Files one behind the other that have the columns under the same names: those before and after a rename. */
function namedAlike(segments: readonly Segment[], columns: readonly Column[]) {
  const found: { readonly names: readonly string[]; readonly keys: string[] }[] = []
  for (const { key, formerNames } of segments) {
    const names = columns.map(({ fieldId, name }) => formerNames?.[fieldId] ?? name)
    const last = found.at(-1)
    if (last && names.every((name, i) => name === last.names[i])) last.keys.push(key)
    else found.push({ names, keys: [key] })
  }
  return found
}

const EVERYTHING: TableQuery = { filters: [], orderBy: [] }

/** A table with its columns as SQL has them. */
export interface ListedTable {
  readonly schema: string
  readonly name: string
  readonly primaryKey: readonly string[]
  /** Another text means that the columns may be others. */
  readonly state: string
  columns(): Promise<readonly { readonly name: string; readonly type: string; readonly nullable: boolean }[]>
}

/** What a load into a workspace reads. */
export interface TablePart {
  readonly id: string
  readonly columns: readonly string[]
  readonly primaryKey: readonly string[]
  /** All rows of the table. */
  readonly isWhole: boolean
  readonly isAlias: boolean
  /** An alias that shows some of the rows or columns only. */
  readonly isChosen: boolean
  readonly isTyped: boolean
  /** On disk, of the whole table. */
  sizeBytes(): Promise<number>
  /** `withLoadTime`: with the column `_timestamp` behind the others. */
  open(withLoadTime?: boolean): Promise<SqlTable>
}
