// How often tokens called tools of agents, by day.

import type { Trx } from '../dialects.ts'

export async function up(trx: Trx): Promise<void> {
  await trx.schema
    .createTable('agent_usage')
    .addColumn('project_id', 'bigint', (c) => c.notNull().references('project.id'))
    .addColumn('token_id', 'bigint', (c) => c.notNull())
    .addColumn('day', 'text', (c) => c.notNull())
    .addColumn('calls', 'bigint', (c) => c.notNull())
    .addPrimaryKeyConstraint('agent_usage_key', ['project_id', 'token_id', 'day'])
    .execute()
}
