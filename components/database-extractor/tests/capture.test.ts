// Change capture in a whole stack from a real PostgreSQL: after every run the table equals the source, whatever happened before.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import pg from 'pg'
import { DEFAULT_WORKER } from '../../../server/src/model/worker-settings.ts'
import { freshPostgres } from '../../../tests/support/fresh-databases.ts'
import { frozenProxy } from '../../../tests/support/servers/frozen-proxy.ts'
import { connectionTo } from '../../../tests/support/servers/source-database.ts'
import { type Job, type ShellStack, shareShellStack } from '../../../tests/support/shell-stack.ts'
import { until } from '../../../tests/support/until.ts'

const startProject = shareShellStack({ worker: { ...DEFAULT_WORKER, egressAllow: ['127.0.0.1'] } })
const COMPONENT = 'platform.ex-database-changes'
const ROUNDS = process.env.MILLRACE_LONG ? 100 : 8
const CUTS = process.env.MILLRACE_LONG ? 100 : 2

async function source(t: TestContext) {
  const database = await freshPostgres()
  const { url } = database.location as { url: string } // of PostgreSQL
  const client = new pg.Client({ connectionString: url, types: { getTypeParser: () => (value: unknown) => value } })
  await client.connect()
  t.after(async () => {
    const { rows } = await client.query('select slot_name from pg_replication_slots where database = current_database()')
    for (const { slot_name } of rows)
      await until('the slot is free', async () =>
        client.query('select pg_drop_replication_slot($1)', [slot_name]).then(
          () => true,
          () => false,
        ),
      )
    await client.end()
    await database.remove()
  })
  const rows = async (text: string) => (await client.query<string[]>({ text, rowMode: 'array' })).rows
  return { url, run: (text: string) => client.query(text), rows }
}

const configure = (stack: ShellStack, url: string, tables: readonly string[], more: object = {}): Promise<string> =>
  stack.configure(COMPONENT, {
    parameters: { db: connectionTo(url), tables: tables.map((tableName) => ({ tableName })), ...more },
  })

async function start(stack: ShellStack, config: string): Promise<Job> {
  const answer = await stack.request('POST', '/queue/jobs', { json: { component: COMPONENT, config, mode: 'run' } })
  assert.equal(answer.status, 201, answer.text)
  return answer.json<Job>()
}

/** Answers the output of the run. */
async function run(stack: ShellStack, config: string): Promise<string> {
  const job = await stack.wait(await start(stack, config))
  assert.equal(job.status, 'success', job.result.message)
  return (await stack.request('GET', `/v2/storage/events?runId=${job.id}&limit=200`)).text
}

async function stored(stack: ShellStack, config: string, table: string, columns: string): Promise<unknown[]> {
  const sql = `select ${columns} from "in.c-platform-ex-database-changes-${config}"."${table}" order by 1`
  const answer = await stack.request('POST', '/v2/storage/query', { json: { sql } })
  assert.equal(answer.status, 200, answer.text)
  return answer.json<{ rows: unknown[] }>().rows
}

test('after a snapshot, inserts, updates, deletes, new keys and truncates arrive in the order of commits', async (t) => {
  const { url, run: execute, rows } = await source(t)
  const stack = await startProject()
  await execute(`create table orders (id int primary key, state text, price numeric(10,2), moment timestamptz);
    create table lines (order_id int, line int, word text, primary key (order_id, line));
    insert into orders select i, 'new', i * 1.5, '2026-01-01 10:00:00.5+02' from generate_series(1, 100) as i;
    insert into lines values (1, 1, 'a'), (1, 2, 'b')`)
  const config = await configure(stack, url, ['orders', 'lines'])
  const same = async () => {
    const orders = "id::text, state, price::text, strftime(moment, '%Y-%m-%d %H:%M:%S.%g')"
    const expected = "id::text, state, price::text, to_char(moment at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS.MS')"
    const byText = (list: unknown[]) => list.map((row) => JSON.stringify(row)).sort()
    assert.deepEqual(byText(await stored(stack, config, 'orders', orders)), byText(await rows(`select ${expected} from orders`)))
    const lines = 'order_id::text, line::text, word'
    assert.deepEqual(byText(await stored(stack, config, 'lines', lines)), byText(await rows(`select ${lines} from lines`)))
  }
  assert.match(await run(stack, config), /Read 100 rows of .*orders.* whole/)
  await same()
  await execute(`begin; update orders set state = 'paid' where id <= 10; delete from orders where id = 5; commit;
    insert into orders values (101, E'"a,\\nb"', null, null); update orders set id = 500 where id = 20;
    delete from orders where id = 101; insert into orders values (101, '', 0, '2026-01-02');
    insert into orders values (102, 'gone', 0, null); delete from orders where id = 102;
    update lines set line = 3 where line = 2; insert into lines values (2, 1, null)`)
  await run(stack, config)
  await same()
  await execute(
    `begin; delete from orders; rollback; insert into lines values (9, 9, 'lost'); truncate lines; insert into lines values (3, 1, 'kept')`,
  )
  await run(stack, config)
  await same()
  await run(stack, config)
  await same()
})

test('the server is told of a position only when it is stored', async (t) => {
  const { url, run: execute, rows } = await source(t)
  const stack = await startProject()
  await execute('create table items (id int primary key, word text); insert into items values (1, null)')
  const config = await configure(stack, url, ['items'])
  const position = async () => {
    const { state } = (await stack.request('GET', `/v2/storage/components/${COMPONENT}/configs/${config}`)).json<{
      state: { component: { changes: { position: string } } }
    }>()
    return state.component.changes.position
  }
  const confirmed = async () =>
    String((await rows('select confirmed_flush_lsn from pg_replication_slots where database = current_database()'))[0])
  await run(stack, config)
  const first = await position()
  for (
    let round = 0;
    round < 10;
    round++ // long enough for many messages to the server
  )
    await execute(`insert into items select i, 'b' from generate_series(${2 + round * 20_000}, ${1 + (round + 1) * 20_000}) as i`)
  await run(stack, config)
  await until(
    'the slot is free',
    async () => String((await rows('select active from pg_replication_slots where database = current_database()'))[0]) === 'f',
  )
  assert.equal(await confirmed(), first)
  assert.notEqual(await position(), first)
})

test('values that are stored out of line and did not change are kept, also when the key changes', async (t) => {
  const { url, run: execute } = await source(t)
  const stack = await startProject()
  await execute(`create table docs (id int primary key, title text, body text); alter table docs alter body set storage external;
    insert into docs select i, 'one', repeat('x' || i, 5000) from generate_series(1, 4) as i`)
  const config = await configure(stack, url, ['docs'])
  await run(stack, config)
  await execute(
    `update docs set title = 'two' where id < 3; update docs set id = 30 where id = 3; update docs set title = 'gone' where id = 4; delete from docs where id = 4`,
  )
  await run(stack, config)
  assert.deepEqual(await stored(stack, config, 'docs', 'id, title, length(body), left(body, 4)'), [
    [1, 'two', 10000, 'x1x1'],
    [2, 'two', 10000, 'x2x2'],
    [30, 'one', 10000, 'x3x3'],
  ])
})

test('columns that are added, dropped or filled, and tables that are added, arrive without a stop', async (t) => {
  const { url, run: execute } = await source(t)
  const stack = await startProject()
  await execute(`create table shape (id int primary key, word text, old text); insert into shape values (1, 'a', 'o')`)
  const config = await configure(stack, url, ['shape'])
  await run(stack, config)
  await execute(`insert into shape values (2, 'b', 'o'); alter table shape add plain int; insert into shape values (3, 'c', 'o', 7);
    alter table shape drop old; insert into shape values (4, 'd', 8)`)
  assert.doesNotMatch(await run(stack, config), /is read whole/)
  const read = () => stored(stack, config, 'shape', 'id, word, plain')
  assert.deepEqual((await read()).slice(2), [
    [3, 'c', 7],
    [4, 'd', 8],
  ])
  await execute(`alter table shape add filled int default 5; create table late (id int primary key); insert into late values (1);
    insert into shape values (5, 'e', 9, 6)`)
  const parameters = { db: connectionTo(url), tables: [{ tableName: 'shape' }, { tableName: 'late' }] }
  await stack.request('PUT', `/v2/storage/components/${COMPONENT}/configs/${config}`, { json: { configuration: { parameters } } })
  assert.match(await run(stack, config), /the column \\+"filled\\+" was added with values/)
  assert.deepEqual((await stored(stack, config, 'shape', 'id, filled')).map(String), ['1,5', '2,5', '3,5', '4,5', '5,6'])
  await execute('insert into late values (2); update shape set word = null where id = 1')
  await run(stack, config)
  assert.deepEqual(await stored(stack, config, 'late', 'id'), [[1], [2]])
  assert.deepEqual((await read())[0], [1, null, null])
})

test('deleted rows are flagged, with the values they had', async (t) => {
  const { url, run: execute } = await source(t)
  const stack = await startProject()
  await execute(`create table flagged (id int primary key, word text); insert into flagged values (1, 'a'), (2, 'b'), (3, 'c')`)
  const config = await configure(stack, url, ['flagged'], { deletes: 'flag' })
  const job = await stack.wait(await start(stack, config))
  assert.match(job.result.message, /ALTER TABLE "public"."flagged" REPLICA IDENTITY FULL/)
  await execute('alter table flagged replica identity full')
  await run(stack, config)
  await execute(
    `delete from flagged where id = 1; update flagged set id = 20 where id = 2; insert into flagged values (1, 'again'); delete from flagged where id = 3`,
  )
  await run(stack, config)
  assert.deepEqual((await stored(stack, config, 'flagged', 'id, word, deleted_in_source')).map(String), [
    '1,again,false',
    '2,b,true',
    '3,c,true',
    '20,b,false',
  ])
})

test('a slot that is gone fails the run, or all tables are read again', async (t) => {
  const { url, run: execute } = await source(t)
  const stack = await startProject()
  await execute(`create table lost (id int primary key); insert into lost values (1)`)
  const config = await configure(stack, url, ['lost'])
  await run(stack, config)
  await execute('insert into lost values (2)')
  await until('the slot is dropped', async () =>
    execute('select pg_drop_replication_slot(slot_name) from pg_replication_slots where database = current_database()').then(
      () => true,
      () => false,
    ),
  )
  const failed = await stack.wait(await start(stack, config))
  assert.match(failed.result.message, /The slot \S+ does not exist any more\. .*onLostPosition/)
  const parameters = { db: connectionTo(url), tables: [{ tableName: 'lost' }], onLostPosition: 'snapshot', walWarningMb: 0 }
  await stack.request('PUT', `/v2/storage/components/${COMPONENT}/configs/${config}`, { json: { configuration: { parameters } } })
  assert.match(await run(stack, config), /All tables are read again/)
  await execute('insert into lost values (3)')
  assert.match(await run(stack, config), /keeps \d+ MB of WAL for the slot .* Run the capture more often/)
  assert.deepEqual(await stored(stack, config, 'lost', 'id'), [[1], [2], [3]])
  const limited = { ...parameters, walLimitMb: 0.000001 }
  await stack.request('PUT', `/v2/storage/components/${COMPONENT}/configs/${config}`, {
    json: { configuration: { parameters: limited } },
  })
  assert.match(await run(stack, config), /more than walLimitMb/)
  const ask = async (action: string, more: object) => {
    const configData = { parameters: { ...parameters, ...more } }
    return (await stack.request('POST', '/sync-actions/actions', { json: { componentId: COMPONENT, action, configData } })).json()
  }
  const { slots } = await ask('listSlots', {})
  const [{ name }] = slots as [{ name: string }]
  await until('the slot is free', async () => (await ask('removeSlot', { slotName: name })).removed === true)
  assert.deepEqual((await ask('listSlots', {})).slots, [])
})

test('whatever is killed or cut in the middle, the table equals the source afterwards, without a second snapshot', async (t) => {
  const { url, run: execute, rows } = await source(t)
  const stack = await startProject()
  await execute(
    `create table busy (id int primary key, n int, word text); insert into busy select i, 0, 'start' from generate_series(1, 2000) as i`,
  )
  const way = await frozenProxy(url)
  t.after(way.close)
  const config = await configure(stack, way.url, ['busy'])
  await run(stack, config)
  let seed = 7
  const random = (below: number) => {
    seed = (seed * 48271) % 2147483647
    return seed % below
  }
  for (let round = 0; round < ROUNDS; round++) {
    for (let change = 0; change < 30; change++) {
      const id = random(2500)
      await execute(
        [
          `insert into busy values (${id}, ${change}, 'insert ${round}') on conflict (id) do update set n = busy.n + 1`,
          `update busy set n = n + 1 where id between ${id} and ${id + 100}`,
          `delete from busy where id between ${id} and ${id + 5}`,
          `update busy set id = ${id + 10_000 + round * 100} where id = ${id} and not exists (select 1 from busy where id = ${id + 10_000 + round * 100})`,
        ][random(4)]!,
      )
    }
    const job = await start(stack, config)
    const fault = random(3)
    if (fault === 0) {
      way.loseNext('START_REPLICATION', { isSent: random(2) === 0 })
    } else if (fault === 1) {
      await until('the job runs', async () => (await stack.request('GET', job.url)).json<Job>().status !== 'waiting')
      await stack.request('POST', `/queue/jobs/${job.id}/kill`)
    }
    await execute(`update busy set word = 'during ${round}' where id % 7 = ${round % 7}`)
    await stack.wait(job)
  }
  assert.doesNotMatch(await run(stack, config), /whole/)
  const all = 'id::text, n::text, word'
  const byText = (list: unknown[]) => list.map((row) => JSON.stringify(row)).sort()
  assert.deepEqual(byText(await stored(stack, config, 'busy', all)), byText(await rows(`select ${all} from busy`)))
})

test('a run that goes on stores changes as they are committed, survives cuts, and ends by itself or when it is terminated', async (t) => {
  const { url, run: execute, rows } = await source(t)
  const stack = await startProject()
  await execute(`create table live (id int primary key, n int); insert into live select i, 0 from generate_series(1, 100) as i`)
  const way = await frozenProxy(url)
  t.after(way.close)
  const config = await configure(stack, way.url, ['live'], { continuousMinutes: 60, batchSeconds: 0.1 })
  const text = (list: unknown[]) => list.map(String).sort().join(' ')
  const same = () =>
    until('the table equals the source', async () => {
      const sql = `select id, n from "in.c-platform-ex-database-changes-${config}".live`
      const answer = await stack.request('POST', '/v2/storage/query', { json: { sql } })
      return answer.status === 200 && text(answer.json<{ rows: unknown[] }>().rows) === text(await rows('select id, n from live'))
    })
  const confirmed = async () =>
    String((await rows('select confirmed_flush_lsn from pg_replication_slots where database = current_database()'))[0])
  const job = await start(stack, config)
  await same()
  const first = await confirmed()
  await execute('update live set n = n + 1 where id < 10; delete from live where id = 50; insert into live values (200, 0)')
  await same()
  await execute('alter table live add more int default 5; insert into live values (201, 0, 6)')
  await same()
  const added = `select count(more), min(more) from "in.c-platform-ex-database-changes-${config}".live`
  await until('the new column is filled', async () => {
    const answer = await stack.request('POST', '/v2/storage/query', { json: { sql: added } })
    return answer.status === 200 && String(answer.json<{ rows: unknown[] }>().rows[0]) === '101,5'
  })
  assert.notEqual(await confirmed(), first, 'the server is told of what is stored')
  for (let round = 0; round < CUTS; round++) {
    way.loseNext('START_REPLICATION', { isSent: round % 2 === 0 })
    await execute(`update live set n = n + 1 where id % 7 = ${round % 7}; delete from live where id = ${round + 20}`)
    await same()
  }
  assert.equal((await stack.request('GET', job.url)).json<Job>().status, 'processing')
  await stack.request('POST', `/queue/jobs/${job.id}/kill`)
  assert.equal((await stack.wait(job)).status, 'terminated')
  await execute('update live set n = -1 where id = 1')
  const short = { db: connectionTo(url), tables: [{ tableName: 'live' }], continuousMinutes: 0.02, batchSeconds: 0.1 }
  await stack.request('PUT', `/v2/storage/components/${COMPONENT}/configs/${config}`, {
    json: { configuration: { parameters: short } },
  })
  const log = await run(stack, config)
  assert.match(log, /Stored \d+ changes? in \d+ batch(es)?/)
  assert.doesNotMatch(log, /whole/)
  await same()
  const unsaved = { component: COMPONENT, mode: 'run', configData: { parameters: { ...short, slotName: 'none' } } }
  const refused = await stack.wait((await stack.request('POST', '/queue/jobs', { json: unsaved })).json<Job>())
  assert.match(refused.result.message, /continuousMinutes needs a stored configuration/)
})

test('a slot that another program has made is left alone', async (t) => {
  const { url, run: execute, rows } = await source(t)
  const stack = await startProject()
  await execute('create table owned (id int primary key)')
  const name = `foreign_${new URL(url).pathname.slice(1)}`
  await execute(`select pg_create_logical_replication_slot('${name}', 'pgoutput')`)
  const job = await stack.wait(await start(stack, await configure(stack, url, ['owned'], { slotName: name })))
  assert.match(job.result.message, /already exists, and no run of this configuration has used it/)
  assert.deepEqual(await rows('select slot_name from pg_replication_slots where database = current_database()'), [[name]])
})
