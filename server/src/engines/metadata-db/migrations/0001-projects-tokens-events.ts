// Projects, their tokens, what happened in them, and the ticket counter.

import { sql } from 'kysely'
import { type DialectName, idColumn, type Trx } from '../dialects.ts'

export async function up(trx: Trx, dialect: DialectName): Promise<void> {
  await trx.schema
    .createTable('project')
    .$call(idColumn(dialect))
    .addColumn('name', 'text', (c) => c.notNull())
    .addColumn('features', 'text', (c) => c.notNull())
    .addColumn('is_disabled', 'integer', (c) => c.notNull().defaultTo(0))
    .addColumn('created_at', 'bigint', (c) => c.notNull())
    .execute()

  await trx.schema
    .createTable('token')
    .$call(idColumn(dialect))
    .addColumn('project_id', 'bigint', (c) => c.notNull().references('project.id'))
    .addColumn('hash', 'text', (c) => c.notNull().unique())
    .addColumn('description', 'text', (c) => c.notNull())
    .addColumn('permissions', 'text', (c) => c.notNull())
    .addColumn('is_master', 'integer', (c) => c.notNull().defaultTo(0))
    .addColumn('is_disabled', 'integer', (c) => c.notNull().defaultTo(0))
    .addColumn('creator_token_id', 'bigint')
    .addColumn('creator_description', 'text')
    .addColumn('created_at', 'bigint', (c) => c.notNull())
    .addColumn('refreshed_at', 'bigint', (c) => c.notNull())
    .addColumn('expires_at', 'bigint')
    .execute()
  await trx.schema.createIndex('token_by_project').on('token').columns(['project_id', 'id']).execute()

  await trx.schema
    .createTable('event')
    .$call(idColumn(dialect))
    .addColumn('project_id', 'bigint', (c) => c.notNull().references('project.id'))
    .addColumn('uuid', 'text', (c) => c.notNull().unique())
    .addColumn('event', 'text', (c) => c.notNull())
    .addColumn('component', 'text', (c) => c.notNull())
    .addColumn('type', 'text', (c) => c.notNull())
    .addColumn('message', 'text', (c) => c.notNull())
    .addColumn('description', 'text', (c) => c.notNull())
    .addColumn('run_id', 'text')
    .addColumn('configuration_id', 'text')
    .addColumn('object_id', 'text')
    .addColumn('object_name', 'text')
    .addColumn('object_type', 'text')
    .addColumn('params', 'text', (c) => c.notNull())
    .addColumn('results', 'text', (c) => c.notNull())
    .addColumn('performance', 'text', (c) => c.notNull())
    .addColumn('context', 'text', (c) => c.notNull())
    .addColumn('token_id', 'bigint', (c) => c.notNull())
    .addColumn('token_description', 'text', (c) => c.notNull())
    .addColumn('branch_id', 'bigint')
    .addColumn('created_at', 'bigint', (c) => c.notNull())
    .execute()
  await trx.schema.createIndex('event_by_project').on('event').columns(['project_id', 'id']).execute()
  await trx.schema.createIndex('event_by_object').on('event').columns(['project_id', 'object_type', 'object_id', 'id']).execute()
  await trx.schema.createIndex('event_by_run').on('event').columns(['project_id', 'run_id', 'id']).execute()

  await trx.schema
    .createTable('ticket')
    .addColumn('name', 'text', (c) => c.primaryKey())
    .addColumn('last_id', 'bigint', (c) => c.notNull())
    .execute()
  await sql`insert into ticket (name, last_id) values ('ticket', 100000000)`.execute(trx)
}
