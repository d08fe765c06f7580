// The writer in a whole stack, delivering to a real PostgreSQL: every mode and type, what the database refuses, and what goes wrong.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import pg from 'pg'
import { DEFAULT_WORKER } from '../../../server/src/model/worker-settings.ts'
import { fillTable, makeTable } from '../../../tests/support/project-table.ts'
import { frozenProxy } from '../../../tests/support/servers/frozen-proxy.ts'
import { connectionTo, openDatabase } from '../../../tests/support/servers/source-database.ts'
import { type Job, type ShellStack, shareShellStack } from '../../../tests/support/shell-stack.ts'
import { until } from '../../../tests/support/until.ts'

const startProject = shareShellStack({ worker: { ...DEFAULT_WORKER, egressAllow: ['127.0.0.1'] } })
const COMPONENT = 'platform.wr-database'
const ORDERS = 'in.c-shop.orders'

async function place(t: TestContext) {
  const { client, ...database } = await openDatabase(t)
  const rows = async (text: string) => (await client.query({ text, rowMode: 'array' })).rows.map(String)
  return { ...database, rows }
}

const configurationOf = (url: string, parameters: object, input: object = {}) => ({
  parameters: { db: connectionTo(url), table: { tableName: 'orders' }, ...parameters },
  storage: { input: { tables: [{ source: ORDERS, ...input }] } },
})

async function run(stack: ShellStack, config: string, more: object = {}): Promise<Job> {
  const answer = await stack.request('POST', '/queue/jobs', { json: { component: COMPONENT, config, mode: 'run', ...more } })
  assert.equal(answer.status, 201, answer.text)
  return stack.wait(answer.json<Job>())
}

const said = async (stack: ShellStack, job: Job) =>
  (await stack.request('GET', `/v2/storage/events?runId=${job.id}&limit=200`)).text

async function deliver(stack: ShellStack, url: string, parameters: object, input: object = {}): Promise<string> {
  const config = await stack.configure(COMPONENT, configurationOf(url, parameters, input))
  const job = await run(stack, config)
  assert.equal(job.status, 'success', job.result.message)
  const [, counts] = /to orders: of (.*?)\./.exec(await said(stack, job)) ?? []
  return counts ?? ''
}

async function orders(stack: ShellStack, rows: readonly (readonly (string | null)[])[]) {
  await makeTable(stack, ORDERS, { columns: { id: 'INTEGER', price: 'NUMERIC(10,2)', state: 'STRING' }, primaryKey: ['id'] })
  await fillTable(stack, ORDERS, ['id', 'price', 'state'], rows)
}

test('a table is created with the types and the key of the project, and every value arrives exactly', async (t) => {
  const { url, rows } = await place(t)
  const stack = await startProject()
  const columns = {
    ...{ id: 'INTEGER', price: 'NUMERIC(38,9)', half: 'FLOAT', yes: 'BOOLEAN', day: 'DATE', moment: 'TIMESTAMP' },
    ...{ words: 'STRING', nothing: 'STRING', empty: 'STRING' },
  }
  await makeTable(stack, ORDERS, { columns, primaryKey: ['id'] })
  const odd = 'a "b",\nc\\N \\. ž漢😀'
  await fillTable(stack, ORDERS, Object.keys(columns), [
    [
      '9223372036854775807',
      '12345678901234567890123456789.123456789',
      '0.1',
      'true',
      '2026-02-28',
      '2026-02-28 23:59:59.123456',
      odd,
      null,
      '',
    ],
    ['2', null, null, null, null, null, null, null, null],
  ])
  assert.equal(await deliver(stack, url, {}), '2 rows 2 inserted, 0 updated, 0 deleted, 0 rejected')
  const types = await rows(
    "select column_name, data_type, numeric_precision, is_nullable from information_schema.columns where table_name = 'orders' order by ordinal_position",
  )
  assert.deepEqual(types.slice(0, 7), [
    ...['id,bigint,64,NO', 'price,numeric,38,YES', 'half,double precision,53,YES', 'yes,boolean,,YES', 'day,date,,YES'],
    ...['moment,timestamp without time zone,,YES', 'words,text,,YES'],
  ])
  assert.deepEqual(
    await rows(
      'select id, price, half, yes, day::text, moment::text, words, nothing is null, empty is null from orders order by id desc',
    ),
    [
      `9223372036854775807,12345678901234567890123456789.123456789,0.1,true,2026-02-28,2026-02-28 23:59:59.123456,${odd},true,false`,
      '2,,,,,,,true,true',
    ],
  )
})

test('rows are inserted, updated and deleted by key, and what is equal is left alone', async (t) => {
  const { url, rows, run: execute } = await place(t)
  const stack = await startProject()
  await execute(`create table orders (order_no int primary key, price numeric(10,2), state text, note text default 'ours');
    insert into orders values (1, 1.00, 'new', 'kept'), (2, 2.00, 'new', 'kept'), (3, 3.00, 'new', 'kept'), (9, 9.00, 'theirs', 'kept')`)
  await makeTable(stack, ORDERS, {
    columns: { id: 'INTEGER', price: 'NUMERIC(10,2)', state: 'STRING', gone: 'BOOLEAN' },
    primaryKey: ['id'],
  })
  await fillTable(
    stack,
    ORDERS,
    ['id', 'price', 'state', 'gone'],
    [
      ['1', '1.00', 'new', 'false'],
      ['2', null, 'paid', null],
      ['3', '3.00', 'new', 'true'],
      ['4', '4.00', '', 'false'],
      ['5', '5.00', 'never there', 'true'],
    ],
  )
  const columns = [{ source: 'id', target: 'order_no' }, { source: 'price' }, { source: 'state' }]
  const parameters = { mode: 'upsert', columns, deletedColumn: 'gone' }
  assert.equal(await deliver(stack, url, parameters), '5 rows 1 inserted, 1 updated, 1 deleted, 0 rejected')
  const after = ['1,1.00,new,kept', '2,,paid,kept', '4,4.00,,ours', '9,9.00,theirs,kept']
  assert.deepEqual(await rows('select * from orders order by 1'), after)
  assert.equal(await deliver(stack, url, parameters), '5 rows 0 inserted, 0 updated, 0 deleted, 0 rejected')
  const removal = { mode: 'delete', columns, primaryKey: ['order_no'] }
  assert.equal(await deliver(stack, url, removal), '5 rows 0 inserted, 0 updated, 3 deleted, 0 rejected')
  assert.deepEqual(await rows('select * from orders'), ['9,9.00,theirs,kept'])
})

test('a full delivery replaces all rows at once and keeps indexes, grants and views', async (t) => {
  const { url, rows, run: execute } = await place(t)
  const stack = await startProject()
  await orders(stack, [
    ['1', '1.50', 'a'],
    ['2', '2.50', 'b'],
  ])
  await execute(`create table orders (id int primary key, price numeric(10,2), state text); create index by_state on orders (state);
    create role reader_${process.pid}; grant select on orders to reader_${process.pid}; create view cheap as select * from orders where price < 2;
    insert into orders select i, i, 'old' from generate_series(1, 10) as i`)
  t.after(() =>
    execute(`drop view if exists cheap; drop table if exists orders; drop role reader_${process.pid}`).catch(() => {}),
  )
  assert.equal(await deliver(stack, url, { mode: 'full' }), '2 rows 2 inserted, 0 updated, 10 deleted, 0 rejected')
  assert.deepEqual(await rows('select id from cheap'), ['1'])
  assert.deepEqual(await rows("select indexname from pg_indexes where tablename = 'orders' order by 1"), [
    'by_state',
    'orders_pkey',
  ])
  assert.deepEqual(await rows(`select has_table_privilege('reader_${process.pid}', 'orders', 'select')`), ['true'])
  await execute('create table lines (order_id int references orders); truncate orders cascade')
  assert.equal(await deliver(stack, url, { mode: 'full' }), '2 rows 2 inserted, 0 updated, 0 deleted, 0 rejected')
  assert.equal(await deliver(stack, url, { mode: 'full' }), '2 rows 2 inserted, 0 updated, 2 deleted, 0 rejected')
  assert.equal(await deliver(stack, url, { mode: 'full', direct: true }), '2 rows 2 inserted, 0 updated, 2 deleted, 0 rejected')
  await execute('alter table orders add constraint cheap_only check (price < 2) not valid')
  const config = await stack.configure(COMPONENT, configurationOf(url, { mode: 'full', direct: true }))
  assert.match((await run(stack, config)).result.message, /cheap_only/)
  assert.deepEqual(await rows('select count(*) from orders'), ['2'], 'what was emptied is there again')
})

test('only what has changed since the last delivery is read', async (t) => {
  const { url, rows } = await place(t)
  const stack = await startProject()
  await orders(stack, [
    ['1', '1', 'a'],
    ['2', '2', 'b'],
  ])
  const config = await stack.configure(COMPONENT, configurationOf(url, {}, { changed_since: 'adaptive' }))
  const read = async () => /to orders: of (\d+) rows?/.exec(await said(stack, await run(stack, config)))?.[1]
  assert.equal(await read(), '2')
  assert.equal(await read(), '0')
  await fillTable(stack, ORDERS, ['id', 'price', 'state'], [['2', '2', 'paid']], true)
  assert.equal(await read(), '1')
  assert.deepEqual(await rows('select id, state from orders order by 1'), ['1,a', '2,paid'])
})

test('rows that the database refuses become a table, up to a share of them, and the others arrive', async (t) => {
  const { url, rows, run: execute } = await place(t)
  const stack = await startProject()
  await execute('create table orders (id int primary key, price numeric(5,2) check (price >= 0), state varchar(5))')
  const given = Array.from({ length: 200 }, (_, i) => [String(i), '1.00', 'ok'] as (string | null)[])
  given[17] = ['17', '-1.00', 'ok']
  given[18] = ['18', '100000.00', 'ok']
  given[150] = ['150', '1.00', 'too long']
  given[151] = ['99999999999', '1.00', 'ok']
  await orders(stack, given)
  const parameters = { mode: 'upsert', invalidRows: 'reject' }
  const config = await stack.configure(COMPONENT, configurationOf(url, parameters))
  const job = await run(stack, config)
  assert.equal(job.status, 'success', job.result.message)
  assert.match(await said(stack, job), /of 200 rows 196 inserted, 0 updated, 0 deleted, 4 rejected/)
  assert.deepEqual(await rows('select count(*) from orders'), ['196'])
  const sql = `select id, delivery_error from "out.c-platform-wr-database-${config}".orders_rejected order by id::bigint`
  const found = await stack.request('POST', '/v2/storage/query', { json: { sql } })
  assert.equal(found.status, 200, found.text)
  const rejected = found.json<{ rows: [string, string][] }>().rows
  assert.deepEqual(
    rejected.map(([id, error]) => [id, /check constraint|overflow|too long|out of range/.exec(error)?.[0]]),
    [
      ['17', 'check constraint'],
      ['18', 'overflow'],
      ['150', 'too long'],
      ['99999999999', 'out of range'],
    ],
  )
  await execute('truncate orders')
  const strict = await run(
    stack,
    await stack.configure(COMPONENT, configurationOf(url, { ...parameters, maxRejectedPercent: 1 })),
  )
  assert.match(strict.result.message, /3 rows rejected, which is more than 1 % of 200; nothing was written/)
  const failing = await run(stack, await stack.configure(COMPONENT, configurationOf(url, { mode: 'upsert' })))
  assert.match(failing.result.message, /With "invalidRows": "reject" such rows become a table/)
  assert.deepEqual(await rows('select count(*) from orders'), ['0'])
})

test('a dry run and a debug run count what would be done and write nothing', async (t) => {
  const { url, rows, run: execute } = await place(t)
  const stack = await startProject()
  await orders(stack, [
    ['1', '1', 'a'],
    ['2', '2', 'b'],
  ])
  const script = 'create table traces (at text)'
  const dry = await run(stack, await stack.configure(COMPONENT, configurationOf(url, { dryRun: true, preSql: script })))
  assert.match(await said(stack, dry), /nothing was written: of 2 rows 2 would be inserted/)
  assert.deepEqual(await rows("select to_regclass('orders'), to_regclass('traces')"), [','])
  await execute("create table orders (id int primary key, price numeric, state text); insert into orders values (1, 5, 'a')")
  const config = await stack.configure(COMPONENT, configurationOf(url, { preSql: script }))
  const debug = await run(stack, config, { mode: 'debug' })
  assert.equal(debug.status, 'success', debug.result.message)
  assert.match(await said(stack, debug), /1 would be inserted, 1 would be updated, 0 would be deleted/)
  assert.deepEqual(await rows("select id, price, to_regclass('traces') from orders"), ['1,5,'])
})

test('a form can try the connection and see what would be done with the first rows', async (t) => {
  const { url, rows, run: execute } = await place(t)
  const stack = await startProject()
  await orders(
    stack,
    Array.from({ length: 150 }, (_, i) => [String(i + 1), '1.00', i === 0 ? null : 'new']),
  )
  await execute(
    "create table orders (id int primary key, price numeric(10,2), state text); insert into orders values (1, 1, null), (2, 2, 'new')",
  )
  const ask = async (action: string, parameters: object) => {
    const configData = configurationOf(url, parameters)
    return (await stack.request('POST', '/sync-actions/actions', { json: { componentId: COMPONENT, action, configData } })).json()
  }
  assert.deepEqual(await ask('testConnection', {}), { status: 'success' })
  const { operations, sample, rowsOfTable, rows: seen, table } = await ask('preview', {})
  assert.deepEqual(
    { operations, rowsOfTable, seen, table },
    {
      operations: { inserted: 98, updated: 1, deleted: 0, rejected: 0 },
      rowsOfTable: 150,
      seen: 100,
      table: { schema: '', name: 'orders', exists: true },
    },
  )
  assert.deepEqual(
    (sample as { operation: string }[]).slice(0, 3).map(({ operation }) => operation),
    ['nothing', 'update', 'insert'],
  )
  assert.deepEqual((sample as { values: object }[])[0]?.values, { id: '1', price: '1.00', state: null })
  assert.deepEqual(await rows('select count(*) from orders'), ['2'])
})

test('a development branch delivers only what its configuration allows', async (t) => {
  const { url, rows } = await place(t)
  const stack = await startProject()
  await orders(stack, [['1', '1', 'a']])
  const config = await stack.configure(COMPONENT, configurationOf(url, {}))
  const made = await stack.request('POST', '/v2/storage/dev-branches', { json: { name: 'try' } })
  const job = await stack.wait(made.json<Job>())
  const { id } = job.results as { id: number }
  const answer = await stack.request('POST', '/queue/jobs', {
    json: { component: COMPONENT, config, mode: 'run', branchId: String(id) },
  })
  assert.equal(answer.status, 400, answer.text)
  assert.match(answer.text, /in a development branch it may change things outside the project/)
  assert.deepEqual(await rows("select to_regclass('orders')"), [''])
})

test('statements before and after are part of the transaction', async (t) => {
  const { url, rows, run: execute } = await place(t)
  const stack = await startProject()
  await orders(stack, [['1', '1', 'a']])
  await execute('create table traces (what text); create table orders (id int primary key, price numeric, state text)')
  const preSql = "insert into traces values ('before'); insert into traces values ('it''s')"
  await deliver(stack, url, { preSql, postSql: 'insert into traces select count(*)::text from orders' })
  assert.deepEqual(await rows('select * from traces'), ['before', "it's", '1'])
  const broken = await run(stack, await stack.configure(COMPONENT, configurationOf(url, { preSql, postSql: 'select 1/0' })))
  assert.match(broken.result.message, /division by zero/)
  assert.deepEqual(await rows('select count(*) from traces'), ['3'])
})

test('a connection that is lost in the middle leaves nothing, and the rows arrive once by another', async (t) => {
  const { url, rows, run: execute } = await place(t)
  const stack = await startProject()
  await orders(
    stack,
    Array.from({ length: 3000 }, (_, i) => [String(i), '1.00', 'x'.repeat(50)]),
  )
  await execute('create table orders (id int, price numeric, state text)')
  const way = await frozenProxy(url)
  t.after(way.close)
  way.loseNext('copy "orders"', { isSent: true })
  assert.equal(await deliver(stack, way.url, { mode: 'insert' }), '3000 rows 3000 inserted, 0 updated, 0 deleted, 0 rejected')
  assert.deepEqual(await rows('select count(*), count(distinct id) from orders'), ['3000,3000'])
})

test('a locked table, a changed one and rights that are revoked in the middle stop a delivery with a sentence and nothing half', async (t) => {
  const { url, rows, run: execute } = await place(t)
  const stack = await startProject()
  await orders(stack, [
    ['1', '1.50', 'new'],
    ['2', '2.50', 'new'],
  ])
  await execute("create table orders (id int primary key, price numeric, state text); insert into orders values (1, 1, 'old')")
  const clerk = `clerk_${process.pid}` // roles belong to the whole server
  await execute(`create role ${clerk} login; grant select, insert, update on orders to ${clerk}`)
  const holder = new pg.Client({ connectionString: url })
  await holder.connect()
  const asClerk = { db: { ...connectionTo(url), user: clerk } }
  const unchanged = async () => assert.deepEqual(await rows('select id, price from orders'), ['1,1'])

  await holder.query('begin; lock table orders in access exclusive mode')
  const locked = await run(stack, await stack.configure(COMPONENT, configurationOf(url, { ...asClerk, lockSeconds: 1 })))
  assert.match(locked.result.message, /lock timeout\. Run the job again later\.$/)
  await holder.query('rollback')
  await unchanged()

  await holder.query('begin; lock table orders in share row exclusive mode')
  const revoked = run(stack, await stack.configure(COMPONENT, configurationOf(url, asClerk)))
  await until('the delivery waits for the table', async () => (await rows(WAITING)).length > 0)
  await holder.query(`revoke insert, update on orders from ${clerk}; commit`)
  await holder.end()
  assert.match((await revoked).result.message, /permission denied for table orders\. Grant the right to change it to the user\.$/)
  await unchanged()

  await execute(`grant insert, update on orders to ${clerk}; alter table orders alter price type int`)
  const config = await stack.configure(COMPONENT, configurationOf(url, asClerk))
  assert.match(
    (await run(stack, config)).result.message,
    /invalid input syntax for type integer: "1\.50".* "invalidRows": "reject"/s,
  )
  await execute('alter table orders drop column state')
  assert.match((await run(stack, config)).result.message, /has no column "state"\. It has id, price; add the column/)
  await unchanged()
})

const WAITING = "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"

const FAILURES: Readonly<Record<string, readonly [parameters: object, message: RegExp]>> = {
  'a wrong password': [{ db: { user: 'nobody_here', '#password': 'open-sesame' } }, /Check db\.user and db\.#password/],
  'a column that the target lacks': [
    { columns: [{ source: 'id' }, { source: 'price', target: 'cost' }] },
    /has no column "cost"\. It has id, price, must/,
  ],
  'a column that the project lacks': [
    { mode: 'insert', columns: [{ source: 'nme' }] },
    /columns names "nme", which is not a column of in\.c-shop\.orders/,
  ],
  'a column that must have a value': [
    { columns: [{ source: 'id' }, { source: 'price' }] },
    /The column "must" of "orders" must have a value/,
  ],
  'no key': [{ columns: [{ source: 'state', target: 'must' }], mode: 'upsert' }, /primaryKey names "id"/],
  'a key that repeats': [
    { primaryKey: ['must'], columns: [{ source: 'state', target: 'must' }, { source: 'id' }] },
    /1 values of the key \(must\) are in more than one row/,
  ],
  'a table that may not be made': [
    { table: { tableName: 'nowhere' }, create: false },
    /"nowhere" does not exist in the database\. Create it/,
  ],
  'a type that is none': [
    { columns: [{ source: 'id', type: 'int); drop table orders' }] },
    /is not a type such as varchar\(20\)/,
  ],
  'an unknown mode': [{ mode: 'replace' }, /mode must be upsert, insert, full, delete, not "replace"/],
  'an unknown setting': [{ modus: 'full' }, /"modus" in parameters is not known/],
}

test('what goes wrong is said with what to do, and no password is in it', async (t) => {
  const { url, rows, run: execute } = await place(t)
  const stack = await startProject()
  await orders(stack, [
    ['1', '1', 'same'],
    ['2', '2', 'same'],
  ])
  await execute('create table orders (id int, price numeric, must text not null)')
  for (const [name, [parameters, message]] of Object.entries(FAILURES)) {
    const { db, ...rest } = parameters as { db?: object }
    const config = await stack.configure(COMPONENT, configurationOf(url, { ...rest, db: { ...connectionTo(url), ...db } }))
    const job = await run(stack, config)
    assert.equal(job.status, 'error', name)
    assert.match(job.result.message, message, name)
    assert.ok(!`${job.result.message}${await said(stack, job)}`.includes('open-sesame'), name)
  }
  assert.deepEqual(await rows('select count(*) from orders'), ['0'])
})
