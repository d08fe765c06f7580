// Temporary tables of a workspace end with their connection, however it ends.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { type Stack, startStack } from './stack.ts'

const SCHEMAS = `SELECT count(*) FROM duckdb_schemas() WHERE schema_name LIKE 'pg_temp of%'`

test('temporary tables of a workspace are gone after the stack was killed, and its tables are not', async (t) => {
  const stack = await startStack(t, { env: { MILLRACE_SQL_PORT: '0' } })
  const made = await stack.post('/v2/storage/workspaces', {})
  const login = (made.body as { connection: { user: string; password: string } }).connection
  const db = await connect(stack, login)
  await db.query('CREATE TABLE lasting AS SELECT 1 AS n')
  await db.query('CREATE TEMP TABLE own AS SELECT 2 AS n')
  await db.query('BEGIN')
  await db.query('INSERT INTO own SELECT n FROM lasting')
  await stack.kill()
  await stack.start()
  const again = await connect(stack, login)
  t.after(() => again.end())
  assert.deepEqual(await rowsOf(again, 'SELECT n FROM lasting'), [[1]])
  await assert.rejects(again.query('SELECT * FROM own'), { code: '42P01' })
  assert.deepEqual(await rowsOf(again, SCHEMAS), [['0']])
})

async function connect(
  stack: Stack,
  { user, password }: { readonly user: string; readonly password: string },
): Promise<pg.Client> {
  const port = [...stack.output().matchAll(/postgres:\/\/me@127\.0\.0\.1:(\d+)\/default/g)].at(-1)?.[1]
  const db = new pg.Client({ host: '127.0.0.1', port: Number(port), user, password, database: 'default' })
  db.on('error', () => {})
  await db.connect()
  return db
}

const rowsOf = async (db: pg.Client, text: string): Promise<unknown[][]> =>
  (await db.query({ text, rowMode: 'array' })).rows as unknown[][]
