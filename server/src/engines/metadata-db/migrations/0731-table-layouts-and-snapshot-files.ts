// How other backends would lay a table out, kept for those who ask; and of a snapshot the file with its rows and the metadata its table
// had then. JSON, null where there is none.

import type { Trx } from '../dialects.ts'

export async function up(trx: Trx): Promise<void> {
  await trx.schema.alterTable('data_table').addColumn('layout', 'text').execute()
  await trx.schema.alterTable('table_snapshot').addColumn('data_file_id', 'bigint').execute()
  await trx.schema.alterTable('table_snapshot').addColumn('metadata', 'text').execute()
}
