// Texts that contain other texts, whatever the case of letters, alike on both databases. Not by patterns: comparing bytes takes a third of the time.

import { type Expression, type SqlBool, sql } from 'kysely'
import { type Db, dialectOf } from './dialects.ts'

export const contains = (db: Db, column: Expression<string | null>, text: string): Expression<SqlBool> =>
  containsSmall(db, sql<string>`lower(${column})`, text.toLowerCase())

/** Sorts exact matches of any of the columns before those that begin with the text, and these before others. */
export const closeness = (columns: readonly Expression<string | null>[], text: string): Expression<number> => {
  const small = text.toLowerCase()
  const anyOf = (tests: readonly Expression<unknown>[]) => sql.join(tests, sql` or `)
  const equal = columns.map((column) => sql`lower(${column}) = ${small}`)
  const begins = columns.map((column) => sql`substr(lower(${column}), 1, length(${small})) = ${small}`)
  return sql<number>`case when ${anyOf(equal)} then 0 when ${anyOf(begins)} then 1 else 2 end`
}

/** Letter by letter, or where both are in small letters already. */
export const containsSmall = (db: Db, column: Expression<string>, text: string): Expression<SqlBool> =>
  dialectOf(db) === 'sqlite' ? sql<SqlBool>`instr(${column}, ${text}) > 0` : sql<SqlBool>`strpos(${column}, ${text}) > 0`
