// Parts of statements that every kind of database has, and the choice of columns.

import { quoted } from '../../../connector-kit/src/database/quoting.ts'
import { UserError } from '../../../http-extractor/src/errors.ts'
import type { Source, SourceColumn } from './columns.ts'
import type { Increment } from './database.ts'

type TableSource = Source & { readonly kind: 'table' }

export const tableOf = ({ table }: TableSource): string =>
  `${table.schema === '' ? '' : `${quoted(table.schema)}.`}${quoted(table.name)}`

/** For FROM. A line break ends a comment at the end of what the user wrote. */
export function relation(source: Source, table: (source: TableSource) => string = tableOf): string {
  if (source.kind === 'query') return `(${source.text}\n) as source`
  return source.filter === undefined ? table(source) : `(select * from ${table(source)} where (${source.filter}\n)) as source`
}

/** The WHERE of conditions; empty ones do not count. */
export function conditionOf(...conditions: readonly (string | undefined)[]): string {
  const given = conditions.filter((one) => one !== undefined && one !== '')
  return given.length === 0 ? '' : ` where ${given.map((one) => `(${one})`).join(' and ')}`
}

/** How a database writes a value of the state, and what is taken off it. */
interface Literals {
  value(column: SourceColumn, text: string): string
  /** With the operator. */
  back(column: SourceColumn, lookback: number): string
}

/** The condition on rows that are new by at least one column; empty: all rows. */
export function incrementOf(increment: Increment | undefined, { value, back }: Literals): string {
  if (!increment) return ''
  const conditions = increment.columns.map(({ column, from, upTo, lookback }) => {
    const name = quoted(column.name)
    if (upTo === undefined) return increment.isFirst ? '1 = 1' : '1 = 0'
    if (increment.isFirst) return `${name} <= ${value(column, upTo)} or ${name} is null`
    if (from === undefined) return `${name} <= ${value(column, upTo)}`
    return `${name} between ${value(column, from)}${lookback === 0 ? '' : ` ${back(column, lookback)}`} and ${value(column, upTo)}`
  })
  return conditions.map((one) => `(${one})`).join(' or ')
}

/** The columns that the row names, in its order; all of them when it names none. */
export function chosen<C extends { readonly name: string }>(source: Source, all: readonly C[]): readonly C[] {
  const wanted = source.kind === 'table' ? source.columns : undefined
  return (
    wanted?.map((name) => {
      const column = all.find((one) => one.name === name)
      if (!column) throw new UserError(`The table has no column "${name}". It has ${all.map((one) => one.name).join(', ')}.`)
      return column
    }) ?? all
  )
}
