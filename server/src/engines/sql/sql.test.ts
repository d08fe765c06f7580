import assert from 'node:assert/strict'
import { readdir, readlink } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { PlatformError } from '../../kit/errors.ts'
import { HOSTILE_SQL } from './hostile-sql.fixture.ts'
import { rowsOf, startSql, type TestSql, textOf } from './sql.fixture.ts'
import type { SqlSession } from './sql-engine.ts'
import { TABLE_FUNCTIONS } from './statements.ts'
import { WorkerProcess } from './worker-process.ts'

let sql: TestSql
before(async () => {
  sql = await startSql({ memoryMb: 512, diskMb: 64, threads: 2, sessions: 2, waitMs: 50 })
  await sql.table('in.c-main', 'orders', `SELECT i AS id, 'name ' || i AS name, i % 3 = 0 AS paid FROM range(10) t(i)`)
  await sql.table('in.c-main', 'secret', `SELECT 1 AS shown, 'hidden' AS hidden`, 'shown')
})
after(() => sql[Symbol.asyncDispose]())

const failure = async (work: Promise<unknown>) => {
  const error = await work.then(
    () => assert.fail('it succeeded'),
    (thrown: unknown) => thrown,
  )
  return error as { code: string; message: string; params?: Record<string, unknown> }
}

test('tables are read by the names of the project, with their types', async () => {
  await using session = await sql.open()
  const result = await session.query(`SELECT * FROM "in.c-main"."orders" WHERE id >= 8 ORDER BY id`)
  assert.deepEqual(result.columns, [
    { name: 'id', type: 'BIGINT' },
    { name: 'name', type: 'VARCHAR' },
    { name: 'paid', type: 'BOOLEAN' },
  ])
  assert.deepEqual(await Array.fromAsync(result.batches), [
    [
      [8n, 'name 8', false],
      [9n, 'name 9', true],
    ],
  ])
  assert.deepEqual(await result.end, { rows: 2, changedRows: null })
  assert.deepEqual(await rowsOf(session, 'SELECT count(*) FROM "in.c-main".orders WHERE name = ?', ['name 3']), [[1n]])
})

test('text comes as DuckDB writes it: CSV with a header, or an array per line', async () => {
  await using session = await sql.open()
  assert.equal(
    await textOf(session, `SELECT id, name, NULL AS none, '' AS empty, 'a"b' AS q FROM "in.c-main".orders WHERE id = 1`),
    'id,name,none,empty,q\n1,name 1,,"","a""b"\n',
  )
  assert.equal(
    await textOf(session, `SELECT .5::DECIMAL(2,2) AS "a ""b""", -.25::DECIMAL(2,2) AS c, NULL::DECIMAL(1,1) AS d, 1.5 AS e`),
    '"a ""b""",c,d,e\n0.50,-0.25,,1.5\n',
  )
  const values = `1.10::DECIMAL(4,2), 'nan'::DOUBLE, 2::BIGINT ** 60, E'a\\n"\\x01é', DATE '2024-02-29', NULL, [1, 2], {'a': 1}`
  const [line] = (await textOf(session, `SELECT 9007199254740993::BIGINT AS a, ${values}`, 'json')).split('\n')
  assert.equal(line, '[9007199254740993,"1.10","nan",1152921504606847000.0,"a\\n\\"\\u0001é","2024-02-29",null,[1,2],{"a":1}]')
  assert.match(await textOf(session, 'EXPLAIN SELECT 1', 'json'), /^\["physical_plan",/)
  assert.equal(await textOf(session, `DESCRIBE "in.c-main".orders`), await textOf(session, `DESCRIBE FROM "in.c-main".orders`))
})

test('a table that changed is read in its new state, and in a transaction in the old one', async () => {
  await sql.table('in.c-main', 'state', 'SELECT 1 AS v')
  await using session = await sql.open()
  const read = () => rowsOf(session, 'SELECT v FROM "in.c-main".state')
  assert.deepEqual(await read(), [[1]])
  await session.execute('BEGIN')
  await sql.table('in.c-main', 'state', 'SELECT 2 AS v')
  assert.deepEqual(await read(), [[1]])
  await session.execute('COMMIT')
  assert.deepEqual(await read(), [[2]])
})

test('mistakes say what and where', async () => {
  await using session = await sql.open()
  const syntax = await failure(session.query('SELECT id\nFRM x y'))
  assert.equal(syntax.code, 'sql.failed')
  assert.match(syntax.message, /^Parser Error: syntax error at or near "x" \(line 2, character 5\)$/)
  const unknown = await failure(session.query('SELECT * FROM "in.c-main".nothing'))
  assert.match(unknown.message, /nothing.* does not exist/)
  assert.deepEqual(unknown.params, { position: 14, line: 1, column: 15 })
  assert.match((await failure(textOf(session, `SELECT 'ž', 'x'::INT`))).message, /Conversion Error.*\(line 1, character 16\)/)
  assert.equal((await failure(session.query('SELECT 1; SELECT 2'))).code, 'sql.manyStatements')
  assert.equal((await failure(session.query(' -- nothing'))).code, 'sql.invalid')
  assert.equal((await failure(session.query(`SELECT '${'x'.repeat(10 << 20)}'`))).code, 'sql.tooLong')
  assert.deepEqual(await rowsOf(session, 'SELECT 1'), [[1]], 'the session goes on')
})

test('a session touches no file, no setting and no other database', async () => {
  await using reading = await sql.open()
  await using writing = await sql.open({ mode: 'write', database: join(sql.root, 'own.db') })
  for (const statement of [
    `COPY (SELECT 1) TO '/etc/millrace'`,
    `ATTACH '/etc/passwd' AS p`,
    'INSTALL httpfs',
    'LOAD httpfs',
    'SET threads = 64',
    'RESET memory_limit',
    'PRAGMA threads = 8',
    'CALL pragma_version()',
    `CREATE SECRET s (TYPE s3)`,
    `CREATE OR REPLACE PERSISTENT SECRET s (TYPE s3)`,
    `EXPORT DATABASE '/tmp/x'`,
    'USE memory',
    'CHECKPOINT',
    `SELECT * FROM read_csv('/etc/passwd')`,
    `SELECT * FROM read_parquet('/etc/passwd')`,
    `SELECT * FROM system.main."read_text" ('/etc/passwd')`,
    `SELECT * FROM Read_Blob/* here */('/etc/passwd')`,
    `SELECT * FROM read_text\u00a0('/etc/passwd')`,
    `SELECT * FROM glob('/*')`,
    `SELECT * FROM query('SELECT 1')`,
    `WITH a AS (FROM parquet_metadata('/x')) FROM a`,
    `SELECT 1 /* /* */ , (SELECT count(*) FROM glob('/*')) -- */`,
  ])
    for (const session of [reading, writing]) {
      const { code } = await failure(session.query(statement))
      assert.ok(code === 'sql.notAllowed' || code === 'sql.invalid', `${statement}: ${code}`)
    }
  for (const statement of [`SELECT * FROM '/etc/passwd'`, `SELECT * FROM '/etc/hosts.csv'`, `FROM "/etc/x.parquet"`])
    assert.equal((await failure(reading.query(statement))).code, 'sql.failed', statement)
  for (const statement of ['CREATE TABLE t (i INT)', 'INSERT INTO "in.c-main".orders VALUES (1)', 'DROP VIEW "in.c-main".orders'])
    assert.equal((await failure(reading.query(statement))).code, 'sql.notAllowed', statement)
  assert.equal((await failure(reading.query('WITH x AS (SELECT 1) INSERT INTO t FROM x'))).code !== undefined, true)
})

test('an alias shows its columns and nothing else', async () => {
  await using session = await sql.open()
  assert.deepEqual(await rowsOf(session, 'SELECT * FROM "in.c-main".secret'), [[1]])
  assert.match((await failure(session.query('SELECT hidden FROM "in.c-main".secret'))).message, /"hidden" not found/)
  const scratch = join(sql.root, 'scratch')
  const path = (await readdir(scratch, { recursive: true })).find((name) => /\/files\/[\w-]+$/.test(name))
  assert.ok(path, 'the session has a link to the file')
  assert.equal((await failure(session.query(`SELECT * FROM read_parquet('${join(scratch, path)}')`))).code, 'sql.notAllowed')
  assert.equal((await failure(session.query(`SELECT * FROM '${join(scratch, path)}'`))).code, 'sql.failed')
})

test('a session of its own database keeps its tables, beside those of the project', async () => {
  const database = join(sql.root, 'kept.db')
  const first = await sql.open({ mode: 'write', database })
  const made = await first.execute(`CREATE TABLE big AS SELECT * FROM "in.c-main"."orders" o WHERE "o"."id" > 4`)
  assert.equal(made.rows, null)
  assert.deepEqual(await first.execute(`INSERT INTO big VALUES (99, 'new', true), (100, 'new', true)`), {
    rows: null,
    changedRows: 2,
  })
  assert.match(
    (await failure(first.query(`SELECT "in.c-main".orders.id,\n "in.c-main".orders.wrong FROM "in.c-main".orders`))).message,
    /wrong.*line 2/,
  )
  await first.execute('BEGIN')
  await first.execute('DELETE FROM big')
  assert.deepEqual(await rowsOf(first, 'SELECT count(*) FROM "in.c-main".secret, big'), [[0n]])
  await first.execute('ROLLBACK')
  await first.close()
  const second = await sql.open({ mode: 'write', database })
  assert.deepEqual(await rowsOf(second, 'SELECT count(*) FROM big'), [[7n]])
  await second.close()
})

test('what would fill memory and disk is stopped, and the session goes on', async () => {
  await using session = await sql.open({ limits: { memoryMb: 400, diskMb: 8 } })
  const huge = 'SELECT DISTINCT a.i, b.i FROM range(1000000) a(i), range(1000) b(i)'
  const { code, message } = await failure(session.execute(huge))
  assert.equal(code, 'sql.tooMuch')
  assert.match(message, /400 MB of memory and 8 MB of temporary disk/)
  assert.deepEqual(await rowsOf(session, 'SELECT 1'), [[1]])
})

test('a full disk is reported as such, and the next session works', async () => {
  const { code } = await failure(
    sql.open({ mode: 'write', database: '/dev/full' }).then((session) => session.execute('CREATE TABLE t AS SELECT 1')),
  )
  assert.equal(code, 'sql.diskFull')
  await using session = await sql.open({ mode: 'write', database: join(sql.root, 'not-full.db') })
  await session.execute('CREATE TABLE t AS SELECT 1 AS a')
  assert.deepEqual(await rowsOf(session, 'FROM t'), [[1]])
})

test('a statement that takes too long is stopped, and one can be cancelled', async () => {
  const session = await sql.open({ limits: { timeoutMs: 200 } })
  const endless = 'SELECT count(*) FROM range(1000000000) a, range(1000000000) b WHERE hash(a.range, b.range) = 1'
  assert.equal((await failure(session.execute(endless))).code, 'sql.timeout')
  assert.deepEqual(await rowsOf(session, 'SELECT 1'), [[1]])
  await session.close()

  await using other = await sql.open()
  const stop = new AbortController()
  const running = failure(other.execute(endless, { signal: stop.signal }))
  stop.abort()
  assert.equal((await running).code, 'sql.cancelled')
  const rows = await other.copy('SELECT i FROM range(100000000) t(i)', 'csv')
  for await (const _ of rows.bytes) break // a reader that leaves in the middle
  assert.equal((await failure(rows.end)).code, 'sql.cancelled')
  const batches = await other.query('SELECT i FROM range(100000000) t(i)')
  for await (const _ of batches.batches) break
  await batches.cancel()
  assert.deepEqual(await rowsOf(other, 'SELECT 1'), [[1]])
})

test('rows that nobody reads are given up whenever the reader leaves', async () => {
  await using session = await sql.open()
  for (let round = 0; round < 60; round++) {
    const { cancel } = await session.query('SELECT i FROM range(100000000) t(i)')
    const readyAt = performance.now()
    while (performance.now() - readyAt < round / 4); // before, while and after the process has sent what it may send unread
    await cancel()
  }
  assert.deepEqual(await rowsOf(session, 'SELECT 1'), [[1]])
})

test('a killed process fails its statement, and the next session gets another', async () => {
  await using session = await sql.open()
  const before = sql.engine.workerPids()
  const { bytes } = await session.copy('SELECT i FROM range(100000000) t(i)', 'csv')
  await bytes[Symbol.asyncIterator]().next()
  for (const pid of before) process.kill(pid, 'SIGKILL')
  assert.equal((await failure(Array.fromAsync(bytes))).code, 'sql.workerDied')
  await session.close()
  const next = await sql.open()
  assert.deepEqual(await rowsOf(next, 'SELECT 1'), [[1]])
  await next.close()
})

test('an idle process that was killed is replaced when a session wants it', async () => {
  // Up to 10 ms after the kill: sooner or later than the system reports the end, and always before the server has noticed it.
  for (let round = 0; round < 10; round += process.env.MILLRACE_LONG ? 1 : 4) {
    await (await sql.open()).close()
    const killedAt = performance.now()
    for (const pid of sql.engine.workerPids()) process.kill(pid, 'SIGKILL')
    while (performance.now() - killedAt < round);
    await using session = await sql.open()
    assert.deepEqual(await rowsOf(session, 'SELECT 1'), [[1]])
  }
  assert.deepEqual(await foldersOfSessions(), [])
})

test('a thousand columns come through, in every format', async () => {
  await using session = await sql.open()
  const wide = `SELECT ${Array.from({ length: 1000 }, (_, i) => `${i} AS c${i}`).join(', ')}`
  assert.equal((await rowsOf(session, wide))[0]?.length, 1000)
  assert.equal((JSON.parse(await textOf(session, wide, 'json')) as unknown[]).length, 1000)
  assert.equal((await textOf(session, wide)).split('\n')[1]?.split(',').length, 1000)
})

test('sessions are limited; nothing of one is left for the next', async () => {
  const [a, b] = [await sql.open(), await sql.open()]
  assert.equal((await failure(sql.open())).code, 'sql.busy')
  await rowsOf(a, 'SELECT * FROM "in.c-main".orders')
  await a.close()
  const c = await sql.open({ findTable: async () => undefined })
  assert.equal((await failure(c.query('SELECT * FROM "in.c-main".orders'))).code, 'sql.failed')
  await Promise.all([b.close(), c.close()])
  assert.deepEqual(await foldersOfSessions(), [])
})

test('a reader that comes back gets the same DuckDB with the newest tables, and nothing that the session before has done', async () => {
  for (const pid of sql.engine.workerPids()) process.kill(pid, 'SIGKILL') // one process is made, and serves all of them
  await sql.table('in.c-main', 'kept', 'SELECT 1 AS v')
  const tables = new Set(['kept', 'orders'])
  const findTable = async (schema: string, name: string) => (tables.has(name) ? sql.find(schema, name) : undefined)
  const first = await sql.open({ reader: 'a', findTable })
  assert.deepEqual(await rowsOf(first, 'SELECT count(*) FROM "in.c-main".kept, "in.c-main".orders'), [[10n]])
  await rowsOf(first, 'PIVOT (SELECT 1 AS a) ON a USING count(*)')
  await first.close()
  const pids = sql.engine.workerPids()

  tables.delete('orders')
  await sql.table('in.c-main', 'kept', 'SELECT 2 AS v')
  const second = await sql.open({ reader: 'a', findTable })
  assert.deepEqual(await rowsOf(second, 'SELECT table_name FROM information_schema.tables'), [])
  assert.deepEqual(await rowsOf(second, `SELECT type_name FROM duckdb_types() WHERE type_name LIKE '%pivot%'`), [])
  for (const name of ['"in.c-main".orders', '"IN.C-MAIN".orders', '"IN.C-MAIN".kept'])
    assert.equal((await failure(second.query(`FROM ${name}`))).code, 'sql.failed', name)
  await second.execute('BEGIN')
  assert.deepEqual(await rowsOf(second, 'FROM "in.c-main".kept'), [[2]])
  await second.close()
  assert.deepEqual(await foldersOfSessions(), [], 'nothing is kept of a session that ends in a transaction')

  for (const reader of ['a', 'b', 'a']) {
    await using session = await sql.open({ reader, findTable })
    assert.deepEqual(await rowsOf(session, 'FROM "in.c-main".kept'), [[2]])
    assert.equal((await foldersOfSessions()).length, 1, 'files of another reader are gone before the first statement')
  }
  assert.deepEqual(sql.engine.workerPids(), pids)
})

test('a table that has not changed stays bound for the next session of its reader', async () => {
  await sql.table('in.c-main', 'stays', 'SELECT 1 AS v')
  await sql.table('in.c-main', 'other', 'SELECT 2 AS v')
  const inSession = async <T>(work: (session: SqlSession) => Promise<T>): Promise<T> => {
    await using session = await sql.open({ reader: 's' })
    return await work(session)
  }
  const [stays, other] = ['"in.c-main".stays', '"in.c-main".other']
  const views = `SELECT relname, oid FROM pg_catalog.pg_class WHERE relname IN ('stays', 'other')`
  const viewsBeside = (name: string) =>
    inSession((session) => rowsOf(session, `FROM (${views}) WHERE (SELECT count(*) FROM ${name}) = 1`))
  await inSession((session) => rowsOf(session, `FROM ${stays}, ${other}`))
  const first = await viewsBeside(stays)
  assert.deepEqual(
    first.map(([name]) => name),
    ['stays'],
  )
  assert.deepEqual(await viewsBeside(stays), first)
  assert.equal((await viewsBeside(other))[0]?.[0], 'other')

  const broken = { version: '1', keys: [], select: () => 'SELECT 1 +' }
  await using session = await sql.open({
    reader: 's',
    findTable: async (...name) => (name[1] === 'bad' ? broken : sql.find(...name)),
  })
  await failure(session.query(`FROM ${stays}, ${other}, "in.c-main".bad`))
  assert.deepEqual(await rowsOf(session, `FROM ${stays}, ${other}`), [[1, 2]])
  assert.deepEqual(await rowsOf(session, `SELECT relname FROM (${views}) ORDER BY 1`), [['other'], ['stays']])
})

for (const [what, mode, statements] of [
  ['rolls back', 'read', ['BEGIN', 'FROM "in.c-main".kept', 'ROLLBACK']],
  ['drops', 'write', ['DROP VIEW "in.c-main".kept']],
  ['replaces', 'write', ['CREATE OR REPLACE VIEW "in.c-main".kept AS SELECT 42 AS v']],
  ['drops the schema of', 'write', ['DROP SCHEMA memory."in.c-main" CASCADE']],
] as const)
  test(`a table is read as before after a session of its reader that ${what} its view`, async () => {
    await sql.table('in.c-main', 'kept', 'SELECT 1 AS v')
    const database = mode === 'write' ? { mode, database: join(sql.root, `${what}.db`) } : {}
    const open = () => sql.open({ reader: what, ...database })
    {
      await using session = await open()
      assert.deepEqual(await rowsOf(session, 'FROM "in.c-main".kept'), [[1]])
    }
    {
      await using session = await open()
      for (const statement of statements) await rowsOf(session, statement)
      assert.deepEqual(await rowsOf(session, 'FROM "in.c-main".kept'), [[1]], 'in the same session')
      for (const statement of statements) await rowsOf(session, statement)
    }
    await using session = await open()
    assert.deepEqual(await rowsOf(session, 'FROM "in.c-main".kept'), [[1]], 'in the next one')
  })

for (const database of [undefined, 'reading.db'])
  test(`views read their tables after statements over other tables, ${database ? 'in a database' : 'without a database'}`, async () => {
    await sql.table('in.c-main', 'read', 'SELECT 1 AS v')
    await sql.table('in.c-main', 'beside', 'SELECT 2 AS v')
    const session = await sql.open({ mode: 'write', ...(database && { database: join(sql.root, database) }) })
    await rowsOf(session, 'CREATE VIEW one AS FROM "in.c-main".read')
    for (const statement of [
      'CREATE VIEW two AS FROM "in.c-main".beside',
      'CREATE OR REPLACE TABLE three AS FROM "in.c-main".beside',
      'CREATE OR REPLACE VIEW "in.c-main".beside AS SELECT 3 AS v',
      'DROP VIEW "in.c-main".beside',
      'DROP SCHEMA memory."in.c-main" CASCADE',
    ]) {
      await rowsOf(session, statement)
      assert.deepEqual(await rowsOf(session, 'FROM one'), [[1]], statement)
    }
    await session.close()
  })

test('views of a database follow the tables of the project from session to session, and temporary tables end with theirs', async () => {
  await sql.table('in.c-main', 'viewed', 'SELECT 1 AS v')
  const options = { reader: 'v', mode: 'write', database: join(sql.root, 'viewed.db') } as const
  const inSession = async <T>(work: (session: SqlSession) => Promise<T>): Promise<T> => {
    await using session = await sql.open(options)
    return await work(session)
  }
  await inSession((session) => session.execute('CREATE TABLE own AS SELECT 7 AS v'))
  await inSession((session) => session.execute('CREATE OR REPLACE VIEW over AS SELECT v FROM "in.c-main".viewed'))
  assert.deepEqual(await inSession((session) => rowsOf(session, 'FROM over')), [[1]])
  await sql.table('in.c-main', 'viewed', 'SELECT 2 AS v')
  assert.deepEqual(await inSession((session) => rowsOf(session, 'FROM over')), [[2]])
  assert.deepEqual(
    await inSession(async (session) => {
      await session.execute('CREATE TEMP TABLE passing AS SELECT 1 AS v')
      return rowsOf(session, 'FROM passing, over')
    }),
    [[1, 2]],
  )
  assert.match((await failure(inSession((session) => session.query('FROM passing')))).message, /passing.* does not exist/)
  assert.deepEqual(await inSession((session) => rowsOf(session, 'FROM own, over')), [[7, 2]])
})

async function foldersOfSessions(): Promise<string[]> {
  const names = await readdir(join(sql.root, 'scratch'), { recursive: true })
  return names.filter((name) => name.endsWith('files'))
}

test('no path of this machine is readable by SQL', async () => {
  await using sql = await startSql({ memoryMb: 512 })
  await sql.table('in.c-main', 'orders', 'SELECT 1 AS id')
  const database = join(sql.root, 'own.duckdb')
  for (const options of [{}, { mode: 'write', database }] as const) {
    await using session = await sql.open(options)
    await rowsOf(session, 'SELECT id FROM "in.c-main".orders') // its view exists from here on
    for (const query of [
      `SELECT current_setting('temp_directory')`,
      `SELECT "current_setting"('temp_directory')`,
      'FROM duckdb_databases()',
      'FROM duckdb_databases',
      'FROM pragma_database_list',
      'FROM duckdb_settings()',
      'FROM duckdb_views()',
      'SELECT sql FROM sqlite_master',
      'SELECT definition FROM pg_catalog.pg_views',
      'FROM pragma_database_size()',
      'SELECT view_definition FROM information_schema.views',
      'FROM pg_settings',
      `SELECT * FROM query('SELECT 1')`,
    ])
      await assert.rejects(() => rowsOf(session, query), { code: 'sql.notAllowed' }, query)
    for (const query of ['PRAGMA database_list', 'CALL pragma_database_size()', `SET temp_directory = '/tmp'`])
      await assert.rejects(() => rowsOf(session, query), PlatformError, query)
    const relations = await rowsOf(session, `SELECT DISTINCT table_schema, table_name FROM information_schema.tables`)
    const inside = ['pg_catalog', 'information_schema'].flatMap((schema) => INTERNAL.map((name) => `${schema}.${name}`))
    const functions = [...TABLE_FUNCTIONS].filter((name) => name.startsWith('duckdb_')).map((name) => `${name}()`)
    const named = relations.map(([schema, name]) => `"${schema}"."${name}"`)
    const shown = [
      'SHOW DATABASES',
      'SHOW ALL TABLES',
      'EXPLAIN FROM "in.c-main".orders',
      'EXPLAIN ANALYZE FROM "in.c-main".orders',
    ]
    for (const query of [...shown, ...[...inside, ...functions, ...named].map((relation) => `FROM ${relation}`)]) {
      const rows = await rowsOf(session, query).catch(() => []) // some exist in one schema only
      assert.ok(!JSON.stringify(rows, (_, value) => String(value)).includes(sql.root), query)
      const text = rows.flat().map(String).join(' ')
      assert.ok(!text.includes(sql.root), query)
    }
  }
})

const INTERNAL =
  `columns tables schemata constraint_column_usage key_column_usage referential_constraints table_constraints character_sets views
  pg_am pg_attrdef pg_attribute pg_class pg_constraint pg_database pg_depend pg_description pg_enum pg_index pg_indexes pg_namespace
  pg_prepared_statements pg_proc pg_sequence pg_sequences pg_settings pg_tables pg_tablespace pg_type`.split(/\s+/)

test('one token or project cannot take every session, and each place goes to the next that has a share left', async () => {
  await using own = await startSql({ memoryMb: 512, sessions: 4, tokenSessions: 2, projectSessions: 3, waitMs: 300 })
  const of = (projectId: number, tokenId: number) => own.open({ owner: { projectId, tokenId } })
  const held = [await of(1, 1), await of(1, 1)]
  assert.equal((await failure(of(1, 1))).code, 'sql.shareInUse')
  held.push(await of(1, 2))
  assert.match((await failure(of(1, 3))).message, /^The project already uses its 3 SQL sessions/)
  const other = await of(2, 1)
  assert.deepEqual(await rowsOf(other, 'SELECT 1'), [[1]])
  assert.equal((await failure(of(2, 2))).code, 'sql.busy')
  const [waitsForShare, waitsForPlace] = [failure(of(1, 1)), of(2, 2)]
  await held[2]?.close() // of another token: the first that waits may not have it
  await (await waitsForPlace).close()
  assert.equal((await waitsForShare).code, 'sql.shareInUse')
  for (const session of [...held, other]) await session.close()
  await Promise.all([of(1, 1), of(1, 1), of(1, 2)].map(async (session) => (await session).close()))
})

const IN_ORDER = [
  'a change',
  'a description',
  'rows read to their end',
  'a mistake',
  'names that are read',
  'text for PostgreSQL',
]

test('when a session has ended no process has its database open, whatever ran in it', {
  skip: process.platform !== 'linux',
}, async () => {
  const endings: Readonly<Record<string, (session: SqlSession) => Promise<unknown>>> = {
    'a change': (session) => session.execute('CREATE TABLE t AS SELECT i FROM range(100000) r(i)'),
    'a description': (session) => session.describe('SELECT * FROM t'),
    'rows read to their end': (session) => rowsOf(session, 'SELECT count(*) FROM t'),
    'rows left in the middle': async (session) => {
      const { batches } = await session.query('SELECT * FROM t')
      for await (const _ of batches) break
    },
    'a text left in the middle': async (session) => {
      const { cancel } = await session.copy('SELECT a.i FROM t a, t b', 'csv')
      await cancel()
    },
    'a mistake': (session) => assert.rejects(session.execute('SELECT FROM nothing')),
    'a failure': (session) => assert.rejects(session.execute(`INSERT INTO t SELECT error('x') FROM t`)),
    'a statement out of memory': (session) =>
      assert.rejects(
        session.execute('SELECT count(DISTINCT a.i::VARCHAR || b.i::VARCHAR || repeat(a.i::VARCHAR, 90)) FROM t a, t b'),
      ),
    'open brackets': (session) => assert.rejects(session.execute(HOSTILE_SQL['open brackets']?.(1 << 20) ?? '')),
    'names that are read': (session) => session.names('SELECT * FROM t'),
    'names of many columns': (session) => session.names(HOSTILE_SQL['many columns']?.(1 << 18) ?? '').catch(() => {}),
    'names of open brackets': (session) => session.names(HOSTILE_SQL['open brackets']?.(1 << 20) ?? ''),
    'names of many statements': (session) => session.names(HOSTILE_SQL['many statements']?.(1 << 20) ?? '').catch(() => {}),
    'text for PostgreSQL': async (session) => {
      const { bytes } = await session.copy('SELECT * FROM t', 'postgres')
      await Array.fromAsync(bytes)
    },
    'text of a plan': (session) => textOf(session, 'EXPLAIN SELECT * FROM t'),
    'a limited text': async (session) => {
      const { bytes } = await session.copy('EXPLAIN SELECT * FROM t', 'json', { limit: 1 })
      await Array.fromAsync(bytes)
    },
    'limited rows': async (session) => {
      const { batches } = await session.query('SELECT * FROM t', { limit: 1 })
      await Array.fromAsync(batches)
    },
    'an open transaction': async (session) => {
      await session.execute('BEGIN')
      await session.execute('INSERT INTO t VALUES (1)')
    },
  }
  await using own = await startSql({ sessions: 1, memoryMb: 400, diskMb: 16, timeoutMs: 20_000 })
  const database = join(own.root, 'own.db')
  for (const [name, work] of Object.entries(endings)) {
    const session = await own.open({ mode: 'write', database })
    await work(session)
    await session.close()
    if (IN_ORDER.includes(name)) assert.equal(own.engine.workerPids().length, 1, `${name}: the process serves others`)
    for (const pid of own.engine.workerPids()) {
      const open = await Promise.all(
        (await readdir(`/proc/${pid}/fd`)).map((fd) => readlink(`/proc/${pid}/fd/${fd}`).catch(() => '')),
      )
      assert.deepEqual(
        open.filter((path) => path.startsWith(database)),
        [],
        name,
      )
    }
  }
})

test('text for PostgreSQL is the same for few rows, which the worker writes itself, as for many', async () => {
  await using own = await startSql()
  await using session = await own.open()
  const text = async (sql: string) => {
    const { bytes } = await session.copy(sql, 'postgres')
    return Buffer.concat(await Array.fromAsync(bytes, (piece) => Buffer.from(piece))).toString() // pieces are lent
  }
  const values = String.raw`
    1::TINYINT, 2::UBIGINT, 170141183460469231731687303715884105727::HUGEINT, true, NULL, '', E'a\tb\nc\rd\\e', 'Ω 🙂',
    '{"a": [1, "b"]}'::JSON, 0.5::DECIMAL(1,1), -12.50::DECIMAL(10,2), 1e300::DOUBLE, 0.1::FLOAT, 'nan'::DOUBLE, '-infinity'::DOUBLE,
    DATE '2024-02-29', DATE '0044-03-15 (BC)', 'infinity'::DATE, TIMESTAMP '2024-01-02 03:04:05.678', TIMESTAMP_NS '2024-01-02 03:04:05.678901234',
    TIMESTAMPTZ '2024-01-02 03:04:05+02', TIME '01:02:03.5', INTERVAL '1 month 2 days 3 hours', '\xDE\xAD'::BLOB, uuid '00000000-0000-4000-8000-000000000000',
    [1, NULL, 3], ['a b', 'c"d', NULL, 'null', E'x\ty'], [DATE '2024-01-01'], {'a': 1, 'b': 'x'}, MAP {'k': 1.5}, [[1], [2, 3]], '101'::BIT`
  const query = `SELECT ${values} FROM range(3)`
  const many = await text(query)
  assert.equal(many.split('\n').length, 4)
  assert.equal(await text(`${query} LIMIT 3`), many)
  assert.equal(await text(`${query} LIMIT 5 OFFSET 1`), many.slice(many.indexOf('\n') + 1))
  assert.equal(
    await text(`SELECT i, NULL, '' FROM range(2500) r(i) LIMIT 1000`),
    await text("SELECT i, NULL, '' FROM range(1000) r(i)"),
  )
  assert.equal(await text('SELECT 1'), '1\n')
  await assert.rejects(text(`SELECT 1.5::DECIMAL(3,1), nothing LIMIT 1`), (error: PlatformError) => error.params?.position === 26)
  await assert.rejects(text(`SELECT 1.5::DECIMAL(3,1), error('not yet') FROM range(2) LIMIT 1`), /not yet/)
  assert.equal(await text('SELECT 2'), '2\n', 'the session goes on after a mistake')
})

test('a process takes one request at a time: a second one is refused and does not get the answer of the first', async (t) => {
  const worker = await WorkerProcess.start(join(sql.root, 'one-request'), 512)
  t.after(() => worker.kill())
  const limits = { memoryMb: 512, diskMb: 64, timeoutMs: 10_000, threads: 1 }
  const places = { filesDir: worker.dir, spillDir: join(worker.dir, 'spill'), fifo: worker.fifo }
  const first = worker.ask({ type: 'open', mode: 'read', limits, ...places, database: undefined, schema: undefined })
  await assert.rejects(worker.ask({ type: 'close' }), /got "close" before it had answered "open"/)
  assert.equal((await first).type, 'done')
  assert.equal((await worker.ask({ type: 'reopen' })).type, 'done')
})

test('a session that writes its log into its file runs no statement meanwhile', async () => {
  await using session = await sql.open({ mode: 'write', database: join(sql.root, 'log.duckdb') })
  await session.execute('CREATE TABLE t AS SELECT 1 AS a')
  const writing = session.checkpoint()
  assert.equal((await failure(session.execute('SELECT 1'))).code, 'sql.sessionInUse')
  await writing
  assert.deepEqual(await rowsOf(session, 'SELECT a FROM t'), [[1]])
})
