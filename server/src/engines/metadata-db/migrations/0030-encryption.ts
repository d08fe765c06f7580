// Data keys of the encryption module, wrapped, and which root key wraps them.

import type { Trx } from '../dialects.ts'

export async function up(trx: Trx): Promise<void> {
  await trx.schema
    .createTable('encryption_stack')
    .addColumn('id', 'integer', (c) => c.primaryKey())
    .addColumn('stack_id', 'text', (c) => c.notNull())
    .addColumn('root_key_id', 'text', (c) => c.notNull())
    .execute()

  await trx.schema
    .createTable('encryption_data_key')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('project_id', 'bigint', (c) => c.notNull()) // 0: the stack's own, so no foreign key
    .addColumn('wrapped', 'text', (c) => c.notNull())
    .addColumn('root_key_id', 'text', (c) => c.notNull())
    .addColumn('created_at', 'bigint', (c) => c.notNull())
    .execute()
  await trx.schema.createIndex('encryption_data_key_by_project').on('encryption_data_key').columns(['project_id']).execute()
}
