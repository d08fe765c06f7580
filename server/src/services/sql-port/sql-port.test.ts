import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import pg from 'pg'
import { type TableClient, tableClient } from '../../../../tests/support/table-client.ts'
import { startTestStack, type TestStack } from '../../../../tests/support/test-stack.ts'

let stack: TestStack
let client: TableClient
let port: number
let stop: (() => Promise<void>) | undefined
before(async () => {
  const lasting = { after: (work: () => Promise<void>) => (stop = work) } as never
  stack = await startTestStack(lasting, { sql: { memoryMb: 512, diskMb: 64, sessions: 3 } })
  port = await stack.platform.sqlModules.port.listen(0, '127.0.0.1')
  client = tableClient(stack)
  await client.bucket('main')
  await client.create('in.c-main', 'orders', 'id,city,price\n1,Praha,10\n2,Brno,20\n3,Praha,\n', { primaryKey: 'id' })
})
test.after(() => stop?.())

/** A connected client, closed with the test. */
async function connect(t: { after(work: () => Promise<void>): void }, options: pg.ClientConfig = {}): Promise<pg.Client> {
  const connected = new pg.Client({
    host: '127.0.0.1',
    port,
    user: 'me',
    password: stack.masterToken,
    database: 'default',
    ...options,
  })
  await connected.connect()
  t.after(() => connected.end().catch(() => {}))
  return connected
}

test('rows of a table, with parameters', async (t) => {
  const db = await connect(t)
  const { rows } = await db.query('SELECT id, city FROM "in.c-main"."orders" ORDER BY id')
  assert.deepEqual(rows, [
    { id: '1', city: 'Praha' },
    { id: '2', city: 'Brno' },
    { id: '3', city: 'Praha' },
  ])
  const some = await db.query('SELECT id FROM "in.c-main"."orders" WHERE city = $1 ORDER BY id', ['Praha'])
  assert.deepEqual(some.rows, [{ id: '1' }, { id: '3' }])
})
