// The SQLite file that `npm test` has migrated for all test processes.

import { copyFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { METADATA_FILE } from '../../server/src/wiring/data-files.ts'

export const MIGRATED_SQLITE = 'MILLRACE_TEST_SQLITE'

/** Puts a copy where a database will be opened. Outside of `npm test` it does nothing: whoever opens an empty database migrates it. */
export async function placeMigratedSqlite(path: string): Promise<void> {
  const migrated = process.env[MIGRATED_SQLITE]
  if (migrated !== undefined) await copyFile(migrated, path)
}

/** Makes the folder that of a stack without a project; an empty file is a database for SQLite. */
export async function makeStackFolder(dataDir: string): Promise<void> {
  const path = join(dataDir, METADATA_FILE)
  await writeFile(path, '')
  await placeMigratedSqlite(path)
}
