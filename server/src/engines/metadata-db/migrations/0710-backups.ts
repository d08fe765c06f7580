// What a backup needs to know on every node: that objects must not be removed just now, which removals wait for that, which backups were
// made, and whether the database was restored from one.

import { type DialectName, idColumn, type Trx } from '../dialects.ts'

export async function up(trx: Trx, dialect: DialectName): Promise<void> {
  await trx.schema
    .createTable('backup_run')
    .$call(idColumn(dialect))
    .addColumn('due_at', 'bigint')
    .addColumn('started_at', 'bigint', (c) => c.notNull())
    .addColumn('ended_at', 'bigint')
    .addColumn('hold_until', 'bigint', (c) => c.notNull())
    .addColumn('folder', 'text', (c) => c.notNull())
    .addColumn('error', 'text')
    .execute()
  // A planned backup is made once, on whichever node comes first.
  await trx.schema
    .createIndex('backup_run_once')
    .on('backup_run')
    .column('due_at')
    .unique()
    .where('due_at', 'is not', null)
    .execute()
  await trx.schema
    .createTable('object_removal')
    .addColumn('object_key', 'text', (c) => c.primaryKey())
    .execute()
  await trx.schema
    .createTable('restored_copy')
    .addColumn('restored_at', 'bigint', (c) => c.primaryKey())
    .execute()
}
