// The jobs that wait or run, apart from the millions that have ended: PostgreSQL would else walk through these, in the order of their ids,
// to find the oldest that waits.

import { sql } from 'kysely'
import type { Trx } from '../dialects.ts'

export async function up(trx: Trx): Promise<void> {
  await trx.schema
    .createIndex('queue_job_open')
    .on('queue_job')
    .columns(['status', 'id'])
    .where(sql.ref('ended_at'), 'is', null)
    .execute()
}
