// The database extractor and the database writer against ClickHouse: the server of the machine, and the engine of a current version.
// `npm run test:clickhouse`, not part of `npm test`: it needs clickhouse-server (Debian: clickhouse-server) and Python 3. What is missing fails
// the suite.

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { DEFAULT_WORKER } from '../../server/src/model/worker-settings.ts'
import { fillTable, makeTable } from '../support/project-table.ts'
import { type Kind, startClickhouse } from '../support/servers/clickhouse-server.ts'
import { type Job, shellStack } from '../support/shell-stack.ts'

const READ = 'platform.ex-database'

async function setUp(t: TestContext, kind: Kind) {
  const database = await startClickhouse(t, kind)
  const stack = await shellStack(t, { worker: { ...DEFAULT_WORKER, egressAllow: ['127.0.0.1'] } })
  const ask = async (sql: string) => {
    const answer = await stack.request('POST', '/v2/storage/query', { json: { sql } })
    assert.equal(answer.status, 200, answer.text)
    return answer.json<{ rows: unknown[][] }>().rows
  }
  const runJob = async (json: object): Promise<Job> =>
    stack.wait((await stack.request('POST', '/queue/jobs', { json })).json<Job>())
  return { database, stack, ask, runJob }
}

for (const kind of ['server', 'chdb'] as const) {
  test(`tables of ClickHouse (${kind}) arrive exactly, whole, by increments and by queries, and are compared`, async (t) => {
    const { database, stack, ask, runJob } = await setUp(t, kind)
    const isNew = kind === 'chdb'
    // Version 18 writes zero bytes into the text of larger decimal numbers (toString), so their checksums would differ.
    const [amount, total] = isNew
      ? ['12345678901234567890123456789.123456789', '12345678901234567890123456789.623456790']
      : ['12345678901.123456789', '12345678901.623456790']
    await database.run(
      `create table kinds (id UInt64, small Int8, amount Decimal(38, 9), price Decimal(9, 4), single Float32, twice Float64, words String,
         code FixedString(4), day Date, at DateTime, maybe Nullable(String), list Array(String), kind Enum8('a' = 1, 'b' = 2), one UUID,
         pair Tuple(Int8, String)${isNew ? ", micro DateTime64(6), nano DateTime64(9, 'UTC'), flag Nullable(Bool), low LowCardinality(Nullable(String)), huge UInt256, wide Date32, doc Map(String, Int8)" : ''}) engine = MergeTree order by id`,
      `insert into kinds format TabSeparated\n${[
        ...['18446744073709551615', '-128', amount, '1.5', '0.1', '1e-7', `a\\tb\\\\c\\'"ž漢😀\\n`, 'ab'],
        ...['2026-02-28', '1772323199', '\\N', `['x','y\\'z']`, 'b', '61f0c404-5cb3-11e7-907b-a6006ad3dba0', `(1,'q')`],
        ...(isNew
          ? [
              '2026-02-28 23:59:59.500000',
              '2026-02-28 23:59:59.123456789',
              'true',
              '\\N',
              '115792089237316195423570985008687907853269984665640564039457584007913129639935',
              '1900-01-01',
              `{'k':1}`,
            ]
          : []),
      ].join('\t')}\n`,
      `insert into kinds (id, single, twice, amount, price) values (10, 1e15, 1e15, -0.5, -12.3), (11, 1234567, 1234567890123456.8, 0, 0), (12, 1e20, 1e-5, 1, 1),
         (13, 1.25e-7, -2.5e-7, 0.000000001, 0.0001), (14, 0.1, 5e-324, 0, 0), (15, -1e16, 1.7976931348623157e308, 0, 0), (16, 0, -1.5e16, 0, 0),
         (17, 0.0001, 123456.789, 0, 0), (18, 16777216, 9007199254740993, 0, 0), (19, 3.4e38, 1.5e21, 0, 0), (20, 0, -0.0000125, 0, 0)`,
      'create table orders (id Int32, state String, at DateTime) engine = MergeTree order by id',
      `insert into orders values (1, 'a', '2026-01-01 00:00:00'), (2, 'b', '2026-01-02 00:00:00')`,
      'create table nothing (id Int32, at DateTime) engine = MergeTree order by id',
    )
    const db = database.db('reader')
    // Version 18 has a date of zeros.
    const kinds = { table: { tableName: 'kinds' }, primaryKey: ['id'], invalidValues: 'null' }
    const config = await stack.configure(READ, { parameters: { db } }, [
      { name: 'kinds', configuration: { parameters: kinds } },
      {
        name: 'orders',
        configuration: { parameters: { table: { tableName: 'orders' }, primaryKey: ['id'], incrementalFetchingColumn: 'at' } },
      },
      {
        name: 'nothing',
        configuration: { parameters: { table: { tableName: 'nothing' }, primaryKey: ['id'], incrementalFetchingColumn: 'at' } },
      },
      {
        name: 'sums',
        configuration: {
          parameters: { query: `select count() as n, sum(amount) as total, '\\\\' as slash from kinds`, outputTable: 'sums' },
        },
      },
    ])
    const run = async (configData?: object): Promise<Job> =>
      runJob({ component: READ, config, mode: 'run', ...(configData && { configData: { parameters: { db, ...configData } } }) })
    const bucket = `"in.c-platform-ex-database-${config}"`
    const first = await run()
    assert.equal(first.status, 'success', first.result.message)
    const [row] = await ask(
      `select id::text, small, amount::text, price::text, single, twice, words, code, day::text, maybe, list, kind, one, pair from ${bucket}.kinds where id > 100`,
    )
    assert.deepEqual(row, [
      ...['18446744073709551615', -128, amount, '1.5000', 0.1, 1e-7, `a\tb\\c'"ž漢😀\n`, 'ab'],
      ...['2026-02-28', null, `['x','y\\'z']`, 'b', '61f0c404-5cb3-11e7-907b-a6006ad3dba0', `(1,'q')`],
    ])
    assert.deepEqual(await ask(`select "at"::text from ${bucket}.kinds where id > 100`), [['2026-02-28 23:59:59']])
    if (isNew)
      assert.deepEqual(
        await ask(`select micro::text, nano, flag, low, huge, wide::text, doc from ${bucket}.kinds where id > 100`),
        [
          [
            ...['2026-02-28 23:59:59.5', '2026-02-28 23:59:59.123456789', true, null],
            ...['115792089237316195423570985008687907853269984665640564039457584007913129639935', '1900-01-01', `{'k':1}`],
          ],
        ],
      )
    assert.deepEqual(await ask(`select n, total::text, slash from ${bucket}.sums`), [['12', total, '\\']])
    assert.deepEqual(await ask(`select * from ${bucket}.nothing`), [])

    // Checksums of both sides are equal, and differences are found.
    const verified = await run({ ...kinds, mode: 'verify' })
    assert.equal(verified.status, 'success', verified.result.message)
    await database.run(
      `insert into orders values (3, 'c', '2026-01-02 00:00:00')`,
      `insert into kinds (id, words) values (5, 'new')`,
    )
    assert.match((await run({ ...kinds, mode: 'verify' })).result.message, /1 row missing/)
    assert.equal((await run({ ...kinds, mode: 'repair' })).status, 'success')
    assert.equal((await run({ ...kinds, mode: 'verify' })).status, 'success')
    assert.equal((await run()).status, 'success')
    assert.deepEqual(await ask(`select id, state from ${bucket}.orders order by id`), [
      [1, 'a'],
      [2, 'b'],
      [3, 'c'],
    ])
  })

  test(`actions, and errors of ClickHouse (${kind}) name what to do and no password`, async (t) => {
    const { database, stack, runJob } = await setUp(t, kind)
    await database.run(
      'create table things (id Int32, bytes String) engine = MergeTree order by id',
      `insert into things select number, 'x' from system.numbers limit 200000`,
      'create view some as select id from things',
      'create table odd (`a"b` Int32) engine = MergeTree order by `a"b`',
    )
    const act = async (action: string, parameters: object = {}, db: object = database.db('reader')) => {
      const json = { componentId: READ, action, configData: { parameters: { db, ...parameters } } }
      return (await stack.request('POST', '/sync-actions/actions', { json })).json<Record<string, unknown> & { error: string }>()
    }
    assert.equal((await act('testConnection')).status, 'success')
    assert.deepEqual((await act('listSchemas')).schemas, kind === 'server' ? ['default', 'shop'] : ['default', 'shop'])
    assert.deepEqual((await act('listTables')).tables, [
      { schema: 'shop', name: 'odd', kind: 'table', estimatedRows: 0 },
      { schema: 'shop', name: 'some', kind: 'view' },
      { schema: 'shop', name: 'things', kind: 'table', estimatedRows: 200_000 },
    ])
    const things = { table: { tableName: 'things' } }
    assert.deepEqual(
      ((await act('listColumns', things)).columns as { base: string }[]).map(({ base }) => base),
      ['INTEGER', 'STRING'],
    )
    assert.equal(((await act('preview', things)).rows as unknown[]).length, 50)
    assert.equal((await act('estimate', things)).rows, 200_000)
    assert.match(
      (await act('testConnection', {}, { ...database.db('reader'), '#password': 'x' })).error,
      /Check db\.user and db\.#password/,
    )
    assert.match((await act('preview', { table: { tableName: 'no' } })).error, /Check the schema and the name of the table/)
    assert.match((await act('preview', { query: 'select nothing' })).error, /Check the query and the filter/)
    assert.match((await act('preview', { table: { tableName: 'odd' } })).error, /quotation mark or a backslash/)

    const run = async (parameters: object): Promise<Job> => {
      const db = database.db('reader')
      const config = await stack.configure(READ, { parameters: { db, outputTable: 'o', ...parameters } })
      return runJob({ component: READ, config, mode: 'run' })
    }
    // The error comes after rows that were sent already; they must not be loaded.
    const late = await run({
      query: 'select id, if(id = 199999, toInt8(throwIf(1)), 1) as n from (select * from things order by id)',
    })
    assert.equal(late.status, 'error')
    await database.run(`insert into things format TabSeparated\n-1\t${'\\xff'}\n`, `insert into things select -2, unhex('FF')`)
    const bytes = await run({ query: 'select * from things where id = -2' })
    assert.match(bytes.result.message, /column "bytes" is not UTF-8/)
  })
}

for (const kind of ['server', 'chdb'] as const) {
  test(`tables are delivered to ClickHouse (${kind}): made, changed by key, exchanged, with rejected rows`, async (t) => {
    const { database, stack, runJob } = await setUp(t, kind)
    const id = 'in.c-shop.items'
    const columns = { id: 'INTEGER', name: 'STRING', price: 'NUMERIC(10,2)', sold: 'BOOLEAN', at: 'TIMESTAMP' }
    await makeTable(stack, id, { columns, primaryKey: ['id'] })
    const fill = (...rows: (string | null)[][]) => fillTable(stack, id, Object.keys(columns), rows)
    // Types that version 18 does not have.
    const older = [
      { source: 'id' },
      { source: 'name' },
      { source: 'price' },
      { source: 'sold', type: 'Nullable(UInt8)' },
      { source: 'at', type: 'Nullable(DateTime)' },
    ]
    const db = database.db('writer')
    const deliver = async (parameters: object = {}, input: object = {}, mode = 'run'): Promise<string> => {
      const config = await stack.configure('platform.wr-database', {
        parameters: { db, table: { tableName: 'items' }, ...(kind === 'server' && { columns: older }), ...parameters },
        storage: { input: { tables: [{ source: id, ...input }] } },
      })
      const job = await runJob({ component: 'platform.wr-database', config, mode })
      if (job.status !== 'success') return job.result.message
      const { text } = await stack.request('GET', `/v2/storage/events?runId=${job.id}&limit=200`)
      return /of \d+ rows [^.]*/.exec(text)?.[0] ?? ''
    }
    const items = async () =>
      (
        await database.run(
          "select id, name, toString(price), toString(sold), toString(toTimeZone(at, 'UTC')) from items order by id",
        )
      ).split('\n')
    await fill(['1', 'a "x"\t\\', '1.50', 'true', '2026-02-28 23:59:59'], ['2', '', null, null, null])
    assert.match(await deliver({}, {}, 'debug'), /^of 2 rows 2 would be inserted/)
    assert.equal(await deliver(), 'of 2 rows 2 inserted, 0 updated, 0 deleted, 0 rejected')
    const [price, sold, at] =
      kind === 'server' ? ['1.50', '1', '2026-02-28 23:59:59'] : ['1.5', 'true', '2026-02-28 23:59:59.000000']
    assert.deepEqual(await items(), [`1\ta "x"\\t\\\\\t${price}\t${sold}\t${at}`, '2\t\t\\N\t\\N\t\\N'])
    await fill(
      ['1', 'a "x"\t\\', '1.50', 'true', '2026-02-28 23:59:59'],
      ['2', 'two', null, null, null],
      ['3', 'c', '-3.00', 'false', null],
    )
    assert.equal(await deliver(), 'of 3 rows 1 inserted, 1 updated, 0 deleted, 0 rejected')
    assert.equal(await deliver(), 'of 3 rows 0 inserted, 0 updated, 0 deleted, 0 rejected')
    await fill(['3', 'c', '-3.00', 'false', null])
    assert.equal(
      await deliver({ mode: 'delete', columns: [{ source: 'id' }] }),
      'of 1 row 0 inserted, 0 updated, 1 deleted, 0 rejected',
    )
    assert.equal(await deliver({ mode: 'full' }), 'of 1 row 1 inserted, 0 updated, 2 deleted, 0 rejected')
    assert.equal((await items()).length, 1)
    // What the server would change in silence is refused, and nothing is left behind.
    await database.run('create table narrow (id Int8, name FixedString(3), list Array(String)) engine = MergeTree order by id')
    await fill(['1', 'abc', null, null, null], ['300', 'abc', null, null, null], ['2', 'long', null, null, null])
    const narrow = { table: { tableName: 'narrow' }, columns: [{ source: 'id' }, { source: 'name' }] }
    assert.match(await deliver(narrow), /Row \d+ does not fit: column "(id|name)"/)
    assert.equal(
      await deliver({ ...narrow, invalidRows: 'reject', maxRejectedPercent: 70 }),
      'of 3 rows 1 inserted, 0 updated, 0 deleted, 2 rejected',
    )
    await fill(['1', `['a\\'b','c']`, null, null, null])
    const lists = { ...narrow, mode: 'insert', columns: [{ source: 'id' }, { source: 'name', target: 'list' }] }
    assert.match(await deliver(lists), /1 inserted/)
    assert.equal(await database.run("select count() from narrow where list = ['a\\'b', 'c']"), '1')
    const tables = "select name from system.tables where database = 'shop' order by name"
    assert.equal(await database.run(tables), 'items\nnarrow')
    // Lists of values that may be NULL, beside the column that marks deleted rows.
    await database.run(
      'create table lists (id Int8, list Array(Nullable(Int8)), words Array(String)) engine = MergeTree order by id',
    )
    const flagged = 'in.c-shop.flagged'
    await makeTable(stack, flagged, {
      columns: { gone: 'STRING', id: 'INTEGER', list: 'STRING', words: 'STRING' },
      primaryKey: ['id'],
    })
    await fillTable(stack, flagged, ['gone', 'id', 'list', 'words'], [['', '1', '[1,NULL]', `['a\\'b']`]])
    assert.match(
      await deliver({ table: { tableName: 'lists' }, deletedColumn: 'gone', columns: undefined }, { source: flagged }),
      /1 inserted/,
    )
    assert.equal(await database.run("select count() from lists where words = ['a\\'b'] and length(list) = 2"), '1')
    await database.run('drop table lists')
    // A new table of this engine would have the rows of the same table.
    await database.run('create table behind (id Int8) engine = Buffer(shop, narrow, 1, 1, 1, 1, 1, 1, 1)')
    assert.match(
      await deliver({ ...narrow, table: { tableName: 'behind' }, mode: 'full', columns: [{ source: 'id' }] }),
      /engine Buffer/,
    )
    await database.run('drop table behind')
    assert.match(await deliver({ mode: 'full', direct: true }), /direct is not for ClickHouse/)
    assert.match(await deliver({ columns: [{ source: 'id', target: 'i\\d' }], table: { tableName: 'odd' } }), /quotation marks/)
    assert.match(await deliver({ preSql: 'drop nonsense' }), /Check columns, preSql and postSql/)
  })
}

for (const kind of ['server', 'chdb'] as const) {
  test(`a delivery to ClickHouse (${kind}) waits for the statements of one that was killed`, async (t) => {
    const { database, stack, runJob } = await setUp(t, kind)
    const id = 'in.c-shop.items'
    await makeTable(stack, id, { columns: { id: 'INTEGER', name: 'STRING' }, primaryKey: ['id'] })
    await fillTable(stack, id, ['id', 'name'], [['3', 'new']])
    const table = { schema: '', name: 'items' }
    const config = await stack.configure('platform.wr-database', {
      parameters: { db: database.db('writer'), table: { tableName: 'items' } },
      storage: { input: { tables: [{ source: id }] } },
    })
    const branch = (await stack.request('GET', '/v2/storage/dev-branches')).json<{ id: number; isDefault: boolean }[]>()
    const own = createHash('sha256')
      .update(JSON.stringify(['1', String(branch.find(({ isDefault }) => isDefault)?.id), config, undefined, table]))
      .digest('hex')
      .slice(0, 16)
    await database.run(
      'create table items (id Int64, name Nullable(String)) engine = MergeTree order by id',
      "insert into items values (1, 'old'), (2, 'other')",
      `create table millrace_changed_${own} (n UInt64, c0 Int64, c1 Nullable(String)) engine = MergeTree order by tuple()`,
      `insert into millrace_changed_${own} values (1, 2, 'changed')`,
      'system stop merges',
      `alter table items delete where id in (select c0 from millrace_changed_${own})`,
    )
    const timer = setTimeout(() => database.run('system start merges'), 25_000) // when the program has started
    t.after(() => clearTimeout(timer))
    const job = await runJob({ component: 'platform.wr-database', config, mode: 'run' })
    assert.equal(job.status, 'success', job.result.message)
    assert.equal(await database.run('select id, name from items order by id'), '1\told\n3\tnew')
    assert.equal(await database.run('select count() from system.mutations where not is_done'), '0')
    assert.equal(await database.run("select name from system.tables where database = 'shop'"), 'items')
  })
}
