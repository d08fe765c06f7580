// What runs once a proposal is accepted. `token_id` is that of the acceptance; null before it.

import { type DialectName, idColumn, type Trx } from '../dialects.ts'

export async function up(trx: Trx, dialect: DialectName): Promise<void> {
  await trx.schema
    .createTable('proposal_run')
    .$call(idColumn(dialect))
    .addColumn('project_id', 'bigint', (c) => c.notNull().references('project.id'))
    .addColumn('proposal_id', 'bigint', (c) => c.notNull())
    .addColumn('component_id', 'text', (c) => c.notNull())
    .addColumn('configuration_id', 'text', (c) => c.notNull())
    .addColumn('is_wanted', 'integer', (c) => c.notNull())
    .addColumn('token_id', 'bigint')
    .addColumn('is_due', 'integer', (c) => c.notNull())
    .addColumn('job_id', 'text')
    .addColumn('problem', 'text')
    .execute()
  await trx.schema
    .createIndex('proposal_run_by_proposal')
    .on('proposal_run')
    .columns(['project_id', 'proposal_id', 'id'])
    .execute()
  await trx.schema.createIndex('proposal_run_due').on('proposal_run').column('is_due').execute()
}
