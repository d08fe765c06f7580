// People, their sessions and links, and the token that each of them has in a project. Projects can be paused and deleted.

import { sql } from 'kysely'
import { type DialectName, idColumn, type Trx } from '../dialects.ts'

export async function up(trx: Trx, dialect: DialectName): Promise<void> {
  await trx.schema
    .createTable('person')
    .$call(idColumn(dialect))
    .addColumn('email', 'text', (c) => c.notNull().unique())
    .addColumn('name', 'text', (c) => c.notNull())
    .addColumn('is_stack_admin', 'integer', (c) => c.notNull())
    .addColumn('password', 'text')
    .addColumn('totp', 'text')
    .addColumn('totp_step', 'bigint')
    .addColumn('recovery_codes', 'text', (c) => c.notNull())
    .addColumn('subject', 'text', (c) => c.unique())
    .addColumn('wrong_count', 'integer', (c) => c.notNull())
    .addColumn('locked_until', 'bigint', (c) => c.notNull())
    .addColumn('created_at', 'bigint', (c) => c.notNull())
    .execute()

  await trx.schema
    .createTable('session')
    .$call(idColumn(dialect))
    .addColumn('person_id', 'bigint', (c) => c.notNull().references('person.id').onDelete('cascade'))
    .addColumn('hash', 'text', (c) => c.notNull().unique())
    .addColumn('method', 'text', (c) => c.notNull())
    .addColumn('address', 'text')
    .addColumn('user_agent', 'text')
    .addColumn('created_at', 'bigint', (c) => c.notNull())
    .addColumn('seen_at', 'bigint', (c) => c.notNull())
    .addColumn('expires_at', 'bigint', (c) => c.notNull())
    .execute()
  await trx.schema.createIndex('session_of_person').on('session').column('person_id').execute()

  await trx.schema
    .createTable('person_link')
    .$call(idColumn(dialect))
    .addColumn('hash', 'text', (c) => c.notNull().unique())
    .addColumn('kind', 'text', (c) => c.notNull())
    .addColumn('person_id', 'bigint', (c) => c.references('person.id').onDelete('cascade'))
    .addColumn('project_id', 'bigint', (c) => c.references('project.id').onDelete('cascade'))
    .addColumn('email', 'text')
    .addColumn('role', 'text')
    .addColumn('creator', 'text')
    .addColumn('created_at', 'bigint', (c) => c.notNull())
    .addColumn('expires_at', 'bigint', (c) => c.notNull())
    .execute()
  await trx.schema.createIndex('link_of_project').on('person_link').column('project_id').execute()

  await trx.schema
    .createTable('manage_token')
    .$call(idColumn(dialect))
    .addColumn('person_id', 'bigint', (c) => c.notNull().references('person.id').onDelete('cascade'))
    .addColumn('hash', 'text', (c) => c.notNull().unique())
    .addColumn('description', 'text', (c) => c.notNull())
    .addColumn('created_at', 'bigint', (c) => c.notNull())
    .addColumn('expires_at', 'bigint')
    .execute()
  await trx.schema.createIndex('manage_token_of_person').on('manage_token').column('person_id').execute()

  // No reference: a person is removed together with the tokens, and SQLite cannot add one to a table that is there.
  await sql`alter table token add column person_id bigint`.execute(trx)
  await sql`alter table token add column email text`.execute(trx)
  await sql`alter table token add column role text`.execute(trx)
  await sql`alter table token add column is_automatic integer not null default 0`.execute(trx)
  await trx.schema.createIndex('token_of_person').on('token').columns(['person_id', 'project_id']).unique().execute()

  await sql`alter table project add column paused_reason text`.execute(trx)
  await sql`alter table project add column delete_after bigint`.execute(trx)
}
