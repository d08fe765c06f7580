// When a state of a table was followed by the next one: what can be forgotten is found without a look at the tables that did not change.

import { sql } from 'kysely'
import type { Trx } from '../dialects.ts'

export async function up(trx: Trx): Promise<void> {
  await trx.schema.alterTable('table_state').addColumn('superseded_at', 'bigint').execute()
  await sql`update table_state set superseded_at = (
    select min(next.created_at) from table_state as next where next.data_table = table_state.data_table and next.id > table_state.id
  )`.execute(trx)
  await trx.schema
    .createIndex('table_state_superseded')
    .on('table_state')
    .column('superseded_at')
    .where(sql.ref('superseded_at'), 'is not', null)
    .execute()
  await trx.schema
    .createIndex('table_state_current')
    .on('table_state')
    .columns(['data_table', 'id'])
    .where(sql.ref('superseded_at'), 'is', null)
    .execute()
}
