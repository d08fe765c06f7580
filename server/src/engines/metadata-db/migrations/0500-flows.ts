// Runs of flows: the plan of each, how far it has come, and when to look at it again. Jobs of a flow's tasks know which of them the flow
// waits for together.

import type { Trx } from '../dialects.ts'

export async function up(trx: Trx): Promise<void> {
  await trx.schema
    .createTable('flow_run')
    .addColumn('job_id', 'bigint', (c) => c.primaryKey())
    .addColumn('project_id', 'bigint', (c) => c.notNull().references('project.id'))
    .addColumn('plan', 'text', (c) => c.notNull())
    .addColumn('state', 'text', (c) => c.notNull())
    .addColumn('revision', 'bigint', (c) => c.notNull())
    .addColumn('wake_at', 'bigint')
    .execute()
  await trx.schema.createIndex('flow_run_by_wake').on('flow_run').column('wake_at').where('wake_at', 'is not', null).execute()
  await trx.schema.alterTable('queue_job').addColumn('step_group', 'bigint').execute()
}
