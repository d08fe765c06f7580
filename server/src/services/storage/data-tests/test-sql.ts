// Tests as SQL over the state of a table: one query counts for all of them, another one returns the rows that failed.

import { type Column, columnNamed, primaryKeyNames, type TableSnapshot } from '../../../engines/table-engine/snapshot.ts'
import { identifier, literal } from '../../../engines/table-engine/sql.ts'
import type { TestRule } from './test-rules.ts'

/** Tests that rows pass or fail one by one. */
export type RowRule = Extract<
  TestRule,
  { readonly type: 'notNull' | 'unique' | 'acceptedValues' | 'range' | 'pattern' | 'relationships' }
>

export interface RowTest {
  /** How many rows fail: an aggregate over the rows, or a query of its own where rows are compared with each other. */
  readonly count: { readonly kind: 'aggregate' | 'query'; readonly sql: string }
  /** True for a row `t` that fails. */
  readonly condition: string
}

/** What a test reads besides its table. */
export interface TestedTables {
  /** The tested table as SQL names it. */
  readonly table: string
  readonly snapshot: TableSnapshot
  /** The column that a `relationships` test refers to; undefined if there is none. */
  readonly referred: (tableId: string, column: string) => { readonly table: string; readonly column: Column } | undefined
}

/** Undefined: the primary key of the table guarantees it. */
export function rowTest(rule: RowRule, tested: TestedTables): RowTest | undefined {
  const { snapshot, table } = tested
  const has = (name: string) => `NOT ${isEmpty(name, snapshot)}`
  const counted = (condition: string): RowTest => ({
    count: { kind: 'aggregate', sql: `count(*) FILTER (WHERE ${condition})` },
    condition: `(${condition})`,
  })
  switch (rule.type) {
    case 'notNull':
      return counted(rule.columns.map((name) => isEmpty(name, snapshot)).join(' OR '))
    case 'acceptedValues':
      return counted(`${has(rule.column)} AND ${asText(rule.column)} NOT IN (${rule.values.map(literal).join(', ')})`)
    case 'pattern':
      return counted(`${has(rule.column)} AND NOT regexp_full_match(${asText(rule.column)}, ${literal(rule.pattern)})`)
    case 'range':
      return counted(`${has(rule.column)} AND ${isOutside(rule, columnNamed(snapshot, rule.column))}`)
    case 'unique':
      return uniqueTest(rule.columns, table, snapshot)
    case 'relationships':
      return relationTest(rule, tested)
  }
}

/** Untyped tables hold no nulls: the empty text means a missing value. */
const isEmpty = (name: string, { typed }: TableSnapshot): string =>
  typed ? `(${column(name)} IS NULL)` : `(${column(name)} IS NULL OR ${column(name)} = '')`

const column = (name: string): string => `t.${identifier(name)}`
const asText = (name: string): string => `CAST(${column(name)} AS VARCHAR)`

function isOutside({ column: name, min, max }: Extract<RowRule, { type: 'range' }>, { type }: Column): string {
  const isTime = typeof (min ?? max) === 'string'
  const isExact = type === 'INTEGER' || type === 'NUMERIC'
  const value = isTime ? `TRY_CAST(${column(name)} AS TIMESTAMP)` : isExact ? column(name) : `TRY_CAST(${column(name)} AS DOUBLE)`
  const limit = (bound: number | string) => (isTime ? `TIMESTAMP ${literal(String(bound))}` : String(bound))
  const reasons = [
    `${value} IS NULL`,
    ...(min === undefined ? [] : [`${value} < ${limit(min)}`]),
    ...(max === undefined ? [] : [`${value} > ${limit(max)}`]),
    ...(isTime || isExact ? [] : [`isnan(${value})`]),
  ]
  return `(${reasons.join(' OR ')})`
}

/** Rows without a value in one of the columns are not compared. */
function uniqueTest(columns: readonly string[], table: string, snapshot: TableSnapshot): RowTest | undefined {
  const key = primaryKeyNames(snapshot)
  const named = new Set(columns.map((name) => columnNamed(snapshot, name).name))
  if (key.length > 0 && key.every((name) => named.has(name))) return undefined
  const has = columns.map((name) => `NOT ${isEmpty(name, snapshot)}`).join(' AND ')
  const list = columns.map(column).join(', ')
  const repeated = `FROM ${table} t WHERE ${has} GROUP BY ${list} HAVING count(*) > 1`
  return {
    count: { kind: 'query', sql: `(SELECT coalesce(sum(n), 0) FROM (SELECT count(*) AS n ${repeated}))` },
    condition: `(${has} AND row(${list}) IN (SELECT row(${list}) ${repeated}))`,
  }
}

function relationTest(rule: Extract<RowRule, { type: 'relationships' }>, tested: TestedTables): RowTest {
  const { snapshot, table, referred } = tested
  const target = referred(rule.toTable, rule.toColumn)
  if (!target) throw new Error(`no column ${rule.toColumn} of ${rule.toTable}`) // the caller has looked
  const own = columnNamed(snapshot, rule.column)
  const isSame = own.type === target.column.type
  const [left, right] = [`t.${identifier(own.name)}`, `r.${identifier(target.column.name)}`]
  const equal = isSame ? `${right} = ${left}` : `CAST(${right} AS VARCHAR) = CAST(${left} AS VARCHAR)`
  const condition = `NOT ${isEmpty(rule.column, snapshot)} AND NOT EXISTS (SELECT 1 FROM ${target.table} r WHERE ${equal})`
  return {
    count: { kind: 'query', sql: `(SELECT count(*) FROM ${table} t WHERE ${condition})` },
    condition: `(${condition})`,
  }
}

export interface ColumnOfCounts {
  readonly kind: 'aggregate' | 'query'
  readonly sql: string
}

/** One row with a column for each. */
export function countsQuery(table: string, columns: readonly ColumnOfCounts[]): string {
  const aggregates = columns.flatMap(({ kind, sql }, i) => (kind === 'aggregate' ? [`${sql} AS r${i}`] : []))
  const shown = columns.map(({ kind, sql }, i) => (kind === 'aggregate' ? `a.r${i}` : sql))
  const from = aggregates.length > 0 ? ` FROM (SELECT ${aggregates.join(', ')} FROM ${table} t) a` : ''
  return `SELECT ${shown.join(', ')}${from}`
}

/** Rows that fail at least one test, each with the tests that it fails in its first column. */
export function failuresQuery(
  table: string,
  failed: readonly { readonly reason: string; readonly condition: string }[],
  columns: readonly string[],
): string {
  const marks = failed.map(({ condition }, i) => `${condition} AS "__failed_${i}"`)
  const reasons = failed.map(({ reason }, i) => `CASE WHEN "__failed_${i}" THEN ${literal(reason)} END`)
  const any = failed.map((_, i) => `"__failed_${i}"`).join(' OR ')
  const shown = [`concat_ws('; ', ${reasons.join(', ')}) AS "_failed_tests"`, ...columns.map(identifier)]
  return `SELECT ${shown.join(', ')} FROM (SELECT ${[...columns.map(column), ...marks].join(', ')} FROM ${table} t) WHERE ${any}`
}
