// Waits until a transaction of a PostgreSQL database waits for a row that another one holds. Other tests have other databases.

import { type Kysely, sql } from 'kysely'
import { until } from './until.ts'

export async function untilSomebodyWaits<Tables>(db: Kysely<Tables>, what: string): Promise<void> {
  const waiting = sql`select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
  await until(what, async () => (await waiting.execute(db)).rows.length > 0)
}
