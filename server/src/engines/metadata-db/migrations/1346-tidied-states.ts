// A state of a table that has the rows of the state before it in other files: a writer that began with that one can still commit.

import type { Trx } from '../dialects.ts'

export async function up(trx: Trx): Promise<void> {
  await trx.schema.alterTable('table_state').addColumn('tidied_from', 'bigint').execute()
}
