// Temporary tables of connections that read a project (point 15 of the list of PostgreSQL clients).

import assert from 'node:assert/strict'
import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { before, test } from 'node:test'
import pg from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import { tableClient } from '../../../../../tests/support/clients/table-client.ts'
import { startTestStack, type TestStack } from '../../../../../tests/support/test-stack.ts'
import { until } from '../../../../../tests/support/until.ts'

let stack: TestStack
let port: number
let reading: string
let stop: (() => Promise<void>) | undefined
before(async () => {
  const lasting = { after: (work: () => Promise<void>) => (stop = work) } as never
  stack = await startTestStack(lasting, { sql: { memoryMb: 512, diskMb: 64, sessions: 3, temporaryMb: 32, workspaceMb: 16 } })
  port = await stack.platform.sqlPort.listen(0, '127.0.0.1')
  const client = tableClient(stack)
  await client.bucket('main')
  await client.bucket('other')
  await client.create('in.c-main', 'orders', 'id,city,price\n1,Praha,10\n2,Brno,20\n3,Praha,\n', { primaryKey: 'id' })
  await client.create('in.c-main', 'twice', 'id\n1\n')
  await client.create('in.c-other', 'twice', 'id\n2\n3\n')
  const made = await stack.request('POST', '/v2/storage/tokens', {
    json: { description: 'reads', bucketPermissions: { 'in.c-main': 'read' } },
  })
  reading = made.json<{ token: string }>().token
})
test.after(() => stop?.())

interface Scoped {
  after(work: () => Promise<void>): void
}

async function connect(t: Scoped, options: pg.ClientConfig = {}): Promise<pg.Client> {
  const login = { host: '127.0.0.1', port, user: 'me', password: reading, database: 'default' }
  const connected = new pg.Client({ ...login, ...options })
  connected.on('error', () => {})
  await connected.connect()
  t.after(() => connected.end().catch(() => {}))
  return connected
}

const rowsOf = async (db: pg.Client, text: string, values: unknown[] = []): Promise<unknown[][]> =>
  (await db.query({ text, values, rowMode: 'array' })).rows as unknown[][]

const failure = async (work: Promise<unknown>): Promise<{ code: string; message: string }> =>
  work.then(
    () => assert.fail('it did not fail'),
    (error: { code: string; message: string }) => error,
  )

const files = () => join(stack.dataDir, 'sql-scratch', 'temporary-tables')
const filesNow = (): string[] => {
  try {
    return readdirSync(files())
  } catch {
    return [] // before the first one
  }
}

test('15: a token that may only read creates, fills, joins and drops temporary tables', async (t) => {
  const db = await connect(t)
  const made = await db.query('CREATE TEMP TABLE wanted (id TEXT, note TEXT DEFAULT $$new$$, n SERIAL)')
  assert.equal(made.command, 'CREATE')
  assert.equal((await db.query('INSERT INTO wanted (id) VALUES ($1), ($2)', ['1', '3'])).rowCount, 2)
  assert.deepEqual(await rowsOf(db, 'SELECT o.id, city, note, n FROM orders o JOIN wanted w ON w.id = o.id ORDER BY o.id'), [
    ['1', 'Praha', 'new', 1],
    ['3', 'Praha', 'new', 2],
  ])
  // Tables of the project by their name alone, in every kind of change.
  const copied = await db.query('CREATE TEMPORARY TABLE copied AS SELECT * FROM orders WHERE price = $1', ['10'])
  assert.deepEqual([copied.command, copied.rowCount], ['SELECT', 1])
  assert.equal((await db.query('INSERT INTO copied SELECT * FROM "in.c-main".orders WHERE id = $1', ['2'])).rowCount, 1)
  assert.equal((await db.query('UPDATE copied SET city = o.city FROM orders o WHERE o.id = copied.id')).rowCount, 2)
  assert.deepEqual(await rowsOf(db, `DELETE FROM copied WHERE id IN (SELECT id FROM orders WHERE price = '20') RETURNING id`), [
    ['2'],
  ])
  await db.query('ALTER TABLE copied ADD COLUMN added INTEGER')
  await db.query('ALTER TABLE pg_temp.copied RENAME TO kept')
  assert.deepEqual(await rowsOf(db, 'SELECT id, added FROM pg_temp.kept'), [['1', null]])
  await db.query('CREATE UNIQUE INDEX ON kept (id)').catch(() => db.query('CREATE UNIQUE INDEX kept_id ON kept (id)'))
  await db.query('ANALYZE kept')
  await db.query('TRUNCATE kept')
  assert.deepEqual(await rowsOf(db, 'SELECT count(*) FROM kept'), [['0']])
  await db.query(`CREATE TEMP VIEW big AS SELECT * FROM orders WHERE price <> ''`)
  assert.deepEqual(await rowsOf(db, 'SELECT count(*) FROM big'), [['2']])
  // A temporary table comes before a table of the project with its name, until it is dropped.
  await db.query('CREATE TEMP TABLE orders AS SELECT 1 AS mine')
  assert.deepEqual(await rowsOf(db, 'SELECT * FROM orders'), [[1]])
  assert.deepEqual(await rowsOf(db, 'SELECT count(*) FROM "in.c-main".orders'), [['3']])
  await db.query('DROP TABLE orders')
  assert.deepEqual(await rowsOf(db, 'SELECT count(*) FROM orders'), [['3']])
  await db.query('DROP TABLE IF EXISTS wanted')
  await db.query('DROP TABLE IF EXISTS wanted')
  assert.equal((await failure(db.query('SELECT * FROM wanted'))).code, '42P01')
  assert.equal((await failure(db.query('DROP TABLE wanted'))).code, '42P01')
})

test('15: temporary tables of a connection are its own, and are removed with it', async (t) => {
  const db = await connect(t)
  await db.query('CREATE TEMP TABLE own AS SELECT 7 AS n')
  const other = await connect(t)
  assert.equal((await failure(other.query('SELECT * FROM own'))).code, '42P01')
  await other.query('CREATE TEMP TABLE own AS SELECT 8 AS n')
  assert.deepEqual(await rowsOf(db, 'SELECT n FROM own'), [[7]])
  await other.query('DISCARD ALL')
  assert.equal((await failure(other.query('SELECT * FROM own'))).code, '42P01')
  await db.end()
  await until('the files are gone', () => filesNow().length === 0)
})

test('15: tables of the project are never changed, and nothing lasting is created', async (t) => {
  const db = await connect(t, { password: stack.masterToken })
  await db.query('CREATE TEMP TABLE t AS SELECT 1 AS id')
  for (const statement of [
    'CREATE TABLE lasting (a INTEGER)',
    'CREATE VIEW lasting AS SELECT 1',
    'CREATE TABLE "in.c-main".t (a INTEGER)',
    'CREATE TEMP TABLE "in.c-main".t (a INTEGER)',
    'CREATE SCHEMA s',
    'CREATE TEMP SEQUENCE s',
    'CREATE TEMP MACRO m(a) AS a + 1',
    'CREATE INDEX i ON "in.c-main".orders (id)',
    'INSERT INTO "in.c-main".orders SELECT * FROM t',
    'INSERT INTO orders SELECT id, id, id FROM t',
    'UPDATE orders SET city = NULL FROM t',
    'DELETE FROM orders USING t',
    'TRUNCATE t, orders',
    'DROP TABLE t, orders',
    'DROP TABLE IF EXISTS orders',
    'DROP VIEW "in.c-main".orders',
    'DROP SCHEMA pg_temp CASCADE',
    'ALTER TABLE orders ADD COLUMN t INTEGER',
    'CREATE SECRET s (TYPE s3)',
    `COMMENT ON TABLE t IS 'x'`,
  ]) {
    const { code, message } = await failure(db.query(statement))
    assert.equal(code, '25006', `${statement}: ${message}`)
  }
  assert.match((await failure(db.query('CREATE TABLE lasting (a INTEGER)'))).message, /CREATE TEMP TABLE/)
  // A change in a WITH reaches no table of the project either.
  assert.match((await failure(db.query('WITH t AS (SELECT 1) INSERT INTO "in.c-main".orders SELECT * FROM t'))).code, /^[24]/)
  assert.equal((await failure(db.query('CREATE TEMP TABLE pg_class AS SELECT 1'))).code, '42939')
  for (const forbidden of [
    `CREATE TEMP TABLE f AS SELECT * FROM read_text('/etc/passwd')`,
    `SELECT * FROM t, read_csv('/etc/passwd')`,
  ])
    assert.equal((await failure(db.query(forbidden))).code, '25006', forbidden)
  assert.deepEqual(await rowsOf(db, 'SELECT count(*) FROM "in.c-main".orders'), [['3']])
  assert.deepEqual(await rowsOf(db, 'SELECT id FROM t'), [[1]])
  // Only what the token may read.
  const limited = await connect(t)
  assert.equal((await failure(limited.query('CREATE TEMP TABLE u AS SELECT * FROM "in.c-other".twice'))).code, '42501')
})

test('15: a name in two buckets needs its bucket, and a view reads the table that it was created with', async (t) => {
  const db = await connect(t, { password: stack.masterToken })
  await db.query('CREATE TEMP TABLE t AS SELECT 1 AS id')
  assert.equal((await failure(db.query('SELECT * FROM twice, t'))).code, '42P09')
  assert.equal((await failure(db.query('INSERT INTO t SELECT id FROM twice'))).code, '42P01')
  await db.query('SET search_path = "in.c-main", "in.c-other"')
  await db.query('CREATE TEMP VIEW v AS SELECT * FROM twice')
  assert.deepEqual(await rowsOf(db, 'SELECT count(*) FROM v'), [['1']])
  await db.query('SET search_path = "in.c-other"')
  assert.deepEqual(await rowsOf(db, 'SELECT count(*) FROM v'), [['1']])
  assert.equal((await failure(db.query('SELECT count(*) FROM v, twice'))).code, '42P09')
  assert.deepEqual(await rowsOf(db, 'SELECT count(*) FROM v, "in.c-other".twice'), [['2']])
})

test('15: ROLLBACK and savepoints undo changes of temporary tables, without a process in between', async (t) => {
  const db = await connect(t)
  const ids = async () => (await rowsOf(db, 'SELECT n FROM t ORDER BY n')).flat()
  await db.query('BEGIN')
  await db.query('CREATE TEMP TABLE t (n INTEGER)')
  await db.query('INSERT INTO t VALUES (1)')
  await db.query('ROLLBACK')
  assert.equal((await failure(db.query('SELECT * FROM t'))).code, '42P01')
  await db.query('CREATE TEMP TABLE t (n INTEGER)')
  await db.query('INSERT INTO t VALUES (1)')
  await db.query('BEGIN')
  await db.query('INSERT INTO t VALUES (2)')
  await db.query('SAVEPOINT a')
  await db.query('INSERT INTO t VALUES (3)')
  await db.query('CREATE TEMP TABLE later AS SELECT * FROM orders')
  await db.query('SAVEPOINT b')
  await db.query('DELETE FROM t')
  assert.equal((await failure(db.query('INSERT INTO t VALUES ($1)', ['x']))).code, '22P02')
  assert.equal((await failure(db.query('SELECT 1'))).code, '25P02')
  await db.query('ROLLBACK TO b')
  assert.deepEqual(await ids(), [1, 2, 3])
  await db.query('ROLLBACK TO a')
  assert.deepEqual(await ids(), [1, 2])
  assert.equal((await failure(db.query('SELECT * FROM later'))).code, '42P01')
  await db.query('ROLLBACK TO a')
  await db.query('INSERT INTO t VALUES (4)')
  await db.query('RELEASE a')
  await db.query('COMMIT')
  assert.deepEqual(await ids(), [1, 2, 4])
  await db.query('BEGIN')
  await db.query('DROP TABLE t')
  await db.query('ROLLBACK')
  assert.deepEqual(await ids(), [1, 2, 4])
  assert.ok(filesNow().filter((name) => name.endsWith('.duckdb')).length === 1, `the copies are gone: ${filesNow()}`)
  await db.query('BEGIN')
  await db.query('CREATE TEMP TABLE gone ON COMMIT DROP AS SELECT 1 AS n')
  await db.query('CREATE TEMP TABLE emptied (n INTEGER) ON COMMIT DELETE ROWS')
  await db.query('INSERT INTO emptied SELECT n FROM gone')
  await db.query('COMMIT')
  assert.equal((await failure(db.query('SELECT * FROM gone'))).code, '42P01')
  assert.deepEqual(await rowsOf(db, 'SELECT count(*) FROM emptied'), [['0']])
})

test('15: a worker that ends takes no temporary table along, and a lost file is an error, not an empty answer', async (t) => {
  const db = await connect(t)
  await db.query('CREATE TEMP TABLE t AS SELECT * FROM range(1000) r(n)')
  await db.query('BEGIN')
  await db.query('DELETE FROM t WHERE n >= 10')
  for (const pid of stack.platform.sql.engine.workerPids()) process.kill(pid, 'SIGKILL')
  await until('the processes are gone', () => stack.platform.sql.engine.workerPids().length === 0)
  assert.deepEqual(await rowsOf(db, 'SELECT count(*) FROM t'), [['10']])
  await db.query('ROLLBACK')
  assert.deepEqual(await rowsOf(db, 'SELECT count(*) FROM t'), [['1000']])
  for (const pid of stack.platform.sql.engine.workerPids()) process.kill(pid, 'SIGKILL')
  await until('the processes are gone', () => stack.platform.sql.engine.workerPids().length === 0)
  for (const name of filesNow()) rmSync(join(files(), name))
  const { code, message } = await failure(db.query('SELECT count(*) FROM t'))
  assert.equal(code, '58P01')
  assert.match(message, /were lost \(t\)\. Create them again/)
  assert.equal((await failure(db.query('SELECT count(*) FROM t'))).code, '42P01')
})

test('15: COPY fills a temporary table: all rows or none, inside and outside of a transaction', async (t) => {
  const db = await connect(t)
  await db.query('CREATE TEMP TABLE t (id INTEGER, name TEXT)')
  const copy = (sql: string, data: string) => pipeline([data], db.query(copyFrom(sql)))
  await copy('COPY t FROM STDIN (FORMAT csv)', '1,a\n2,\n')
  await copy('COPY pg_temp.t (name, id) FROM STDIN', 'b\t3\n')
  assert.equal((await failure(copy('COPY t FROM STDIN (FORMAT csv)', '4,d\nx,e\n'))).code, '22P02')
  await db.query('BEGIN')
  await copy('COPY t FROM STDIN (FORMAT csv)', '5,e\n')
  await db.query('ROLLBACK')
  const rows = [
    [1, 'a'],
    [2, null],
    [3, 'b'],
  ]
  assert.deepEqual(await rowsOf(db, 'SELECT * FROM t ORDER BY id'), rows)
  assert.equal((await failure(copy('COPY orders FROM STDIN', 'x\n'))).code, '0A000')
})

test('15: the catalogue lists the temporary tables of the connection alone', async (t) => {
  const db = await connect(t)
  const other = await connect(t)
  await db.query('CREATE TEMP TABLE shown (id INTEGER, name TEXT, seen TIMESTAMP)')
  await db.query('CREATE TEMP VIEW seen AS SELECT id FROM orders')
  const listed = `SELECT table_name, table_type FROM information_schema.tables WHERE table_schema LIKE 'pg_temp%' ORDER BY 1`
  assert.deepEqual(await rowsOf(db, listed), [
    ['seen', 'LOCAL TEMPORARY'],
    ['shown', 'LOCAL TEMPORARY'],
  ])
  assert.deepEqual(
    await rowsOf(
      db,
      `SELECT column_name, data_type FROM information_schema.columns WHERE table_name = 'shown' ORDER BY ordinal_position`,
    ),
    [
      ['id', 'integer'],
      ['name', 'text'],
      ['seen', 'timestamp without time zone'],
    ],
  )
  const ofSchema = `SELECT c.relname, c.relpersistence, n.nspname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.oid = pg_my_temp_schema() AND c.relkind = 'r'`
  const [found] = await rowsOf(db, ofSchema)
  assert.deepEqual(found?.slice(0, 2), ['shown', 't'])
  // By the name of the schema that the catalogue shows.
  assert.deepEqual(await rowsOf(db, `SELECT count(*) FROM "${found?.[2]}".shown`), [['0']])
  assert.deepEqual(await rowsOf(db, `SELECT to_regclass('shown') IS NOT NULL`), [[true]])
  assert.deepEqual(await rowsOf(other, listed), [])
  assert.deepEqual(await rowsOf(other, ofSchema), [])
  // psql reads a table by its number, which stays while other connections have tables of the same name.
  const numberOf = async (one: pg.Client) => (await rowsOf(one, `SELECT 'shown'::regclass::oid`))[0]?.[0]
  const number = await numberOf(db)
  await other.query('CREATE TEMP TABLE shown (other TEXT)')
  assert.notEqual(await numberOf(other), number)
  assert.deepEqual(await rowsOf(db, `SELECT relname, relnatts FROM pg_class WHERE oid = ${number}`), [['shown', 3]])
  assert.deepEqual(await rowsOf(other, listed), [['shown', 'LOCAL TEMPORARY']])
  await other.query('DROP TABLE shown')
  assert.deepEqual(await rowsOf(other, listed), [])
  await db.query('DROP TABLE shown')
  assert.deepEqual(await rowsOf(db, listed), [['seen', 'LOCAL TEMPORARY']])
})

test('15: statements of Tableau, and of clients that describe before they execute', async (t) => {
  const db = await connect(t)
  const name = '"#Tableau_1_0x00007f8a_1_Connect_CheckCreateTempTableCap"'
  await db.query(`CREATE LOCAL TEMPORARY TABLE ${name} (\n  "COL" INTEGER\n  ) ON COMMIT PRESERVE ROWS`)
  await db.query(`INSERT INTO ${name} ("COL") VALUES (1)`)
  await db.query(`DROP TABLE ${name}`)
  const into = await db.query(`SELECT *\nINTO TEMPORARY TABLE ${name}\nFROM (SELECT 1 AS COL) AS CHECKTEMP\nLIMIT 1`)
  assert.deepEqual([into.command, into.rowCount], ['SELECT', 1])
  assert.deepEqual(await rowsOf(db, `SELECT COL FROM ${name}`), [[1]])
  const values = ['a', 5]
  await db.query({ name: 'create', text: 'CREATE TEMP TABLE p (name TEXT, n BIGINT)' })
  await db.query({ name: 'add', text: 'INSERT INTO p VALUES ($1, $2)', values })
  await db.query({ name: 'add', text: 'INSERT INTO p VALUES ($1, $2)', values })
  assert.deepEqual(await rowsOf(db, 'SELECT name, n FROM p WHERE n = $1', [5]), [values.map(String), values.map(String)])
  await db.query('PREPARE more AS INSERT INTO p VALUES ($1, $2)')
  await db.query(`EXECUTE more('b', 6)`)
  await db.query('BEGIN')
  await db.query('DECLARE c CURSOR FOR SELECT n FROM p ORDER BY n')
  assert.deepEqual(await rowsOf(db, 'FETCH 2 FROM c'), [['5'], ['5']])
  const { code, message } = await failure(db.query('INSERT INTO p VALUES ($1, $2)', values))
  assert.equal(code, '55006')
  assert.match(message, /Read it to its end/)
  await db.query('ROLLBACK')
  assert.deepEqual(await rowsOf(db, 'SELECT count(*) FROM p'), [['3']])
})

test('15: temporary tables are bounded in number and size, for a connection and for all', async (t) => {
  const db = await connect(t)
  const fill = 'CREATE TEMP TABLE large AS SELECT n, hash(n) AS a, hash(n + 1) AS b, hash(n + 2) AS c FROM range(4000000) r(n)'
  const { code, message } = await failure(db.query(fill))
  assert.equal(code, '53100')
  assert.match(message, /those of this connection use more than 8 MB/)
  assert.equal((await failure(db.query('SELECT * FROM large'))).code, '42P01')
  await db.query('CREATE TEMP TABLE small AS SELECT 1 AS n')
  for (let i = 1; i < 200; i++) await db.query(`CREATE TEMP VIEW v${i} AS SELECT 1 AS n`)
  assert.equal((await failure(db.query('CREATE TEMP TABLE more AS SELECT 1 AS n'))).code, '54000')
  await db.query('DROP VIEW v1')
  await db.query('CREATE TEMP TABLE more AS SELECT 1 AS n')
})

test('a statement that lets a workspace grow beyond its quota is stopped, by itself, in a transaction and by COPY', async (t) => {
  const made = await stack.request('POST', '/v2/storage/workspaces', { json: {} })
  const { user, password } = made.json<{ connection: { user: string; password: string } }>().connection
  const db = await connect(t, { user, password })
  const large = 'SELECT n, hash(n) AS a, hash(n + 1) AS b, hash(n + 2) AS c FROM range(20000000) r(n)'
  const isFull = ({ code, message }: { code: string; message: string }) => {
    assert.equal(code, '53100', message)
    assert.match(message, /would exceed its limit of 16 MB/)
    return true
  }
  await assert.rejects(db.query(`CREATE TABLE large AS ${large}`), isFull)
  assert.deepEqual(await rowsOf(db, 'SELECT 1'), [[1]])
  await db.query('BEGIN')
  await db.query('CREATE TABLE kept (n BIGINT, a UBIGINT, b UBIGINT, c UBIGINT)')
  await db.query('INSERT INTO kept VALUES (1, 2, 3, 4)') // the statement that the transaction began with is over
  await assert.rejects(db.query(`INSERT INTO kept ${large}`), isFull)
  await db.query('ROLLBACK')
  await db.query('CREATE TABLE kept (n BIGINT, a UBIGINT, b UBIGINT, c UBIGINT)')
  await assert.rejects(db.query(`INSERT INTO kept ${large} RETURNING n`), isFull)
  const mixed = (n: number) => (Math.imul(n, 0x9e3779b1) >>> 0) * 2 ** 20 + (Math.imul(n, 0x85ebca6b) >>> 12) // not to be compressed
  const rows = function* () {
    for (let n = 0; n < 1_500_000; n += 10_000)
      yield Array.from(
        { length: 10_000 },
        (_, i) => `${n + i},${mixed(n + i)},${mixed(3 * (n + i))},${mixed(7 * (n + i))}\n`,
      ).join('')
  }
  await assert.rejects(pipeline(rows, db.query(copyFrom('COPY kept FROM STDIN (FORMAT csv)'))), isFull)
  assert.deepEqual(await rowsOf(db, 'SELECT count(*) FROM kept'), [['0']])
})
