// The syntax tree of a query, as DuckDB's own parser sees it.

import type { SqlSession } from './sql-engine.ts'

/** `unreadable`: it is not SQL to DuckDB. `other`: it is, and not a query. */
export type SyntaxTree = { readonly tree: unknown } | 'unreadable' | 'other'

interface Parsed {
  readonly error: boolean
  readonly error_type?: string
}

export async function syntaxTreeOf(session: Pick<SqlSession, 'query'>, sql: string): Promise<SyntaxTree> {
  const { batches } = await session.query('SELECT json_serialize_sql($1::VARCHAR, skip_empty := true, skip_null := true)', {
    values: [sql],
  })
  const [[text] = []] = (await Array.fromAsync(batches)).flat()
  const parsed = JSON.parse(String(text)) as Parsed // DuckDB's own
  if (parsed.error) return parsed.error_type === 'not implemented' ? 'other' : 'unreadable'
  return { tree: parsed }
}
