// The full names of a table that a query names without its bucket, from the error of DuckDB.

import type { SqlTable } from './sql-completion.ts'

export interface FullName {
  /** As the query has it. */
  readonly bare: string
  /** `"in.c-shop"."orders"` */
  readonly name: string
}

const UNKNOWN = /Table with name "?([^"\s]+?)"? does not exist/
const SHOWN = 5

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`

/** The table that the error does not find; undefined for other errors. */
export const unknownTable = (message: string): string | undefined => UNKNOWN.exec(message)?.[1]?.toLowerCase()

export function fullNamesOf(message: string, tables: readonly Pick<SqlTable, 'bucket' | 'name'>[]): readonly FullName[] {
  const bare = unknownTable(message)
  return tables
    .filter(({ name }) => name.toLowerCase() === bare)
    .slice(0, SHOWN)
    .map(({ bucket, name }) => ({ bare: name, name: `${quoted(bucket)}.${quoted(name)}` }))
}

/** Only where a table is named: a column may have the same name. */
export function withFullName(sql: string, bare: string, name: string): string {
  const escaped = bare.replaceAll(/\W/g, '\\$&')
  const pattern = new RegExp(`\\b((?:from|join|describe|summarize)\\s+)"?${escaped}"?(?![\\w".])`, 'gi')
  return sql.replaceAll(pattern, (_, before: string) => `${before}${name}`)
}
