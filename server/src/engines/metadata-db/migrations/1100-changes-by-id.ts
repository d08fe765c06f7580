// On SQLite, changes are read by their id alone: an index by transaction was written with each of them, and never read.

import type { DialectName, Trx } from '../dialects.ts'

export async function up(trx: Trx, dialect: DialectName): Promise<void> {
  if (dialect === 'sqlite') await trx.schema.dropIndex('change_by_transaction').execute()
}
