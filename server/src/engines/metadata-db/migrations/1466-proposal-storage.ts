// What an accepted proposal replaced besides configurations, so that it can be undone with them.

import type { Trx } from '../dialects.ts'

export async function up(trx: Trx): Promise<void> {
  await trx.schema.alterTable('proposal').addColumn('storage_applied', 'text').execute()
}
