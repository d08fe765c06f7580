import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import pg from 'pg'
import { type TableClient, tableClient } from '../../../../../tests/support/clients/table-client.ts'
import { startTestStack, type TestStack } from '../../../../../tests/support/test-stack.ts'

let stack: TestStack
let client: TableClient
let stop: (() => Promise<void>) | undefined
before(async () => {
  const lasting = { after: (work: () => Promise<void>) => (stop = work) } as never
  stack = await startTestStack(lasting, { sql: { memoryMb: 512, sessions: 2 } })
  client = tableClient(stack)
  await client.bucket('main')
})
test.after(() => stop?.())

const ask = (sql: string, token?: string) =>
  stack.request('POST', '/v2/storage/query', { json: { sql }, ...(token && { token }) })

async function rows(sql: string): Promise<string[][]> {
  const answer = await ask(sql)
  assert.equal(answer.status, 200, answer.text)
  return answer.json<{ rows: string[][] }>().rows
}

/** A moment at which the table is as it is now, and not as it is after the next change. */
async function moment(): Promise<string> {
  const at = new Date().toISOString()
  while (new Date().toISOString() === at) await new Promise((resolve) => setImmediate(resolve))
  return at
}

const upsert = (table: string, csv: string) => client.load(`in.c-main.${table}`, csv, { incremental: 1 })

async function deleteRows(table: string, id: string): Promise<void> {
  const path = `/v2/storage/tables/in.c-main.${table}/rows?whereColumn=id&whereValues[]=${id}`
  await client.succeed(await stack.request('DELETE', path))
}

test('a table is read as of a time, in a join with itself, with the columns that it had', async () => {
  await client.create('in.c-main', 'orders', 'id,city\n1,Praha\n2,Brno\n', { primaryKey: 'id' })
  const first = await moment()
  await upsert('orders', 'id,city\n2,Ostrava\n3,Plzen\n')
  const second = await moment()
  await client.load('in.c-main.orders', 'id,city,note\n9,Zlin,new\n')
  const old = [
    ['1', 'Praha'],
    ['2', 'Brno'],
  ]
  assert.deepEqual(await rows(`SELECT * FROM "in.c-main"."orders" AS OF '${first}' ORDER BY id`), old)
  assert.deepEqual(await rows(`SELECT * FROM "in.c-main".orders AS OF TIMESTAMP '${first}' o ORDER BY o.id`), old)
  assert.deepEqual(await rows(`SELECT * FROM table_as_of('in.c-main.orders', '${first}') ORDER BY id`), old)
  assert.deepEqual(
    await rows(`SELECT a.id, a.city, b.city FROM "in.c-main"."orders" AS OF '${first}' a
      JOIN table_as_of('in.c-main.orders', '${second}') b USING (id) ORDER BY 1`),
    [
      ['1', 'Praha', 'Praha'],
      ['2', 'Brno', 'Ostrava'],
    ],
  )
  assert.deepEqual(await rows('SELECT * FROM "in.c-main"."orders"'), [['9', 'Zlin', 'new']])
  assert.deepEqual(await rows(`SELECT of.id FROM "in.c-main"."orders" AS of`), [['9']])
})

test('changes between two states are inserts, deletes, and updates with both rows', async () => {
  await client.create('in.c-main', 'items', 'id,name\n1,a\n2,b\n3,c\n', { primaryKey: 'id' })
  const from = await moment()
  await upsert('items', 'id,name\n2,B\n3,c\n4,d\n')
  const middle = await moment()
  await deleteRows('items', '1')
  const changes = [
    ['delete', '1', 'a'],
    ['insert', '4', 'd'],
    ['update_after', '2', 'B'],
    ['update_before', '2', 'b'],
  ]
  assert.deepEqual(await rows(`SELECT * FROM table_changes('in.c-main.items', '${from}') ORDER BY _change`), changes)
  assert.deepEqual(
    await rows(`SELECT * FROM table_changes('in.c-main.items', '${from}', '${middle}') ORDER BY _change`),
    changes.slice(1),
  )
  assert.deepEqual(await rows(`SELECT * FROM table_changes('in.c-main.items', '${middle}', '${from}') ORDER BY _change`), [
    ['delete', '4', 'd'],
    ['update_after', '2', 'b'],
    ['update_before', '2', 'B'],
  ])
  const now = await moment()
  assert.deepEqual(await rows(`SELECT * FROM table_changes('in.c-main.items', '${now}')`), [])
  await client.create('in.c-main', 'lines', 'id,name\n1,a\n1,a\n2,b\n')
  const start = await moment()
  await client.load('in.c-main.lines', 'id,name\n1,a\n2,c\n')
  assert.deepEqual(await rows(`SELECT * FROM table_changes('in.c-main.lines', '${start}') ORDER BY ALL`), [
    ['delete', '1', 'a'],
    ['delete', '2', 'b'],
    ['insert', '2', 'c'],
  ])
})

test('the changes between any two states turn the one into the other', async () => {
  await client.create('in.c-main', 'model', 'id,v\n0,0\n', { primaryKey: 'id' })
  let seed = 7
  const random = (n: number) => {
    seed = (seed * 1103515245 + 12345) % 2 ** 31
    return seed % n
  }
  const times: string[] = [await moment()]
  for (let i = 0; i < 14; i++) {
    const lines = Array.from({ length: 1 + random(6) }, () => `${random(12)},${random(3)}`)
    if (random(4) === 0) await deleteRows('model', String(random(12)))
    else if (random(6) === 0) await client.load('in.c-main.model', `id,v\n${lines.join('\n')}\n`)
    else await upsert('model', `id,v\n${lines.join('\n')}\n`)
    times.push(await moment())
  }
  const states = []
  for (const at of times)
    states.push(new Map((await rows(`SELECT id, v FROM table_as_of('in.c-main.model', '${at}')`)) as [string, string][]))
  for (const [i, from] of times.entries())
    for (const [j, to] of times.entries()) {
      if ((i + j) % 3 !== 0) continue
      const state: Map<string, string> = new Map(states[i])
      for (const [change, id, v] of await rows(`SELECT * FROM table_changes('in.c-main.model', '${from}', '${to}')`)) {
        if (change === 'delete' || change === 'update_before') assert.equal(states[i]?.get(id!), v, `${change} ${id}`)
        if (change === 'insert') assert.equal(states[i]?.has(id!), false)
        if (change === 'delete') state.delete(id!)
        if (change === 'insert' || change === 'update_after') state.set(id!, v!)
      }
      assert.deepEqual([...state].toSorted(), [...states[j]!].toSorted(), `${i} to ${j}`)
    }
})

test('times, tables and projects that are wrong are refused with a sentence', async () => {
  await client.create('in.c-main', 'plain', 'id\n1\n')
  for (const [sql, status, reason] of [
    [`SELECT * FROM table_as_of('in.c-main.plain', 'once')`, 400, /"once" is not a time/],
    [`SELECT * FROM table_as_of('in.c-main.plain', '2001-01-01')`, 400, /no state of 2001-01-01/],
    [`SELECT * FROM table_as_of('in.c-main.plain')`, 400, /takes the id of a table and a time/],
    [`SELECT * FROM table_changes('in.c-main.plain', 5)`, 400, /each as a text in single quotes/],
    [`SELECT * FROM table_changes('in.c-main.none', '-1 day')`, 404, /not found/],
    [`SELECT * FROM "sys.history"."x"`, 400, /does not exist/],
    [`SELECT nothing FROM table_as_of('in.c-main.plain', 'now')`, 400, /nothing.*\(line 1, character 8\)/s],
    [`SELECT id FROM table_as_of('in.c-main.plain', 'now') WHERE nothing > 1`, 400, /\(line 1, character 60\)/],
  ] as const) {
    const answer = await ask(sql)
    assert.equal(answer.status, status, `${sql}: ${answer.text}`)
    assert.match(answer.json<{ error: string }>().error, reason)
  }
  const other = await stack.newProject()
  assert.equal((await ask(`SELECT * FROM table_as_of('in.c-main.plain', 'now')`, other.masterToken)).status, 404)
})

test('PostgreSQL clients read history, too', async (t) => {
  await client.create('in.c-main', 'wired', 'id,v\n1,a\n', { primaryKey: 'id' })
  const from = await moment()
  await upsert('wired', 'id,v\n1,b\n')
  const port = await stack.platform.sqlPort.listen(0, '127.0.0.1')
  const db = new pg.Client({ host: '127.0.0.1', port, user: 'me', password: stack.masterToken, database: 'default' })
  await db.connect()
  t.after(() => db.end())
  const asOf = await db.query({ text: `SELECT v FROM "in.c-main"."wired" AS OF '${from}'`, rowMode: 'array' })
  assert.deepEqual(asOf.rows, [['a']])
  const changed = await db.query(`SELECT _change, v FROM table_changes('in.c-main.wired', '${from}') WHERE id = $1 ORDER BY 1`, [
    '1',
  ])
  assert.deepEqual(changed.rows, [
    { _change: 'update_after', v: 'b' },
    { _change: 'update_before', v: 'a' },
  ])
})
