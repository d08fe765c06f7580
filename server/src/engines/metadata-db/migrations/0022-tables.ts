// Tables, their snapshots, the snapshots people keep, exports that can be given again, profiles.

import { type DialectName, idColumn, type Trx } from '../dialects.ts'

export async function up(trx: Trx, dialect: DialectName): Promise<void> {
  await trx.schema
    .createTable('data_table')
    .$call(idColumn(dialect))
    .addColumn('project_id', 'bigint', (c) => c.notNull().references('project.id'))
    .addColumn('bucket', 'bigint', (c) => c.notNull().references('bucket.id'))
    .addColumn('name', 'text', (c) => c.notNull())
    .addColumn('display_name', 'text', (c) => c.notNull())
    .addColumn('columns', 'text', (c) => c.notNull())
    .addColumn('primary_key', 'text', (c) => c.notNull())
    .addColumn('is_typed', 'integer', (c) => c.notNull().defaultTo(0))
    .addColumn('rows_count', 'bigint', (c) => c.notNull().defaultTo(0))
    .addColumn('size_bytes', 'bigint', (c) => c.notNull().defaultTo(0))
    .addColumn('snapshot', 'bigint')
    .addColumn('needs_compaction', 'integer', (c) => c.notNull().defaultTo(0))
    .addColumn('alias_source', 'bigint')
    .addColumn('alias_filter', 'text')
    .addColumn('alias_columns', 'text')
    .addColumn('created_at', 'bigint', (c) => c.notNull())
    .addColumn('last_import_at', 'bigint')
    .addColumn('last_change_at', 'bigint')
    .addUniqueConstraint('data_table_by_name', ['bucket', 'name'])
    .addUniqueConstraint('data_table_by_display_name', ['bucket', 'display_name'])
    .execute()
  await trx.schema.createIndex('data_table_by_project').on('data_table').columns(['project_id', 'id']).execute()
  await trx.schema.createIndex('data_table_by_alias').on('data_table').columns(['alias_source']).execute()
  await trx.schema.createIndex('data_table_to_compact').on('data_table').columns(['needs_compaction', 'id']).execute()

  await trx.schema
    .createTable('table_snapshot')
    .$call(idColumn(dialect))
    .addColumn('project_id', 'bigint', (c) => c.notNull().references('project.id'))
    .addColumn('data_table', 'bigint', (c) => c.notNull())
    .addColumn('value', 'text', (c) => c.notNull())
    .addColumn('created_at', 'bigint', (c) => c.notNull())
    .execute()
  await trx.schema.createIndex('table_snapshot_by_table').on('table_snapshot').columns(['data_table', 'created_at']).execute()

  await trx.schema
    .createTable('kept_snapshot')
    .$call(idColumn(dialect))
    .addColumn('project_id', 'bigint', (c) => c.notNull().references('project.id'))
    .addColumn('data_table', 'bigint', (c) => c.notNull())
    .addColumn('table_id', 'text', (c) => c.notNull())
    .addColumn('description', 'text', (c) => c.notNull())
    .addColumn('value', 'text', (c) => c.notNull())
    .addColumn('creator_token_id', 'bigint', (c) => c.notNull())
    .addColumn('creator_token_description', 'text', (c) => c.notNull())
    .addColumn('created_at', 'bigint', (c) => c.notNull())
    .execute()
  await trx.schema.createIndex('kept_snapshot_by_table').on('kept_snapshot').columns(['project_id', 'data_table', 'id']).execute()

  await trx.schema
    .createTable('table_export')
    .addColumn('data_table', 'bigint', (c) => c.notNull())
    .addColumn('project_id', 'bigint', (c) => c.notNull())
    .addColumn('fingerprint', 'text', (c) => c.notNull())
    .addColumn('file_id', 'bigint', (c) => c.notNull())
    .addPrimaryKeyConstraint('table_export_pk', ['project_id', 'data_table', 'fingerprint'])
    .execute()

  await trx.schema
    .createTable('table_profile')
    .addColumn('uuid', 'text', (c) => c.primaryKey())
    .addColumn('project_id', 'bigint', (c) => c.notNull())
    .addColumn('data_table', 'bigint', (c) => c.notNull())
    .addColumn('value', 'text', (c) => c.notNull())
    .addColumn('created_at', 'bigint', (c) => c.notNull())
    .execute()
  await trx.schema.createIndex('table_profile_by_table').on('table_profile').columns(['data_table', 'created_at']).execute()
}
