// Git repositories of data apps: one pack among the objects, the names of branches and tags here; and who may read or change them.

import { type DialectName, idColumn, type Trx } from '../dialects.ts'

export async function up(trx: Trx, dialect: DialectName): Promise<void> {
  await trx.schema
    .createTable('data_app_repository')
    .addColumn('app_id', 'bigint', (c) => c.primaryKey().references('data_app.id').onDelete('cascade'))
    .addColumn('project_id', 'bigint', (c) => c.notNull())
    .addColumn('version', 'bigint', (c) => c.notNull())
    .addColumn('refs', 'text', (c) => c.notNull())
    .addColumn('pack_key', 'text')
    .addColumn('pushed_at', 'bigint')
    .execute()
  await trx.schema
    .createTable('data_app_git_credential')
    .$call(idColumn(dialect))
    .addColumn('project_id', 'bigint', (c) => c.notNull())
    .addColumn('app_id', 'bigint', (c) => c.notNull().references('data_app_repository.app_id').onDelete('cascade'))
    .addColumn('hash', 'text', (c) => c.notNull().unique())
    .addColumn('name', 'text', (c) => c.notNull())
    .addColumn('permissions', 'text', (c) => c.notNull())
    .addColumn('token_id', 'bigint', (c) => c.notNull())
    .addColumn('created_at', 'bigint', (c) => c.notNull())
    .addColumn('expires_at', 'bigint', (c) => c.notNull())
    .execute()
  await trx.schema.createIndex('data_app_git_credential_of_app').on('data_app_git_credential').columns(['app_id', 'id']).execute()
}
