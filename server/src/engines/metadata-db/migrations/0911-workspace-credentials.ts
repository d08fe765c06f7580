// Further passwords of workspaces, and the public keys of those who log in by a key.

import { type DialectName, idColumn, type Trx } from '../dialects.ts'

export async function up(trx: Trx, dialect: DialectName): Promise<void> {
  await trx.schema
    .createTable('workspace_credential')
    .$call(idColumn(dialect))
    .addColumn('project_id', 'bigint', (c) => c.notNull())
    .addColumn('workspace_id', 'bigint', (c) => c.notNull())
    .addColumn('password_hash', 'text', (c) => c.notNull())
    .addColumn('created_at', 'bigint', (c) => c.notNull())
    .execute()
  await trx.schema
    .createIndex('workspace_credential_of')
    .on('workspace_credential')
    .columns(['project_id', 'workspace_id'])
    .execute()
  await trx.schema
    .createTable('workspace_public_key')
    .addColumn('project_id', 'bigint', (c) => c.notNull())
    .addColumn('workspace_id', 'bigint', (c) => c.notNull())
    .addColumn('name', 'text', (c) => c.notNull())
    .addColumn('pem', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('workspace_public_key_key', ['project_id', 'workspace_id', 'name'])
    .execute()
}
