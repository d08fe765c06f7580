// Whether a history has something to add follows from its last state and the current one of the table.

import type { Trx } from '../dialects.ts'

export async function up(trx: Trx): Promise<void> {
  await trx.schema.alterTable('table_history').dropColumn('is_due').execute()
}
