// How often tokens called tools, by day, in SQL.

import type { Kysely } from 'kysely'
import { type Db, type Trx, withTables } from '../../../engines/metadata-db/dialects.ts'

interface Tables {
  agent_usage: { project_id: number; token_id: number; day: string; calls: number }
}

const tables = (db: Db): Kysely<Tables> => withTables<Tables>(db)

/** Counts one more, and returns how many there are. */
export async function addCall(trx: Trx, projectId: number, tokenId: number, day: string): Promise<number> {
  const { calls } = await tables(trx)
    .insertInto('agent_usage')
    .values({ project_id: projectId, token_id: tokenId, day, calls: 1 })
    .onConflict((conflict) =>
      conflict.columns(['project_id', 'token_id', 'day']).doUpdateSet((eb) => ({ calls: eb('agent_usage.calls', '+', 1) })),
    )
    .returning('calls')
    .executeTakeFirstOrThrow()
  return calls
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
