// Texts that contain other texts, whatever the case of Latin letters, alike on both databases: SQLite compares with the case here.

import { type Expression, type SqlBool, sql } from 'kysely'
import { type Db, dialectOf } from './dialects.ts'

export function contains(db: Db, column: Expression<string | null>, text: string): Expression<SqlBool> {
  const pattern = (wanted: string) => `%${wanted.replace(/[\\%_]/g, '\\$&')}%`
  // Without a pattern SQLite compares bytes, which takes a third of the time.
  return dialectOf(db) === 'sqlite'
    ? sql<SqlBool>`instr(lower(${column}), ${text.toLowerCase()}) > 0`
    : sql<SqlBool>`${column} ilike ${pattern(text)} escape '\\'`
}
