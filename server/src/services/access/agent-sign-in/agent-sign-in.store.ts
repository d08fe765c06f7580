// Connections of agents, in SQL.

import type { Generated, Insertable, Kysely, Selectable } from 'kysely'
import { type Db, type Trx, withTables } from '../../../engines/metadata-db/dialects.ts'

interface Tables {
  agent_connection: {
    id: Generated<number>
    project_id: number
    person_id: number
    /** The token of the person in the project. */
    owner_token_id: number
    /** The token of the agent itself. */
    token_id: number
    client_id: string
    client_name: string
    redirect_uri: string
    scope: string
    resource: string
    code_hash: string
    code_challenge: string
    /** Null until the code was used. */
    access_hash: string | null
    access_expires_at: number | null
    refresh_hash: string | null
    /** The one before, which must not come again. */
    used_refresh_hash: string | null
    /** Of the code, then of the refresh token. */
    expires_at: number
    created_at: number
    used_at: number | null
  }
}

export type Connection = Selectable<Tables['agent_connection']>
type Hash = 'code_hash' | 'access_hash' | 'refresh_hash' | 'used_refresh_hash'

const tables = (db: Db): Kysely<Tables> => withTables<Tables>(db)

export async function insertConnection(trx: Trx, connection: Insertable<Tables['agent_connection']>): Promise<void> {
  await tables(trx).insertInto('agent_connection').values(connection).execute()
}

/** The hash of a secret identifies its project, too: the caller sends nothing else. */
export async function findByHash(db: Db, column: Hash, hash: string): Promise<Connection | undefined> {
  return tables(db).selectFrom('agent_connection').selectAll().where(column, '=', hash).executeTakeFirst()
}

export async function findConnection(db: Db, projectId: number, id: number): Promise<Connection | undefined> {
  return tables(db)
    .selectFrom('agent_connection')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('id', '=', id)
    .executeTakeFirst()
}

export async function listConnections(db: Db, projectId: number): Promise<Connection[]> {
  return tables(db)
    .selectFrom('agent_connection')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('refresh_hash', 'is not', null)
    .orderBy('id', 'desc')
    .limit(500)
    .execute()
}

export interface NewSecrets {
  readonly access: string
  readonly accessExpiresAt: number
  readonly refresh: string
  readonly expiresAt: number
}

/** False if another request was faster: `before` is the refresh token that is replaced, null for the code. */
export async function replaceSecrets(
  trx: Trx,
  { project_id, id }: Connection,
  before: string | null,
  { access, accessExpiresAt, refresh, expiresAt }: NewSecrets,
): Promise<boolean> {
  const { numUpdatedRows } = await tables(trx)
    .updateTable('agent_connection')
    .set({
      access_hash: access,
      access_expires_at: accessExpiresAt,
      refresh_hash: refresh,
      used_refresh_hash: before,
      expires_at: expiresAt,
    })
    .where('project_id', '=', project_id)
    .where('id', '=', id)
    .where('refresh_hash', before === null ? 'is' : '=', before)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

export async function touchConnection(trx: Trx, projectId: number, id: number, at: number): Promise<void> {
  await tables(trx)
    .updateTable('agent_connection')
    .set({ used_at: at })
    .where('project_id', '=', projectId)
    .where('id', '=', id)
    .execute()
}

export async function removeConnection(trx: Trx, projectId: number, id: number): Promise<boolean> {
  const { numDeletedRows } = await tables(trx)
    .deleteFrom('agent_connection')
    .where('project_id', '=', projectId)
    .where('id', '=', id)
    .executeTakeFirst()
  return numDeletedRows > 0n
}

export async function listExpired(db: Db, projectId: number, before: number): Promise<Connection[]> {
  return tables(db)
    .selectFrom('agent_connection')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('expires_at', '<', before)
    .limit(100)
    .execute()
}
