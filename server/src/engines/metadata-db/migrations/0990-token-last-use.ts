// When a token was last used, to the minute (services/tokens/last-use.ts).

import type { Trx } from '../dialects.ts'

export async function up(trx: Trx): Promise<void> {
  await trx.schema.alterTable('token').addColumn('last_used_at', 'bigint').execute()
}
