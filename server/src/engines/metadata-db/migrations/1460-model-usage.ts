// How often tokens called the model of the operator, by day.

import type { Trx } from '../dialects.ts'

export async function up(trx: Trx): Promise<void> {
  await trx.schema
    .alterTable('agent_usage')
    .addColumn('model_calls', 'bigint', (c) => c.notNull().defaultTo(0))
    .execute()
}
