// A large table is read in parts, each a range of its key, so that a lost connection costs one part and not the whole table.

import { statSync, truncateSync } from 'node:fs'
import { quoted } from '../../connector-kit/src/database/quoting.ts'
import { type KeyRange, ORDERED, rangeCondition } from './compare/dialect.ts'
import type { Source, SourceColumn } from './databases/columns.ts'
import type { Database, Increment, ReadRequest } from './databases/database.ts'

interface Plan {
  readonly parts: readonly KeyRange[]
  readonly key: SourceColumn | undefined
  readonly increment: Increment | undefined
  /** The fields of a line of the file. */
  readonly shape: string
}

/** What attempts to read one row of the configuration share. */
export interface Progress {
  /** Undefined: no attempt has begun to read. */
  plan: Plan | undefined
  readonly nullMarker: string
  done: number
  bytes: number
  rows: number
}

export const newProgress = (nullMarker: string): Progress => ({ plan: undefined, nullMarker, done: 0, bytes: 0, rows: 0 })

const WHOLE: KeyRange = { from: undefined, to: undefined }
const MAX_PARTS = 10_000

interface Estimate {
  readonly rows: number
  readonly isExact: boolean
}

/** As the statistics of the database have it, or counted. */
export async function estimateRows(database: Database, source: Source): Promise<Estimate> {
  if (source.kind === 'table' && source.filter === undefined) {
    const { schema, name } = source.table
    const listed = await database.listTables(schema || undefined)
    const known = listed.find((one) => one.name === name)?.estimatedRows
    if (known !== undefined) return { rows: known, isExact: false }
  }
  const [[count] = []] = await database.ask(`select count(*) from ${database.relation(source)}`)
  return { rows: Number(count), isExact: true }
}

/** Ranges of the first column of the key, with about so many rows each. */
export async function planParts(
  database: Database,
  source: Source,
  key: SourceColumn | undefined,
  partRows: number,
): Promise<readonly KeyRange[]> {
  if (!key || database.isReadWhole || source.kind === 'query' || !(ORDERED.has(key.base) || key.native === 'uuid')) return [WHOLE]
  const { rows } = await estimateRows(database, source)
  const count = Math.min(MAX_PARTS, Math.ceil(rows / partRows))
  if (count < 2) return [WHOLE]
  const bounds = await (key.base === 'INTEGER' ? evenBounds : rowBounds)(database, source, key, rows, count)
  return [undefined, ...bounds].map((from, at) => ({ from, to: bounds[at] }))
}

type Bounds = (database: Database, source: Source, key: SourceColumn, rows: number, count: number) => Promise<readonly string[]>

const evenBounds: Bounds = async (database, source, key, _, count) => {
  const { value } = database.dialect(false).order(key)
  const [[least, most] = []] = await database.ask(`select min(${value}), max(${value}) from ${database.relation(source)}`)
  if (!least || !most) return []
  const [first, width] = [BigInt(least), (BigInt(most) - BigInt(least)) / BigInt(count) + 1n]
  return Array.from({ length: count - 1 }, (_one, at) => String(first + width * BigInt(at + 1)))
}

/** Every so many rows in the order of the key. */
const rowBounds: Bounds = async (database, source, key, rows, count) => {
  const dialect = database.dialect(false)
  const { value } = dialect.order(key)
  const name = quoted(key.name)
  const found = await database.ask(
    `select distinct ${dialect.text(key)} as bound, ${value} as place
     from (select ${name}, row_number() over (order by ${value}) as number from ${database.relation(source)}) as numbered
     where number % ${Math.ceil(rows / count)} = 0 and ${name} is not null order by place`,
  )
  return found.map(([bound]) => bound ?? '')
}

/** Reads what is left; answers the number of rows of all parts. */
export async function readParts(
  database: Database,
  request: Omit<ReadRequest, 'where' | 'isAppended'>,
  progress: Progress,
): Promise<number> {
  const { parts = [WHOLE], key } = progress.plan ?? {}
  const order = key && database.dialect(false).order(key)
  if (progress.done > 0) truncateSync(request.path, progress.bytes)
  for (const part of parts.slice(progress.done)) {
    const where = order && parts.length > 1 ? { where: rangeCondition(order, part) } : {}
    progress.rows += await database.read({ ...request, ...where, isAppended: progress.done > 0 })
    progress.bytes = statSync(request.path).size
    progress.done++
  }
  return progress.rows
}
