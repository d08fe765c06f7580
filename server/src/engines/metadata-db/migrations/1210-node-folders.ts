// The data folder of a node, by which its next process is known as the successor. Null: of a node of an earlier release.

import type { Trx } from '../dialects.ts'

export async function up(trx: Trx): Promise<void> {
  await trx.schema.alterTable('stack_node').addColumn('data_folder', 'text').execute()
}
