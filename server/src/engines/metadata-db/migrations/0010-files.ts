// Files and their tags.

import { type DialectName, idColumn, type Trx } from '../dialects.ts'

export async function up(trx: Trx, dialect: DialectName): Promise<void> {
  await trx.schema
    .createTable('file')
    .$call(idColumn(dialect))
    .addColumn('project_id', 'bigint', (c) => c.notNull().references('project.id'))
    .addColumn('state', 'text', (c) => c.notNull())
    .addColumn('name', 'text', (c) => c.notNull())
    .addColumn('object_key', 'text', (c) => c.notNull())
    .addColumn('content_type', 'text')
    .addColumn('size_bytes', 'bigint')
    .addColumn('is_size_confirmed', 'integer', (c) => c.notNull())
    .addColumn('is_public', 'integer', (c) => c.notNull())
    .addColumn('is_sliced', 'integer', (c) => c.notNull())
    .addColumn('is_encrypted', 'integer', (c) => c.notNull())
    .addColumn('notify', 'integer', (c) => c.notNull())
    .addColumn('max_age_days', 'integer')
    .addColumn('run_id', 'text')
    .addColumn('creator_token_id', 'bigint', (c) => c.notNull())
    .addColumn('creator_description', 'text', (c) => c.notNull())
    .addColumn('created_at', 'bigint', (c) => c.notNull())
    .addColumn('expires_at', 'bigint')
    .addColumn('state_changed_at', 'bigint', (c) => c.notNull())
    .execute()
  await trx.schema.createIndex('file_by_project').on('file').columns(['project_id', 'state', 'id']).execute()
  await trx.schema.createIndex('file_by_expiry').on('file').columns(['state', 'expires_at']).execute()

  await trx.schema
    .createTable('file_tag')
    .$call(idColumn(dialect))
    .addColumn('project_id', 'bigint', (c) => c.notNull())
    .addColumn('file_id', 'bigint', (c) => c.notNull().references('file.id').onDelete('cascade'))
    .addColumn('tag', 'text', (c) => c.notNull())
    .execute()
  await trx.schema.createIndex('file_tag_once').on('file_tag').columns(['file_id', 'tag']).unique().execute()
  await trx.schema.createIndex('file_tag_by_tag').on('file_tag').columns(['project_id', 'tag', 'file_id']).execute()
}
