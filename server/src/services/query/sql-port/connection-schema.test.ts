// Temporary tables of connections to a workspace (point 15 of the list of PostgreSQL clients).

import assert from 'node:assert/strict'
import { pipeline } from 'node:stream/promises'
import { before, test } from 'node:test'
import pg from 'pg'
import { from as copyFrom, to as copyTo } from 'pg-copy-streams'
import { tableClient } from '../../../../../tests/support/clients/table-client.ts'
import { startTestStack, type TestStack } from '../../../../../tests/support/test-stack.ts'
import { until } from '../../../../../tests/support/until.ts'

let stack: TestStack
let port: number
let stop: (() => Promise<void>) | undefined
before(async () => {
  const lasting = { after: (work: () => Promise<void>) => (stop = work) } as never
  stack = await startTestStack(lasting, { sql: { memoryMb: 512, workspaceMb: 16 } })
  port = await stack.platform.sqlPort.listen(0, '127.0.0.1')
  const client = tableClient(stack)
  await client.bucket('main')
  await client.create('in.c-main', 'orders', 'id,city,price\n1,Praha,10\n2,Brno,20\n3,Praha,\n', { primaryKey: 'id' })
})
test.after(() => stop?.())

interface Workspace {
  readonly id: number
  connect(t: Scoped): Promise<pg.Client>
  /** Over HTTP, in a session of its own. */
  rows(sql: string): Promise<unknown[]>
}

interface Scoped {
  after(work: () => Promise<void>): void
}

async function newWorkspace(): Promise<Workspace> {
  const made = await stack.request('POST', '/v2/storage/workspaces', { json: { readOnlyStorageAccess: true } })
  const { id, connection } = made.json<{ id: number; connection: { user: string; password: string } }>()
  const login = { host: '127.0.0.1', port, user: connection.user, password: connection.password, database: 'default' }
  return {
    id,
    connect: async (t) => {
      const connected = new pg.Client(login)
      connected.on('error', () => {})
      await connected.connect()
      t.after(() => connected.end().catch(() => {}))
      return connected
    },
    rows: async (query) => {
      const answer = await stack.request('POST', `/v2/storage/branch/default/workspaces/${id}/query`, { json: { query } })
      assert.equal(answer.status, 200, answer.text)
      return answer.json<{ data: { rows: unknown[] } }>().data.rows
    },
  }
}

const rowsOf = async (db: pg.Client, text: string, values: unknown[] = []): Promise<unknown[][]> =>
  (await db.query({ text, values, rowMode: 'array' })).rows as unknown[][]

const failure = async (work: Promise<unknown>): Promise<{ code: string; message: string }> =>
  work.then(
    () => assert.fail('it did not fail'),
    (error: { code: string; message: string }) => error,
  )

const SCHEMAS = `SELECT schema_name FROM duckdb_schemas() WHERE schema_name LIKE 'pg_temp of%'`

test('15: temporary tables of a workspace last as long as their connection, which alone sees them', async (t) => {
  const workspace = await newWorkspace()
  const db = await workspace.connect(t)
  for (const words of ['TEMP', 'OR REPLACE TEMPORARY', 'LOCAL TEMP']) {
    const made = await db.query(`CREATE ${words} TABLE own AS SELECT 7 AS n`)
    assert.equal(made.command, 'SELECT')
    await db.query('DROP TABLE own')
  }
  await db.query('CREATE TEMP TABLE own AS SELECT 7 AS n')
  assert.equal((await db.query('INSERT INTO own VALUES ($1)', [8])).rowCount, 1)
  assert.deepEqual(await rowsOf(db, 'SELECT n FROM own ORDER BY n'), [[7], [8]])
  const other = await workspace.connect(t)
  assert.equal((await failure(other.query('SELECT * FROM own'))).code, '42P01')
  assert.equal((await failure(other.query('SELECT * FROM pg_temp.own'))).code, '42P01')
  await other.query('CREATE TEMP TABLE own AS SELECT 9 AS n')
  assert.deepEqual(await rowsOf(db, 'SELECT sum(n) FROM own'), [['15']])
  assert.deepEqual(await rowsOf(other, 'SELECT n FROM pg_temp.own'), [[9]])
  const [schema] = (await rowsOf(db, `${SCHEMAS} ORDER BY 1`)).flat()
  assert.equal((await failure(other.query(`SELECT * FROM "${schema}".own`))).code, '42501')
  await other.query('DISCARD ALL')
  assert.equal((await failure(other.query('SELECT * FROM own'))).code, '42P01')
  assert.deepEqual(await rowsOf(db, 'SELECT count(*) FROM own'), [['2']])
  assert.equal((await workspace.rows(SCHEMAS)).length, 1)
  await db.end()
  await until('the schema is dropped', async () => (await workspace.rows(SCHEMAS)).length === 0)
})

test('15: what lasts is created beside temporary tables, never among them', async (t) => {
  const workspace = await newWorkspace()
  const db = await workspace.connect(t)
  await db.query('CREATE TABLE shared AS SELECT 1 AS n')
  await db.query('CREATE TEMP TABLE shared AS SELECT 2 AS n')
  await db.query('CREATE TABLE lasting AS SELECT * FROM shared')
  await db.query('CREATE VIEW seen AS SELECT * FROM main.shared')
  await db.query('CREATE TABLE numbered (id SERIAL, name TEXT)')
  await db.query('CREATE SEQUENCE s')
  await db.query('CREATE INDEX named ON numbered (name)')
  const other = await workspace.connect(t)
  assert.deepEqual(await rowsOf(db, 'SELECT n FROM shared'), [[2]])
  assert.deepEqual(await rowsOf(other, 'SELECT n FROM shared'), [[1]])
  assert.deepEqual(await rowsOf(other, 'SELECT n FROM lasting'), [[2]])
  assert.deepEqual(await rowsOf(other, 'SELECT n FROM seen'), [[1]])
  await other.query(`INSERT INTO numbered (name) VALUES ('a')`)
  assert.deepEqual(await rowsOf(db, 'SELECT id, name FROM numbered'), [[1, 'a']])
  await db.query('DROP TABLE shared')
  assert.deepEqual(await rowsOf(db, 'SELECT n FROM shared'), [[1]])
  await db.query('ALTER TABLE numbered RENAME TO renamed')
  assert.deepEqual(await rowsOf(other, 'SELECT count(*) FROM renamed'), [['1']])

  const { code, message } = await failure(db.query('CREATE TEMP TABLE main.t (a INTEGER)'))
  assert.equal(code, '42P16')
  assert.match(message, /Leave out the schema, or TEMPORARY/)
  for (const statement of [
    `CREATE TEMP TABLE f AS SELECT * FROM read_text('/etc/passwd')`,
    'CREATE TEMP SECRET s (TYPE s3)',
    'CREATE TEMP TABLE "in.c-main".t (a INTEGER)',
    'CREATE TEMP TABLE',
    'CREATE TEMP TABLE t AS SELECT * FROM nothing',
  ])
    assert.match((await failure(db.query(statement))).code, /^(42|25006|0A000)/, statement)
  assert.deepEqual(await rowsOf(db, 'SELECT 1'), [[1]])
})

test('15: temporary tables of a workspace follow transactions and savepoints', async (t) => {
  const workspace = await newWorkspace()
  const db = await workspace.connect(t)
  await db.query('BEGIN')
  await db.query('CREATE TABLE before AS SELECT 1 AS n')
  await db.query('CREATE TEMP TABLE kept AS SELECT 1 AS n')
  await db.query('COMMIT')
  assert.deepEqual(await rowsOf(db, 'SELECT n FROM kept'), [[1]])
  await db.query('BEGIN')
  await db.query('INSERT INTO kept VALUES (2)')
  await db.query('CREATE TEMP TABLE undone AS SELECT 1 AS n')
  await db.query('ROLLBACK')
  assert.deepEqual(await rowsOf(db, 'SELECT n FROM kept'), [[1]])
  assert.equal((await failure(db.query('SELECT * FROM undone'))).code, '42P01')

  // The schema of the connection is created in the transaction that returns to a savepoint.
  const fresh = await workspace.connect(t)
  await fresh.query('BEGIN')
  await fresh.query('CREATE TABLE lasting AS SELECT 1 AS n')
  await fresh.query('CREATE TEMP TABLE own AS SELECT 1 AS n')
  await fresh.query('SAVEPOINT s')
  await fresh.query('INSERT INTO own VALUES (2)')
  await fresh.query('CREATE TEMP TABLE later AS SELECT 1 AS n')
  await fresh.query('ROLLBACK TO s')
  assert.deepEqual(await rowsOf(fresh, 'SELECT n FROM own'), [[1]])
  assert.deepEqual(await rowsOf(fresh, 'SELECT n FROM lasting'), [[1]])
  await fresh.query('CREATE TEMP TABLE later AS SELECT 3 AS n')
  await fresh.query('COMMIT')
  assert.deepEqual(await rowsOf(fresh, 'SELECT own.n, later.n FROM own, later'), [[1, 3]])
  assert.deepEqual(await rowsOf(db, 'SELECT n FROM lasting'), [[1]])

  const other = await workspace.connect(t)
  await other.query('BEGIN')
  await other.query('SAVEPOINT s')
  await other.query('CREATE TEMP TABLE own AS SELECT 1 AS n')
  await other.query('ROLLBACK TO s')
  await other.query('CREATE TEMP TABLE own AS SELECT 5 AS n')
  await other.query('COMMIT')
  assert.deepEqual(await rowsOf(other, 'SELECT n FROM own'), [[5]])
})

test('15: COMMIT drops or empties temporary tables of a workspace as they were created', async (t) => {
  const workspace = await newWorkspace()
  const db = await workspace.connect(t)
  await db.query('BEGIN')
  await db.query('CREATE TEMP TABLE gone ON COMMIT DROP AS SELECT 1 AS n')
  await db.query('CREATE TEMP TABLE emptied (n INTEGER) ON COMMIT DELETE ROWS')
  await db.query('CREATE TEMP TABLE kept (n INTEGER) ON COMMIT PRESERVE ROWS')
  await db.query('INSERT INTO emptied VALUES (1)')
  await db.query('INSERT INTO kept VALUES (1)')
  assert.deepEqual(await rowsOf(db, 'SELECT gone.n + emptied.n + kept.n FROM gone, emptied, kept'), [[3]])
  await db.query('COMMIT')
  assert.equal((await failure(db.query('SELECT * FROM gone'))).code, '42P01')
  assert.deepEqual(await rowsOf(db, 'SELECT (SELECT count(*) FROM emptied), (SELECT count(*) FROM kept)'), [['0', '1']])
  await db.query('CREATE TEMP TABLE gone (n INTEGER) ON COMMIT DROP')
  assert.equal((await failure(db.query('SELECT * FROM gone'))).code, '42P01')
  await db.query('CREATE TEMP TABLE gone (n INTEGER)')
  await db.query('BEGIN')
  await db.query('CREATE OR REPLACE TEMP TABLE gone (n INTEGER) ON COMMIT DROP')
  await db.query('ROLLBACK')
  await db.query('BEGIN')
  await db.query('INSERT INTO gone VALUES (1)')
  await db.query('COMMIT')
  assert.deepEqual(await rowsOf(db, 'SELECT count(*) FROM gone'), [['1']])
})

test('15: temporary tables of a workspace are changed in every way that clients use', async (t) => {
  const workspace = await newWorkspace()
  const db = await workspace.connect(t)
  await db.query('CREATE TEMP TABLE wanted (id TEXT, note TEXT DEFAULT $$new$$, n SERIAL)')
  await db.query('INSERT INTO wanted (id) VALUES ($1), ($2)', ['1', '3'])
  const joined = 'SELECT o.id, city, note, n FROM "in.c-main".orders o JOIN wanted w ON w.id = o.id ORDER BY o.id'
  assert.deepEqual(await rowsOf(db, joined), [
    ['1', 'Praha', 'new', 1],
    ['3', 'Praha', 'new', 2],
  ])
  await db.query('UPDATE wanted SET note = city FROM "in.c-main".orders o WHERE o.id = wanted.id')
  assert.deepEqual(await rowsOf(db, `DELETE FROM wanted WHERE id = '3' RETURNING note`), [['Praha']])
  await db.query('CREATE TEMP TABLE copied (id INTEGER, name TEXT)')
  await pipeline([`1,"a\nb"\n2,\n`], db.query(copyFrom('COPY copied FROM STDIN (FORMAT csv)')))
  await pipeline(['3\tc\n'], db.query(copyFrom('COPY pg_temp.copied (id, name) FROM STDIN')))
  assert.deepEqual(await rowsOf(db, 'SELECT id, name FROM copied ORDER BY id'), [
    [1, 'a\nb'],
    [2, null],
    [3, 'c'],
  ])
  const sent = await Array.fromAsync(db.query(copyTo('COPY pg_temp.copied (id) TO STDOUT')))
  assert.equal(Buffer.concat(sent).toString(), '1\n2\n3\n')
  await db.query('CREATE UNIQUE INDEX copied_id ON copied (id)')
  assert.equal((await failure(db.query('INSERT INTO copied (id) VALUES (1)'))).code, '23505')
  await db.query('ALTER TABLE copied RENAME TO moved')
  assert.equal((await failure(db.query('INSERT INTO moved (id) VALUES (1)'))).code, '23505')
  await db.query('ALTER TABLE pg_temp.moved ADD COLUMN added INTEGER')
  await db.query('TRUNCATE moved')
  assert.deepEqual(await rowsOf(db, 'SELECT count(*), count(added) FROM moved'), [['0', '0']])
  await db.query(`CREATE TEMP VIEW big AS SELECT * FROM "in.c-main".orders WHERE price <> ''`)
  assert.deepEqual(await rowsOf(db, 'SELECT count(*) FROM big'), [['2']])
  await db.query('DROP VIEW big')
  await db.query('DROP TABLE IF EXISTS moved, nothing').catch(() => db.query('DROP TABLE moved'))
  assert.equal((await failure(db.query('SELECT * FROM moved'))).code, '42P01')
  // Tableau and Ibis.
  await db.query('CREATE LOCAL TEMPORARY TABLE "#Tableau_1_Connect" (\n  "COL" INTEGER\n  ) ON COMMIT PRESERVE ROWS')
  await db.query('INSERT INTO "#Tableau_1_Connect" VALUES (1)')
  await db.query('DROP TABLE "#Tableau_1_Connect"')
  const into = await db.query('SELECT *\nINTO TEMPORARY TABLE "#Tableau_1_Connect"\nFROM (SELECT 1 AS COL) AS CHECKTEMP\nLIMIT 1')
  assert.equal(into.rowCount, 1)
  assert.deepEqual(await rowsOf(db, 'SELECT COL FROM "#Tableau_1_Connect"'), [[1]])
  // Statements with a name and parameters.
  await db.query({ name: 'create', text: 'CREATE TEMP TABLE p (name TEXT, n BIGINT)' })
  await db.query({ name: 'add', text: 'INSERT INTO p VALUES ($1, $2)', values: ['a', 5] })
  await db.query({ name: 'add', text: 'INSERT INTO p VALUES ($1, $2)', values: ['b', 6] })
  await db.query('PREPARE more AS INSERT INTO pg_temp.p VALUES ($1, $2)')
  await db.query(`EXECUTE more('c', 7)`)
  assert.deepEqual(await rowsOf(db, 'SELECT name FROM p WHERE n > $1 ORDER BY 1', [5]), [['b'], ['c']])
})

test('15: the catalogue shows a connection its own temporary tables, and lists of the workspace show none', async (t) => {
  const workspace = await newWorkspace()
  const [db, other] = [await workspace.connect(t), await workspace.connect(t)]
  await db.query('CREATE TEMP TABLE shown (id INTEGER, name TEXT, seen TIMESTAMP)')
  await other.query('CREATE TEMP TABLE shown (other TEXT)')
  await db.query('CREATE TABLE lasting (id INTEGER)')
  const listed = `SELECT table_name, table_type, table_schema LIKE 'pg_temp%' FROM information_schema.tables
    WHERE table_schema <> 'in.c-main' AND table_schema NOT IN ('pg_catalog', 'information_schema') ORDER BY 1`
  assert.deepEqual(await rowsOf(db, listed), [
    ['lasting', 'BASE TABLE', false],
    ['shown', 'LOCAL TEMPORARY', true],
  ])
  const columns = `SELECT column_name FROM information_schema.columns WHERE table_name = 'shown' ORDER BY ordinal_position`
  assert.deepEqual(await rowsOf(db, columns), [['id'], ['name'], ['seen']])
  assert.deepEqual(await rowsOf(other, columns), [['other']])
  assert.deepEqual(await rowsOf(db, `SELECT 'shown'::regclass::text, current_schema()`), [['shown', 'main']])
  const objects = await stack.request('GET', `/v2/storage/workspaces/${workspace.id}/objects`)
  assert.deepEqual(objects.json(), [{ name: 'lasting', type: 'table' }])
  const load = { dataWorkspaceId: workspace.id, dataObject: 'shown', name: 'shown' }
  const refused = await stack.request('POST', '/v2/storage/buckets/in.c-main/tables-async', { json: load })
  const { id } = refused.json<{ id: number }>()
  await until(
    'the load fails',
    async () => (await stack.request('GET', `/v2/storage/jobs/${id}`)).json<{ status: string }>().status === 'error',
  )
})

test('15: temporary tables count as part of their workspace, and outlive the process that wrote them', async (t) => {
  const workspace = await newWorkspace()
  const db = await workspace.connect(t)
  const large = 'SELECT n, hash(n) AS a, hash(n + 1) AS b, hash(n + 2) AS c FROM range(20000000) r(n)'
  const full = await failure(db.query(`CREATE TEMP TABLE large AS ${large}`))
  assert.equal(full.code, '53100')
  assert.match(full.message, /would exceed its limit of 16 MB/)
  await db.query('CREATE TEMP TABLE small AS SELECT 1 AS n')
  for (const pid of stack.platform.sql.engine.workerPids()) process.kill(pid, 'SIGKILL')
  await until('another process answers', () =>
    rowsOf(db, 'SELECT n FROM small').then(
      (rows) => rows[0]?.[0] === 1,
      () => false,
    ),
  )
})
