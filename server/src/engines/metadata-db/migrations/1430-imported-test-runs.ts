// Results of data tests that another program ran, such as dbt.

import type { Trx } from '../dialects.ts'

export async function up(trx: Trx): Promise<void> {
  await trx.schema.alterTable('data_test_run').addColumn('source', 'text').execute()
}
