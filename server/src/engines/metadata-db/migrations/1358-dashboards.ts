// Dashboards over saved queries, and links that show one without a token.

import { type DialectName, idColumn, type Trx } from '../dialects.ts'

export async function up(trx: Trx, dialect: DialectName): Promise<void> {
  await trx.schema
    .createTable('dashboard')
    .$call(idColumn(dialect))
    .addColumn('project_id', 'bigint', (c) => c.notNull())
    .addColumn('name', 'text', (c) => c.notNull())
    .addColumn('description', 'text', (c) => c.notNull())
    .addColumn('tiles', 'text', (c) => c.notNull())
    .addColumn('filters', 'text', (c) => c.notNull())
    .addColumn('creator', 'text', (c) => c.notNull())
    .addColumn('created_at', 'bigint', (c) => c.notNull())
    .addColumn('updated_at', 'bigint', (c) => c.notNull())
    .addColumn('version', 'integer', (c) => c.notNull())
    .execute()
  await trx.schema.createIndex('dashboard_by_name').on('dashboard').columns(['project_id', 'name']).unique().execute()
  await trx.schema
    .createTable('dashboard_link')
    .$call(idColumn(dialect))
    .addColumn('project_id', 'bigint', (c) => c.notNull())
    .addColumn('dashboard_id', 'bigint', (c) => c.notNull())
    .addColumn('value_hash', 'text', (c) => c.notNull())
    .addColumn('creator', 'text', (c) => c.notNull())
    .addColumn('created_at', 'bigint', (c) => c.notNull())
    .addColumn('expires_at', 'bigint', (c) => c.notNull())
    .execute()
  await trx.schema.createIndex('dashboard_link_by_hash').on('dashboard_link').column('value_hash').unique().execute()
  await trx.schema
    .createIndex('dashboard_link_by_dashboard')
    .on('dashboard_link')
    .columns(['project_id', 'dashboard_id'])
    .execute()
}
