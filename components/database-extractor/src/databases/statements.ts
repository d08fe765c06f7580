// Parts of statements that every kind of database has, and the choice of columns.

import { quoted } from '../../../connector-kit/src/database/quoting.ts'
import { UserError } from '../../../http-extractor/src/errors.ts'
import type { Source } from './columns.ts'

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
