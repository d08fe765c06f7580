// Triggers: run a configuration when all of some tables were imported. `seen` is what the last run knew of each table.

import { type DialectName, idColumn, type Trx } from '../dialects.ts'

export async function up(trx: Trx, dialect: DialectName): Promise<void> {
  await trx.schema
    .createTable('table_trigger')
    .$call(idColumn(dialect))
    .addColumn('project_id', 'bigint', (c) => c.notNull().references('project.id'))
    .addColumn('token_id', 'bigint', (c) => c.notNull())
    .addColumn('component', 'text', (c) => c.notNull())
    .addColumn('configuration_id', 'text', (c) => c.notNull())
    .addColumn('cool_down_minutes', 'bigint', (c) => c.notNull())
    .addColumn('seen', 'text', (c) => c.notNull())
    .addColumn('creator_token_id', 'bigint', (c) => c.notNull())
    .addColumn('creator_description', 'text', (c) => c.notNull())
    .addColumn('last_run_at', 'bigint', (c) => c.notNull())
    .addColumn('ready_at', 'bigint', (c) => c.notNull())
    .execute()
  await trx.schema.createIndex('table_trigger_by_project').on('table_trigger').columns(['project_id', 'token_id']).execute()
  await trx.schema.createIndex('table_trigger_by_ready_at').on('table_trigger').column('ready_at').execute()
}
