// What an accepted proposal replaced, so that it can be undone as one, and when that was done.

import type { Trx } from '../dialects.ts'

export async function up(trx: Trx): Promise<void> {
  await trx.schema.alterTable('proposal').addColumn('replaced', 'text').execute()
  await trx.schema.alterTable('proposal').addColumn('undone_at', 'bigint').execute()
}
