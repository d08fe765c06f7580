// Data contracts of tables, by the id of the table in its branch.

import { type DialectName, idColumn, type Trx } from '../dialects.ts'

export async function up(trx: Trx, dialect: DialectName): Promise<void> {
  await trx.schema
    .createTable('data_contract')
    .$call(idColumn(dialect))
    .addColumn('project_id', 'bigint', (c) => c.notNull())
    .addColumn('branch_id', 'bigint', (c) => c.notNull())
    .addColumn('table_id', 'text', (c) => c.notNull())
    .addColumn('text', 'text', (c) => c.notNull())
    .addColumn('creator_token_id', 'bigint', (c) => c.notNull())
    .addColumn('creator_description', 'text', (c) => c.notNull())
    .addColumn('created_at', 'bigint', (c) => c.notNull())
    .addColumn('updated_at', 'bigint', (c) => c.notNull())
    .execute()
  await trx.schema
    .createIndex('data_contract_by_table')
    .on('data_contract')
    .columns(['project_id', 'branch_id', 'table_id'])
    .unique()
    .execute()
}
