// Tables that a proposal creates, and metadata that it sets on tables of the default branch.

import { type DialectName, idColumn, type Trx } from '../dialects.ts'

export async function up(trx: Trx, dialect: DialectName): Promise<void> {
  await trx.schema
    .createTable('proposed_table')
    .$call(idColumn(dialect))
    .addColumn('project_id', 'bigint', (c) => c.notNull().references('project.id'))
    .addColumn('branch_id', 'bigint', (c) => c.notNull())
    .addColumn('table_id', 'text', (c) => c.notNull())
    .addColumn('definition', 'text')
    .addColumn('metadata', 'text', (c) => c.notNull())
    .execute()
  await trx.schema
    .createIndex('proposed_table_once')
    .on('proposed_table')
    .columns(['project_id', 'branch_id', 'table_id'])
    .unique()
    .execute()
}
