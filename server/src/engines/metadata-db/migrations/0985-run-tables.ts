// Tables that live as long as a run of a job on another engine, in the catalogue of Iceberg. They belong to the token of the run and go with
// it; a row without a name is the namespace itself.

import type { Trx } from '../dialects.ts'

export async function up(trx: Trx): Promise<void> {
  await trx.schema
    .createTable('iceberg_run_table')
    .addColumn('token_id', 'bigint', (c) => c.notNull().references('token.id').onDelete('cascade'))
    .addColumn('project_id', 'bigint', (c) => c.notNull().references('project.id'))
    .addColumn('name', 'text', (c) => c.notNull())
    .addColumn('folder', 'text', (c) => c.notNull())
    // Of a result: the table of the project that will take its files.
    .addColumn('target', 'text')
    // Null: nobody has made the table yet.
    .addColumn('metadata', 'text')
    .addColumn('created_at', 'bigint', (c) => c.notNull())
    .addPrimaryKeyConstraint('iceberg_run_table_pk', ['token_id', 'name'])
    .execute()
}
