// A dry run checks what the real call checks, reports what it would do, and changes nothing: not a row of the database differs afterwards.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import pg from 'pg'
import type { DryRunAnswer } from '../../server/src/model/dry-run.ts'
import { tableClient } from '../support/clients/table-client.ts'
import { migratedPostgres } from '../support/fresh-databases.ts'
import { type Answer, startTestStack, type TestStack } from '../support/test-stack.ts'

/** They show that a process is alive, whatever it does. */
const ALIVE: readonly string[] = ['worker_lease', 'stack_node']
/** Written once a minute for tokens that were used: any call uses one, and a slow machine takes a minute for this test. */
const LAST_USE = 'last_used_at'

type Dump = Readonly<Record<string, readonly string[]>>
type Row = Readonly<Record<string, unknown>>
const HTTP = 'keboola.ex-generic-v2'
const ORDERS = 'in.c-main.orders'

const STARTS = { SQLite: onSqlite, PostgreSQL: onPostgres }

async function onSqlite(t: TestContext): Promise<{ stack: TestStack; dump: () => Promise<Dump> }> {
  const stack = await startTestStack(t)
  const dump = async () => {
    const db = new DatabaseSync(join(stack.dataDir, 'metadata.sqlite'), { readOnly: true })
    try {
      const tables = db.prepare("select name from sqlite_master where type = 'table' and name not like 'sqlite_%'").all()
      return Object.fromEntries(tables.map(({ name }) => [name, db.prepare(`select * from "${name}"`).all().map(text).sort()]))
    } finally {
      db.close()
    }
  }
  return { stack, dump }
}

async function onPostgres(t: TestContext): Promise<{ stack: TestStack; dump: () => Promise<Dump> }> {
  const database = await migratedPostgres()
  const { url } = database.location as { url: string } // of PostgreSQL
  const stack = await startTestStack(t, { databaseUrl: url })
  t.after(database.remove)
  const dump = async () => {
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    try {
      await client.query('begin isolation level repeatable read read only') // all tables as of one moment
      const { rows } = await client.query("select tablename from pg_tables where schemaname = 'public'")
      const found: [string, string[]][] = []
      for (const { tablename } of rows as { tablename: string }[])
        found.push([tablename, (await client.query(`select * from "${tablename}"`)).rows.map(text).sort()])
      return Object.fromEntries(found)
    } finally {
      await client.end()
    }
  }
  return { stack, dump }
}

/** Rows that only one of the two has, by table. */
const differences = (before: Dump, after: Dump): Record<string, object> =>
  Object.fromEntries(
    Object.keys(after)
      .filter((table) => !ALIVE.includes(table) && JSON.stringify(after[table]) !== JSON.stringify(before[table]))
      .map((table) => [table, { gone: missingIn(after, before, table), added: missingIn(before, after, table) }]),
  )

const missingIn = (one: Dump, other: Dump, table: string): string[] =>
  (other[table] ?? []).filter((row) => !one[table]?.includes(row))

const text = (row: unknown): string =>
  JSON.stringify({ ...(row as Row), [LAST_USE]: undefined }, (_, value) => (typeof value === 'bigint' ? String(value) : value))

for (const [database, start] of Object.entries(STARTS))
  test(`a dry run says what would happen and leaves every row as it was, on ${database}`, async (t) => {
    const { stack, dump } = await start(t)
    const { request } = stack
    const { upload, bucket, create } = tableClient(stack)
    await bucket()
    await create('in.c-main', 'orders', 'id,amount\n1,10\n2,20\n3,30\n', { primaryKey: 'id' })
    await request('POST', '/v2/storage/buckets/in.c-main/table-aliases', { json: { sourceTable: ORDERS, name: 'seen' } })
    const configs = `/v2/storage/components/${HTTP}/configs`
    const reads = { storage: { input: { tables: [{ source: ORDERS, destination: 'o.csv' }] } } }
    await request('POST', configs, { json: { name: 'Shop', configurationId: 'shop', configuration: reads } })
    await request('POST', `${configs}/shop/rows`, { json: { rowId: 'r1', configuration: reads } })
    await request('PUT', `${configs}/shop`, { json: { configuration: { ...reads, note: 'two' } } })
    const schedule = {
      schedule: { cronTab: '0 6 * * *', timezone: 'UTC', state: 'enabled' },
      target: { componentId: HTTP, configurationId: 'shop', mode: 'run' },
    }
    const daily = { name: 'Daily', configurationId: 'daily', configuration: schedule }
    await request('POST', '/v2/storage/components/keboola.scheduler/configs', { json: daily })
    const more = await upload('id,amount\n3,31\n4,40\n')
    const bad = await upload('id,amount\n3\n')

    for (const file of [more, bad]) await request('GET', `/v2/storage/files/${file}`) // whoever looks first notes the size of a file

    const trial = async (method: string, path: string, json?: object, expected = 200): Promise<Answer> => {
      const before = await dump()
      const answer = await request(method, `${path}${path.includes('?') ? '&' : '?'}dryRun=1`, { ...(json && { json }) })
      assert.equal(answer.status, expected, `${method} ${path}: ${answer.text}`)
      const changed = differences(before, await dump())
      assert.deepEqual(changed, {}, `${method} ${path} changed ${JSON.stringify(changed)}`)
      return answer
    }
    const tried = async (...call: Parameters<typeof trial>) => (await trial(...call)).json<DryRunAnswer>()

    const table = `/v2/storage/tables/${ORDERS}`
    const named = [
      { componentId: HTTP, configurationId: 'shop', rowId: null, name: 'Shop' },
      { componentId: HTTP, configurationId: 'shop', rowId: 'r1', name: '' },
    ]
    const load = await tried('POST', `${table}/import-async`, { dataFileId: more, incremental: true })
    assert.deepEqual([load.rows, load.operationName], [{ before: 3, after: 4 }, 'tableImport'])
    assert.deepEqual([load.tables, load.configurations], [[ORDERS, 'in.c-main.seen'], named])
    assert.deepEqual((await tried('POST', `${table}/import-async`, { dataFileId: more })).rows, { before: 3, after: 2 })
    const refused = await trial('POST', `${table}/import-async`, { dataFileId: bad }, 400)
    assert.equal(refused.json().code, 'invalidCsv')

    const made = await tried('POST', '/v2/storage/buckets/in.c-main/tables-async', { name: 'new', dataFileId: more })
    assert.deepEqual([made.tableId, made.rows, made.tables], ['in.c-main.new', { before: 0, after: 2 }, ['in.c-main.new']])
    assert.equal((made.results as { id: string }).id, 'in.c-main.new')
    for (const [body, status] of [
      [{ name: 'new', dataFileId: bad }, 400],
      [{ name: 'orders', dataFileId: more }, 400],
      [{ name: 'new', dataFileId: 99_999 }, 404],
    ] as const)
      await trial('POST', '/v2/storage/buckets/in.c-main/tables-async', body, status)
    await trial('POST', '/v2/storage/buckets/in.c-nothing/tables-async', { name: 'new', dataFileId: more }, 404)

    const rows = await tried('DELETE', `${table}/rows`, { whereColumn: 'id', whereValues: ['1', '2', '9'] })
    assert.deepEqual([rows.results, rows.rows], [{ deletedRows: 2 }, { before: 3, after: 1 }])
    await trial('DELETE', `${table}/rows`, undefined, 400) // no filter
    assert.deepEqual((await tried('DELETE', `${table}/columns/amount?force=1`)).configurations, named)
    await trial('DELETE', `${table}/columns/id`, undefined, 400) // of the key
    await trial('PUT', `${table}/columns/amount/definition`, { nullable: false }, 400) // not typed
    assert.equal((await tried('PUT', `${table}/definition`, { description: 'x' })).operationName, 'tableDefinitionUpdate')
    await trial('DELETE', table, undefined, 400) // has an alias
    assert.deepEqual((await tried('DELETE', `${table}?force=1`)).rows, { before: 3, after: 0 })
    await trial('DELETE', '/v2/storage/buckets/in.c-main', undefined, 400) // not empty
    const whole = await tried('DELETE', '/v2/storage/buckets/in.c-main?force=1')
    assert.deepEqual(
      [whole.tables, whole.rows, whole.configurations.length],
      [[ORDERS, 'in.c-main.seen'], { before: 3, after: 0 }, 2],
    )

    const back = await tried('POST', `${configs}/shop/versions/1/rollback`)
    assert.deepEqual(back.results, { version: '4', isContentChanged: true, rows: [{ id: 'r1', change: 'removed' }] })
    await trial('POST', `${configs}/shop/versions/99/rollback`, undefined, 404)
    const row = `${configs}/shop/rows/r1`
    assert.equal((await tried('DELETE', row)).operationName, 'configurationRowDelete')
    const rowBack = await tried('POST', `${row}/versions/1/rollback`)
    assert.deepEqual(rowBack.results, { version: '2', isContentChanged: false })
    await trial('DELETE', `${configs}/shop/rows/nope`, undefined, 404)
    await trial('POST', `${row}/versions/99/rollback`, undefined, 404)
    const activated = await tried('POST', '/scheduler/schedules', { configurationId: 'daily' })
    assert.equal(activated.nextRuns.length, 10)
    await trial('POST', '/scheduler/schedules', { configurationId: 'nope' }, 404)
    const active = await request('POST', '/scheduler/schedules', { json: { configurationId: 'daily' } })
    assert.equal(active.status, 201, active.text)
    const removed = await tried('DELETE', `${configs}/shop`)
    assert.deepEqual(
      removed.configurations.map(({ configurationId }) => configurationId),
      ['daily'],
    )
    assert.equal(removed.nextRuns.length, 5)
    await trial('DELETE', `${configs}/nope`, undefined, 404)

    // Where nobody thought of a dry run, the call is refused rather than carried out.
    const unknown = await trial('POST', configs, { name: 'x' }, 400)
    assert.equal(unknown.json().code, 'dryRunNotPossible')
    assert.equal((await request('DELETE', `${table}?force=1&dryRun=0`)).status, 204)
  })
