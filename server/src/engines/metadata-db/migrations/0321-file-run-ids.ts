// A file that answers the same export again belongs to every run that asked, not only to the one that made it. A list as JSON.

import type { Trx } from '../dialects.ts'

export async function up(trx: Trx): Promise<void> {
  await trx.schema
    .alterTable('file')
    .addColumn('more_run_ids', 'text', (c) => c.notNull().defaultTo('[]'))
    .execute()
}
