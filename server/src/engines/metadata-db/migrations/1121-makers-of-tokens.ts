// The person behind a token for scripts: who made it, or made the token that it was made with.

import { sql } from 'kysely'
import type { Trx } from '../dialects.ts'

export async function up(trx: Trx): Promise<void> {
  await trx.schema.alterTable('token').addColumn('maker_person_id', 'bigint').execute()
  await sql`with recursive made (id, person_id) as (
      select id, person_id from token where person_id is not null
      union
      select token.id, made.person_id from token join made on token.creator_token_id = made.id where token.person_id is null
    )
    update token set maker_person_id = (select max(made.person_id) from made where made.id = token.id)
    where person_id is null`.execute(trx)
}
