// Activated schedules and what they did. (schedule_id, due_at) is unique: a due minute runs at most once, whoever tries.

import { type DialectName, idColumn, type Trx } from '../dialects.ts'

export async function up(trx: Trx, dialect: DialectName): Promise<void> {
  await trx.schema
    .createTable('schedule')
    .$call(idColumn(dialect))
    .addColumn('project_id', 'bigint', (c) => c.notNull().references('project.id'))
    .addColumn('token_id', 'bigint', (c) => c.notNull())
    .addColumn('configuration_id', 'text', (c) => c.notNull())
    .addColumn('configuration_version', 'bigint', (c) => c.notNull())
    .addColumn('schedule', 'text', (c) => c.notNull())
    .addColumn('target', 'text', (c) => c.notNull())
    .addColumn('target_component_id', 'text', (c) => c.notNull())
    .addColumn('target_configuration_id', 'text', (c) => c.notNull())
    .addColumn('policy', 'text', (c) => c.notNull())
    .addColumn('next_run_at', 'bigint')
    .addColumn('stopped_reason', 'text')
    .addColumn('created_at', 'bigint', (c) => c.notNull())
    .addUniqueConstraint('schedule_of_configuration', ['project_id', 'configuration_id'])
    .execute()
  await trx.schema.createIndex('schedule_due').on('schedule').column('next_run_at').execute()

  await trx.schema
    .createTable('schedule_execution')
    .$call(idColumn(dialect))
    .addColumn('project_id', 'bigint', (c) => c.notNull())
    .addColumn('schedule_id', 'bigint', (c) => c.notNull().references('schedule.id').onDelete('cascade'))
    .addColumn('due_at', 'bigint', (c) => c.notNull())
    .addColumn('executed_at', 'bigint', (c) => c.notNull())
    .addColumn('status', 'text', (c) => c.notNull())
    .addColumn('job_id', 'text')
    .addColumn('reason', 'text')
    .addUniqueConstraint('one_execution_per_due_minute', ['schedule_id', 'due_at'])
    .execute()
}
