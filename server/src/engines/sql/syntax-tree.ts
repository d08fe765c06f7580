// The syntax tree of a query, as DuckDB's own parser sees it.

import type { SqlSession } from './sql-engine.ts'

/** `unreadable`: it is not SQL to DuckDB. `other`: it is, and not a query, or its tree is longer than allowed. */
export type SyntaxTree = { readonly tree: unknown } | 'unreadable' | 'other'

interface Parsed {
  readonly error: boolean
  readonly error_type?: string
}

/** The tree of `$1`, null when it is longer than `$2`. */
export const SERIALIZE_SQL = `SELECT CASE WHEN strlen(tree) <= $2::BIGINT THEN tree END
  FROM (SELECT json_serialize_sql($1::VARCHAR, skip_empty := true, skip_null := true)::VARCHAR AS tree)`

/** `maxBytes` of the tree, which is read in one piece. */
export async function syntaxTreeOf(session: Pick<SqlSession, 'query'>, sql: string, maxBytes: number): Promise<SyntaxTree> {
  const { batches } = await session.query(SERIALIZE_SQL, { values: [sql, maxBytes] })
  const [[text] = []] = (await Array.fromAsync(batches)).flat()
  return readTree(text)
}

/** What `SERIALIZE_SQL` answers. */
export function readTree(text: unknown): SyntaxTree {
  if (typeof text !== 'string') return 'other'
  const parsed = JSON.parse(text) as Parsed // DuckDB's own
  if (parsed.error) return parsed.error_type === 'not implemented' ? 'other' : 'unreadable'
  return { tree: parsed }
}
