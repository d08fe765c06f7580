// Tables whose history is kept, and the state up to which it goes.

import { type DialectName, idColumn, type Trx } from '../dialects.ts'

export async function up(trx: Trx, dialect: DialectName): Promise<void> {
  await trx.schema
    .createTable('table_history')
    .$call(idColumn(dialect))
    .addColumn('project_id', 'bigint', (c) => c.notNull())
    .addColumn('branch_id', 'bigint', (c) => c.notNull())
    .addColumn('table_id', 'text', (c) => c.notNull())
    .addColumn('table_key', 'bigint', (c) => c.notNull())
    .addColumn('last_state', 'bigint')
    .addColumn('is_due', 'integer', (c) => c.notNull())
    .addColumn('actor', 'text', (c) => c.notNull())
    .addColumn('problem', 'text')
    .addColumn('created_at', 'bigint', (c) => c.notNull())
    .addColumn('updated_at', 'bigint', (c) => c.notNull())
    .execute()
  await trx.schema
    .createIndex('table_history_by_table')
    .on('table_history')
    .columns(['project_id', 'branch_id', 'table_id'])
    .unique()
    .execute()
}
