// The protocol that a file speaks with clients.

import { sql } from 'kysely'
import type { Trx } from '../dialects.ts'

export async function up(trx: Trx): Promise<void> {
  await sql`alter table file add column provider text not null default 'aws'`.execute(trx)
}
