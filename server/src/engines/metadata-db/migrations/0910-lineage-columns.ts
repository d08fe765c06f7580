// What the columns of a table are made of, as JSON; null when it is not known.

import type { Trx } from '../dialects.ts'

export async function up(trx: Trx): Promise<void> {
  await trx.schema.alterTable('lineage_use').addColumn('columns', 'text').execute()
}
