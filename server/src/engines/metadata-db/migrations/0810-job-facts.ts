// What lists of jobs show and are grouped by, beside the result: the version that ran, why it failed, how long it usually takes.

import { sql } from 'kysely'
import type { Trx } from '../dialects.ts'

export async function up(trx: Trx): Promise<void> {
  for (const [column, type] of [
    ['config_version', 'bigint'],
    ['cause_kind', 'text'],
    ['cause_subject', 'text'],
    ['usual_ms', 'bigint'],
    ['usual_runs', 'bigint'],
  ] as const)
    await trx.schema.alterTable('queue_job').addColumn(column, type).execute()

  await trx.schema.createIndex('queue_job_by_project_status').on('queue_job').columns(['project_id', 'status', 'id']).execute()
  await trx.schema
    .createIndex('queue_job_by_cause')
    .on('queue_job')
    .columns(['project_id', 'ended_at'])
    .where(sql.ref('cause_kind'), 'is not', null)
    .execute()
  // Failures from before: nobody wrote down why.
  await sql`update queue_job set cause_kind = 'run.componentFailed' where status = 'error' and type = 'standard'`.execute(trx)
}
