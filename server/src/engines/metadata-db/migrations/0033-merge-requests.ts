// Requests to merge a branch. Branches may go before their requests do, so their ids are not references.

import { type DialectName, idColumn, type Trx } from '../dialects.ts'

export async function up(trx: Trx, dialect: DialectName): Promise<void> {
  await trx.schema
    .createTable('merge_request')
    .$call(idColumn(dialect))
    .addColumn('project_id', 'bigint', (c) => c.notNull().references('project.id'))
    .addColumn('branch_from_id', 'bigint', (c) => c.notNull())
    .addColumn('branch_into_id', 'bigint', (c) => c.notNull())
    .addColumn('title', 'text', (c) => c.notNull())
    .addColumn('description', 'text', (c) => c.notNull())
    .addColumn('external_id', 'text')
    .addColumn('state', 'text', (c) => c.notNull())
    .addColumn('auto_merge_strategy', 'text', (c) => c.notNull())
    .addColumn('auto_merge_at', 'text')
    .addColumn('reviewer_ids', 'text', (c) => c.notNull())
    .addColumn('approvals', 'text', (c) => c.notNull())
    .addColumn('activity', 'text', (c) => c.notNull())
    .addColumn('created_at', 'bigint', (c) => c.notNull())
    .addColumn('creator_token_id', 'bigint', (c) => c.notNull())
    .addColumn('creator_token_description', 'text', (c) => c.notNull())
    .addColumn('merged_at', 'bigint')
    .addColumn('merger_id', 'bigint')
    .addColumn('merger_name', 'text')
    .execute()
  await trx.schema.createIndex('merge_request_by_project').on('merge_request').columns(['project_id', 'id']).execute()
}
