// Tokens that the platform uses itself, for the runs of schedules: they stay when the person who made the schedule is removed.

import { sql } from 'kysely'
import type { Trx } from '../dialects.ts'

export async function up(trx: Trx): Promise<void> {
  await trx.schema
    .alterTable('token')
    .addColumn('is_internal', 'integer', (column) => column.notNull().defaultTo(0))
    .execute()
  await sql`update token set is_internal = 1 where id in (select token_id from schedule)`.execute(trx)
}
