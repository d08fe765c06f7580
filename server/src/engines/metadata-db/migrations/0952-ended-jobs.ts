// Jobs by their end, so that those that ended lately are counted without the others.

import type { Trx } from '../dialects.ts'

export async function up(trx: Trx): Promise<void> {
  await trx.schema.createIndex('queue_job_by_end').on('queue_job').columns(['ended_at', 'status']).execute()
}
