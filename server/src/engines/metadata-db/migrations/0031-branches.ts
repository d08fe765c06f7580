// Branches of a project. The default branch is a branch like the others, so that every record can name the one it lives in.

import { sql } from 'kysely'
import { type DialectName, idColumn, type Trx } from '../dialects.ts'

export async function up(trx: Trx, dialect: DialectName): Promise<void> {
  await trx.schema
    .createTable('branch')
    .$call(idColumn(dialect))
    .addColumn('project_id', 'bigint', (c) => c.notNull().references('project.id'))
    .addColumn('name', 'text', (c) => c.notNull())
    .addColumn('description', 'text', (c) => c.notNull())
    .addColumn('is_default', 'integer', (c) => c.notNull())
    .addColumn('created_at', 'bigint', (c) => c.notNull())
    .addColumn('creator_token_id', 'bigint')
    .addColumn('creator_token_description', 'text')
    .execute()
  await trx.schema.createIndex('branch_name').unique().on('branch').columns(['project_id', 'name']).execute()
  await trx.schema
    .createIndex('branch_one_default')
    .unique()
    .on('branch')
    .columns(['project_id'])
    .where(sql<boolean>`is_default = 1`)
    .execute()

  await trx.schema
    .createTable('branch_metadata')
    .$call(idColumn(dialect))
    .addColumn('project_id', 'bigint', (c) => c.notNull().references('project.id'))
    .addColumn('branch_id', 'bigint', (c) => c.notNull().references('branch.id').onDelete('cascade'))
    .addColumn('key', 'text', (c) => c.notNull())
    .addColumn('value', 'text', (c) => c.notNull())
    .addColumn('changed_at', 'bigint', (c) => c.notNull())
    .execute()
  await trx.schema.createIndex('branch_metadata_key').unique().on('branch_metadata').columns(['branch_id', 'key']).execute()
}
