// Failures are grouped by cause from an index alone: jobs themselves carry their results.

import { sql } from 'kysely'
import type { Trx } from '../dialects.ts'

export async function up(trx: Trx): Promise<void> {
  await trx.schema.dropIndex('queue_job_by_cause').execute()
  await trx.schema
    .createIndex('queue_job_by_cause')
    .on('queue_job')
    .columns([
      'project_id',
      'ended_at',
      'status',
      'cause_kind',
      'cause_subject',
      'component_id',
      'configuration_id',
      'branch_id',
      'id',
    ])
    .where(sql.ref('cause_kind'), 'is not', null)
    .execute()
  await trx.schema
    .createIndex('queue_job_configurations')
    .on('queue_job')
    .columns(['project_id', 'configuration_id', 'id'])
    .execute()
}
