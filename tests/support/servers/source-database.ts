// A PostgreSQL database of its own for a component that reads or writes one, and its connection as a configuration has it.

import type { TestContext } from 'node:test'
import pg from 'pg'
import { freshPostgres } from '../fresh-databases.ts'

export async function openDatabase(t: TestContext) {
  const database = await freshPostgres()
  const { url } = database.location as { url: string } // of PostgreSQL
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  t.after(async () => {
    await client.end()
    await database.remove()
  })
  return { url, client, run: (text: string) => client.query(text) }
}

export function connectionTo(url: string) {
  const { hostname, port, username, password, pathname } = new URL(url)
  return {
    type: 'postgresql',
    host: hostname,
    port: Number(port),
    user: decodeURIComponent(username),
    '#password': decodeURIComponent(password),
    database: pathname.slice(1),
  }
}
