// The person who signed in the agent of a request: its secrets are entered by that person.

import type { Trx } from '../dialects.ts'

export async function up(trx: Trx): Promise<void> {
  await trx.schema.alterTable('agent_request').addColumn('person_id', 'bigint').execute()
}
