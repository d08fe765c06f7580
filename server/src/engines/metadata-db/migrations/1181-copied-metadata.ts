// Which metadata of a configuration in a development branch was copied with it: a merge carries only what was set in the branch.

import type { Trx } from '../dialects.ts'

export async function up(trx: Trx): Promise<void> {
  await trx.schema
    .alterTable('configuration_metadata')
    .addColumn('is_copied', 'integer', (c) => c.notNull().defaultTo(0))
    .execute()
}
