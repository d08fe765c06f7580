// Which workers are alive. A worker renews its row from a thread of its own, so that a busy event loop is not taken for a dead one.

import type { Trx } from '../dialects.ts'

export async function up(trx: Trx): Promise<void> {
  await trx.schema
    .createTable('worker_lease')
    .addColumn('worker', 'text', (column) => column.primaryKey())
    .addColumn('alive_until', 'bigint', (column) => column.notNull())
    .execute()
}
