// Buckets, and the metadata of buckets, tables and columns.

import { type DialectName, idColumn, type Trx } from '../dialects.ts'

export async function up(trx: Trx, dialect: DialectName): Promise<void> {
  await trx.schema
    .createTable('bucket')
    .$call(idColumn(dialect))
    .addColumn('project_id', 'bigint', (c) => c.notNull().references('project.id'))
    .addColumn('branch_id', 'bigint', (c) => c.notNull())
    .addColumn('bucket_id', 'text', (c) => c.notNull())
    .addColumn('name', 'text', (c) => c.notNull())
    .addColumn('stage', 'text', (c) => c.notNull())
    .addColumn('display_name', 'text', (c) => c.notNull())
    .addColumn('description', 'text', (c) => c.notNull())
    .addColumn('color', 'text')
    .addColumn('sharing', 'text')
    .addColumn('sharing_parameters', 'text')
    .addColumn('shared_by', 'text')
    .addColumn('source_bucket', 'bigint')
    .addColumn('created_at', 'bigint', (c) => c.notNull())
    .addColumn('updated_at', 'bigint')
    .addColumn('last_change_at', 'bigint')
    .addUniqueConstraint('bucket_by_id', ['project_id', 'branch_id', 'bucket_id'])
    .addUniqueConstraint('bucket_by_display_name', ['project_id', 'branch_id', 'stage', 'display_name'])
    .execute()
  await trx.schema.createIndex('bucket_by_sharing').on('bucket').columns(['sharing', 'project_id']).execute()
  await trx.schema.createIndex('bucket_by_source').on('bucket').columns(['source_bucket']).execute()

  await trx.schema
    .createTable('storage_metadata')
    .$call(idColumn(dialect))
    .addColumn('project_id', 'bigint', (c) => c.notNull().references('project.id'))
    .addColumn('kind', 'text', (c) => c.notNull())
    .addColumn('object', 'bigint', (c) => c.notNull())
    .addColumn('column_name', 'text', (c) => c.notNull())
    .addColumn('provider', 'text', (c) => c.notNull())
    .addColumn('key', 'text', (c) => c.notNull())
    .addColumn('value', 'text', (c) => c.notNull())
    .addColumn('updated_at', 'bigint', (c) => c.notNull())
    .addUniqueConstraint('storage_metadata_by_key', ['kind', 'object', 'column_name', 'provider', 'key'])
    .execute()
}
