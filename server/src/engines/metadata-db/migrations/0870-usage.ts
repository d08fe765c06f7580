// What projects use, summed up by day, and what they may use at most.

import type { Trx } from '../dialects.ts'

const COUNTERS = ['jobs', 'failed_jobs', 'job_ms', 'sql_ms', 'rows_in', 'bytes_in', 'bytes_out', 'byte_seconds']

export async function up(trx: Trx): Promise<void> {
  let table = trx.schema
    .createTable('usage_day')
    .addColumn('project_id', 'bigint', (c) => c.notNull().references('project.id'))
    .addColumn('day', 'text', (c) => c.notNull())
    .addColumn('component_id', 'text', (c) => c.notNull())
    .addColumn('configuration_id', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('usage_day_key', ['project_id', 'day', 'component_id', 'configuration_id'])
  for (const counter of COUNTERS) table = table.addColumn(counter, 'bigint', (c) => c.notNull().defaultTo(0))
  await table.execute()

  await trx.schema
    .createTable('usage_storage')
    .addColumn('project_id', 'bigint', (c) => c.primaryKey().references('project.id'))
    .addColumn('measured_at', 'bigint', (c) => c.notNull())
    .execute()

  await trx.schema
    .createTable('project_limit')
    .addColumn('project_id', 'bigint', (c) => c.notNull().references('project.id'))
    .addColumn('name', 'text', (c) => c.notNull())
    .addColumn('value', 'bigint', (c) => c.notNull())
    .addPrimaryKeyConstraint('project_limit_key', ['project_id', 'name'])
    .execute()
}
