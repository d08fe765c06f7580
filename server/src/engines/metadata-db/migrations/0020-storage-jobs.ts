// Storage jobs, the locks they queue for, and whose turn it is.

import { sql } from 'kysely'
import { type DialectName, idColumn, type Trx } from '../dialects.ts'

export async function up(trx: Trx, dialect: DialectName): Promise<void> {
  await trx.schema
    .createTable('storage_job')
    .$call(idColumn(dialect))
    .addColumn('project_id', 'bigint', (c) => c.notNull().references('project.id'))
    .addColumn('branch_id', 'bigint')
    .addColumn('status', 'text', (c) => c.notNull())
    .addColumn('operation_name', 'text', (c) => c.notNull())
    .addColumn('operation_params', 'text', (c) => c.notNull())
    .addColumn('input', 'text', (c) => c.notNull())
    .addColumn('table_id', 'text')
    .addColumn('run_id', 'text')
    .addColumn('origin', 'text', (c) => c.notNull())
    .addColumn('results', 'text')
    .addColumn('error', 'text')
    .addColumn('metrics', 'text', (c) => c.notNull())
    .addColumn('creator_token_id', 'bigint', (c) => c.notNull())
    .addColumn('creator_token_description', 'text', (c) => c.notNull())
    .addColumn('created_at', 'bigint', (c) => c.notNull())
    .addColumn('started_at', 'bigint')
    .addColumn('ended_at', 'bigint')
    .addColumn('attempt', 'bigint', (c) => c.notNull().defaultTo(0))
    .addColumn('losses', 'bigint', (c) => c.notNull().defaultTo(0))
    .addColumn('worker', 'text')
    .addColumn('is_inline', 'integer', (c) => c.notNull().defaultTo(0))
    .addColumn('lease_until', 'bigint')
    .execute()
  await trx.schema.createIndex('storage_job_by_project').on('storage_job').columns(['project_id', 'id']).execute()
  await trx.schema.createIndex('storage_job_by_run').on('storage_job').columns(['project_id', 'run_id']).execute()
  // Finished jobs pile up; the queue only ever looks at the open ones.
  await trx.schema
    .createIndex('storage_job_open')
    .on('storage_job')
    .columns(['status', 'project_id', 'id'])
    .where(sql.ref('ended_at'), 'is', null)
    .execute()

  await trx.schema
    .createTable('storage_job_lock')
    .addColumn('job_id', 'bigint', (c) => c.notNull().references('storage_job.id'))
    .addColumn('project_id', 'bigint', (c) => c.notNull())
    .addColumn('lock_key', 'text', (c) => c.notNull())
    .addColumn('is_held', 'integer', (c) => c.notNull().defaultTo(0))
    .addPrimaryKeyConstraint('storage_job_lock_pk', ['project_id', 'lock_key', 'job_id'])
    .execute()
  await trx.schema.createIndex('storage_job_lock_by_job').on('storage_job_lock').columns(['job_id']).execute()
  // The database itself refuses a second holder, whatever the claims of two nodes saw.
  await trx.schema
    .createIndex('storage_job_lock_holder')
    .unique()
    .on('storage_job_lock')
    .columns(['project_id', 'lock_key'])
    .where(sql.ref('is_held'), '=', 1)
    .execute()

  await trx.schema
    .createTable('storage_job_turn')
    .addColumn('project_id', 'bigint', (c) => c.primaryKey())
    .addColumn('last_claim', 'bigint', (c) => c.notNull())
    .execute()
}
