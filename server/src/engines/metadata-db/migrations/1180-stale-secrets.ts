// Objects below a name with # were stored in clear (corrections-2, Z1). What may hold one is marked here and sealed by the stack, which
// has the keys, after its start.

import { sql } from 'kysely'
import type { Trx } from '../dialects.ts'

const mayHold = (column: string) => sql`(${sql.ref(column)} like '%"#%' or ${sql.ref(column)} like '%u0023%')`

export async function up(trx: Trx): Promise<void> {
  for (const table of ['configuration', 'queue_job']) {
    await trx.schema
      .alterTable(table)
      .addColumn('secrets_stale', 'integer', (c) => c.notNull().defaultTo(0))
      .execute()
    await trx.schema
      .createIndex(`${table}_with_stale_secrets`)
      .on(table)
      .column('id')
      .where(sql.ref('secrets_stale'), '=', 1)
      .execute()
  }
  await sql`update configuration set secrets_stale = 1 where ${mayHold('state')}
    or id in (select owner_id from configuration_version where ${mayHold('content')})
    or id in (select owner_id from configuration_row where ${mayHold('state')})
    or id in (select owner_id from configuration_row_version where ${mayHold('content')})`.execute(trx)
  await sql`update queue_job set secrets_stale = 1 where ${mayHold('config_data')} or id in (
    select job_id from job_state join job_state_text
      on job_state_text.project_id = job_state.project_id and job_state_text.hash in (before_hash, after_hash)
    where ${mayHold('content')})`.execute(trx)
}
