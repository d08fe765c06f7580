// Components that nodes have in their folders, for the other nodes: the description as a cipher, its folder as an object.

import type { Trx } from '../dialects.ts'

export async function up(trx: Trx): Promise<void> {
  await trx.schema
    .createTable('shared_component')
    .addColumn('component', 'text', (column) => column.notNull())
    .addColumn('node', 'text', (column) => column.notNull())
    .addColumn('description', 'text', (column) => column.notNull())
    .addColumn('digest', 'text')
    .addColumn('is_runnable', 'bigint', (column) => column.notNull())
    .addColumn('published_at', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint('shared_component_pk', ['component', 'node'])
    .execute()
}
