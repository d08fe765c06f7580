// Sandboxes and sessions of the SQL editor: people's workspaces, with their credentials as ciphers.

import { type DialectName, idColumn, type Trx } from '../dialects.ts'

export async function up(trx: Trx, dialect: DialectName): Promise<void> {
  await trx.schema
    .createTable('sandbox')
    .$call(idColumn(dialect))
    .addColumn('project_id', 'bigint', (c) => c.notNull().references('project.id'))
    .addColumn('branch_id', 'bigint', (c) => c.notNull())
    .addColumn('token_id', 'bigint', (c) => c.notNull())
    .addColumn('kind', 'text', (c) => c.notNull())
    .addColumn('type', 'text', (c) => c.notNull())
    .addColumn('workspace_id', 'bigint', (c) => c.notNull())
    .addColumn('component_id', 'text')
    .addColumn('configuration_id', 'text')
    .addColumn('size', 'text')
    .addColumn('password', 'text', (c) => c.notNull())
    .addColumn('is_active', 'integer', (c) => c.notNull())
    .addColumn('is_shared', 'integer', (c) => c.notNull())
    .addColumn('expiration_hours', 'bigint', (c) => c.notNull())
    .addColumn('created_at', 'bigint', (c) => c.notNull())
    .addColumn('updated_at', 'bigint', (c) => c.notNull())
    .addColumn('expires_at', 'bigint')
    .execute()
  await trx.schema.createIndex('sandbox_of_project').on('sandbox').columns(['project_id', 'kind']).execute()
  await trx.schema.createIndex('sandbox_by_end').on('sandbox').column('expires_at').execute()
}
