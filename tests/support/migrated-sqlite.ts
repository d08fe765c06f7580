// The SQLite file that `npm test` has migrated for all test processes.

import { copyFile } from 'node:fs/promises'

export const MIGRATED_SQLITE = 'MILLRACE_TEST_SQLITE'

/** Puts a copy where a database will be opened. Outside of `npm test` it does nothing: whoever opens an empty database migrates it. */
export async function placeMigratedSqlite(path: string): Promise<void> {
  const migrated = process.env[MIGRATED_SQLITE]
  if (migrated !== undefined) await copyFile(migrated, path)
}
