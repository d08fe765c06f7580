// From a snapshot to SQL: what a query reads. Segments are read by field id, so added, dropped and re-added columns come out right;
// dead positions are anti-joined away; segments whose load times are outside the requested range are not opened.

import { asksForNulls, checkFilter, comparedValues, isEmptyOperator, isListOperator, isTextOperator } from './filter-values.ts'
import { type Column, columnNamed, LOAD_TIME_FIELD_ID, type Segment, type TableSnapshot } from './snapshot.ts'
import { fieldName, identifier, literal, paths as pathList, sqlType, timestamp, tryConvert } from './sql.ts'
import type { Filter, OrderBy, QueryRequest, RowFilter } from './table-engine.ts'

/** Local paths of the objects a snapshot names, by key. */
export type LocalPaths = Readonly<Record<string, string>>

export const LOAD_TIME: Column = { fieldId: LOAD_TIME_FIELD_ID, name: '_timestamp', type: 'TIMESTAMP', nullable: false }

export const pathOf = (local: LocalPaths, key: string): string => {
  const path = local[key]
  if (path === undefined) throw new Error(`no local path for ${key}`) // the engine opens every key of the snapshot it passes
  return path
}

/** `read_parquet` of whole files: columns `c<fieldId>` and the virtual `file_row_number` and `file_index`. */
export function scan(files: readonly string[], columns: readonly Column[], typed: boolean, loadedAt?: number): string {
  // A scan needs at least one column; the load time is in nearly every file and costs next to nothing.
  const wanted = columns.length ? columns : [LOAD_TIME]
  const fields = wanted.map((c) => {
    const absent = c.fieldId === LOAD_TIME_FIELD_ID ? absentLoadTime(loadedAt) : absentValue(c, typed)
    return `${c.fieldId}: {name: '${fieldName(c.fieldId)}', type: '${sqlType(c)}', default_value: ${absent}}`
  })
  return `read_parquet(${pathList(files)}, schema = MAP {${fields.join(', ')}})`
}

/** Where a file lacks the column. */
function absentValue(column: Column, typed: boolean): string {
  if (!typed) return "''"
  return column.default === undefined ? 'NULL::VARCHAR' : literal(column.default)
}

const absentLoadTime = (loadedAt: number | undefined): string =>
  loadedAt === undefined ? 'NULL::VARCHAR' : literal(new Date(loadedAt).toISOString().replace('T', ' ').replace('Z', ''))

/** Rows of one segment that are alive, with `file_row_number`. */
export function liveSegment(segment: Segment, columns: readonly Column[], typed: boolean, local: LocalPaths): string {
  const from = `FROM ${scan([pathOf(local, segment.key)], columns, typed, segment.loadedAt)} s`
  const names = ['s.file_row_number', ...columns.map((c) => `s.${fieldName(c.fieldId)}`)].join(', ')
  if (!segment.deletes) return `SELECT ${names} ${from}`
  return `SELECT ${names} ${from} ANTI JOIN read_parquet(${literal(pathOf(local, segment.deletes.key))}) d ON s.file_row_number = d.pos`
}

/** All live rows of the segments, in order, with the given columns as `c<fieldId>`. */
export function liveRows(snapshot: TableSnapshot, columns: readonly Column[], local: LocalPaths): string {
  const wanted = columns.length ? columns : [LOAD_TIME]
  const names = wanted.map((c) => fieldName(c.fieldId)).join(', ')
  const parts: string[] = []
  let whole: string[] = []
  let loadedAt: number | undefined
  const flush = () => {
    if (whole.length) parts.push(`SELECT ${names} FROM ${scan(whole, wanted, snapshot.typed, loadedAt)}`)
    whole = []
  }
  for (const segment of snapshot.segments) {
    if (segment.deletes || segment.loadedAt !== loadedAt) flush()
    loadedAt = segment.loadedAt
    if (!segment.deletes) {
      whole.push(pathOf(local, segment.key))
      continue
    }
    parts.push(`SELECT ${names} FROM (${liveSegment(segment, wanted, snapshot.typed, local)})`)
  }
  flush()
  if (parts.length === 0) {
    const none = wanted.map((c) => `NULL::${sqlType(c)} AS ${fieldName(c.fieldId)}`)
    return `(SELECT ${none.join(', ')} WHERE false)`
  }
  return `(${parts.join('\nUNION ALL\n')})`
}

export interface Query {
  /** `FROM ... WHERE ... ORDER BY ... LIMIT ...` over columns `c<fieldId>`. */
  readonly from: string
  readonly columns: readonly Column[]
}

/** The clauses of a request, to be appended to a select list. */
export function query(request: QueryRequest, local: LocalPaths, also: readonly Column[] = []): Query {
  const { snapshot } = request
  const columns = request.columns?.map((name) => columnNamed(snapshot, name)) ?? snapshot.columns
  const conditions = rowConditions(request)
  const order = (request.orderBy ?? []).map((o) => orderTerm(snapshot, o))
  const touched = [...columns, ...namedColumns(request)]
  const wantsTime = request.changedSince !== undefined || request.changedUntil !== undefined
  const read = distinctColumns([...touched, ...also, ...(wantsTime ? [LOAD_TIME] : [])])
  const where = conditions.length ? ` WHERE ${conditions.join(' AND ')}` : ''
  const orderBy = order.length ? ` ORDER BY ${order.join(', ')}` : ''
  const limit = request.limit === undefined ? '' : ` LIMIT ${Math.max(0, Math.trunc(request.limit))}`
  const pruned = pruneSegments(request)
  const offset = pruned.offset ? ` OFFSET ${Math.max(0, Math.trunc(pruned.offset))}` : ''
  return { from: `FROM ${liveRows(pruned.snapshot, read, local)} t${where}${orderBy}${limit}${offset}`, columns }
}

/** The conditions of a filter over columns `c<fieldId>`, joined by AND by the caller. */
export function rowConditions(request: RowFilter & { readonly snapshot: TableSnapshot }): string[] {
  const { snapshot, filters = [], changedSince, changedUntil, search } = request
  const conditions = filters.map((filter) => filterCondition(snapshot, filter))
  const time = fieldName(LOAD_TIME_FIELD_ID)
  if (changedSince !== undefined) conditions.push(`${time} >= ${timestamp(changedSince)}`)
  if (changedUntil !== undefined) conditions.push(`${time} < ${timestamp(changedUntil)}`)
  if (search !== undefined) {
    const text = literal(search.toLowerCase())
    const hits = searchedColumns(request).map((c) => `contains(lower(CAST(${fieldName(c.fieldId)} AS VARCHAR)), ${text})`)
    conditions.push(`(${hits.join(' OR ')})`)
  }
  return conditions
}

/** The columns that filters, orders and a search read. */
export function namedColumns(request: QueryRequest): Column[] {
  const { snapshot, filters = [], orderBy = [], search } = request
  const named = [...filters, ...orderBy].map((f) => columnNamed(snapshot, f.column))
  return search === undefined ? named : [...named, ...searchedColumns(request)]
}

const searchedColumns = ({ snapshot, searchColumns }: RowFilter & { readonly snapshot: TableSnapshot }): readonly Column[] =>
  searchColumns?.map((name) => columnNamed(snapshot, name)) ?? snapshot.columns

export const distinctColumns = (columns: readonly Column[]): Column[] => [...new Map(columns.map((c) => [c.fieldId, c])).values()]

/** Leaves out segments without requested rows: by load time, and before and behind the rows of a query that takes them as they lie. */
export function pruneSegments<Request extends QueryRequest>(request: Request): Request {
  const { snapshot, changedSince, changedUntil, limit = Number.POSITIVE_INFINITY, offset = 0 } = request
  const inTime = snapshot.segments.filter(
    (s) =>
      (changedSince === undefined || s.maxLoadedAt >= changedSince) &&
      (changedUntil === undefined || s.minLoadedAt < changedUntil),
  )
  const anyRows = !request.filters?.length && request.search === undefined && !request.orderBy?.length
  if (!anyRows || changedSince !== undefined || changedUntil !== undefined)
    return { ...request, snapshot: { ...snapshot, segments: inTime } }
  const segments: Segment[] = []
  let before = 0
  let seen = 0
  for (const segment of inTime) {
    const rows = segment.rows - (segment.deletes?.rows ?? 0)
    if (seen + rows <= offset) before += rows
    else if (seen < offset + limit) segments.push(segment)
    seen += rows
  }
  return { ...request, ...(offset > 0 && { offset: offset - before }), snapshot: { ...snapshot, segments } }
}

const OPERATORS = { gt: '>', ge: '>=', lt: '<', le: '<=' } as const

function filterCondition(snapshot: TableSnapshot, filter: Filter): string {
  checkFilter(snapshot, filter)
  const column = columnNamed(snapshot, filter.column)
  const { operator, dataType } = filter
  if (isEmptyOperator(operator)) {
    const isEmpty = `coalesce(CAST(${fieldName(column.fieldId)} AS VARCHAR), '') = ''`
    return operator === 'isEmpty' ? isEmpty : `NOT (${isEmpty})`
  }
  if (isTextOperator(operator)) {
    const compare = operator === 'contains' ? 'contains' : 'starts_with'
    return `${compare}(lower(${asText(column)}), ${literal((filter.values[0] ?? '').toLowerCase())})`
  }
  const left = dataType ? readAs(column, dataType) : fieldName(column.fieldId)
  const values = comparedValues(snapshot, filter).map((value) => {
    if (dataType) return `TRY_CAST(${literal(value)} AS ${filterType(dataType)})`
    return column.type === 'STRING' ? literal(value) : tryConvert(column, literal(value))
  })
  if (!isListOperator(operator)) return `${left} ${OPERATORS[operator]} ${values[0]}`
  const not = operator === 'ne' ? 'NOT ' : ''
  const conditions = [
    ...(values.length > 0 ? [`${left} ${not}IN (${values.join(', ')})`] : []),
    ...(asksForNulls(snapshot, filter) ? [`${fieldName(column.fieldId)} IS ${not}NULL`] : []),
  ]
  if (conditions.length === 0) return operator === 'eq' ? 'false' : 'true'
  return `(${conditions.join(operator === 'eq' ? ' OR ' : ' AND ')})`
}

function orderTerm(snapshot: TableSnapshot, order: OrderBy): string {
  const column = columnNamed(snapshot, order.column)
  const key = order.dataType ? readAs(column, order.dataType) : fieldName(column.fieldId)
  return `${key} ${order.order === 'DESC' ? 'DESC NULLS LAST' : 'ASC NULLS LAST'}`
}

const readAs = (column: Column, dataType: string): string => `TRY_CAST(${fieldName(column.fieldId)} AS ${filterType(dataType)})`

/** INTEGER and BIGINT are one here: ids beyond 2^31 must not vanish from a filter. */
const filterType = (dataType: string): string =>
  ({
    INTEGER: 'BIGINT',
    BIGINT: 'BIGINT',
    DOUBLE: 'DOUBLE',
    REAL: 'DOUBLE',
    DECIMAL: 'DECIMAL(38,9)',
    NUMERIC: 'DECIMAL(38,9)',
    TIMESTAMP: 'TIMESTAMP',
  })[dataType] ?? 'DOUBLE'

/** `c2 AS "name"`: the way out, under the names people gave. */
export const outAs = (column: Column): string => `${fieldName(column.fieldId)} AS ${identifier(column.name)}`

/** A value of one column as a value of another, null where it is not one: text as a load reads it, other values only without loss. */
export function converted(from: Column, to: Column): string {
  const value = fieldName(from.fieldId)
  if (sqlType(from) === sqlType(to) && from.length === to.length) return value
  if (to.type === 'STRING') return tryConvert(to, asText(from))
  if (from.type === 'STRING') return tryConvert(to, `nullif(${value}, '')`)
  const cast = `TRY_CAST(${value} AS ${sqlType(to)})`
  return `CASE WHEN TRY_CAST(${cast} AS ${sqlType(from)}) = ${value} THEN ${cast} END`
}

/** Whether a value would be lost by `converted`; nothing is lost where nothing is, unless the column needs a value. */
export function isUnfit(from: Column, to: Column): string {
  const isAbsent = `(${converted(from, to)}) IS NULL`
  return to.nullable ? `(${asText(from)} <> '' AND ${isAbsent})` : isAbsent
}

/** A value as text, the way exports and previews write it: a float without digits behind the point is written as a whole number. */
export function asText({ type, fieldId }: Column): string {
  if (type === 'STRING') return fieldName(fieldId)
  const text = `CAST(${fieldName(fieldId)} AS VARCHAR)`
  return type === 'FLOAT' ? `regexp_replace(${text}, '\\.0$', '')` : text
}
