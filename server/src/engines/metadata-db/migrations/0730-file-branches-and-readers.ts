// The development branch a file belongs to (null: the default one), and the tokens that may read it besides the one that made it:
// those that were given it again by an export. A list as JSON.

import type { Trx } from '../dialects.ts'

export async function up(trx: Trx): Promise<void> {
  await trx.schema.alterTable('file').addColumn('branch_id', 'bigint').execute()
  await trx.schema
    .alterTable('file')
    .addColumn('reader_token_ids', 'text', (c) => c.notNull().defaultTo('[]'))
    .execute()
}
