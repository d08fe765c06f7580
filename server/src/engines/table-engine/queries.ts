// Reading a snapshot: small answers that fit into a message.

import { PlatformError } from '../../kit/errors.ts'
import type { Database, SqlValue } from './database.ts'
import { ENOUGH, histogram } from './histogram.ts'
import { asText, isUnfit, liveRows, query, rowConditions } from './relation.ts'
import { type Column, columnNamed, countBytes, countRows } from './snapshot.ts'
import { fieldName, identifier } from './sql.ts'
import type {
  ColumnProfile,
  DuplicateKey,
  DuplicateKeyRequest,
  Preview,
  PreviewCell,
  PreviewRequest,
  ProfileRequest,
  QueryRequest,
  TableProfile,
  UnfitRequest,
  UnfitValues,
} from './table-engine.ts'
import type { QueryJob } from './worker-protocol.ts'

const MAX_PREVIEW_ROWS = 1001
const TOP_VALUES = 10
/** Values in a profile are shown to people; a longer one is cut. */
const PROFILE_CHARS = 200
const SAMPLE_SEED = 42
const UNFIT_EXAMPLES = 5
/** A prefix of every value that is passed to JavaScript: the driver's decoder drops a byte order mark at the start of a text. */
const SHIELD = '='

export async function preview(db: Database, { request, local }: QueryJob<'preview', PreviewRequest>): Promise<Preview> {
  const limit = Math.min(request.limit, MAX_PREVIEW_ROWS)
  const { from, columns } = query({ ...request, limit }, local)
  const cut = request.maxCellChars
  const cells = columns.flatMap((c) => {
    const text = request.withMilliseconds && c.type === 'TIMESTAMP' ? withMilliseconds(c) : asText(c)
    return cut === undefined ? [`'${SHIELD}' || ${text}`] : [`'${SHIELD}' || left(${text}, ${cut})`, `length(${text}) > ${cut}`]
  })
  const rows = limit > 0 ? await db.rows(`SELECT ${cells.join(', ')} ${from}`) : []
  return {
    columns: columns.map((c) => c.name),
    rows: rows.map((row) => columns.map((_, i) => (cut === undefined ? cell(row[i], false) : cell(row[2 * i], row[2 * i + 1])))),
  }
}

/** Digits behind the millisecond stay. */
const withMilliseconds = (column: Column): string => {
  const value = fieldName(column.fieldId)
  return `CASE WHEN microsecond(${value}) % 1000 = 0 THEN strftime(${value}, '%Y-%m-%d %H:%M:%S.%g') ELSE ${asText(column)} END`
}

const cell = (value: SqlValue | undefined, isTruncated: SqlValue | undefined): PreviewCell => ({
  value: typeof value === 'string' ? value.slice(SHIELD.length) : null,
  isTruncated: isTruncated === true,
})

export async function count(db: Database, { request, local }: QueryJob<'count', QueryRequest>): Promise<number> {
  const { from } = query({ ...request, columns: [], orderBy: [] }, local)
  const [row] = await db.rows(`SELECT count(*) FROM (SELECT 1 ${from})`)
  return Number(row?.[0] ?? 0)
}

export async function findDuplicateKey(
  db: Database,
  { request, local }: QueryJob<'findDuplicateKey', DuplicateKeyRequest>,
): Promise<DuplicateKey | null> {
  const columns = request.columns.map((name) => columnNamed(request.snapshot, name))
  if (columns.length === 0) throw new PlatformError('tableEngine.failed', { reason: 'a key needs at least one column' })
  const names = columns.map((c) => fieldName(c.fieldId)).join(', ')
  const [row] = await db.rows(
    `SELECT count(*) AS n, ${columns.map((c) => `left(${asText(c)}, ${PROFILE_CHARS})`).join(', ')}
     FROM ${liveRows(request.snapshot, columns, local)} GROUP BY ${names} HAVING count(*) > 1 LIMIT 1`,
  )
  if (!row) return null
  return { rows: Number(row[0]), values: row.slice(1).map((v) => (typeof v === 'string' ? v : null)) }
}

export async function findUnfit(db: Database, { request, local }: QueryJob<'findUnfit', UnfitRequest>): Promise<UnfitValues> {
  const column = columnNamed(request.snapshot, request.column)
  const rows = liveRows(request.snapshot, [column], local)
  const where = `WHERE ${isUnfit(column, request.to)}`
  const [counted] = await db.rows(`SELECT count(*) FROM ${rows} ${where}`)
  const text = `'${SHIELD}' || left(${asText(column)}, ${PROFILE_CHARS})`
  const found = await db.rows(`SELECT DISTINCT ${text} FROM ${rows} ${where} LIMIT ${UNFIT_EXAMPLES}`)
  const examples = found.map(([value]) => cell(value, false).value).sort()
  return { rows: Number(counted?.[0] ?? 0), examples }
}

export async function profile(db: Database, { request, local }: QueryJob<'profile', ProfileRequest>): Promise<TableProfile> {
  const { snapshot, topValues = TOP_VALUES, bins = 0 } = request
  const columns = request.columns?.map((name) => columnNamed(snapshot, name)) ?? snapshot.columns
  const isWhole = rowConditions(request).length === 0
  const rows = isWhole ? countRows(snapshot) : await count(db, { kind: 'count', request, local })
  const sample = sampleClause(rows, request.sampleRows)
  const profiles: ColumnProfile[] = []
  let readRows = rows
  // One column at a time: the distinct values of one fit (or spill), those of all columns together might not.
  for (const column of columns) {
    const { from } = query({ ...request, columns: [column.name] }, local)
    const figures = await profileColumn(db, column, `(SELECT ${fieldName(column.fieldId)} ${from}${sample})`, topValues, bins)
    readRows = figures.readRows
    profiles.push(figures.profile)
  }
  return { rows, readRows, bytes: isWhole ? countBytes(snapshot) : null, columns: profiles }
}

/** Whole vectors of rows from all over the table, the same ones for every column and every time: figures fit together. */
function sampleClause(rows: number, wanted: number | undefined): string {
  if (wanted === undefined || rows <= wanted) return ''
  return ` USING SAMPLE ${((100 * wanted) / rows).toFixed(6)} PERCENT (system, ${SAMPLE_SEED})`
}

/** The least and the greatest value of a grouped column; texts that nearly all are numbers are compared as numbers. */
function endsOf(column: Column, c: string): readonly [string, string] {
  if (column.type !== 'STRING') return [`min(${c})`, `max(${c})`]
  const number = `TRY_CAST(nullif(${c}, '') AS DOUBLE)`
  const rows = (condition: string) => `coalesce(sum(n) FILTER (WHERE ${condition}), 0)`
  const isNumber = `${rows(`isfinite(${number})`)} >= ${ENOUGH} * greatest(1, ${rows(`${c} <> ''`)})`
  const end = (by: string) =>
    `CASE WHEN ${isNumber} THEN arg_${by}(${c}, ${number}) FILTER (WHERE isfinite(${number})) ELSE ${by}(${c}) END`
  return [end('min'), end('max')]
}

async function profileColumn(db: Database, column: Column, rows: string, top: number, bins: number) {
  const c = identifier(fieldName(column.fieldId))
  const text = (value: string) => `left(CAST(${value} AS VARCHAR), ${PROFILE_CHARS})`
  // Without bins the figures are those of the values as they are kept, which clients of other stacks compare.
  const [least, greatest] = bins > 0 ? endsOf(column, c) : [`min(${c})`, `max(${c})`]
  const [row = []] = await db.rows(
    `SELECT coalesce(sum(n), 0)::BIGINT, coalesce(sum(n) FILTER (WHERE ${c} IS NULL), 0)::BIGINT,
       coalesce(sum(n) FILTER (WHERE CAST(${c} AS VARCHAR) = ''), 0)::BIGINT, count(${c}), ${text(least)}, ${text(greatest)},
       ${top > 0 ? `max_by({v: ${text(c)}, n: n}, n, ${Math.trunc(top)}) FILTER (WHERE ${c} IS NOT NULL)` : 'NULL'}
     FROM (SELECT ${c}, count(*) AS n FROM ${rows} GROUP BY ${c})`,
  )
  const [all = 0, nulls = 0, empty = 0, distinct = 0] = row.slice(0, 4).map(Number)
  const tops = Array.isArray(row[6]) ? row[6] : []
  const profile: ColumnProfile = {
    name: column.name,
    type: column.type,
    nulls,
    empty,
    distinct,
    duplicates: all - nulls - distinct,
    min: typeof row[4] === 'string' ? row[4] : null,
    max: typeof row[5] === 'string' ? row[5] : null,
    top: tops.map(({ v, n }: { v: SqlValue; n: SqlValue }) => ({ value: String(v), rows: Number(n) })),
    histogram: bins > 0 ? await histogram(db, column, rows, bins) : null,
  }
  return { profile, readRows: all }
}
