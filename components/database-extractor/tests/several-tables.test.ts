// A row that reads several tables: all of them show one moment of the database, and each has a state of its own.

import assert from 'node:assert/strict'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { DEFAULT_WORKER } from '../../../server/src/model/worker-settings.ts'
import { frozenProxy } from '../../../tests/support/servers/frozen-proxy.ts'
import { connectionTo, openDatabase } from '../../../tests/support/servers/source-database.ts'
import { type Job, type ShellStack, shareShellStack } from '../../../tests/support/shell-stack.ts'

const folder = mkdtempSync(join(tmpdir(), 'millrace-tables-'))
const startProject = shareShellStack({
  worker: { ...DEFAULT_WORKER, egressAllow: ['127.0.0.1'], folders: { read: { drop: folder }, write: {} } },
})
const COMPONENT = 'platform.ex-database'

async function reader(stack: ShellStack, db: object, parameters: object) {
  const config = await stack.configure(COMPONENT, { parameters: { db } }, [{ name: 'all', configuration: { parameters } }])
  const run = async (json: object = {}) => {
    const answer = await stack.request('POST', '/queue/jobs', { json: { component: COMPONENT, config, mode: 'run', ...json } })
    const { id, status, result } = await stack.wait(answer.json<Job>())
    const { text } = await stack.request('GET', `/v2/storage/events?runId=${id}&limit=200`)
    return { status, message: result.message, events: text }
  }
  const read = async () => {
    const job = await run()
    assert.equal(job.status, 'success', job.message)
    return job.events
  }
  const ask = async (sql: string) => {
    const named = sql.replaceAll('@', `"in.c-platform-ex-database-${config}".`)
    const answer = await stack.request('POST', '/v2/storage/query', { json: { sql: named } })
    assert.equal(answer.status, 200, answer.text)
    return answer.json<{ rows: unknown[][] }>().rows
  }
  return { run, read, ask }
}

test('all tables of a row show one moment of a database that is written to', async (t) => {
  const { url, client } = await openDatabase(t)
  const stack = await startProject()
  await client.query(`create table debits as select 1 as id, 0 as amount, '' as text union all select i, 0, repeat('x', 300) from generate_series(2, 60000) as i;
    alter table debits add primary key (id); create table credits (id int primary key, amount int); insert into credits values (1, 0)`)
  const { read, ask } = await reader(stack, connectionTo(url), {
    tables: [{ tableName: 'debits' }, { schema: 'public', tableName: 'credits', outputTable: 'c' }],
  })
  let isOver = false
  const writing = (async () => {
    while (!isOver)
      await client.query(
        'begin; update debits set amount = amount - 1 where id = 1; update credits set amount = amount + 1; commit',
      )
  })()
  await read().finally(async () => {
    isOver = true
    await writing
  })
  const [[debits, credits] = []] = await ask('select (select amount from @debits where id = 1), (select amount from @c)')
  assert.ok(Number(credits) > 0, 'the writer was at work')
  assert.equal(Number(debits) + Number(credits), 0)
})

test('each table has its own place, key and differences; a lost connection goes on with the table that is not read yet', async (t) => {
  const { url, run: execute } = await openDatabase(t)
  const stack = await startProject()
  await execute(`create table a (id int primary key, changed int); create table b (k text primary key, changed int, note text);
    insert into a values (1, 10), (2, 20); insert into b values ('x', 5, null), ('y', 6, 'n')`)
  const tables = [{ tableName: 'a' }, { tableName: 'b', columns: ['k', 'changed'], filter: "k <> 'z'" }]
  const way = await frozenProxy(url)
  t.after(way.close)
  const shared = { incrementalFetchingColumn: 'changed', partRows: 1 }
  const { read, run, ask } = await reader(stack, connectionTo(way.url), { ...shared, tables })
  assert.match(await read(), /Read 2 rows into b, up to changed = 6/)
  await execute(`insert into a values (3, 20); insert into b values ('w', 7, ''), ('z', 8, '')`)
  const second = await read()
  assert.match(second, /Read 2 rows into a, up to changed = 20/)
  assert.match(second, /Read 2 rows into b, up to changed = 7/)
  assert.deepEqual(await ask('select * from @a order by id'), [
    [1, 10],
    [2, 20],
    [3, 20],
  ])
  assert.deepEqual(await ask('select * from @b order by k'), [
    ['w', 7],
    ['x', 5],
    ['y', 6],
  ])

  const verify = () => run({ configData: { parameters: { db: connectionTo(url), ...shared, tables, mode: 'verify' } } })
  assert.equal((await verify()).status, 'success')
  await execute('update a set changed = 11 where id = 1')
  assert.match((await verify()).message, /\.a differs from its source/)

  await execute(`update a set changed = 30; update b set changed = 30`)
  way.loseNext('from (select * from "b"', { isSent: true })
  const resumed = await read()
  assert.match(resumed, /Tables that are read from now on show a later state/)
  assert.equal((await verify()).status, 'success')
})

test('lists of tables that make no sense are refused, and a form can count their rows', async (t) => {
  const { url, run: execute } = await openDatabase(t)
  const stack = await startProject()
  await execute(
    'create table a (id int primary key); create table b (id int); insert into a values (1); insert into b values (1), (2); analyze',
  )
  const db = connectionTo(url)
  const refused = async (parameters: object, message: RegExp) =>
    assert.match((await (await reader(stack, db, parameters)).run()).message, message)
  await refused({ tables: [{ tableName: 'a' }], table: { tableName: 'b' } }, /either tables or table/)
  await refused({ tables: [{ tableName: 'a' }], filter: 'true' }, /either tables or filter/)
  await refused({ tables: [{ tableName: 'a' }, { tableName: 'b', outputTable: 'a' }] }, /become the table "a"/)
  await refused({ tables: [{ tableName: 'a', colums: ['id'] }] }, /colums.* in tables\[0\]/)
  await refused({ tables: [{ tableName: 'a' }, { schema: 'public' }] }, /tables\[1\]: .*tableName is missing/)
  await refused({ tables: [{ tableName: 'a' }, { tableName: 'absent' }] }, /absent/)
  const act = async (action: string) => {
    const configData = { parameters: { db, tables: [{ tableName: 'a' }, { tableName: 'b' }] } }
    return (await stack.request('POST', '/sync-actions/actions', { json: { componentId: COMPONENT, action, configData } })).text
  }
  assert.deepEqual(JSON.parse(await act('estimate')), { status: 'success', rows: 3, isExact: false })
  assert.match(await act('preview'), /for one table/)
})

test('tables of a SQLite file are read together, too', async () => {
  const stack = await startProject()
  const file = new DatabaseSync(join(folder, 'shop.db'))
  file.exec(
    "create table a (id integer primary key); create table b (word text); insert into a values (1); insert into b values ('w')",
  )
  file.close()
  const { read, ask } = await reader(
    stack,
    { type: 'sqlite', folder: 'drop', path: 'shop.db' },
    { tables: [{ tableName: 'a' }, { tableName: 'b' }], reader: 'duckdb' },
  )
  assert.match(await read(), /would not read all tables in one state/)
  assert.deepEqual(await ask('select id, word from @a, @b'), [[1, 'w']])
})
