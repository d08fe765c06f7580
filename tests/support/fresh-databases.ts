// Databases of a test's own. Migrating one takes longer than most tests do, so a database that was migrated once is copied.

import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { openMetadataDb } from '../../server/src/engines/metadata-db/metadata-db.ts'
import { type PostgresServer, SHARED_POSTGRES, startPostgres } from './servers/postgres-server.ts'

export interface FreshDatabase {
  readonly location: { readonly path: string } | { readonly url: string }
  remove(): Promise<void>
}

const POSTGRES_TEMPLATE = 'migrated_template'

export async function freshSqlite(): Promise<FreshDatabase> {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-sqlite-'))
  return { location: { path: join(folder, 'metadata.db') }, remove: () => rm(folder, { recursive: true, force: true }) }
}

/** On the server of the whole test run, or, when a file is run alone, on one that ends with this process. */
export const freshPostgres = (): Promise<FreshDatabase> => createDatabase('template1')

/** As above, and migrated. */
export const migratedPostgres = (): Promise<FreshDatabase> => createDatabase(POSTGRES_TEMPLATE)

let server: Promise<string> | undefined

async function createDatabase(template: string): Promise<FreshDatabase> {
  server ??= process.env[SHARED_POSTGRES]
    ? Promise.resolve(process.env[SHARED_POSTGRES])
    : startTestPostgres().then(({ url }) => url)
  const address = await server
  const name = `test_${randomBytes(6).toString('hex')}`
  await administer(address, `create database ${name} template ${template}`)
  return {
    location: { url: databaseAt(address, name) },
    remove: () => administer(address, `drop database if exists ${name} with (force)`),
  }
}

/** A server with a migrated database to copy, for this process or for all that a test run starts. */
export async function startTestPostgres(): Promise<PostgresServer> {
  const server = await startPostgres()
  await administer(server.url, `create database ${POSTGRES_TEMPLATE}`)
  await migrateOnce({ url: databaseAt(server.url, POSTGRES_TEMPLATE) })
  return server
}

/** The migrated file, and how to remove it. */
export async function makeSqliteTemplate(): Promise<{ readonly path: string; remove(): Promise<void> }> {
  const { location, remove } = await freshSqlite()
  await migrateOnce(location)
  return { path: 'path' in location ? location.path : '', remove }
}

async function migrateOnce(location: FreshDatabase['location']): Promise<void> {
  const metadata = await openMetadataDb(location)
  await metadata.migrate()
  await metadata.close()
}

function databaseAt(server: string, name: string): string {
  const url = new URL(server)
  url.pathname = `/${name}`
  return url.href
}

async function administer(server: string, command: string): Promise<void> {
  const client = new pg.Client({ connectionString: server })
  await client.connect()
  await client.query(command).finally(() => client.end())
}
