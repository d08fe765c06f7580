// What PostgreSQL clients send, statement by statement. The numbers are those of their list; docs/sql.md has a table of the clients.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { before, test } from 'node:test'
import pg from 'pg'
import { type WireClient, wireClient } from '../../../../../tests/support/clients/postgres-wire.ts'
import { type TableClient, tableClient } from '../../../../../tests/support/clients/table-client.ts'
import { startTestStack, type TestStack } from '../../../../../tests/support/test-stack.ts'
import { frame, int16, int32, reader } from '../../../engines/pg-wire/messages.ts'
import { OID } from '../../../engines/pg-wire/values.ts'

let stack: TestStack
let client: TableClient
let port: number
let workspace: { user: string; password: string; database: string }
let stop: (() => Promise<void>) | undefined
before(async () => {
  const lasting = { after: (work: () => Promise<void>) => (stop = work) } as never
  stack = await startTestStack(lasting, { sql: { memoryMb: 512, diskMb: 64, sessions: 3 } })
  port = await stack.platform.sqlPort.listen(0, '127.0.0.1')
  client = tableClient(stack)
  await client.bucket('main')
  await client.create('in.c-main', 'orders', 'id,city,price\n1,Praha,10\n2,Brno,20\n3,Praha,\n', { primaryKey: 'id' })
  const made = await stack.request('POST', '/v2/storage/workspaces', { json: {} })
  const { user, password, database } = made.json<{ connection: { user: string; password: string; database: string } }>()
    .connection
  workspace = { user, password, database }
})
test.after(() => stop?.())

interface Scoped {
  after(work: () => Promise<void>): void
}

async function connect(t: Scoped, options: pg.ClientConfig = {}): Promise<pg.Client> {
  const connected = new pg.Client({
    host: '127.0.0.1',
    port,
    user: 'me',
    password: stack.masterToken,
    database: 'default',
    ...options,
  })
  connected.on('error', () => {})
  await connected.connect()
  t.after(() => connected.end().catch(() => {}))
  return connected
}

const inWorkspace = (t: Scoped) => connect(t, workspace)

async function wire(t: Scoped, isWorkspace = false): Promise<WireClient> {
  const { user, password, database } = isWorkspace ? workspace : { user: 'me', password: stack.masterToken, database: 'default' }
  const connected = await wireClient(port, user, password, database)
  t.after(async () => connected.end())
  return connected
}

const rowsOf = async (db: pg.Client, text: string, values: unknown[] = []): Promise<unknown[][]> =>
  (await db.query({ text, values, rowMode: 'array' })).rows as unknown[][]

const failure = async (work: Promise<unknown>): Promise<{ code: string; message: string; position?: string }> =>
  work.then(
    () => assert.fail('it did not fail'),
    (error: { code: string; message: string; position?: string }) => error,
  )

const text = (value: string): Buffer => Buffer.from(`${value}\0`)

/** What the server describes of a statement: types of its parameters and of its columns. */
async function described(db: WireClient, sql: string): Promise<{ parameters: number[]; columns: number[] }> {
  await db.write(
    Buffer.concat([
      frame('P', text('s'), text(sql), int16(0)),
      frame('D', Buffer.from('S'), text('s')),
      frame('C', Buffer.from('S'), text('s')),
      frame('S'),
    ]),
  )
  const found: { parameters: number[]; columns: number[] } = { parameters: [], columns: [] }
  for (let message = await db.next(); message?.kind !== 'Z'; message = await db.next()) {
    if (!message || message.kind === 'E') throw new Error(message?.content.toString() ?? 'the server is gone')
    const read = reader(message.content)
    if (message.kind === 't') found.parameters = Array.from({ length: read.int16() }, read.int32)
    if (message.kind === 'T')
      found.columns = Array.from({ length: read.int16() }, () => {
        read.text()
        read.bytes(6)
        const oid = read.int32()
        read.bytes(8)
        return oid
      })
  }
  return found
}

test('dbt changes columns of an incremental model by one ALTER TABLE with several actions', async (t) => {
  const db = await inWorkspace(t)
  await db.query('create schema if not exists analytics')
  await db.query(`create table "workspace"."analytics"."synced" as (select 1 as order_id, 'placed' as status, 2 as old)`)
  await db.query(
    '/* dbt */ alter table "workspace"."analytics"."synced" drop column status, drop column "old", add column customer_id integer, add column price numeric(16, 2)',
  )
  const columns = async () =>
    (
      await rowsOf(db, "select column_name from information_schema.columns where table_name = 'synced' order by ordinal_position")
    ).flat()
  assert.deepEqual(await columns(), ['order_id', 'customer_id', 'price'])
  // All of its actions, or none.
  const wrong = await failure(db.query('alter table analytics.synced drop column price, drop column nothing'))
  assert.match(wrong.message, /nothing/)
  assert.deepEqual(await columns(), ['order_id', 'customer_id', 'price'])
})

test('temporary tables and settings of a connection are not left for the next one of the same user', async (t) => {
  const one = await inWorkspace(t)
  await one.query('begin; create temp table left_over as select 1 as a; commit')
  const two = await inWorkspace(t)
  assert.equal((await failure(two.query('select * from left_over'))).code, '42P01')
})

test('1, 2: dbt makes a view, renames it over the one before, and finds it as a view', async (t) => {
  const db = await inWorkspace(t)
  const kinds = () => rowsOf(db, `SELECT viewname FROM pg_views WHERE schemaname = 'main' ORDER BY 1`)
  for (const run of [1, 2]) {
    await db.query(`/* {"app": "dbt"} */ create view "workspace"."main"."model__dbt_tmp" as (select ${run} as run);`)
    const backup = await rowsOf(db, `select tablename from pg_tables where schemaname ilike 'main' and tablename = 'model'`)
    assert.deepEqual(backup, [])
    if (run === 2) {
      assert.deepEqual(await kinds(), [['model'], ['model__dbt_tmp']])
      await db.query('/* dbt */ alter table "workspace"."main"."model" rename to "model__dbt_backup"')
    }
    await db.query('/* dbt */ alter table "workspace"."main"."model__dbt_tmp" rename to "model"')
    await db.query('drop view if exists "workspace"."main"."model__dbt_backup" cascade')
    assert.deepEqual(await rowsOf(db, 'SELECT run FROM model'), [[run]])
    assert.deepEqual(await kinds(), [['model']])
  }
  const types = await rowsOf(
    db,
    `SELECT table_name, table_type FROM information_schema.tables WHERE table_schema = 'main' ORDER BY 1`,
  )
  assert.deepEqual(types, [['model', 'VIEW']])
  assert.deepEqual(await rowsOf(db, `SELECT column_name, data_type FROM information_schema.columns WHERE table_name = 'model'`), [
    ['run', 'integer'],
  ])
  await db.query('DROP VIEW model')
  await db.query('CREATE TABLE model AS SELECT 1 AS run')
  assert.deepEqual(await kinds(), [])
  await db.query('DROP TABLE model')
})

test('5, 6: a binary copy begins with its first row, and options may be quoted', async (t) => {
  const db = await wire(t)
  const copied = async (sql: string): Promise<Buffer[]> => {
    await db.write(frame('Q', text(sql)))
    const data: Buffer[] = []
    for (let message = await db.next(); message?.kind !== 'Z'; message = await db.next()) {
      if (!message || message.kind === 'E') throw new Error(message?.content.toString() ?? 'the server is gone')
      if (message.kind === 'd') data.push(Buffer.from(message.content))
      if (message.kind === 'C') data.push(Buffer.from(message.content))
    }
    return data
  }
  const signature = 'PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0'
  // DuckDB's postgres extension, and asyncpg.
  const [first, second, end, tag] = await copied('COPY (SELECT i::INTEGER FROM range(2) t(i)) TO STDOUT (FORMAT "binary")')
  assert.equal(first?.toString('latin1'), `${signature}\0\u0001\0\0\0\u0004\0\0\0\0`)
  assert.deepEqual([second?.toString('hex'), end?.toString('hex'), tag?.toString()], ['00010000000400000001', 'ffff', 'COPY 2\0'])
  const [empty, none] = await copied('COPY (SELECT 1 WHERE false) TO STDOUT WITH ("format" \'binary\')')
  assert.deepEqual([empty?.toString('latin1'), none?.toString()], [`${signature}\xff\xff`, 'COPY 0\0'])
  const csv = await copied(
    `COPY (SELECT 1 AS a, NULL AS b) TO STDOUT (FORMAT 'csv', DELIMITER ';', "null" 'none', HEADER 'true')`,
  )
  assert.deepEqual(csv.map(String), ['a;b\n', '1;none\n', 'COPY 1\0'])
  await assert.rejects(copied('COPY (SELECT 1) TO STDOUT (FORMAT "parquet")'), /0A000/)
})

test('6: DuckDB reads all pages of a table of a workspace, which it names by ctid', async (t) => {
  const db = await inWorkspace(t)
  await db.query('create table paged as select i as id from range(3) t(i)')
  const all = `ctid BETWEEN '(0,0)'::tid AND '(4294967295,0)'::tid`
  assert.deepEqual(await rowsOf(db, `SELECT "id" FROM "main"."paged" WHERE ${all} AND "id" = '2'`), [['2']])
  assert.equal((await rowsOf(db, `SELECT NULL FROM "main"."paged" WHERE ${all}`)).length, 3)
  assert.notEqual((await failure(db.query(`SELECT id FROM paged WHERE ctid = '(0,1)'::tid`))).code, undefined)
  await db.query('drop table paged')
})

test('7: a parameter that nothing gives a type is a text, as it was described', async (t) => {
  const raw = await wire(t)
  assert.deepEqual(await described(raw, 'select $1'), { parameters: [OID.text], columns: [OID.text] })
  assert.deepEqual((await described(raw, 'select $1, $2::bytea, $3::bigint[], $4::interval')).parameters, [
    OID.text,
    OID.bytea,
    1016,
    1186,
  ])
  const db = await connect(t)
  for (const value of ['abc', '5', null]) {
    const { rows, fields } = await db.query({ text: 'select $1 as v', values: [value], rowMode: 'array' })
    assert.deepEqual([rows, fields[0]?.dataTypeID], [[[value]], OID.text])
  }
  // What postgres.js and pgx do: the statement is described, and the values follow.
  const query = { name: 'described', text: 'select $1 as v, $2::int + 1 as n', values: [null, null] }
  assert.deepEqual((await db.query(query)).rows, [{ v: null, n: null }])
})

test('9: arrays are compared with columns of any type, and described as arrays', async (t) => {
  const raw = await wire(t)
  assert.deepEqual(await described(raw, 'select i from range(3) t(i) where i = any($1)'), {
    parameters: [1016],
    columns: [OID.int8],
  })
  assert.deepEqual((await described(raw, 'select $1::bigint[]')).parameters, [1016])
  assert.deepEqual((await described(raw, 'select id from orders where city <> all ($1)')).parameters, [1009])
  const db = await connect(t)
  const numbers = 'select i from range(5) t(i) where '
  assert.deepEqual(await rowsOf(db, `${numbers} i = any($1)`, [[1, 3, null]]), [['1'], ['3']])
  assert.deepEqual(await rowsOf(db, `${numbers} i <> all ($1)`, [[0, 1, 2]]), [['3'], ['4']])
  assert.deepEqual(await rowsOf(db, `${numbers} i = any($1)`, [[]]), [])
  assert.deepEqual(await rowsOf(db, `${numbers} i != all($1)`, [[]]), [['0'], ['1'], ['2'], ['3'], ['4']])
  assert.deepEqual(await rowsOf(db, `${numbers} i >= any($1::bigint[])`, [[4]]), [['4']])
  assert.deepEqual(await rowsOf(db, 'select city from orders where id = any($1) order by id', [[1, 2]]), [['Praha'], ['Brno']])
  // pgx with its simple protocol and psycopg with cursors of the client: the list is in the text.
  assert.deepEqual(await rowsOf(db, `select city from orders where id = any( '{"1",2,NULL}' ) order by id`), [
    ['Praha'],
    ['Brno'],
  ])
  assert.deepEqual(await rowsOf(db, `${numbers} i <> all ('{0,1,2}')`), [['3'], ['4']])
  assert.deepEqual(await rowsOf(db, `${numbers} i = any('{}')`), [])
  assert.deepEqual(await rowsOf(db, `${numbers} i >= any('{4}'::int2[])`), [['4']])
  assert.deepEqual(await rowsOf(db, `select '{"a b",c}'::text[], '{x}' as plain`), [[['a b', 'c'], '{x}']])
  // pgx and asyncpg: the elements in binary.
  const int8 = (value: bigint) => Buffer.concat([int32(8), Buffer.from(value.toString(16).padStart(16, '0'), 'hex')])
  const bytes = Buffer.concat([int32(1), int32(0), int32(OID.int8), int32(2), int32(1), int8(2n), int8(4n)])
  const { rows } = await raw.query(`${numbers} i = any($1)`, 0, [{ oid: 1016, bytes }])
  assert.deepEqual(rows.map(String), ['2', '4'])
})

test('11: a name may have the database in front, and a bucket may be written in two parts', async (t) => {
  const db = await connect(t)
  for (const name of ['"default"."in.c-main"."orders"', '"in"."c-main"."orders"', '"default"."in"."c-main".orders'])
    assert.deepEqual(await rowsOf(db, `SELECT count(*) FROM ${name}`), [['3']], name)
  assert.deepEqual(await rowsOf(db, `SELECT "orders"."id" FROM "in.c-main"."orders" WHERE city = 'Brno'`), [['2']])
  assert.equal((await failure(db.query('SELECT * FROM "other"."in.c-main"."orders"'))).code.length, 5)
  const own = await inWorkspace(t)
  assert.deepEqual(await rowsOf(own, `SELECT count(*) FROM "${workspace.database}"."in.c-main"."orders"`), [['3']])
})

test('15: intervals in binary, json and lists have their types', async (t) => {
  const db = await wire(t)
  const interval = Buffer.concat([Buffer.from(3_600_000_000n.toString(16).padStart(16, '0'), 'hex'), int32(2), int32(14)])
  const { rows } = await db.query('SELECT $1::interval, $1 + $1', 0, [{ oid: OID.interval, bytes: interval }])
  assert.deepEqual(rows[0]?.map(String), ['1 year 2 mons 2 days 01:00:00', '2 years 4 mons 4 days 02:00:00'])
  const negative = Buffer.concat([Buffer.from('ffffffffffffffff', 'hex'), int32(-1), int32(0)])
  assert.deepEqual((await db.query('SELECT $1', 0, [{ oid: OID.interval, bytes: negative }])).rows[0]?.map(String), [
    '-1 day -00:00:00.000001',
  ])
  const lists = `SELECT '{"a": [1]}'::jsonb AS j, [1, NULL, 3] AS i, ['a b', 'null', '', 'x"\\', NULL] AS t, [[1]] AS nested, [1.5] AS d, []::DATE[] AS none`
  assert.deepEqual((await described(db, lists)).columns, [OID.json, 1007, 1009, OID.json, 1231, 1182])
  const shown = await db.query(lists, 0)
  assert.deepEqual(shown.rows[0]?.map(String), [
    '{"a": [1]}',
    '{1,NULL,3}',
    '{"a b","null","","x\\"\\\\",NULL}',
    '[[1]]',
    '{1.5}',
    '{}',
  ])
  const binary = await db.query(lists, 1)
  assert.equal(
    binary.rows[0]?.[1]?.toString('hex'),
    '00000001000000010000001700000003000000010000000400000001ffffffff0000000400000003',
  )
  const own = await wire(t, true)
  await own.query('CREATE TABLE documents (id INTEGER, doc JSONB, l INTEGER[])', 0)
  // postgres.js writes a value as JSON where it is described as JSON.
  assert.deepEqual((await described(own, 'INSERT INTO documents VALUES ($1, $2, $3)')).parameters, [OID.int4, OID.json, 1007])
  const json = { oid: OID.json, bytes: Buffer.from('{"a": [1]}') }
  await own.query('INSERT INTO documents (doc) VALUES ($1)', 0, [json])
  assert.deepEqual((await own.query('SELECT doc FROM documents', 0)).rows[0]?.map(String), ['{"a": [1]}'])
  await own.query('DROP TABLE documents', 0)
  const driver = await connect(t)
  const { rows: parsed } = await driver.query(
    `SELECT ['a b', NULL, 'x"\\'] AS t, [true, false] AS b, json_agg(i) AS j FROM range(2) t(i)`,
  )
  assert.deepEqual(parsed, [{ t: ['a b', null, 'x"\\'], b: [true, false], j: [0, 1] }])
})

test('15: errors have their place in the text that was sent, behind comments and parameters', async (t) => {
  const db = await connect(t)
  const place = async (sql: string, values?: unknown[]) => {
    const { position, message } = await failure(db.query(sql, values))
    assert.doesNotMatch(message, /line \d/)
    return Number(position) - 1
  }
  for (const [sql, values] of [
    ['/* {"app": "dbt"} 🐎 */\nselect nothing from orders'],
    ['select 1; select 2, nothing from orders'],
    ['select $1, nothing from orders', ['a longer text than $1']],
    ['/* x */ select $1::int, nothing from "default"."in.c-main".orders', [1]],
  ] as const)
    assert.equal(await place(sql, values && [...values]), [...sql.slice(0, sql.indexOf('nothing'))].length, sql)
})

test('15: functions and types of PostgreSQL', async (t) => {
  const db = await connect(t)
  const value = async (sql: string) => (await rowsOf(db, `SELECT ${sql}`))[0]?.[0]
  assert.equal(
    await value(`to_char(TIMESTAMP '2024-02-09 03:04:05.678', 'YYYY-MM-DD HH24:MI:SS.MS "at" FMDD Mon')`),
    '2024-02-09 03:04:05.678 at 9 Feb',
  )
  assert.equal(await value(`to_char(to_date('09/02/2024', 'DD/MM/YYYY'), 'YYYYMMDD')`), '20240209')
  assert.equal(await value(`to_timestamp('2024-02-09 10', 'YYYY-MM-DD HH24')::VARCHAR`), '2024-02-09 10:00:00+00')
  assert.equal(await value('to_timestamp(0)::VARCHAR'), '1970-01-01 00:00:00+00')
  assert.equal((await failure(db.query(`SELECT to_char(125, '999')`))).code, '42883')
  assert.deepEqual(await value(`jsonb_build_object('a', 1)::jsonb`), { a: 1 })
  assert.deepEqual(await value(`CAST('[1]' AS jsonb)`), [1])
  assert.deepEqual(await rowsOf(db, 'SELECT json_agg(id) FROM (SELECT id FROM orders ORDER BY id)'), [[['1', '2', '3']]])
})

test('15: in a workspace its own schema comes first', async (t) => {
  const db = await inWorkspace(t)
  assert.deepEqual(await rowsOf(db, 'SELECT current_schema()'), [['main']]) // before its first table
  await db.query('CREATE TABLE orders AS SELECT 7 AS mine')
  assert.deepEqual(await rowsOf(db, 'SELECT current_schema()'), [['main']])
  assert.deepEqual(await rowsOf(db, 'SELECT * FROM orders'), [[7]])
  // \d orders
  const shown = await rowsOf(db, `SELECT attname FROM pg_attribute WHERE attrelid = 'orders'::regclass AND attnum > 0`)
  assert.deepEqual(shown, [['mine']])
  await db.query('DROP TABLE orders')
})

test('4: savepoints of a reader, as psycopg 3 and JDBC with autosave send them', async (t) => {
  const db = await connect(t)
  assert.equal((await failure(db.query('SAVEPOINT alone'))).code, '25P01')
  await db.query('BEGIN')
  await db.query('SAVEPOINT "_pg3_1"')
  assert.equal((await failure(db.query('SELECT nothing'))).code.length, 5)
  assert.equal((await failure(db.query('SELECT 1'))).code, '25P02')
  assert.equal((await db.query('ROLLBACK TO "_pg3_1"')).command, 'ROLLBACK')
  assert.deepEqual(await rowsOf(db, 'SELECT 1'), [[1]])
  assert.equal((await db.query('RELEASE "_pg3_1"')).command, 'RELEASE')
  assert.equal((await failure(db.query('ROLLBACK TO SAVEPOINT "_pg3_1"'))).code, '3B001')
  await db.query('ROLLBACK')
})

test('4: a savepoint in a workspace undoes what came after it, and nothing else', async (t) => {
  const db = await inWorkspace(t)
  await db.query('CREATE TABLE saved (n INTEGER)')
  const numbers = () => rowsOf(db, 'SELECT n FROM saved ORDER BY n')
  await db.query('BEGIN')
  await db.query('INSERT INTO saved VALUES ($1)', [1])
  await db.query('SAVEPOINT PGJDBC_AUTOSAVE')
  assert.equal((await failure(db.query(`INSERT INTO saved VALUES ('x')`))).code, '22P02')
  await db.query('ROLLBACK TO SAVEPOINT PGJDBC_AUTOSAVE')
  await db.query('CREATE TABLE also AS SELECT 2 AS n')
  await db.query('INSERT INTO saved SELECT n FROM also')
  await db.query('SAVEPOINT sp_1')
  await db.query('DELETE FROM saved')
  await db.query('DROP TABLE also')
  await db.query('SAVEPOINT sp_2')
  await db.query('rollback work to sp_1')
  assert.equal((await failure(db.query('release savepoint sp_2'))).code, '3B001')
  await db.query('ROLLBACK TO sp_1')
  await db.query('RELEASE SAVEPOINT sp_1')
  assert.deepEqual(await numbers(), [[1], [2]])
  await db.query('COMMIT')
  assert.deepEqual(await numbers(), [[1], [2]])
  // What would not be the same a second time is not repeated in silence.
  await db.query('BEGIN')
  await db.query('INSERT INTO saved SELECT (random() * 1000)::INTEGER')
  await db.query('SAVEPOINT s')
  await db.query('INSERT INTO saved VALUES (4)')
  assert.equal((await failure(db.query('ROLLBACK TO s'))).code, '0A000')
  assert.equal((await failure(db.query('ROLLBACK TO s'))).code, '0A000')
  await db.query('ROLLBACK')
  assert.deepEqual(await numbers(), [[1], [2]])
  await db.query('DROP TABLE saved; DROP TABLE also')
  // SQLAlchemy: a table that numbers its rows, with and without numbers of the client's own.
  await db.query('CREATE TABLE numbered (id SERIAL, name VARCHAR)')
  for (const [sql, code] of [
    [`INSERT INTO numbered (id, name) VALUES (10, 'a')`, ''],
    [`INSERT INTO numbered (name) VALUES ('b')`, '0A000'],
  ] as const) {
    await db.query('BEGIN')
    await db.query(sql)
    await db.query('SAVEPOINT sa_savepoint_1')
    await failure(db.query(`SELECT 'x'::int`))
    const undone = db.query('ROLLBACK TO SAVEPOINT sa_savepoint_1')
    assert.equal(code === '' ? (await undone) && '' : (await failure(undone)).code, code)
    await db.query('COMMIT')
  }
  assert.deepEqual(await rowsOf(db, 'SELECT id, name FROM numbered'), [[10, 'a']])
  await db.query('DROP TABLE numbered')
})

/** COPY ... FROM STDIN in pieces of some size; the tag of the command. */
async function copyIn(db: WireClient, sql: string, data: Buffer | string, size = 1 << 16, last = frame('c')): Promise<string> {
  await db.write(frame('Q', text(sql)))
  const bytes = Buffer.from(data)
  let tag = ''
  let error: string | undefined
  for (let message = await db.next(); message?.kind !== 'Z'; message = await db.next()) {
    if (!message) throw new Error('the server is gone')
    if (message.kind === 'G') {
      for (let at = 0; at < bytes.length; at += size) await db.write(frame('d', bytes.subarray(at, at + size)))
      await db.write(last)
    }
    if (message.kind === 'C') tag = message.content.toString('utf8', 0, message.content.length - 1)
    if (message.kind === 'E') error = message.content.toString()
  }
  if (error !== undefined) throw new Error(error)
  return tag
}

test('10: rows are copied into a workspace as text, CSV and binary, cut anywhere', async (t) => {
  const [db, raw] = [await inWorkspace(t), await wire(t, true)]
  await db.query('CREATE TABLE copied (n BIGINT, s VARCHAR, b BLOB, l INTEGER[], d TIMESTAMP, ok BOOLEAN)')
  const shown = async () => {
    const rows = await rowsOf(db, `SELECT n, s, hex(b), l, d::VARCHAR, ok FROM copied ORDER BY n`)
    await db.query('DELETE FROM copied')
    return rows
  }
  const expected = [
    ['1', 'a\tb\\\n"č, 🐎', '00FF', [1, null, 3], '2024-02-29 23:59:59.5', true],
    ['2', '', '', [], null, false],
    ['3', null, null, null, null, null],
  ]
  const asText =
    '1\ta\\tb\\\\\\n"č, 🐎\t\\\\x00ff\t{1,NULL,3}\t2024-02-29 23:59:59.5\tt\n2\t\t\\\\x\t{}\t\\N\tf\n3\t\\N\t\\N\t\\N\t\\N\t\\N\n\\.\n'
  const asCsv = 'n,s,b,l,d,ok\n1,"a\tb\\\n""č, 🐎",\\x00ff,"{1,NULL,3}",2024-02-29 23:59:59.5,t\r\n2,"","\\x",{},,f\n3,,,,,'
  for (const size of [1, 7, 1 << 16]) {
    assert.equal(await copyIn(raw, 'COPY copied FROM STDIN', asText, size), 'COPY 3')
    assert.deepEqual(await shown(), expected)
    assert.equal(
      await copyIn(raw, 'COPY "workspace"."main"."copied" FROM STDIN WITH (FORMAT csv, HEADER true)', asCsv, size),
      'COPY 3',
    )
    assert.deepEqual(await shown(), expected)
  }
  const field = (bytes: Buffer | null) => (bytes ? [int32(bytes.length), bytes] : [int32(-1)])
  const int8 = (value: bigint) => Buffer.from(value.toString(16).padStart(16, '0'), 'hex')
  const list = Buffer.concat([1, 1, OID.int4, 3, 1, 4, 1, -1, 4, 3].map(int32))
  const row = (...values: (Buffer | null)[]) => Buffer.concat([int16(values.length), ...values.flatMap(field)])
  const moment = int8(762_566_399_500_000n)
  const asBinary = Buffer.concat([
    Buffer.from('PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0', 'latin1'),
    row(int8(1n), Buffer.from('a\tb\\\n"č, 🐎'), Buffer.from([0, 255]), list, moment, Buffer.from([1])),
    row(int8(2n), Buffer.alloc(0), Buffer.alloc(0), Buffer.concat([0, 0, OID.int4].map(int32)), null, Buffer.from([0])),
    row(int8(3n), null, null, null, null, null),
    int16(0xffff),
  ])
  for (const size of [1, 1 << 16]) {
    assert.equal(await copyIn(raw, 'COPY copied (n, s, b, l, d, ok) FROM STDIN (FORMAT binary)', asBinary, size), 'COPY 3')
    assert.deepEqual(await shown(), expected)
  }
  assert.equal(await copyIn(raw, `COPY copied (s) FROM STDIN CSV DELIMITER ';' NULL 'none'`, 'none\nx\n'), 'COPY 2')
  assert.deepEqual((await shown()).map(([, s]) => s).toSorted(), [null, 'x'])
  // copy_from and copy_to of psycopg2.
  const old = `WITH DELIMITER AS '\t' NULL AS '\\N'`
  assert.equal(await copyIn(raw, `COPY "copied" ("n","s") FROM STDIN ${old}`, '1\t\\N\n2\ty\n'), 'COPY 2')
  assert.deepEqual((await shown()).map(([, s]) => s).toSorted(), [null, 'y'])
  await db.query('DROP TABLE copied')
})

test('10: a copy arrives whole or not at all, also in a transaction', async (t) => {
  const [db, raw] = [await inWorkspace(t), await wire(t, true)]
  await db.query('CREATE TABLE whole (n INTEGER PRIMARY KEY)')
  const count = async () => (await rowsOf(db, 'SELECT count(*) FROM whole'))[0]?.[0]
  await assert.rejects(copyIn(raw, 'COPY whole FROM STDIN', '1\n2\nx\n'), /22P02/)
  await assert.rejects(copyIn(raw, 'COPY whole FROM STDIN', '1\n2\t3\n'), /22P04/)
  await assert.rejects(copyIn(raw, 'COPY whole FROM STDIN', '1\n1\n'), /23505/)
  await assert.rejects(copyIn(raw, 'COPY whole FROM STDIN', Buffer.from([0xff, 10])), /22021/)
  await assert.rejects(copyIn(raw, 'COPY whole FROM STDIN', '1\n', 10, frame('f', text('stop'))), /57014.*stop/)
  await assert.rejects(copyIn(raw, 'COPY nothing FROM STDIN', ''), /42P01/)
  await assert.rejects(copyIn(raw, `COPY whole FROM '/etc/passwd'`, ''), /0A000/)
  await assert.rejects(copyIn(raw, 'COPY "in.c-main".orders FROM STDIN', '1\t2\t3\n'), /[0-9A-Z]{5}/)
  assert.equal(await count(), '0')
  await copyIn(raw, 'BEGIN', '')
  assert.equal(await copyIn(raw, 'COPY whole FROM STDIN', '1\n2\n'), 'COPY 2')
  await copyIn(raw, 'ROLLBACK', '')
  assert.equal(await count(), '0')
  const many = Array.from({ length: 50_000 }, (_, i) => `${i}\n`).join('')
  assert.equal(await copyIn(raw, 'COPY whole FROM STDIN', many), 'COPY 50000')
  assert.equal(await count(), '50000')
  // asyncpg: the extended protocol, with a Sync before and behind the data.
  await raw.write(
    Buffer.concat([
      frame('P', text(''), text('COPY whole FROM STDIN'), int16(0)),
      frame('B', text(''), text(''), int16(0), int16(0), int16(0)),
      frame('E', text(''), int32(0)),
      frame('S'),
      frame('d', Buffer.from('-1\n')),
      frame('c'),
      frame('S'),
    ]),
  )
  let kinds = ''
  for (let message = await raw.next(); ; message = await raw.next()) {
    kinds += message?.kind
    if (!message || message.kind === 'Z') break
  }
  assert.equal(kinds, '12GCZ')
  assert.equal(await count(), '50001')
  await db.query('DROP TABLE whole')
})

test('15: columns have the names that PostgreSQL gives calls', async (t) => {
  const db = await connect(t)
  const names = async (sql: string) => (await db.query(sql)).fields.map(({ name }) => name)
  assert.deepEqual(await names('SELECT count(*), max(id), sum(id::int) AS total, id || city FROM orders GROUP BY ALL'), [
    'count',
    'max',
    'total',
    '(id || city)',
  ])
  assert.deepEqual(await names('SELECT count(*) FROM orders UNION ALL SELECT 1'), ['count'])
  assert.deepEqual((await db.query('SELECT count(*) FROM orders')).rows, [{ count: '3' }])
  assert.deepEqual(await names('SELECT *, upper(city) FROM orders'), ['id', 'city', 'price', 'upper(city)'])
})

test('15: SQL PREPARE and EXECUTE, with and without types', async (t) => {
  const db = await connect(t)
  await db.query('PREPARE one AS SELECT id FROM orders WHERE city = $1 AND id > $2 ORDER BY id')
  assert.deepEqual(await rowsOf(db, `EXECUTE one('Praha', '0')`), [['1'], ['3']])
  await db.query('PREPARE two (int, int[]) AS SELECT $1 + 1, $2')
  assert.deepEqual(await rowsOf(db, `EXECUTE two(1, [1, 2])`), [[2, [1, 2]]])
  assert.equal((await failure(db.query('EXECUTE two(1)'))).code, '42601')
  assert.equal((await failure(db.query('PREPARE one AS SELECT 1'))).code, '42P05')
  await db.query(`PREPARE many AS SELECT ${'$1,'.repeat(2000)} 1`)
  assert.equal((await failure(db.query(`EXECUTE many('${'x'.repeat(10_000)}')`))).code, '54000')
  assert.equal((await failure(db.query(`SELECT ${'$1,'.repeat(2000)} 1`, ['x'.repeat(10_000)]))).code, '54000')
  await db.query('DEALLOCATE one')
  assert.equal((await failure(db.query('EXECUTE one'))).code, '26000')
  assert.equal((await failure(db.query('DEALLOCATE one'))).code, '26000')
})

test('15: SELECT ... FOR UPDATE in a workspace, where one transaction runs at a time', async (t) => {
  const db = await inWorkspace(t)
  await db.query('CREATE TABLE tasks AS SELECT i AS id, 0 AS done FROM range(3) r(i)')
  await db.query('BEGIN')
  assert.deepEqual(await rowsOf(db, 'SELECT id FROM tasks WHERE id > $1 ORDER BY id FOR UPDATE', [0]), [['1'], ['2']])
  const next = 'SELECT id FROM tasks AS q WHERE done = 0 ORDER BY id LIMIT 1 FOR NO KEY UPDATE OF q SKIP LOCKED'
  assert.deepEqual(await rowsOf(db, `UPDATE tasks SET done = 1 WHERE id = (${next}) RETURNING id`), [['0']])
  await db.query('COMMIT')
  for (const lock of ['for share', 'FOR KEY SHARE OF tasks NOWAIT', 'FOR UPDATE OF tasks, o'])
    assert.deepEqual(
      await rowsOf(
        db,
        `SELECT tasks.id, city FROM tasks JOIN "in.c-main".orders o ON tasks.id::TEXT = o.id WHERE o.id = '1' ${lock}`,
      ),
      [['1', 'Praha']],
    )
  assert.deepEqual(await rowsOf(db, `SELECT 'for update' AS for_update, [update + 1 for update in [1, 2]]`), [
    ['for update', [2, 3]],
  ])
  const reader = await connect(t)
  assert.equal((await failure(reader.query('SELECT id FROM "in.c-main".orders FOR UPDATE'))).code, '42601')
})

test('15: a SCROLL cursor goes in both directions', async (t) => {
  const db = await connect(t)
  await db.query('BEGIN')
  await db.query('DECLARE "SQL_CUR1" SCROLL CURSOR FOR SELECT i::INTEGER FROM range(1, 5001) t(i)')
  const fetch = async (how: string) => (await rowsOf(db, `FETCH ${how} "SQL_CUR1"`)).flat()
  assert.deepEqual(await fetch('2 FROM'), [1, 2])
  assert.deepEqual(await fetch('PRIOR FROM'), [1])
  assert.deepEqual(await fetch('BACKWARD 5 IN'), [])
  assert.deepEqual(await fetch('NEXT FROM'), [1])
  assert.deepEqual(await fetch('LAST FROM'), [5000])
  assert.deepEqual(await fetch('RELATIVE -2 FROM'), [4998])
  assert.deepEqual(await fetch('FORWARD ALL IN'), [4999, 5000])
  assert.deepEqual(await fetch('NEXT FROM'), [])
  assert.deepEqual(await fetch('BACKWARD 2 IN'), [5000, 4999])
  assert.deepEqual(await fetch('ABSOLUTE 3 FROM'), [3])
  assert.deepEqual(await fetch('0 FROM'), [3])
  assert.deepEqual(await fetch('FIRST FROM'), [1])
  await db.query('DECLARE forward NO SCROLL CURSOR FOR SELECT 1')
  assert.equal((await failure(db.query('FETCH PRIOR FROM forward'))).code, '55000')
  await db.query('ROLLBACK')
})

test('15: SERIAL and identity columns number rows, and an indexed table is renamed', async (t) => {
  const db = await inWorkspace(t)
  await db.query('CREATE TABLE people (id SERIAL NOT NULL, name VARCHAR(20), PRIMARY KEY (id))')
  const inserted = await db.query(`INSERT INTO people (name) VALUES ('a'), ('b') RETURNING people.id`)
  assert.deepEqual(inserted.rows, [{ id: 1 }, { id: 2 }])
  await db.query('CREATE TABLE IF NOT EXISTS people (id BIGSERIAL PRIMARY KEY)')
  assert.equal((await failure(db.query('CREATE TABLE people (id SERIAL)'))).code, '42P07')
  await db.query('CREATE TABLE "Django" ("id" bigint NOT NULL PRIMARY KEY GENERATED BY DEFAULT AS IDENTITY, n numeric(10, 2))')
  assert.deepEqual((await db.query('INSERT INTO "Django" (n) VALUES (1.5) RETURNING id')).rows, [{ id: '1' }])
  await db.query('CREATE INDEX "people name" ON people (name)')
  await db.query('ALTER TABLE people RENAME TO persons')
  assert.deepEqual(await rowsOf(db, `INSERT INTO persons (name) VALUES ('c') RETURNING id`), [[3]])
  await db.query('BEGIN')
  await db.query('ALTER TABLE IF EXISTS main.persons RENAME TO people')
  await db.query('ROLLBACK')
  // dbt: the old table out of the way, the new one in its place, with its index.
  await db.query('CREATE TABLE fresh AS SELECT 1 AS id, NULL AS name')
  await db.query('BEGIN')
  await db.query('CREATE INDEX "fresh id" ON fresh (id)')
  await db.query('COMMIT')
  await db.query('BEGIN')
  await db.query('ALTER TABLE main.fresh RENAME TO fresh_tmp')
  await db.query('ALTER TABLE fresh_tmp RENAME TO fresh_2')
  await db.query('COMMIT')
  assert.deepEqual(await rowsOf(db, `SELECT table_name FROM duckdb_indexes() WHERE index_name = 'fresh id'`), [['fresh_2']])
  await db.query('DROP TABLE fresh_2')
  assert.deepEqual(await rowsOf(db, `SELECT index_name, table_name FROM duckdb_indexes()`), [['people name', 'persons']])
  await db.query('DROP TABLE persons; DROP TABLE "Django"')
  await db.query('CREATE TABLE people (id SERIAL, name VARCHAR)')
  assert.deepEqual(await rowsOf(db, `INSERT INTO people (name) VALUES ('again') RETURNING id`), [[1]])
  await db.query('DROP TABLE people')
})

/** Ends the SQL processes of this file as a crash does. */
function killSqlWorkers(): number {
  const children = readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8').trim().split(' ')
  const workers = children.filter((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('engines/sql/worker'))
  for (const pid of workers) process.kill(Number(pid), 'SIGKILL')
  return workers.length
}

test('15: a workspace opens again after a kill when an index was created and its table renamed in one transaction', {
  skip: process.platform !== 'linux' && 'the processes are found in /proc',
}, async (t) => {
  const db = await inWorkspace(t)
  for (const statement of [
    'BEGIN',
    'CREATE TABLE model__dbt_tmp AS SELECT 1 AS id',
    'CREATE UNIQUE INDEX "model id" ON model__dbt_tmp (id)',
    'ALTER TABLE model__dbt_tmp RENAME TO model',
    'COMMIT',
  ])
    await db.query(statement)
  await db.end()
  assert.ok(killSqlWorkers() > 0)
  const again = await inWorkspace(t)
  assert.deepEqual(await rowsOf(again, 'SELECT id FROM model'), [[1]])
  assert.equal((await failure(again.query('INSERT INTO model VALUES (1)'))).code, '23505')
  await again.query('DROP TABLE model')
})

test('(b): commands of Snowflake about tables', async (t) => {
  const db = await connect(t)
  assert.deepEqual(await rowsOf(db, 'SHOW TABLES IN SCHEMA "in.c-main"'), [['orders', 'default', 'in.c-main', 'BASE TABLE']])
  assert.deepEqual((await db.query(`SHOW TABLES LIKE 'ord%' IN SCHEMA "default"."in.c-main"`)).rows[0].name, 'orders')
  assert.deepEqual(await rowsOf(db, `SHOW TABLES LIKE 'x'`), [])
  assert.deepEqual(await rowsOf(db, 'SHOW VIEWS IN SCHEMA "in.c-main"'), [])
  assert.deepEqual(
    (await db.query('SHOW COLUMNS IN TABLE "in.c-main"."orders"')).rows.map(({ column_name }) => column_name),
    ['id', 'city', 'price'],
  )
  const keys = await db.query('SHOW PRIMARY KEYS IN TABLE "in.c-main"."orders"')
  assert.deepEqual(
    keys.rows.map(({ column_name, key_sequence }) => [column_name, key_sequence]),
    [['id', 1]],
  )
  const described = await db.query('DESC TABLE "in.c-main"."orders"')
  assert.deepEqual(described.rows.map((row) => [row.name, row.type, row['primary key']])[0], ['id', 'text', 'Y'])
  await db.query('USE SCHEMA "in.c-main"')
  assert.deepEqual(await rowsOf(db, 'SELECT count(*) FROM orders'), [['3']])
  await db.query('USE SCHEMA "in.c-none"')
  assert.equal((await failure(db.query('SELECT count(*) FROM orders'))).code, '42P01')
  await db.query('USE DATABASE "default"')
  assert.equal((await failure(db.query('USE WAREHOUSE "big"'))).code.length, 5)
})

test('(b): commands of Snowflake about the user and the session', async (t) => {
  const [db, reader] = [await inWorkspace(t), await connect(t)]
  const propertiesOf = async (client: pg.Client, user: string) =>
    Object.fromEntries((await client.query(`DESC USER "${user}"`)).rows.map(({ property, value }) => [property, value]))
  const login = {
    DISABLED: 'false',
    TYPE: 'LEGACY_SERVICE',
    PASSWORD: '********',
    RSA_PUBLIC_KEY_FP: 'null',
    RSA_PUBLIC_KEY_2_FP: 'null',
  }
  const { DEFAULT_NAMESPACE, ...properties } = await propertiesOf(db, workspace.user)
  assert.deepEqual(properties, { NAME: workspace.user, LOGIN_NAME: workspace.user, ...login })
  assert.equal(DEFAULT_NAMESPACE, workspace.database)
  assert.equal((await propertiesOf(reader, 'ME')).NAME, 'me')
  assert.equal((await failure(db.query('DESC USER other'))).code, '42704')

  const timeout = async () => (await db.query(`SHOW PARAMETERS LIKE 'statement_timeout%' IN SESSION`)).rows
  assert.deepEqual(await timeout(), [
    {
      key: 'STATEMENT_TIMEOUT_IN_SECONDS',
      value: '300',
      default: '300',
      level: '',
      description: 'Maximum duration of a statement',
      type: 'NUMBER',
    },
  ])
  await db.query(`ALTER SESSION SET STATEMENT_TIMEOUT_IN_SECONDS = 7, QUERY_TAG = 'it''s' TIMEZONE='UTC' AUTOCOMMIT = TRUE`)
  assert.deepEqual(
    (await timeout()).map(({ value, level }) => [value, level]),
    [['7', 'SESSION']],
  )
  assert.deepEqual(await rowsOf(db, 'SHOW statement_timeout'), [['7000']])
  assert.deepEqual(await rowsOf(db, 'SHOW application_name'), [[`it's`]])
  await db.query('ALTER SESSION UNSET QUERY_TAG, STATEMENT_TIMEOUT_IN_SECONDS')
  const shown = (await db.query('SHOW PARAMETERS')).rows.map(({ key, value }) => `${key} ${value}`)
  assert.deepEqual(shown, [
    'AUTOCOMMIT true',
    'LOCK_TIMEOUT 0',
    'QUERY_TAG ',
    'QUOTED_IDENTIFIERS_IGNORE_CASE true',
    'STATEMENT_TIMEOUT_IN_SECONDS 300',
    'TIMEZONE UTC',
  ])
  for (const [command, code] of [
    [`ALTER SESSION SET TIMEZONE = 'Europe/Prague'`, '0A000'],
    ['ALTER SESSION SET AUTOCOMMIT = FALSE', '0A000'],
    ['ALTER SESSION SET WEEK_START = 1', '42704'],
    ['ALTER SESSION SET QUERY_TAG', '42601'],
    ['SHOW PARAMETERS x', '42601'],
  ] as const)
    assert.equal((await failure(db.query(command))).code, code, command)
  assert.deepEqual(await rowsOf(reader, 'SHOW DATABASES'), [['default']])
  assert.deepEqual(await rowsOf(reader, 'SHOW SCHEMAS'), [['in.c-main', 'default']])
  assert.deepEqual(await rowsOf(reader, 'SHOW OBJECTS IN SCHEMA "in.c-main"'), [['orders', 'default', 'in.c-main', 'BASE TABLE']])
})
