// Every state of a saved query. Queries that were saved before have their present state as version 1.

import { sql } from 'kysely'
import type { Trx } from '../dialects.ts'

export async function up(trx: Trx): Promise<void> {
  await trx.schema
    .alterTable('saved_query')
    .addColumn('version', 'integer', (c) => c.notNull().defaultTo(1))
    .execute()
  await trx.schema
    .createTable('saved_query_version')
    .addColumn('project_id', 'bigint', (c) => c.notNull())
    .addColumn('query_id', 'bigint', (c) => c.notNull())
    .addColumn('version', 'integer', (c) => c.notNull())
    .addColumn('name', 'text', (c) => c.notNull())
    .addColumn('description', 'text', (c) => c.notNull())
    .addColumn('sql', 'text', (c) => c.notNull())
    .addColumn('parameters', 'text', (c) => c.notNull())
    .addColumn('creator', 'text', (c) => c.notNull())
    .addColumn('created_at', 'bigint', (c) => c.notNull())
    .addPrimaryKeyConstraint('saved_query_version_key', ['project_id', 'query_id', 'version'])
    .execute()
  await sql`insert into saved_query_version (project_id, query_id, version, name, description, sql, parameters, creator, created_at)
    select project_id, id, 1, name, description, sql, parameters, creator, updated_at from saved_query`.execute(trx)
}
