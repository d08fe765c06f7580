// The two sides of a comparison as statements: checksums of ranges, and of single rows.

import { UserError } from '../../../http-extractor/src/errors.ts'
import type { Source, SourceColumn } from '../databases/columns.ts'
import type { Database } from '../databases/database.ts'
import { bucketOf, type Dialect, type KeyRange, rangeCondition, rowHash } from './dialect.ts'
import type { Checksum, RowSum, Search, Side } from './differences.ts'
import { type Here, type HereTable, hereDialect, hereName, type Rows } from './here.ts'

export interface Compared {
  readonly database: Database
  readonly source: Source
  readonly here: Here
  readonly table: HereTable
  /** A condition on rows of the table in the project. */
  readonly hereOnly?: string | undefined
  readonly key: readonly SourceColumn[]
  readonly columns: readonly SourceColumn[]
  readonly invalidAsNull: boolean
  /** Rows of the source with a greater value in one of them than the table has were changed since it was read. */
  readonly changedColumns?: readonly SourceColumn[]
}

interface Statements {
  readonly dialect: Dialect
  readonly relation: string
  readonly ask: (sql: string) => Promise<Rows>
}

const quoteOf = ({ table, hereOnly }: Compared): string =>
  hereOnly === undefined ? table.relation : `(select * from ${table.relation} where ${hereOnly}) as source`

export const sourceStatements = ({ database, source, invalidAsNull }: Compared): Statements => ({
  dialect: database.dialect(invalidAsNull),
  relation: database.relation(source),
  ask: (sql) => database.ask(sql),
})

export const hereStatements = (compared: Compared): Statements => ({
  dialect: hereDialect(compared.table),
  relation: quoteOf(compared),
  ask: (sql) => compared.here.ask(sql),
})

function sideOf(
  { dialect, relation, ask }: Statements,
  split: SourceColumn,
  { key, columns }: Compared,
  newer: string | undefined,
): Side {
  const order = dialect.order(split)
  const hash = rowHash(dialect, columns)
  return {
    async checksums(range, bounds) {
      const bucket = bucketOf(order, bounds)
      const rows = await ask(
        `select bucket, count(*), ${dialect.total('hash')} from (select ${bucket} as bucket, ${hash} as hash from ${relation}
         where ${rangeCondition(order, range)}) as rows_of_range group by bucket`,
      )
      return new Map(
        rows.map(([number, count, sum]): [number, Checksum] => [Number(number), { rows: Number(count), sum: sum ?? '0' }]),
      )
    },
    async rows(range) {
      const keys = key.map((column) => dialect.text(column)).join(', ')
      const rows = await ask(
        `select ${keys}, ${dialect.asText(hash)}, ${newer === undefined ? '0' : `case when ${newer} then 1 else 0 end`} from ${relation}
         where ${rangeCondition(order, range)}`,
      )
      return rows.map(
        (row): RowSum => ({
          key: row.slice(0, key.length).map((one) => one ?? ''),
          sum: row[key.length] ?? '',
          isNewer: row[key.length + 1] === '1',
        }),
      )
    },
  }
}

/** Of a key of several columns the one with the most values: ranges of it are the smallest. */
async function splitColumn({ key, here, table }: Compared): Promise<SourceColumn> {
  const [first] = key
  if (!first) throw new UserError('The table has no primary key. Set primaryKey to the columns that identify a row.')
  if (key.length === 1) return first
  const dialect = hereDialect(table)
  const [counts = []] = await here.ask(
    `select ${key.map((column) => `approx_count_distinct(${dialect.text(column)})`).join(', ')} from ${table.relation}`,
  )
  const numbers = key.map((_, at) => Number(counts[at] ?? 0))
  return key[numbers.indexOf(Math.max(...numbers))] ?? first
}

/** Values for bounds are chosen from so many rows. */
const SAMPLE_ROWS = 100_000
/** A part of a range has about so many rows or more. */
const PART_ROWS = 1_000

export async function searchOf(compared: Compared): Promise<{ readonly search: Search; readonly split: SourceColumn }> {
  const [there, own] = [sourceStatements(compared), hereStatements(compared)]
  const split = await splitColumn(compared)
  const newer = await newerCondition(compared)
  const [thereOrder, ownOrder] = [there.dialect.order(split), own.dialect.order(split)]

  async function fromTable(range: KeyRange, parts: number): Promise<readonly string[]> {
    const places = Array.from({ length: parts - 1 }, (_, at) => ((at + 1) / parts).toFixed(6))
    const rows = await own.ask(
      `select bound::varchar from (select distinct unnest(quantile_disc(value, [${places.join(', ')}])) as bound from (
         select * from (select ${ownOrder.value} as value from ${own.relation} where ${rangeCondition(ownOrder, range)})
         where value is not null using sample ${SAMPLE_ROWS} rows)) order by bound`,
    )
    return rows.map(([bound]) => bound ?? '').filter((bound) => bound !== range.from)
  }

  /** Whole numbers can be divided without rows. */
  async function fromSource(range: KeyRange, parts: number): Promise<readonly string[]> {
    if (split.base !== 'INTEGER') return []
    const [[least, most] = []] = await there.ask(
      `select min(${thereOrder.value}), max(${thereOrder.value}) from ${there.relation} where ${rangeCondition(thereOrder, range)}`,
    )
    if (!least || !most) return []
    const [first, width] = [BigInt(least), (BigInt(most) - BigInt(least)) / BigInt(parts) + 1n]
    const bounds = Array.from({ length: parts - 1 }, (_, at) => first + width * BigInt(at + 1))
    return bounds.filter((bound) => bound <= BigInt(most)).map(String)
  }

  const search: Search = {
    source: sideOf(there, split, compared, newer),
    here: sideOf(own, split, compared, undefined),
    async bounds(range, parts) {
      const isWhole = range.from === undefined && range.to === undefined
      const most = isWhole ? Math.min(parts, Math.ceil(compared.table.rowsCount / PART_ROWS)) : parts
      if (most < 2 && isWhole && compared.table.rowsCount > 0) return []
      const found = most < 2 ? [] : await fromTable(range, most)
      return found.length > 0 ? found : fromSource(range, parts)
    },
  }
  return { search, split }
}

/** Undefined: no row counts as newer. */
async function newerCondition(compared: Compared): Promise<string | undefined> {
  const { changedColumns: columns = [] } = compared
  if (columns.length === 0) return undefined
  const [there, own] = [sourceStatements(compared), hereStatements(compared)]
  const greatest = columns.map((column) => `max(${hereName(column)}) as ${hereName(column)}`).join(', ')
  const [found = []] = await own.ask(
    `select ${columns.map((column) => own.dialect.text(column)).join(', ')} from (select ${greatest} from ${own.relation})`,
  )
  const conditions = columns.flatMap((column, at) => {
    const last = found[at]
    const { value, literal } = there.dialect.order(column)
    return last === null || last === undefined ? [] : [`${value} > ${literal(last)}`]
  })
  return conditions.length === 0 ? undefined : conditions.join(' or ')
}
