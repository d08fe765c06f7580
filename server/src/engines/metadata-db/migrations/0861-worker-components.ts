// Which worker has which component of its own folder, so that a node leaves jobs to those that can run them.

import type { Trx } from '../dialects.ts'

export async function up(trx: Trx): Promise<void> {
  await trx.schema
    .createTable('worker_component')
    .addColumn('worker', 'text', (column) => column.notNull())
    .addColumn('component', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('worker_component_pk', ['component', 'worker'])
    .execute()
}
