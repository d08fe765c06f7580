// Proposals: which token works in which branch, and as which merge request it was submitted. Branches go before their proposals do.

import { type DialectName, idColumn, type Trx } from '../dialects.ts'

export async function up(trx: Trx, dialect: DialectName): Promise<void> {
  await trx.schema
    .createTable('proposal')
    .$call(idColumn(dialect))
    .addColumn('project_id', 'bigint', (c) => c.notNull().references('project.id'))
    .addColumn('token_id', 'bigint', (c) => c.notNull())
    .addColumn('token_description', 'text', (c) => c.notNull())
    .addColumn('branch_id', 'bigint', (c) => c.notNull())
    .addColumn('merge_request_id', 'bigint')
    .addColumn('created_at', 'bigint', (c) => c.notNull())
    .execute()
  await trx.schema.createIndex('proposal_by_token').on('proposal').columns(['project_id', 'token_id', 'id']).execute()
}
