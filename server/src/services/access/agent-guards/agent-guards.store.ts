// Fingerprints of what agents read, and their requests to people, in SQL.

import type { Kysely, Selectable } from 'kysely'
import { type Db, type Trx, withTables } from '../../../engines/metadata-db/dialects.ts'
import { statement } from '../../../engines/metadata-db/statement.ts'

interface Tables {
  agent_seen: { project_id: number; token_id: number; hash: string; seen_at: number }
  agent_request: {
    id: string
    project_id: number
    token_id: number
    token_description: string
    kind: 'allow' | 'call' | 'secret'
    subject: string
    /** JSON. */
    detail: string
    hash: string
    state: 'waiting' | 'allowed' | 'refused' | 'used'
    decided_by: string | null
    created_at: number
    /** Who signed the agent in; null for tokens. */
    person_id: number | null
  }
}

export type AgentRequest = Selectable<Tables['agent_request']>

const tables = (db: Db): Kysely<Tables> => withTables<Tables>(db)

const BATCH = 200

export async function addSeen(
  trx: Trx,
  projectId: number,
  tokenId: number,
  hashes: readonly string[],
  at: number,
): Promise<void> {
  for (let from = 0; from < hashes.length; from += BATCH)
    await tables(trx)
      .insertInto('agent_seen')
      .values(hashes.slice(from, from + BATCH).map((hash) => ({ project_id: projectId, token_id: tokenId, hash, seen_at: at })))
      .onConflict((conflict) =>
        conflict.columns(['project_id', 'token_id', 'hash']).doUpdateSet((eb) => ({ seen_at: eb.ref('excluded.seen_at') })),
      )
      .execute()
}

export async function listSeen(
  db: Db,
  projectId: number,
  tokenId: number,
  hashes: readonly string[],
  since: number,
): Promise<ReadonlySet<string>> {
  const found = new Set<string>()
  for (let from = 0; from < hashes.length; from += BATCH)
    for (const { hash } of await tables(db)
      .selectFrom('agent_seen')
      .select('hash')
      .where('project_id', '=', projectId)
      .where('token_id', '=', tokenId)
      .where('hash', 'in', hashes.slice(from, from + BATCH))
      .where('seen_at', '>', since)
      .execute())
      found.add(hash)
  return found
}

/** Runs with every change of every token. */
const seenSince = statement((db, { projectId, tokenId, hash, since }: SeenSince) =>
  tables(db)
    .selectFrom('agent_seen')
    .select('seen_at')
    .where('project_id', '=', projectId)
    .where('token_id', '=', tokenId)
    .where('hash', '=', hash)
    .where('seen_at', '>', since),
)

interface SeenSince {
  readonly projectId: number
  readonly tokenId: number
  readonly hash: string
  readonly since: number
}

export const wasSeen = async (db: Db, seen: SeenSince): Promise<boolean> => (await seenSince(db, seen)).length > 0

export async function deleteSeenBefore(trx: Trx, before: number): Promise<void> {
  await tables(trx).deleteFrom('agent_seen').where('seen_at', '<', before).execute()
}

export async function insertRequest(trx: Trx, request: AgentRequest): Promise<void> {
  await tables(trx).insertInto('agent_request').values(request).execute()
}

export async function findRequest(db: Db, projectId: number, id: string): Promise<AgentRequest | undefined> {
  return tables(db)
    .selectFrom('agent_request')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('id', '=', id)
    .executeTakeFirst()
}

/** Newest first. */
export async function listRequests(db: Db, projectId: number, since: number, tokenId?: number): Promise<AgentRequest[]> {
  return tables(db)
    .selectFrom('agent_request')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('created_at', '>', since)
    .$if(tokenId !== undefined, (query) => query.where('token_id', '=', tokenId ?? 0))
    .orderBy('created_at', 'desc')
    .limit(200)
    .execute()
}

/** False if it was in another state. */
export async function moveRequest(
  trx: Trx,
  { project_id, id }: Pick<AgentRequest, 'project_id' | 'id'>,
  from: AgentRequest['state'],
  to: AgentRequest['state'],
  by?: string,
): Promise<boolean> {
  const { numUpdatedRows } = await tables(trx)
    .updateTable('agent_request')
    .set({ state: to, ...(by !== undefined && { decided_by: by }) })
    .where('project_id', '=', project_id)
    .where('id', '=', id)
    .where('state', '=', from)
    .executeTakeFirst()
  return Number(numUpdatedRows) === 1
}
