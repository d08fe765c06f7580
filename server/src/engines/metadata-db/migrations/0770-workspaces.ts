// SQL workspaces: the records. Their tables live in a database file of their own.

import { type DialectName, idColumn, type Trx } from '../dialects.ts'

export async function up(trx: Trx, dialect: DialectName): Promise<void> {
  await trx.schema
    .createTable('workspace')
    .$call(idColumn(dialect))
    .addColumn('project_id', 'bigint', (c) => c.notNull().references('project.id'))
    .addColumn('branch_id', 'bigint', (c) => c.notNull())
    .addColumn('component_id', 'text')
    .addColumn('configuration_id', 'text')
    .addColumn('configuration_version', 'bigint')
    .addColumn('backend_size', 'text')
    .addColumn('login_type', 'text', (c) => c.notNull())
    .addColumn('read_only_storage_access', 'integer', (c) => c.notNull())
    .addColumn('statement_timeout_seconds', 'bigint', (c) => c.notNull())
    .addColumn('password_hash', 'text', (c) => c.notNull())
    .addColumn('created_at', 'bigint', (c) => c.notNull())
    .addColumn('used_at', 'bigint', (c) => c.notNull())
    .addColumn('creator_token_id', 'bigint', (c) => c.notNull())
    .addColumn('creator_description', 'text', (c) => c.notNull())
    .execute()
  await trx.schema.createIndex('workspace_of_branch').on('workspace').columns(['project_id', 'branch_id']).execute()
  await trx.schema.createIndex('workspace_by_use').on('workspace').column('used_at').execute()
}
