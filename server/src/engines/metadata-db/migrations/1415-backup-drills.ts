// Whether a backup was tried out by a restore, and which backups retention has removed.

import type { Trx } from '../dialects.ts'

export async function up(trx: Trx): Promise<void> {
  for (const [name, type] of [
    ['removed_at', 'bigint'],
    ['drill_started_at', 'bigint'],
    ['drill_hold_until', 'bigint'],
    ['drill_ended_at', 'bigint'],
    ['drill_result', 'text'],
    ['drill_note', 'text'],
  ] as const)
    await trx.schema.alterTable('backup_run').addColumn(name, type).execute()
}
