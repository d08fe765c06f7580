// Streams: sources that take records, the tables they go to, which batches have arrived there, and the tasks clients ask for.

import { type DialectName, idColumn, type Trx } from '../dialects.ts'

export async function up(trx: Trx, dialect: DialectName): Promise<void> {
  await trx.schema
    .createTable('stream_source')
    .$call(idColumn(dialect))
    .addColumn('project_id', 'bigint', (c) => c.notNull().references('project.id'))
    .addColumn('branch_id', 'bigint', (c) => c.notNull())
    .addColumn('source_id', 'text', (c) => c.notNull())
    .addColumn('type', 'text', (c) => c.notNull())
    .addColumn('name', 'text', (c) => c.notNull())
    .addColumn('description', 'text', (c) => c.notNull())
    .addColumn('secret_hash', 'text', (c) => c.notNull())
    .addColumn('secret', 'text', (c) => c.notNull())
    .addColumn('is_disabled', 'integer', (c) => c.notNull())
    .addColumn('limits', 'text', (c) => c.notNull())
    .addColumn('version', 'bigint', (c) => c.notNull())
    .addColumn('created_at', 'bigint', (c) => c.notNull())
    .addColumn('updated_at', 'bigint', (c) => c.notNull())
    .addColumn('creator_token_id', 'bigint', (c) => c.notNull())
    .addColumn('creator_description', 'text', (c) => c.notNull())
    .execute()
  // Records name the project and the source, not the branch.
  await trx.schema.createIndex('stream_source_by_id').on('stream_source').columns(['project_id', 'source_id']).unique().execute()
  await trx.schema
    .createTable('stream_sink')
    .$call(idColumn(dialect))
    .addColumn('project_id', 'bigint', (c) => c.notNull())
    .addColumn('source_key', 'bigint', (c) => c.notNull().references('stream_source.id').onDelete('cascade'))
    .addColumn('sink_id', 'text', (c) => c.notNull())
    .addColumn('name', 'text', (c) => c.notNull())
    .addColumn('description', 'text', (c) => c.notNull())
    .addColumn('table_id', 'text', (c) => c.notNull())
    .addColumn('columns', 'text', (c) => c.notNull())
    .addColumn('is_disabled', 'integer', (c) => c.notNull())
    .addColumn('actor', 'text', (c) => c.notNull())
    .addColumn('records_count', 'bigint', (c) => c.notNull())
    .addColumn('last_loaded_at', 'bigint')
    .addColumn('last_error', 'text')
    .addColumn('version', 'bigint', (c) => c.notNull())
    .addColumn('created_at', 'bigint', (c) => c.notNull())
    .addColumn('updated_at', 'bigint', (c) => c.notNull())
    .execute()
  await trx.schema.createIndex('stream_sink_by_id').on('stream_sink').columns(['source_key', 'sink_id']).unique().execute()
  // Written in the transaction that makes a batch visible in its table; a batch that is here is never loaded again.
  await trx.schema
    .createTable('stream_load')
    .addColumn('sink_key', 'bigint', (c) => c.notNull().references('stream_sink.id').onDelete('cascade'))
    .addColumn('segment', 'text', (c) => c.notNull())
    .addColumn('loaded_at', 'bigint', (c) => c.notNull())
    .addPrimaryKeyConstraint('stream_load_key', ['sink_key', 'segment'])
    .execute()
  await trx.schema
    .createTable('stream_task')
    .addColumn('project_id', 'bigint', (c) => c.notNull())
    .addColumn('task_id', 'text', (c) => c.notNull())
    .addColumn('content', 'text', (c) => c.notNull())
    .addColumn('created_at', 'bigint', (c) => c.notNull())
    .addPrimaryKeyConstraint('stream_task_key', ['project_id', 'task_id'])
    .execute()
}
