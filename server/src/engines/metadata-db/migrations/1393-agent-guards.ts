// What agents have read from data, as fingerprints, and what they ask a person for: leave to do something, or a secret.

import type { Trx } from '../dialects.ts'

export async function up(trx: Trx): Promise<void> {
  await trx.schema
    .createTable('agent_seen')
    .addColumn('project_id', 'bigint', (c) => c.notNull().references('project.id'))
    .addColumn('token_id', 'bigint', (c) => c.notNull())
    .addColumn('hash', 'text', (c) => c.notNull())
    .addColumn('seen_at', 'bigint', (c) => c.notNull())
    .addPrimaryKeyConstraint('agent_seen_key', ['project_id', 'token_id', 'hash'])
    .execute()
  await trx.schema
    .createTable('agent_request')
    .addColumn('id', 'text', (c) => c.notNull().primaryKey())
    .addColumn('project_id', 'bigint', (c) => c.notNull().references('project.id'))
    .addColumn('token_id', 'bigint', (c) => c.notNull())
    .addColumn('token_description', 'text', (c) => c.notNull())
    .addColumn('kind', 'text', (c) => c.notNull())
    .addColumn('subject', 'text', (c) => c.notNull())
    .addColumn('detail', 'text', (c) => c.notNull())
    .addColumn('hash', 'text', (c) => c.notNull())
    .addColumn('state', 'text', (c) => c.notNull())
    .addColumn('decided_by', 'text')
    .addColumn('created_at', 'bigint', (c) => c.notNull())
    .execute()
  await trx.schema
    .createIndex('agent_request_by_token')
    .on('agent_request')
    .columns(['project_id', 'token_id', 'created_at'])
    .execute()
}
