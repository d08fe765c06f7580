// Runs a suite on SQLite and on a real PostgreSQL, each time on a fresh, migrated database of its own:
//
//     await onBothDatabases('token store', (metadata) => {
//       test('a token is found by its hash', async () => { ... metadata.db ... metadata.inTransaction(...) ... })
//     })

import { after, describe } from 'node:test'
import { type MetadataDb, type MetadataDbOptions, openMetadataDb } from '../../server/src/engines/metadata-db/metadata-db.ts'
import { type FreshDatabase, freshPostgres, freshSqlite, migratedPostgres } from './fresh-databases.ts'
import { placeMigratedSqlite } from './migrated-sqlite.ts'

/** `migrations` replaces the platform's own; everything else is for tests of the engine itself. */
export type SuiteOptions = Pick<MetadataDbOptions, 'migrations' | 'clock'> & { readonly unmigrated?: boolean }

export async function onBothDatabases(
  name: string,
  suite: (metadata: MetadataDb) => void,
  options: SuiteOptions = {},
): Promise<void> {
  const isEmpty = options.unmigrated || options.migrations !== undefined
  for (const [title, make] of [
    ['SQLite', isEmpty ? freshSqlite : migratedSqlite],
    ['PostgreSQL', isEmpty ? freshPostgres : migratedPostgres],
  ] as const) {
    const { location, remove } = await make()
    const metadata = await openMetadataDb({ ...location, ...options })
    if (!options.unmigrated) await metadata.migrate()
    describe(`${name} on ${title}`, () => {
      after(async () => {
        await metadata.close()
        await remove()
      })
      suite(metadata)
    })
  }
}

async function migratedSqlite(): Promise<FreshDatabase> {
  const fresh = await freshSqlite()
  if ('path' in fresh.location) await placeMigratedSqlite(fresh.location.path)
  return fresh
}
