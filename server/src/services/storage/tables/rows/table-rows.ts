// Rows of a table for people who look at them: any page, sorted and filtered by type, and figures of its columns. One page is bounded
// by its cells, so that neither the worker nor this process ever holds more than a few tens of megabytes for it.

import type { TableSnapshot } from '../../../../engines/table-engine/snapshot.ts'
import type {
  PreviewCell,
  QueryRequest,
  RunOptions,
  TableEngine,
  TableProfile,
} from '../../../../engines/table-engine/table-engine.ts'
import { defined } from '../../../../kit/defined.ts'
import { PlatformError } from '../../../../kit/errors.ts'
import type { Scope } from '../../../../model/scope.ts'
import type { Reading, Table, TableParts } from '../catalog/table-catalog.ts'
import { queryOf } from './table-export.ts'
import { readTableQuery, type TableQuery } from './table-query.ts'
import { type Fields, flag, isSet, pastMoment, whole } from './table-requests.ts'

export interface TableRowsDeps {
  readonly parts: TableParts
  readonly engine: Pick<TableEngine, 'preview' | 'count' | 'profile'>
}

export interface RowsPage {
  readonly state: number
  readonly columns: readonly { readonly name: string; readonly type: string }[]
  readonly offset: number
  readonly limit: number
  /** Where the next page begins; null on the last one. */
  readonly nextOffset: number | null
  /** Rows that match; null if not requested and not known anyway. */
  readonly total: number | null
  readonly rows: readonly (readonly PreviewCell[])[]
}

export type ProfileView = Omit<TableProfile, 'bytes'> & { readonly state: number; readonly isSampled: boolean }

const PAGE_ROWS = 100
const MAX_PAGE_ROWS = 1000
const CELL_CHARS = 1024
const MAX_CELL_CHARS = 16_384
/** Of a page with one column: a long value is read whole. */
const MAX_LONE_CELL_CHARS = 8 << 20
/** Maximum characters of one page: on wide tables a page has fewer rows than requested, which the response shows. */
const MAX_PAGE_CHARS = 32 << 20
const SAMPLE_ROWS = 100_000
const MAX_SAMPLE_ROWS = 5_000_000
const BINS = 20
const MAX_BINS = 200
/** Figures of a wide table take long; request them in parts. */
const MAX_PROFILE_COLUMNS = 100
/** The caller waits for the response. */
const TIME_LIMIT_MS = 60_000

export type TableRows = ReturnType<typeof createTableRows>

export function createTableRows({ parts, engine }: TableRowsDeps) {
  const { catalog, store, clock } = parts

  /** `fields` as a client sends them: a query, where the page begins and how long it is. */
  async function page(scope: Scope, tableId: string, fields: Fields, signal: AbortSignal): Promise<RowsPage> {
    const table = await catalog.get(scope, tableId)
    const { snapshot, snapshotId, columns } = await stateOf(table, fields)
    const query = readTableQuery(fields, columns, clock.now())
    const request = { snapshot, ...queryOf({ ...table, columns }, withStableOrder(table, columns, query)) }
    const shown = request.columns ?? []
    const maxChars = shown.length === 1 ? MAX_LONE_CELL_CHARS : MAX_CELL_CHARS
    const cellChars = numberIn('cellChars', fields.cellChars, CELL_CHARS, 1, maxChars)
    const asked = numberIn('limit', fields.limit, PAGE_ROWS, 1, MAX_PAGE_ROWS)
    const limit = Math.max(1, Math.min(asked, Math.floor(MAX_PAGE_CHARS / (cellChars * shown.length))))
    const offset = isSet(fields.offset) ? whole('offset', fields.offset) : 0
    const run = { signal, timeoutMs: TIME_LIMIT_MS }
    const found = await inTime(engine.preview({ ...request, offset, limit: limit + 1, maxCellChars: cellChars }, run))
    const rows = found.rows.slice(0, limit)
    const isLast = found.rows.length <= limit
    return {
      state: snapshotId,
      columns: shown.map((name) => ({ name, type: typeOf(snapshot, name) })),
      offset,
      limit,
      nextOffset: isLast ? null : offset + limit,
      total: isLast && (rows.length > 0 || offset === 0) ? offset + rows.length : await totalOf(request, fields, run),
      rows,
    }
  }

  async function totalOf(request: QueryRequest, fields: Fields, run: RunOptions): Promise<number | null> {
    return flag(fields, 'count') ? inTime(engine.count(request, run)) : null
  }

  /** Figures of the columns right now: of about `sampleRows` rows, or with `exact` of all that match. */
  async function profile(scope: Scope, tableId: string, fields: Fields, signal: AbortSignal): Promise<ProfileView> {
    const table = await catalog.get(scope, tableId)
    const { snapshot, snapshotId, columns } = await stateOf(table, fields)
    const { columns: chosen = columns, ...query } = queryOf(
      { ...table, columns },
      readTableQuery({ ...fields, orderBy: undefined }, columns, clock.now()),
    )
    if (chosen.length > MAX_PROFILE_COLUMNS)
      throw invalid(
        `A profile has at most ${MAX_PROFILE_COLUMNS} columns at once, and these are ${chosen.length}. Name some in "columns".`,
      )
    const sampleRows = flag(fields, 'exact')
      ? undefined
      : numberIn('sampleRows', fields.sampleRows, SAMPLE_ROWS, 1, MAX_SAMPLE_ROWS)
    const bins = numberIn('bins', fields.bins, BINS, 1, MAX_BINS)
    const found = await inTime(
      engine.profile(
        { ...query, snapshot, columns: chosen, bins, ...defined({ sampleRows }) },
        { signal, timeoutMs: TIME_LIMIT_MS },
      ),
    )
    const { rows, readRows, columns: figures } = found
    return { state: snapshotId, rows, readRows, isSampled: readRows < rows, columns: figures }
  }

  /** The state a client looks at since its first page, that of a time, or the present one. Columns the table no longer has are not shown. */
  async function stateOf(table: Table, asked: Fields): Promise<Reading & { readonly columns: readonly string[] }> {
    const reading = isSet(asked.state)
      ? await earlierState(table, whole('state', asked.state))
      : isSet(asked.timestamp)
        ? await stateAt(table, pastMoment(asked.timestamp, clock.now()))
        : await catalog.reading(table)
    const known = new Set(reading.snapshot.columns.map(({ name }) => name))
    return { ...reading, columns: table.columns.filter((name) => known.has(name)) }
  }

  async function earlierState(table: Table, id: number): Promise<Reading> {
    const found = await store.findStateOf(table.data.key, id)
    if (!found) throw new PlatformError('storage.tables.stateNotFound', { table: table.id, state: id })
    return { snapshot: found.snapshot, snapshotId: found.id }
  }

  async function stateAt(table: Table, at: Date): Promise<Reading> {
    const found = at > clock.now() ? undefined : await store.findStateAt(table.data.key, at)
    if (!found) throw new PlatformError('storage.timetravel.invalid')
    return { snapshot: found.snapshot, snapshotId: found.id }
  }

  return { page, profile }
}

/** Rows that compare equal could be on two pages or on none: the key decides between them, without one all shown columns. */
function withStableOrder(table: Table, columns: readonly string[], query: TableQuery): TableQuery {
  if (query.orderBy.length === 0) return query
  const named = new Set(query.orderBy.map(({ column }) => column))
  const rest = table.primaryKey.length > 0 ? table.primaryKey : (query.columns ?? columns)
  const ties = rest.filter((column) => !named.has(column)).map((column) => ({ column, order: 'ASC' as const }))
  return { ...query, orderBy: [...query.orderBy, ...ties] }
}

const typeOf = (snapshot: TableSnapshot, name: string): string =>
  snapshot.columns.find((column) => column.name === name)?.type ?? 'STRING'

/** A query that takes too long is too large, and a retry does not help. */
async function inTime<T>(answer: Promise<T>): Promise<T> {
  return answer.catch((error: unknown) => {
    if (error instanceof PlatformError && error.code === 'tableEngine.timeout')
      throw new PlatformError('storage.tables.tooSlow', { seconds: TIME_LIMIT_MS / 1000 })
    throw error
  })
}

function numberIn(field: string, value: unknown, fallback: number, min: number, max: number): number {
  const number = isSet(value) ? whole(field, value) : fallback
  if (number < min || number > max)
    throw invalid(`The parameter "${field}" is ${number}; it takes a number from ${min} to ${max}.`)
  return number
}

const invalid = (reason: string) => new PlatformError('storage.tables.validation', { reason })
