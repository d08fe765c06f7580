// The extractor in a whole stack, reading a real PostgreSQL: every type, only what is new, and what goes wrong.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DEFAULT_WORKER } from '../../../server/src/model/worker-settings.ts'
import { chance } from '../../../tests/support/chance.ts'
import { frozenProxy } from '../../../tests/support/servers/frozen-proxy.ts'
import { connectionTo, openDatabase } from '../../../tests/support/servers/source-database.ts'
import { type Job, type ShellStack, shareShellStack } from '../../../tests/support/shell-stack.ts'

const startProject = shareShellStack({ worker: { ...DEFAULT_WORKER, egressAllow: ['127.0.0.1'] } })
const COMPONENT = 'platform.ex-database'
const CUTS = process.env.MILLRACE_LONG ? 12 : 4
/** Of each kind of key: 360 cuts in all in the long run. */
const CUT_RUNS = process.env.MILLRACE_LONG ? 10 : 1
const LARGE_BYTES = process.env.MILLRACE_LONG ? 200_000_000 : 4_000_000

async function configure(stack: ShellStack, url: string, rows: readonly object[]): Promise<string> {
  return stack.configure(
    COMPONENT,
    { parameters: { db: connectionTo(url) } },
    rows.map((parameters) => ({ name: 'row', configuration: { parameters } })),
  )
}

async function run(stack: ShellStack, config: string): Promise<Job> {
  const answer = await stack.request('POST', '/queue/jobs', { json: { component: COMPONENT, config, mode: 'run' } })
  assert.equal(answer.status, 201, answer.text)
  return stack.wait(answer.json<Job>())
}

const bucketOf = (config: string) => `in.c-platform-ex-database-${config}`

interface Shown {
  readonly columns: readonly string[]
  readonly primaryKey: readonly string[]
  readonly definition?: { readonly columns: readonly { readonly name: string; readonly definition: { readonly type: string } }[] }
}

async function rowsOf(stack: ShellStack, table: string, order: string): Promise<unknown[]> {
  const [, bucket, name] = /^(.*)\.([^.]+)$/.exec(table) ?? []
  const sql = `select * from "${bucket}"."${name}" order by ${order}`
  const answer = await stack.request('POST', '/v2/storage/query', { json: { sql } })
  assert.equal(answer.status, 200, answer.text)
  return answer.json<{ rows: unknown[] }>().rows
}

test('every type of PostgreSQL arrives exactly, as a typed column or as text', async (t) => {
  const { url, run: execute } = await openDatabase(t)
  const stack = await startProject()
  await execute(`create type mood as enum ('sad', 'happy'); create domain cents as numeric(10,2);
    create table kinds (id int primary key, small smallint, big bigint, money_like numeric(38,9), free numeric, cents cents,
      single real, twice double precision, yes boolean, day date, moment timestamp, zoned timestamptz, clock time, span interval,
      words text, short varchar(10), nothing text, doc jsonb, list int[], bytes bytea, feeling mood, key uuid, bits bit(3), price money)`)
  await execute(`insert into kinds values
    (1, -32768, 9223372036854775807, 12345678901234567890123456789.123456789, 12345678901234567890.123456789, 0.10,
     1.5, 0.1, true, '2026-02-28', '2026-02-28 23:59:59.123456', '2026-03-29 03:30:00.5+02', '13:14:15.5', '1 day 2 hours',
     E'a "b",\\nc\\\\N ž漢😀', '', null, '{"a": [1, null]}', '{1,null,3}', '\\x00ff61', 'happy',
     'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', '101', 12.5),
    (2, null, null, null, 'NaN', null, 'Infinity', '-Infinity', null, 'infinity', '-infinity', null, null, null, '', '\\N', null, null, null, null, null, null, null, null)`)
  const config = await configure(stack, url, [{ table: { schema: 'public', tableName: 'kinds' }, invalidValues: 'null' }])
  const job = await run(stack, config)
  assert.equal(job.status, 'success', job.result.message)
  const table = `${bucketOf(config)}.kinds`
  const shown = (await stack.request('GET', `/v2/storage/tables/${table}`)).json<Shown>()
  assert.deepEqual(shown.primaryKey, ['id'])
  const types = Object.fromEntries(shown.definition?.columns.map(({ name, definition }) => [name, definition.type]) ?? [])
  assert.deepEqual(
    ['big', 'money_like', 'free', 'cents', 'single', 'yes', 'day', 'moment', 'zoned', 'doc', 'bytes'].map((name) => types[name]),
    ['INTEGER', 'NUMERIC', 'STRING', 'NUMERIC', 'FLOAT', 'BOOLEAN', 'DATE', 'TIMESTAMP', 'TIMESTAMP', 'STRING', 'STRING'],
  )
  const texts = `id, small::text, big::text, money_like::text, free, cents::text, single::text, twice::text, yes::text, day::text, moment::text,
    zoned::text, clock, span, words, short, nothing, doc, list, bytes, feeling, key, bits, price`
  const sql = `select ${texts} from "${bucketOf(config)}".kinds order by id`
  const { rows } = (await stack.request('POST', '/v2/storage/query', { json: { sql } })).json<{ rows: unknown[][] }>()
  assert.deepEqual(rows[0]?.slice(1), [
    ...['-32768', '9223372036854775807', '12345678901234567890123456789.123456789', '12345678901234567890.123456789', '0.10'],
    ...['1.5', '0.1', 'true', '2026-02-28', '2026-02-28 23:59:59.123456', '2026-03-29 01:30:00.5', '13:14:15.5', 'P1DT2H'],
    ...['a "b",\nc\\N ž漢😀', '', null, '{"a": [1, null]}', '{1,NULL,3}', '\\x00ff61', 'happy'],
    ...['a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', '101', '$12.50'],
  ])
  assert.deepEqual(rows[1]?.slice(1), [
    ...[null, null, null, 'NaN', null, 'inf', '-inf', null, null, null, null, null, null, '', '\\N'],
    ...[null, null, null, null, null, null, null, null],
  ])
})

test('a value that fits no typed column is named, or its column becomes a text', async (t) => {
  const { url, run: execute } = await openDatabase(t)
  const stack = await startProject()
  await execute(`create table odd (id int, day date); insert into odd values (1, 'infinity'), (2, '0044-03-15 BC')`)
  const table = { tableName: 'odd' }
  const [strict, lenient] = [
    await configure(stack, url, [{ table }]),
    await configure(stack, url, [{ table, invalidValues: 'text' }]),
  ]
  const job = await run(stack, strict)
  assert.match(job.result.message, /the value "infinity" of column "day" is not a valid DATE/)
  assert.equal((await run(stack, lenient)).status, 'success')
  assert.deepEqual(String(await rowsOf(stack, `${bucketOf(lenient)}.odd`, '1')), '1,infinity,2,0044-03-15 BC')
})

test('only new and changed rows are read, with equal times, late rows and none at all', async (t) => {
  const { url, run: execute } = await openDatabase(t)
  const stack = await startProject()
  await execute('create table orders (id int primary key, state text, changed timestamptz)')
  await execute(`insert into orders values (1, 'a', '2026-01-01 10:00:00.123456Z'), (2, 'b', '2026-01-02'), (3, 'c', null)`)
  const row = { table: { tableName: 'orders' }, incrementalFetchingColumn: 'changed' }
  const config = await configure(stack, url, [row])
  const read = async () => {
    const job = await run(stack, config)
    assert.equal(job.status, 'success', job.result.message)
    const events = (await stack.request('GET', `/v2/storage/events?runId=${job.id}&limit=200`)).text
    return Number(/Read (\d+) rows? into orders/.exec(events)?.[1])
  }
  assert.equal(await read(), 3)
  await execute(`insert into orders values (4, 'd', '2026-01-02'), (5, 'e', '2026-01-03'); update orders set state = 'A', changed = '2026-01-04' where id = 1;
    insert into orders values (6, 'late', '2026-01-01')`)
  assert.equal(await read(), 4, 'what has the last value, and what came after it')
  assert.equal(await read(), 1, 'what has the last value')
  const ids = (await rowsOf(stack, `${bucketOf(config)}.orders`, 'id')).map((one) => (one as unknown[]).slice(0, 2))
  assert.deepEqual(ids.map(String), ['1,A', '2,b', '3,c', '4,d', '5,e'])
  await execute('delete from orders')
  assert.equal(await read(), 0)
  assert.equal((await rowsOf(stack, `${bucketOf(config)}.orders`, 'id')).length, 5)
})

test('rows that are new by one of several columns are read, and a column that was empty counts from its first value', async (t) => {
  const { url, run: execute } = await openDatabase(t)
  const stack = await startProject()
  await execute('create table visits (id int primary key, state text, created timestamptz, changed timestamptz, number int)')
  await execute(
    `insert into visits values (1, 'a', '2026-01-01', null, 1), (2, 'b', '2026-01-02', null, 2), (3, 'c', null, null, null)`,
  )
  const columns = ['created', 'changed', 'number']
  const row = { table: { tableName: 'visits' }, incrementalFetchingColumns: columns }
  const config = await configure(stack, url, [row])
  const read = async (expected: string) => {
    const job = await run(stack, config)
    assert.equal(job.status, 'success', job.result.message)
    const stored = (await rowsOf(stack, `${bucketOf(config)}.visits`, 'id')).map((one) => (one as unknown[]).slice(0, 2).join(''))
    assert.equal(stored.join(' '), expected)
    const [{ id }] = (await stack.request('GET', `/v2/storage/components/${COMPONENT}/configs/${config}/rows`)).json<
      [{ id: string }]
    >()
    const path = `/v2/storage/components/${COMPONENT}/configs/${config}/rows/${id}`
    const { state } = (await stack.request('GET', path)).json<{ state: { component: { incremental: { values: object } } } }>()
    return { ...state.component.incremental.values }
  }
  assert.deepEqual(await read('1a 2b 3c'), { created: '2026-01-02 00:00:00+00', changed: null, number: '2' })
  await execute(`update visits set state = 'A', changed = '2025-01-01' where id = 1; update visits set state = 'unseen' where id = 3;
    insert into visits values (4, 'd', '2026-01-02', null, 1), (5, 'late', '2025-12-01', null, 0), (6, 'e', null, null, 3)`)
  const first = { created: '2026-01-02 00:00:00+00', changed: '2025-01-01 00:00:00+00', number: '3' }
  assert.deepEqual(await read('1A 2b 3c 4d 6e'), first, 'by the first value of a column, by an equal time, by a greater number')
  await execute(`update visits set changed = null; update visits set state = 'B', number = 3 where id = 2`)
  assert.deepEqual(await read('1A 2B 3c 4d 6e'), first, 'a column that has become empty keeps its place')
  const parameters = { ...row, incrementalFetchingColumn: 'created', db: connectionTo(url) }
  const both = await stack.configure(COMPONENT, { parameters })
  assert.match((await run(stack, both)).result.message, /either incrementalFetchingColumn or incrementalFetchingColumns/)
})

test('rows that arrive late are found within the lookback', async (t) => {
  const { url, run: execute } = await openDatabase(t)
  const stack = await startProject()
  await execute(`create table late (id int primary key, changed timestamp); insert into late values (1, '2026-01-02 00:00:00')`)
  const row = { table: { tableName: 'late' }, incrementalFetchingColumn: 'changed', incrementalFetchingLookback: 3600 }
  const config = await configure(stack, url, [row])
  assert.equal((await run(stack, config)).status, 'success')
  await execute(`insert into late values (2, '2026-01-01 23:30:00'), (3, '2026-01-01 22:30:00')`)
  assert.equal((await run(stack, config)).status, 'success')
  assert.deepEqual((await rowsOf(stack, `${bucketOf(config)}.late`, 'id')).map((one) => (one as unknown[])[0]).map(String), [
    '1',
    '2',
  ])
})

test('columns, a filter and a query choose what is read', async (t) => {
  const { url, run: execute } = await openDatabase(t)
  const stack = await startProject()
  await execute(`create schema "My shop"; create table "My shop"."It's" ("Id" int, "a b" text, secret text);
    insert into "My shop"."It's" select i, 'v' || i, 'x' from generate_series(1, 5) as i`)
  const config = await configure(stack, url, [
    {
      table: { schema: 'My shop', tableName: "It's" },
      columns: ['a b', 'Id'],
      filter: '"Id" > 3 -- not all',
      outputTable: 'chosen',
    },
    { query: 'select "Id" as id, count(*) as n from "My shop"."It\'s" group by 1;', outputTable: 'counted', primaryKey: ['id'] },
  ])
  const job = await run(stack, config)
  assert.equal(job.status, 'success', job.result.message)
  assert.deepEqual(String(await rowsOf(stack, `${bucketOf(config)}.chosen`, '2')), 'v4,4,v5,5')
  assert.equal((await rowsOf(stack, `${bucketOf(config)}.counted`, '1')).length, 5)
})

const FAILURES: Readonly<Record<string, readonly [row: object, db: object, message: RegExp]>> = {
  'a wrong password': [
    { table: { tableName: 't' } },
    { user: 'nobody_here', '#password': 'open-sesame' },
    /Check db\.user and db\.#password/,
  ],
  'a database that does not exist': [
    { table: { tableName: 't' } },
    { database: 'nowhere' },
    /"nowhere" does not exist\. Check db\.database/,
  ],
  'a table that does not exist': [
    { table: { tableName: 'nowhere' } },
    {},
    /relation "nowhere" does not exist\. Check the schema and the name/,
  ],
  'a query with a mistake': [{ query: 'selec 1', outputTable: 'x' }, {}, /syntax error .* Check the query/],
  'a query that writes': [
    { query: 'with gone as (delete from there returning 1) select * from gone', outputTable: 'x' },
    {},
    /cannot|must be at the top level/,
  ],
  'a column that does not exist': [
    { table: { tableName: 'there' }, columns: ['id', 'nme'] },
    {},
    /no column "nme"\. It has id, name/,
  ],
  'a name twice': [{ query: 'select 1 as a, 2 as a', outputTable: 'x' }, {}, /Two columns are named "a"/],
  'an increment without a key': [
    { query: 'select 1 as a', outputTable: 'x', incrementalFetchingColumn: 'a' },
    {},
    /needs a primary key/,
  ],
  'a name that is a path': [
    { table: { tableName: 'there' }, outputTable: '../../in/state' },
    {},
    /outputTable must have letters/,
  ],
  'a column named SSL': [
    { query: 'select "SSL" from there', outputTable: 'x' },
    {},
    /column "SSL" does not exist.*Check the query/,
  ],
  'a setting that does not exist': [
    { table: { tableName: 'there' }, incremntal: true },
    {},
    /"incremntal" in parameters is not known/,
  ],
  'a server without TLS': [{ table: { tableName: 'there' } }, { ssl: { enabled: true } }, /does not support SSL.* Check db\.ssl/],
  'a port that is closed': [{ table: { tableName: 'there' } }, { port: 1 }, /127\.0\.0\.1:1 cannot be reached/],
  'a private address': [{ table: { tableName: 'there' } }, { host: '10.0.0.1' }, /not allowed: .*MILLRACE_EGRESS_ALLOW/],
}

test('what goes wrong is said with what to do, and no password is in it', async (t) => {
  const { url, run: execute } = await openDatabase(t)
  const stack = await startProject()
  await execute('create table there (id int, name text)')
  for (const [name, [row, db, message]] of Object.entries(FAILURES)) {
    const configuration = { parameters: { db: { ...connectionTo(url), ...db }, ...row } }
    const config = await stack.configure(COMPONENT, configuration)
    const job = await run(stack, config)
    assert.equal(job.status, 'error', name)
    assert.match(job.result.message, message, name)
    const events = (await stack.request('GET', `/v2/storage/events?runId=${job.id}`)).text
    assert.ok(!`${job.result.message}${events}`.includes('open-sesame'), name)
  }
})

test('a connection that is lost in the middle is opened again, and the table is read whole', async (t) => {
  const { url, run: execute } = await openDatabase(t)
  const stack = await startProject()
  await execute(`create table many as select i as id, repeat('x', 200) as text from generate_series(1, 20000) as i`)
  const way = await frozenProxy(url)
  t.after(way.close)
  const config = await configure(stack, way.url, [{ table: { tableName: 'many' }, primaryKey: ['id'] }])
  way.loseNext('copy (', { isSent: true })
  const job = await run(stack, config)
  assert.equal(job.status, 'success', job.result.message)
  const events = (await stack.request('GET', `/v2/storage/events?runId=${job.id}&limit=200`)).text
  assert.match(events, /The connection was lost; the table is read again \(attempt 2 of 4\)/)
  const { rowsCount } = (await stack.request('GET', `/v2/storage/tables/${bucketOf(config)}.many`)).json<{ rowsCount: number }>()
  assert.equal(rowsCount, 20_000)
})

test('a table of 1,600 columns, a value of many megabytes, and a table that another session has locked', async (t) => {
  const { url, run: execute, client } = await openDatabase(t)
  const stack = await startProject()
  const names = Array.from({ length: 1600 }, (_, at) => `c${at}`)
  await execute(`create table wide (${names.map((name) => `${name} int`).join(', ')}); insert into wide (c0, c1599) values (1, 2);
    create table large as select 1 as id, repeat('x"', ${LARGE_BYTES / 2}) as body; create table locked (id int)`)
  const config = await configure(stack, url, [{ table: { tableName: 'wide' } }, { table: { tableName: 'large' } }])
  const job = await run(stack, config)
  assert.equal(job.status, 'success', job.result.message)
  const [wide] = await rowsOf(stack, `${bucketOf(config)}.wide`, 'c0')
  assert.deepEqual([(wide as unknown[]).length, (wide as unknown[])[0], (wide as unknown[])[1599]], [1600, 1, 2])
  const configData = { parameters: { db: connectionTo(url), table: { tableName: 'wide' }, mode: 'verify' } }
  const verify = async () => {
    const answer = await stack.request('POST', '/queue/jobs', { json: { component: COMPONENT, config, configData } })
    return (await stack.wait(answer.json<Job>())).result.message
  }
  assert.doesNotMatch(await verify(), /differs|error/i)
  await execute('update wide set c1000 = 7')
  assert.match(await verify(), /\.wide differs from its source/)
  const sql = `select length(body), md5(body) from "${bucketOf(config)}".large`
  const { rows } = (await stack.request('POST', '/v2/storage/query', { json: { sql } })).json<{ rows: unknown[][] }>()
  const { rows: expected } = await execute('select length(body), md5(body) from large')
  assert.deepEqual(rows[0], Object.values(expected[0]))
  await execute(`alter database ${new URL(url).pathname.slice(1)} set lock_timeout = '300ms'`)
  await client.query('begin; lock table locked')
  const refused = await run(stack, await configure(stack, url, [{ table: { tableName: 'locked' } }]))
  await client.query('rollback')
  assert.match(refused.result.message, /lock timeout.* Run the job again later/)
})

test('a table that is dropped or changed while it is read, and a server that restarts', async (t) => {
  const { url, run: execute } = await openDatabase(t)
  const stack = await startProject()
  for (const name of ['gone', 'changed', 'away'])
    await execute(
      `create table ${name} (id int primary key, a int, b text); insert into ${name} select i, i, 'b' from generate_series(1, 100) i; analyze ${name}`,
    )
  const way = await frozenProxy(url)
  t.after(way.close)
  const second = '"id" >= ' // of the second part
  const read = async (tableName: string, meanwhile: () => Promise<unknown>): Promise<readonly [Job, string]> => {
    const config = await configure(stack, way.url, [{ table: { tableName }, partRows: 50 }])
    way.loseNext(second, { isSent: false, meanwhile })
    return [await run(stack, config), `${bucketOf(config)}.${tableName}`]
  }
  const [gone] = await read('gone', () => execute('drop table gone'))
  assert.match(gone.result.message, /relation "gone" does not exist\. Check the schema and the name/)
  const [changed, table] = await read('changed', () =>
    execute('alter table changed drop column a; alter table changed add column c text; update changed set c = id::text'),
  )
  assert.equal(changed.status, 'success', changed.result.message)
  const rows = (await rowsOf(stack, table, 'id')) as unknown[][]
  assert.deepEqual(
    [rows.length, ...rows.filter(([id, b, c]) => b !== 'b' || c !== String(id))],
    [100],
    'every row has the new columns',
  )
  const [away, there] = await read('away', async () => {
    way.refuse()
    setTimeout(way.accept, 1500)
  })
  assert.equal(away.status, 'success', away.result.message)
  assert.equal((await rowsOf(stack, there, 'id')).length, 100)
})

const PART_KEYS = {
  'whole numbers': 'i',
  uuids: 'md5(i::text)::uuid',
  times: "timestamptz '2026-01-01' + i * interval '7 seconds'",
}

for (const [name, key] of Object.entries(PART_KEYS))
  test(`a connection that is cut at any byte resumes with the part that was not finished: keys are ${name}`, async (t) => {
    const { url, run: execute } = await openDatabase(t)
    const stack = await startProject()
    await execute(`create table many as select ${key} as id, i as number, repeat('x', i % 300) as text from generate_series(1, 20000) as i;
      alter table many add primary key (id); analyze many`)
    const way = await frozenProxy(url)
    t.after(way.close)
    for (let turn = 0; turn < CUT_RUNS; turn++) {
      const config = await configure(stack, way.url, [{ table: { tableName: 'many' }, partRows: 1500 }])
      const cuts = Array.from({ length: CUTS }, () => 500_000 + Math.floor(chance() * 500_000))
      way.cutAt(cuts)
      const job = await run(stack, config)
      assert.equal(job.status, 'success', `${job.result.message}, cuts ${cuts}`)
      const events = (await stack.request('GET', `/v2/storage/events?runId=${job.id}&limit=500`)).text
      assert.match(events, /The connection was lost; reading continues with the next part/, `cuts ${cuts}`)
      const sql = `select count(*), count(distinct id), sum(number), sum(length(text)) from "${bucketOf(config)}".many`
      const { rows } = (await stack.request('POST', '/v2/storage/query', { json: { sql } })).json<{ rows: unknown[][] }>()
      const { rows: expected } = await execute(
        'select count(*), count(distinct id) as ids, sum(number), sum(length(text)) as length from many',
      )
      assert.deepEqual(rows[0]?.map(Number), Object.values(expected[0]).map(Number), `cuts ${cuts}`)
    }
  })

test('a form can ask for schemas, tables, columns and rows before anything is saved', async (t) => {
  const { url, run: execute } = await openDatabase(t)
  const stack = await startProject()
  await execute(
    'create schema shop; create table shop.items (id int primary key, price numeric(10,2)); insert into shop.items values (1, 2.50)',
  )
  const ask = async (action: string, parameters: object = {}) => {
    const configData = { parameters: { db: connectionTo(url), ...parameters } }
    return (await stack.request('POST', '/sync-actions/actions', { json: { componentId: COMPONENT, action, configData } })).json()
  }
  const table = { schema: 'shop', tableName: 'items' }
  assert.deepEqual(await ask('testConnection'), { status: 'success' })
  assert.deepEqual((await ask('listSchemas')).schemas, ['public', 'shop'])
  assert.deepEqual((await ask('listTables', { table: { schema: 'shop' } })).tables, [
    { schema: 'shop', name: 'items', kind: 'table' },
  ])
  assert.deepEqual((await ask('listColumns', { table })).columns, [
    { name: 'id', native: 'integer', base: 'INTEGER' },
    { name: 'price', native: 'numeric(10,2)', base: 'NUMERIC', length: '10,2' },
  ])
  assert.deepEqual((await ask('preview', { table })).rows, [['1', '2.50']])
})
