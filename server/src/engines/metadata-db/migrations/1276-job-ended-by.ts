// Who ended a job before it was over: the description of the token that asked for it.

import type { Trx } from '../dialects.ts'

export async function up(trx: Trx): Promise<void> {
  await trx.schema.alterTable('queue_job').addColumn('ended_by', 'text').execute()
}
