// The database extractor and the database writer against a real MariaDB, which runs in a folder of its own. `npm run test:mariadb`, not part of `npm test`: it needs
// mariadbd and mariadb-install-db (Debian: mariadb-server). What is missing fails the suite.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DEFAULT_WORKER } from '../../server/src/model/worker-settings.ts'
import { fillTable, makeTable } from '../support/project-table.ts'
import { PASSWORD, startMariadb } from '../support/servers/mariadb-server.ts'
import { type Job, shellStack } from '../support/shell-stack.ts'
import { until } from '../support/until.ts'

test('tables of MariaDB arrive exactly, whole and by increments', async (t) => {
  const database = await startMariadb(t)
  await database.run(`set sql_mode = '';
    create table kinds (id bigint unsigned primary key, tiny tinyint(1), amount decimal(38,9), wide decimal(65,10), single float, twice double,
      day date, moment datetime(6), stamp timestamp(3) null, clock time, words text, short varchar(20), bytes varbinary(10), blobs blob,
      doc json, kind enum('a','b'), flags set('x','y'), bits bit(9), born year, place point);
    insert into kinds values
      (18446744073709551615, 1, 12345678901234567890123456789.123456789, 1.5, 1.5, 0.1, '2026-02-28', '2026-02-28 23:59:59.123456',
       '2026-03-29 03:30:00.5', '838:59:59', 'a "b",\\nc\\\\N ž漢😀', '', x'00ff61', x'6100', '{"a": [1, null]}', 'b', 'x,y', b'100000001', 2026, point(1, 2)),
      (2, null, null, null, null, null, '0000-00-00', null, null, null, null, null, null, null, null, null, null, null, null, null);
    insert into kinds (id, single, twice) values (10, 1e15, 1e15), (11, 1234567, 1234567890123456.8), (12, 1e20, 1e-5), (13, 1.25e-7, -2.5e-7),
      (14, 0.1, 5e-324), (15, -1e16, 1.7976931348623157e308), (16, 0, -0.0), (17, 0.0001, 123456.789), (18, 16777217, 9007199254740993);
    create table orders (id int primary key, state varchar(10), changed datetime);
    insert into orders values (1, 'a', '2026-01-01'), (2, 'b', '2026-01-02')`)
  const stack = await shellStack(t, { worker: { ...DEFAULT_WORKER, egressAllow: ['127.0.0.1'] } })
  const db = { type: 'mysql', host: '127.0.0.1', port: database.port, user: 'reader', '#password': PASSWORD, database: 'shop' }
  const config = await stack.configure('platform.ex-database', { parameters: { db } }, [
    { name: 'kinds', configuration: { parameters: { table: { tableName: 'kinds' }, invalidValues: 'null' } } },
    { name: 'orders', configuration: { parameters: { table: { tableName: 'orders' }, incrementalFetchingColumn: 'changed' } } },
    {
      name: 'sums',
      configuration: { parameters: { query: 'select count(*) as n, sum(amount) as total from kinds', outputTable: 'sums' } },
    },
  ])
  const run = async (): Promise<void> => {
    const json = { component: 'platform.ex-database', config, mode: 'run' }
    const job = await stack.wait((await stack.request('POST', '/queue/jobs', { json })).json<Job>())
    assert.equal(job.status, 'success', job.result.message)
  }
  const ask = async (sql: string) =>
    (await stack.request('POST', '/v2/storage/query', { json: { sql } })).json<{ rows: unknown[][] }>().rows
  const bucket = `"in.c-platform-ex-database-${config}"`
  await run()
  const verify = async (parameters: object): Promise<Job> => {
    const configData = { parameters: { db, mode: 'verify', ...parameters } }
    const json = { component: 'platform.ex-database', config, mode: 'run', configData }
    return stack.wait((await stack.request('POST', '/queue/jobs', { json })).json<Job>())
  }
  const kinds = { table: { tableName: 'kinds' }, invalidValues: 'null' }
  const verified = await verify(kinds)
  assert.equal(verified.status, 'success', verified.result.message)
  const [second, first] = await ask(
    `select id::text, tiny, amount::text, wide, single, twice, day::text, moment::text, stamp::text, clock, words, short, bytes, blobs, doc,
       kind, flags, bits, born, place from ${bucket}.kinds where id not between 10 and 18 order by id`,
  )
  const stamp = first?.[8]
  assert.deepEqual(first, [
    ...['18446744073709551615', 1, '12345678901234567890123456789.123456789', '1.5000000000', 1.5, 0.1, '2026-02-28'],
    ...['2026-02-28 23:59:59.123456', stamp, '838:59:59', 'a "b",\nc\\N ž漢😀', '', '0x00ff61', '0x6100', '{"a": [1, null]}'],
    ...['b', 'x,y', '0x0101', 2026, 'POINT(1 2)'],
  ])
  assert.deepEqual(
    second?.slice(1),
    Array.from({ length: 19 }, () => null),
  )
  assert.deepEqual(await ask(`select n, total::text from ${bucket}.sums`), [[11, '12345678901234567890123456789.123456789']])
  await database.run(
    `update orders set state = 'A', changed = '2026-01-03' where id = 1; insert into orders values (3, 'c', '2026-01-02')`,
  )
  await run()
  assert.deepEqual(await ask(`select id, state from ${bucket}.orders order by id`), [
    [1, 'A'],
    [2, 'b'],
    [3, 'c'],
  ])
  await database.run(
    "update kinds set words = concat(words, ' ') where id > 100; delete from kinds where id = 2; insert into kinds (id) values (5)",
  )
  assert.match((await verify(kinds)).result.message, /1 row missing, 1 with other values, 1 not in the source/)
  assert.equal((await verify({ ...kinds, mode: 'repair' })).status, 'success')
  assert.equal((await verify(kinds)).status, 'success')
  const wrong = {
    componentId: 'platform.ex-database',
    action: 'testConnection',
    configData: { parameters: { db: { ...db, '#password': 'x' } } },
  }
  const answer = await stack.request('POST', '/sync-actions/actions', { json: wrong })
  assert.match(answer.text, /Check db\.user and db\.#password/)
})

test('tables are delivered to MariaDB: made, changed by key, replaced, with rejected rows, and a lock is not waited for long', async (t) => {
  const database = await startMariadb(t)
  await database.run(
    `create user writer identified by '${PASSWORD}'; grant select, insert, update, delete, create, create temporary tables on shop.* to writer`,
  )
  const stack = await shellStack(t, { worker: { ...DEFAULT_WORKER, egressAllow: ['127.0.0.1'] } })
  const id = 'in.c-shop.items'
  const columns = { id: 'INTEGER', name: 'STRING', price: 'NUMERIC(10,2)', sold: 'BOOLEAN', at: 'TIMESTAMP' }
  await makeTable(stack, id, { columns, primaryKey: ['id'] })
  const fill = (...rows: (string | null)[][]) => fillTable(stack, id, Object.keys(columns), rows)
  const db = { type: 'mysql', host: '127.0.0.1', port: database.port, user: 'writer', '#password': PASSWORD, database: 'shop' }
  const deliver = async (parameters: object = {}, input: object = {}): Promise<string> => {
    const config = await stack.configure('platform.wr-database', {
      parameters: { db, table: { tableName: 'items' }, ...parameters },
      storage: { input: { tables: [{ source: id, ...input }] } },
    })
    const json = { component: 'platform.wr-database', config, mode: 'run' }
    const job = await stack.wait((await stack.request('POST', '/queue/jobs', { json })).json<Job>())
    if (job.status !== 'success') return job.result.message
    const { text } = await stack.request('GET', `/v2/storage/events?runId=${job.id}&limit=200`)
    return /of \d+ rows [^.]*/.exec(text)?.[0] ?? ''
  }
  const items = async (what = '*') => {
    const [rows] = await database.run(`select ${what} from items order by id`)
    return (rows as Record<string, unknown>[]).map((row) =>
      Object.values(row).map((value) => (value === null ? null : String(value))),
    )
  }
  await fill(
    ['9007199254740993', 'a "b"\\\n\'ž漢😀', '1.50', 'true', '2026-03-29 02:30:00.123456'],
    ['2', '', null, 'false', null],
  )
  assert.equal(await deliver(), 'of 2 rows 2 inserted, 0 updated, 0 deleted, 0 rejected')
  assert.deepEqual(await items('cast(id as char), name, cast(price as char), sold, cast(at as char)'), [
    ['2', '', null, '0', null],
    ['9007199254740993', 'a "b"\\\n\'ž漢😀', '1.50', '1', '2026-03-29 02:30:00.123456'],
  ])
  await fill(['2', 'two', null, 'false', null], ['3', 'three', '3', null, null])
  assert.equal(
    await deliver({ dryRun: true }),
    'of 2 rows 1 would be inserted, 1 would be updated, 0 would be deleted, 0 would be rejected',
  )
  assert.equal(await deliver(), 'of 2 rows 1 inserted, 1 updated, 0 deleted, 0 rejected')
  assert.equal(await deliver({ mode: 'full' }), 'of 2 rows 2 inserted, 0 updated, 3 deleted, 0 rejected')
  assert.equal(await deliver({}, { changes: true }), 'of 2 rows 0 inserted, 0 updated, 0 deleted, 0 rejected')
  assert.equal(
    await deliver({ mode: 'delete' }, { where_column: 'id', where_values: ['3'] }),
    'of 1 row 0 inserted, 0 updated, 1 deleted, 0 rejected',
  )

  await database.run('alter table items modify name varchar(5)')
  await fill(['4', 'short', null, null, null], ['5', 'much too long', null, null, null])
  assert.match(await deliver(), /Data too long for column.*"invalidRows": "reject"/)
  const rejecting = { invalidRows: 'reject', maxRejectedPercent: 50 }
  assert.equal(await deliver(rejecting), 'of 2 rows 1 inserted, 0 updated, 0 deleted, 1 rejected')

  await database.run('start transaction')
  await database.run("update items set name = 'held' where id = 4")
  await fill(['4', 'new', null, null, null])
  assert.match(await deliver({ lockSeconds: 1 }), /Lock wait timeout exceeded.* Run the job again later\.$/)
  await database.run('rollback')
  assert.deepEqual(await items('id, name'), [
    ['2', 'two'],
    ['4', 'short'],
  ])
})

const CHANGES = 'platform.ex-database-changes'
const KILLS = process.env.MILLRACE_LONG ? 100 : 6

test('changes of MariaDB are captured from its log: after every run the tables are verified equal', async (t) => {
  const database = await startMariadb(t)
  await database.run(`set sql_mode = '';
    create table kinds (id bigint unsigned primary key, amount decimal(38,9), single float, day date, moment datetime(6), stamp timestamp(3) null,
      clock time(2), words text, short varchar(20), bytes varbinary(10), doc json, kind enum('a','b'), bits bit(9), place point);
    create table pairs (tenant varchar(300) character set utf8mb4 collate utf8mb4_general_ci, code binary(4), n int, note longtext, primary key (tenant, code));
    create table signs (id smallint primary key, n mediumint);
    insert into kinds values (18446744073709551615, 1.5, 0.1, '2026-02-28', '2026-02-28 23:59:59.123456', '2026-03-29 03:30:00.5', '13:14:15.5',
      'ž漢😀', '', x'00ff', '{"a": 1}', 'b', b'100000001', point(1, 2)), (2, null, null, '0000-00-00', null, null, null, null, null, null, null, null, null, null);
    insert into pairs values ('a', x'00010000', 1, repeat('x', 70000)), ('č', x'ffffffff', 2, null);
    insert into signs select cast(seq as signed) - 50, seq from seq_1_to_100`)
  const stack = await shellStack(t, { worker: { ...DEFAULT_WORKER, egressAllow: ['127.0.0.1'] } })
  const db = { type: 'mysql', host: '127.0.0.1', port: database.port, user: 'reader', '#password': PASSWORD, database: 'shop' }
  const tables = ['kinds', 'pairs', 'signs'].map((tableName) => ({ tableName }))
  const parameters = { db, tables, invalidValues: 'null' }
  const config = await stack.configure(CHANGES, { parameters })
  const change = (more: object) =>
    stack.request('PUT', `/v2/storage/components/${CHANGES}/configs/${config}`, {
      json: { configuration: { parameters: { ...parameters, ...more } } },
    })
  const start = async (configData?: object): Promise<Job> => {
    const json = { component: CHANGES, config, mode: 'run', ...(configData && { configData }) }
    return (await stack.request('POST', '/queue/jobs', { json })).json<Job>()
  }
  const said = async (job: Job) => (await stack.request('GET', `/v2/storage/events?runId=${job.id}&limit=200`)).text
  const run = async (): Promise<string> => {
    const job = await stack.wait(await start())
    assert.equal(job.status, 'success', job.result.message)
    return said(job)
  }
  const verify = () => start({ parameters: { ...parameters, mode: 'verify' } }).then(stack.wait)
  const same = async (): Promise<void> => {
    const verified = await verify()
    assert.equal(verified.status, 'success', `${verified.result.message}\n${await said(verified)}`)
  }
  assert.match(await run(), /Read 100 rows of .*signs.* whole/)
  await same()
  await database.run(`begin; update signs set n = n + 1 where id < 0; delete from signs where id = 5; insert into signs values (500, -8388608); commit;
    update signs set id = -500 where id = 7; insert into signs values (600, 1); delete from signs where id = 600;
    update kinds set words = concat(words, '!'), amount = -0.000000001, doc = '{"b": [1]}', moment = '2026-01-01 00:00:00.000001' where id > 100;
    insert into kinds (id, words) values (3, ''), (9223372036854775808, 'big'); delete from kinds where id = 2;
    update pairs set tenant = 'A' where tenant = 'a'; update pairs set note = repeat('y', 300) where tenant = 'č'; insert into pairs values ('a', x'00000000', 3, null)`)
  const second = await run()
  assert.doesNotMatch(second, /whole/)
  await same()
  await database.run(
    `flush binary logs; begin; delete from signs; rollback; insert into signs values (700, 7); flush binary logs; update signs set n = 8 where id = 700`,
  )
  assert.doesNotMatch(await run(), /whole/)
  await same()
  await database.run(`truncate pairs; insert into pairs values ('t', x'01020304', 1, null); alter table signs add more int default 5; update signs set more = 6 where id = 1;
    set session binlog_format = 'STATEMENT'; update kinds set words = 'by statement' where id = 3; set session binlog_format = 'ROW'`)
  const third = await run()
  assert.match(third, /pairs.* is read whole: .*truncate/)
  assert.match(third, /signs.* is read whole: its columns or its key have changed/)
  await same()
  await change({ continuousMinutes: 60, batchSeconds: 0.2 })
  let job = await start()
  for (let kill = 0; kill < KILLS; kill++) {
    for (let n = 0; n < 20; n++)
      await database.run(
        `replace into signs values (${(kill * 37 + n * 11) % 3000}, ${n}, ${kill}); delete from signs where id = ${(kill * 53 + n * 7) % 3000}`,
      )
    if (kill % 2 === 0) {
      const [rows] = (await database.run("select id from information_schema.processlist where user = 'reader'")) as unknown as [
        { id: number }[],
      ]
      for (const { id } of rows) await database.run(`kill ${id}`).catch(() => {}) // it may have ended
    } else {
      await stack.request('POST', `/queue/jobs/${job.id}/kill`)
      await stack.wait(job)
      job = await start()
    }
    await database.run(`replace into signs values (30000, ${kill}, null)`)
    await until('the change arrives', async () => {
      const { status, result } = (await stack.request('GET', job.url)).json<Job>()
      assert.equal(status, 'processing', result.message)
      const sql = `select n from "in.c-platform-ex-database-changes-${config}".signs where id = 30000`
      const answer = await stack.request('POST', '/v2/storage/query', { json: { sql } })
      return answer.status === 200 && answer.json<{ rows: unknown[][] }>().rows[0]?.[0] === kill
    })
  }
  await stack.request('POST', `/queue/jobs/${job.id}/kill`)
  await stack.wait(job)
  assert.doesNotMatch(await said(job), /whole/)
  await change({})
  await run()
  await same()
  await database.run('insert into signs (id) values (31000); flush binary logs; flush binary logs')
  await until('the server has removed its older logs', async () => {
    const [logs] = (await database.run('show binary logs')) as unknown as [{ Log_name: string }[]]
    await database.run(`purge binary logs to '${logs.at(-1)?.Log_name}'`)
    return logs.length === 1
  })
  assert.match((await stack.wait(await start())).result.message, /The server no longer has the log .*onLostPosition/)
  await change({ onLostPosition: 'snapshot' })
  assert.match(await run(), /All tables are read again/)
  await same()
  await database.run('create table clocks (id datetime primary key)')
  for (const [more, message] of [
    [{ tables: [{ tableName: 'clocks' }] }, /key column "id" of .*clocks.* is datetime/],
    [{ deletes: 'flag' }, /deletes "flag" is for PostgreSQL/],
    [{ slotName: 'x' }, /slotName is for PostgreSQL/],
    [{ tables: [{ tableName: 'nope' }] }, /does not exist/],
  ] as const) {
    const refused = await stack.wait(await start({ parameters: { ...parameters, ...more } }))
    assert.match(refused.result.message, message)
  }
})
