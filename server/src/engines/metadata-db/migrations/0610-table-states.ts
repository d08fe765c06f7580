// Names that say what they hold: every state of a table within the retention, and the snapshots that people keep.

import { sql } from 'kysely'
import type { Trx } from '../dialects.ts'

export async function up(trx: Trx): Promise<void> {
  await sql`alter table table_snapshot rename to table_state`.execute(trx)
  await sql`alter table kept_snapshot rename to table_snapshot`.execute(trx)
}
