// A statement tried out: its plan and its columns, without its rows. What makes a table makes an empty one, so that the statements behind it
// find it; what fills or changes tables is only explained.

import type { SqlColumn, SqlSession } from '../../../engines/sql/sql-engine.ts'
import { isQuery, type Statement } from '../../../engines/sql/statements.ts'
import { identifier } from '../../../model/sql-columns.ts'
import { changeOf } from './script-columns.ts'

export interface Trial {
  readonly columns: readonly SqlColumn[]
  readonly plan: string | null
}

const ONLY_EXPLAINED = new Set(['insert', 'update', 'delete', 'merge', 'truncate'])

export async function tryStatement(session: SqlSession, statement: Statement, signal: AbortSignal): Promise<Trial> {
  const { text, keyword } = statement
  const change = await changeOf(statement)
  const isMade = change?.kind === 'create'
  if (isQuery(statement) || ONLY_EXPLAINED.has(keyword)) {
    const { columns } = await session.describe(text) // reports the error at its position in the statement
    return { columns, plan: keyword === 'truncate' ? null : await planOf(session, text, signal) }
  }
  if (!isMade) {
    await session.execute(text, { signal })
    return { columns: [], plan: null }
  }
  await session.describe(text)
  const plan = change.query === undefined ? null : await planOf(session, text, signal)
  await session.execute(change.isTable && change.query !== undefined ? withoutData(text) : text, { signal })
  return { columns: await columnsOf(session, change.table), plan }
}

export const columnsOf = async (session: SqlSession, table: string): Promise<readonly SqlColumn[]> =>
  (await session.describe(`FROM ${identifier(table)}`)).columns

async function planOf(session: SqlSession, text: string, signal: AbortSignal): Promise<string | null> {
  const { batches } = await session.query(`EXPLAIN ${text}`, { signal })
  const [[, plan] = []] = (await Array.fromAsync(batches)).flat()
  return plan === undefined || plan === null ? null : String(plan)
}

const withoutData = (text: string): string => `${text.replace(/\swith\s+(no\s+)?data$/i, '')}\nWITH NO DATA`
