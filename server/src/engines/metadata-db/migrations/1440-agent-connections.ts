// Agents that people signed in with OAuth: which client, for whom, in which project, with which scope. Of codes and tokens only hashes.

import { type DialectName, idColumn, type Trx } from '../dialects.ts'

export async function up(trx: Trx, dialect: DialectName): Promise<void> {
  await trx.schema
    .createTable('agent_connection')
    .$call(idColumn(dialect))
    .addColumn('project_id', 'bigint', (c) => c.notNull().references('project.id'))
    .addColumn('person_id', 'bigint', (c) => c.notNull())
    .addColumn('owner_token_id', 'bigint', (c) => c.notNull())
    .addColumn('token_id', 'bigint', (c) => c.notNull())
    .addColumn('client_id', 'text', (c) => c.notNull())
    .addColumn('client_name', 'text', (c) => c.notNull())
    .addColumn('redirect_uri', 'text', (c) => c.notNull())
    .addColumn('scope', 'text', (c) => c.notNull())
    .addColumn('resource', 'text', (c) => c.notNull())
    .addColumn('code_hash', 'text', (c) => c.notNull())
    .addColumn('code_challenge', 'text', (c) => c.notNull())
    .addColumn('access_hash', 'text')
    .addColumn('access_expires_at', 'bigint')
    .addColumn('refresh_hash', 'text')
    .addColumn('used_refresh_hash', 'text')
    .addColumn('expires_at', 'bigint', (c) => c.notNull())
    .addColumn('created_at', 'bigint', (c) => c.notNull())
    .addColumn('used_at', 'bigint')
    .execute()
  for (const column of ['code_hash', 'access_hash', 'refresh_hash', 'used_refresh_hash'])
    await trx.schema.createIndex(`agent_connection_by_${column}`).on('agent_connection').column(column).execute()
  await trx.schema.createIndex('agent_connection_by_project').on('agent_connection').columns(['project_id', 'id']).execute()
}
