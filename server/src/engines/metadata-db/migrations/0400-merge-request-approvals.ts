// How many approvals a project asks for, where it differs from the rule, and what a merge request changes, kept when its branch is gone.

import type { Trx } from '../dialects.ts'

export async function up(trx: Trx): Promise<void> {
  await trx.schema
    .createTable('merge_request_setting')
    .addColumn('project_id', 'bigint', (c) => c.primaryKey().references('project.id'))
    .addColumn('required_approvals', 'integer', (c) => c.notNull())
    .execute()
  await trx.schema
    .alterTable('merge_request')
    .addColumn('change_log', 'text', (c) => c.notNull().defaultTo('[]'))
    .execute()
}
