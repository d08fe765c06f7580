// Files that belong to an event: the file a load read, the file an export wrote. A list of facts as JSON.

import type { Trx } from '../dialects.ts'

export async function up(trx: Trx): Promise<void> {
  await trx.schema
    .alterTable('event')
    .addColumn('attachments', 'text', (c) => c.notNull().defaultTo('[]'))
    .execute()
}
