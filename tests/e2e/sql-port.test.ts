import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { startStackProcess } from '../support/stack-process.ts'

test('MILLRACE_SQL_PORT opens the PostgreSQL port, and a stop ends its connections', async (t) => {
  const stack = await startStackProcess(t, { env: { MILLRACE_SQL_PORT: '0' } })
  const [address] = /postgres:\/\/me@127\.0\.0\.1:\d+\/default/.exec(stack.output()) ?? assert.fail(stack.output())
  const url = new URL(address)
  const db = new pg.Client({
    host: url.hostname,
    port: Number(url.port),
    user: 'me',
    password: stack.masterToken,
    database: 'default',
  })
  await db.connect()
  assert.deepEqual((await db.query('SELECT 40 + 2 AS answer')).rows, [{ answer: 42 }])
  const made = await stack.post('/v2/storage/workspaces', {})
  assert.equal((made.body as { connection: { port: number } }).connection.port, Number(url.port))
  const ended = new Promise<{ code: string }>((resolve) => db.on('error', resolve as never))
  assert.equal(await stack.stop(), 0)
  assert.equal((await ended).code, '57P01')
})
