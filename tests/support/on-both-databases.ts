// Runs a suite on SQLite and on a real PostgreSQL, each time on a fresh, migrated database of its own:
//
//     await onBothDatabases('token store', (metadata) => {
//       test('a token is found by its hash', async () => { ... metadata.db ... metadata.inTransaction(...) ... })
//     })

import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe } from 'node:test'
import pg from 'pg'
import { type MetadataDb, type MetadataDbOptions, openMetadataDb } from '../../server/src/engines/metadata-db/metadata-db.ts'
import { SHARED_POSTGRES, startPostgres } from './postgres-server.ts'

/** `migrations` replaces the platform's own; everything else is for tests of the engine itself. */
export type SuiteOptions = Pick<MetadataDbOptions, 'migrations' | 'clock'> & { readonly unmigrated?: boolean }

export async function onBothDatabases(
  name: string,
  suite: (metadata: MetadataDb) => void,
  options: SuiteOptions = {},
): Promise<void> {
  for (const [title, make] of [
    ['SQLite', freshSqlite],
    ['PostgreSQL', freshPostgres],
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

export interface FreshDatabase {
  readonly location: { readonly path: string } | { readonly url: string }
  remove(): Promise<void>
}

export async function freshSqlite(): Promise<FreshDatabase> {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-sqlite-'))
  return { location: { path: join(folder, 'metadata.db') }, remove: () => rm(folder, { recursive: true, force: true }) }
}

let ownServer: Promise<string> | undefined

/** On the server of the whole test run, or, when a file is run alone, on one that ends with this process. */
export async function freshPostgres(): Promise<FreshDatabase> {
  ownServer ??= process.env[SHARED_POSTGRES]
    ? Promise.resolve(process.env[SHARED_POSTGRES])
    : startPostgres().then((server) => server.url)
  const server = await ownServer
  const name = `test_${randomBytes(6).toString('hex')}`
  await administer(server, `create database ${name}`)
  const url = new URL(server)
  url.pathname = `/${name}`
  return { location: { url: url.href }, remove: () => administer(server, `drop database if exists ${name} with (force)`) }
}

async function administer(server: string, command: string): Promise<void> {
  const client = new pg.Client({ connectionString: server })
  await client.connect()
  await client.query(command).finally(() => client.end())
}
