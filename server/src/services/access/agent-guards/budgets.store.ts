// How often tokens called tools and the model, by day, in SQL.

import type { Kysely } from 'kysely'
import { type Db, type Trx, withTables } from '../../../engines/metadata-db/dialects.ts'

/** `calls`: of tools. */
export type Counted = 'calls' | 'model_calls'

interface Tables {
  agent_usage: { project_id: number; token_id: number; day: string; calls: number; model_calls: number }
}

const tables = (db: Db): Kysely<Tables> => withTables<Tables>(db)

/** Counts one more, and returns how many there are. */
export async function addCall(trx: Trx, projectId: number, tokenId: number, day: string, counted: Counted): Promise<number> {
  const none = { calls: 0, model_calls: 0 }
  const row = await tables(trx)
    .insertInto('agent_usage')
    .values({ project_id: projectId, token_id: tokenId, day, ...none, [counted]: 1 })
    .onConflict((conflict) =>
      conflict
        .columns(['project_id', 'token_id', 'day'])
        .doUpdateSet((eb) => ({ [counted]: eb(`agent_usage.${counted}`, '+', 1) })),
    )
    .returning(counted)
    .executeTakeFirstOrThrow()
  return row[counted]
}

/** Days before this one are of no use. */
export async function deleteOldCalls(trx: Trx, projectId: number, tokenId: number, day: string): Promise<void> {
  await tables(trx)
    .deleteFrom('agent_usage')
    .where('project_id', '=', projectId)
    .where('token_id', '=', tokenId)
    .where('day', '<', day)
    .execute()
}
