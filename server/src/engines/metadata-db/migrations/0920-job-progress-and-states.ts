// How far a running job is, and what each row of a job remembered before and after it ran. Most runs leave a state as it was, or find what
// the run before left: each text is stored once in a project.

import type { Trx } from '../dialects.ts'

export async function up(trx: Trx): Promise<void> {
  await trx.schema.alterTable('queue_job').addColumn('progress', 'text').execute()
  await trx.schema
    .createTable('job_state_text')
    .addColumn('project_id', 'bigint', (column) => column.notNull())
    .addColumn('hash', 'text', (column) => column.notNull())
    .addColumn('content', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('job_state_text_key', ['project_id', 'hash'])
    .execute()
  await trx.schema
    .createTable('job_state')
    .addColumn('project_id', 'bigint', (column) => column.notNull())
    .addColumn('job_id', 'bigint', (column) => column.notNull())
    .addColumn('row_id', 'text', (column) => column.notNull())
    .addColumn('before_bytes', 'bigint', (column) => column.notNull())
    .addColumn('before_hash', 'text')
    .addColumn('after_bytes', 'bigint')
    .addColumn('after_hash', 'text')
    .addPrimaryKeyConstraint('job_state_key', ['project_id', 'job_id', 'row_id'])
    .execute()
}
