// Changes for the live stream of a project. `tx` is the number of the transaction on PostgreSQL, where rows become visible in another
// order than they are numbered; on SQLite there is one writer, and it is 0.

import { sql } from 'kysely'
import { type DialectName, idColumn, type Trx } from '../dialects.ts'

export async function up(trx: Trx, dialect: DialectName): Promise<void> {
  const tx = dialect === 'postgres' ? sql`(pg_current_xact_id()::text::bigint)` : sql`0`
  await trx.schema
    .createTable('change')
    .$call(idColumn(dialect))
    .addColumn('tx', 'bigint', (c) => c.notNull().defaultTo(tx))
    .addColumn('project_id', 'bigint', (c) => c.notNull())
    .addColumn('kind', 'text', (c) => c.notNull())
    .addColumn('object_id', 'text', (c) => c.notNull())
    .addColumn('state', 'text', (c) => c.notNull())
    .addColumn('version', 'bigint')
    .addColumn('branch_id', 'bigint')
    .addColumn('component_id', 'text')
    .addColumn('token_id', 'bigint')
    .addColumn('created_at', 'bigint', (c) => c.notNull())
    .execute()
  await trx.schema.createIndex('change_by_transaction').on('change').columns(['tx', 'id']).execute()
}
