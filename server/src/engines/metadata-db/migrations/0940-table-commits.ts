// States of tables that another program committed: the number that the program gave to the state, in digits because it may have 63 bits, and a
// digest of its request, by which the same request is known when it comes again.

import type { Trx } from '../dialects.ts'

export async function up(trx: Trx): Promise<void> {
  await trx.schema.alterTable('table_state').addColumn('commit_snapshot', 'text').execute()
  await trx.schema.alterTable('table_state').addColumn('commit_digest', 'text').execute()
  // The id that a table had while it was staged, which its writer keeps; others have one that follows from their number.
  await trx.schema.alterTable('data_table').addColumn('open_uuid', 'text').execute()
  await trx.schema
    .createIndex('table_state_by_commit')
    .on('table_state')
    .columns(['data_table', 'commit_digest'])
    .where('commit_digest', 'is not', null)
    .execute()
}
