// The words of a configuration are made anew by the next search, and no longer with each change of it: an update wrote twice what it is
// given, for a search that most projects seldom ask. Events without a run are no longer entered in the index by run.

import { sql } from 'kysely'
import type { Trx } from '../dialects.ts'

export async function up(trx: Trx): Promise<void> {
  await trx.schema
    .alterTable('configuration')
    .addColumn('words_stale', 'integer', (c) => c.notNull().defaultTo(0))
    .execute()
  await trx.schema
    .createIndex('configuration_with_stale_words')
    .on('configuration')
    .columns(['project_id', 'branch_id', 'id'])
    .where(sql.ref('words_stale'), '=', 1)
    .execute()
  await trx.schema.dropIndex('event_by_run').execute()
  await trx.schema
    .createIndex('event_by_run')
    .on('event')
    .columns(['project_id', 'run_id', 'id'])
    .where(sql.ref('run_id'), 'is not', null)
    .execute()
}
