// When a public key of a workspace was set: keys without a name take turns in two slots.

import { sql } from 'kysely'
import type { Trx } from '../dialects.ts'

export async function up(trx: Trx): Promise<void> {
  await trx.schema
    .alterTable('workspace_public_key')
    .addColumn('set_at', 'bigint', (c) => c.notNull().defaultTo(0))
    .execute()
  await sql`update workspace_public_key set name = 'RSA_PUBLIC_KEY_1' where name = 'default' and not exists (
      select 1 from workspace_public_key other
      where other.project_id = workspace_public_key.project_id
        and other.workspace_id = workspace_public_key.workspace_id and other.name = 'RSA_PUBLIC_KEY_1')`.execute(trx)
}
