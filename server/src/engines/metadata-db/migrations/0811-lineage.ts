// Which configuration read and wrote which table, last; and when tables are usually loaded.

import type { Trx } from '../dialects.ts'

export async function up(trx: Trx): Promise<void> {
  await trx.schema
    .createTable('lineage_use')
    .addColumn('project_id', 'bigint', (c) => c.notNull())
    .addColumn('branch_id', 'bigint', (c) => c.notNull())
    .addColumn('component_id', 'text', (c) => c.notNull())
    .addColumn('configuration_id', 'text', (c) => c.notNull())
    .addColumn('row_id', 'text', (c) => c.notNull()) // empty: the configuration itself
    .addColumn('table_id', 'text', (c) => c.notNull())
    .addColumn('direction', 'text', (c) => c.notNull())
    .addColumn('job_id', 'bigint', (c) => c.notNull())
    .addColumn('used_at', 'bigint', (c) => c.notNull())
    .addPrimaryKeyConstraint('lineage_use_key', [
      'project_id',
      'branch_id',
      'table_id',
      'direction',
      'component_id',
      'configuration_id',
      'row_id',
    ])
    .execute()

  await trx.schema
    .createTable('table_freshness')
    .addColumn('project_id', 'bigint', (c) => c.notNull())
    .addColumn('branch_id', 'bigint', (c) => c.notNull())
    .addColumn('table_id', 'text', (c) => c.notNull())
    .addColumn('loads', 'text', (c) => c.notNull())
    .addColumn('last_at', 'bigint', (c) => c.notNull())
    .addColumn('usual_ms', 'bigint')
    .addColumn('due_at', 'bigint')
    .addColumn('late_since', 'bigint')
    .addColumn('token_id', 'bigint', (c) => c.notNull())
    .addColumn('token_description', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('table_freshness_key', ['project_id', 'branch_id', 'table_id'])
    .execute()
  await trx.schema.createIndex('table_freshness_due').on('table_freshness').columns(['late_since', 'due_at']).execute()
}
