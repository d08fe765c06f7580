// What an operator sets for a project, one JSON object; empty means the defaults.

import { sql } from 'kysely'
import type { Trx } from '../dialects.ts'

export async function up(trx: Trx): Promise<void> {
  await sql`alter table project add column settings text not null default '{}'`.execute(trx)
}
