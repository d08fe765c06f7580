// Rehearsals of proposals: the job that ran one, its plan, and what it found.

import { type DialectName, idColumn, type Trx } from '../dialects.ts'

export async function up(trx: Trx, dialect: DialectName): Promise<void> {
  await trx.schema
    .createTable('rehearsal')
    .$call(idColumn(dialect))
    .addColumn('project_id', 'bigint', (c) => c.notNull().references('project.id'))
    .addColumn('proposal_id', 'bigint', (c) => c.notNull())
    .addColumn('branch_id', 'bigint', (c) => c.notNull())
    .addColumn('job_id', 'bigint')
    .addColumn('content', 'text', (c) => c.notNull())
    .addColumn('plan', 'text', (c) => c.notNull())
    .addColumn('result', 'text')
    .addColumn('created_at', 'bigint', (c) => c.notNull())
    .execute()
  await trx.schema.createIndex('rehearsal_by_proposal').on('rehearsal').columns(['project_id', 'proposal_id', 'id']).execute()
}
