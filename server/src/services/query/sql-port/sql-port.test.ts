import assert from 'node:assert/strict'
import { connect as connectSocket } from 'node:net'
import { before, test } from 'node:test'
import pg from 'pg'
import { wireClient } from '../../../../../tests/support/clients/postgres-wire.ts'
import { type TableClient, tableClient } from '../../../../../tests/support/clients/table-client.ts'
import { startTestStack, type TestStack } from '../../../../../tests/support/test-stack.ts'
import { until } from '../../../../../tests/support/until.ts'
import { OID, textOf } from '../../../engines/pg-wire/values.ts'

let stack: TestStack
let client: TableClient
let port: number
let stop: (() => Promise<void>) | undefined
before(async () => {
  const lasting = { after: (work: () => Promise<void>) => (stop = work) } as never
  stack = await startTestStack(lasting, {
    sql: { memoryMb: 512, diskMb: 64, sessions: 3 },
    requestLimits: { perAddress: 0, perToken: 0, wrongTokens: 6, loopback: true },
  })
  port = await stack.platform.sqlPort.listen(0, '127.0.0.1')
  client = tableClient(stack)
  await client.bucket('main')
  await client.create('in.c-main', 'orders', 'id,city,price\n1,Praha,10\n2,Brno,20\n3,Praha,\n', { primaryKey: 'id' })
  const columns = ['INTEGER', 'NUMERIC', 'FLOAT', 'BOOLEAN', 'DATE', 'TIMESTAMP', 'STRING'].map((type) => ({
    name: type.toLowerCase(),
    definition: { type, ...(type === 'NUMERIC' && { length: '20,4' }) },
  }))
  const made = await stack.request('POST', '/v2/storage/buckets/in.c-main/tables-definition', {
    json: { name: 'typed', primaryKeysNames: ['integer'], columns },
  })
  await client.succeed(made)
  const row =
    '-9007199254740993,1234567890123456.7890,-0.1,true,2024-02-29,2024-02-29 23:59:59.123456,"Příliš ""žluť"" 🐎\t\\ \n x"'
  await client.load('in.c-main.typed', `${columns.map(({ name }) => name).join()}\n${row}\n5,,,,,,\n`)
})
test.after(() => stop?.())

interface Scoped {
  after(work: () => Promise<void>): void
}

/** A connected client, closed with the test. */
async function connect(t: Scoped, options: pg.ClientConfig = {}): Promise<pg.Client> {
  const connected = clientOf(options)
  connected.on('error', () => {}) // some tests end connections from the other side
  await connected.connect()
  t.after(() => connected.end().catch(() => {}))
  return connected
}

const clientOf = (options: pg.ClientConfig) =>
  new pg.Client({ host: '127.0.0.1', port, user: 'me', password: stack.masterToken, database: 'default', ...options })

/** Rows as arrays, values as they came. */
const AS_TEXT = { getTypeParser: () => (value: unknown) => value } as never

const rowsOf = async (db: pg.Client, text: string, values: unknown[] = []): Promise<unknown[][]> =>
  (await db.query({ text, values, rowMode: 'array' })).rows as unknown[][]

const failure = async (work: Promise<unknown>): Promise<{ code: string; message: string; position?: string }> =>
  work.then(
    () => assert.fail('it did not fail'),
    (error: { code: string; message: string; position?: string }) => error,
  )

test('rows of a table, with parameters, without their schema, and none', async (t) => {
  const db = await connect(t)
  const { rows, command, rowCount } = await db.query('SELECT id, city FROM "in.c-main"."orders" ORDER BY id')
  assert.deepEqual([command, rowCount], ['SELECT', 3])
  assert.deepEqual(rows, [
    { id: '1', city: 'Praha' },
    { id: '2', city: 'Brno' },
    { id: '3', city: 'Praha' },
  ])
  assert.deepEqual(await rowsOf(db, 'SELECT id FROM "in.c-main"."orders" WHERE city = $1 AND id > $2', ['Praha', 1]), [['3']])
  assert.deepEqual(await rowsOf(db, 'SELECT id FROM orders LIMIT $1', [1]), [['1']])
  assert.deepEqual(await rowsOf(db, `SELECT '$1', "city" AS "$2" FROM orders WHERE city = $1 AND false`, ["O'Brien"]), [])
  assert.deepEqual(await rowsOf(db, 'SELECT id FROM orders WHERE city = ANY($1) ORDER BY id', [['Praha', 'a,"b\\']]), [
    ['1'],
    ['3'],
  ])
  assert.deepEqual(await rowsOf(db, 'SELECT $1::BIGINT[] AS list', [[1, null]]), [[['1', null]]])
  const many = (await db.query('SELECT 1 AS a; SELECT 2 AS b')) as unknown as { rows: object[] }[]
  assert.deepEqual(
    many.map((one) => one.rows),
    [[{ a: 1 }], [{ b: 2 }]],
  )
  assert.deepEqual((await db.query(';')).rows, [])
})

const TYPES = [
  ['-9007199254740993::BIGINT', '-9007199254740993'],
  ['42::INTEGER', '42'],
  ['(-7)::SMALLINT', '-7'],
  ['200::UTINYINT', '200'],
  ['18446744073709551615::UBIGINT', '18446744073709551615'],
  ['170141183460469231731687303715884105727::HUGEINT', '170141183460469231731687303715884105727'],
  ['12345678901234567890.0001::DECIMAL(38,4)', '12345678901234567890.0001'],
  ['(-0.05)::DECIMAL(5,2)', '-0.05'],
  ['0.1::DOUBLE', '0.1'],
  [`'NaN'::DOUBLE`, 'NaN'],
  [`'-inf'::FLOAT`, '-Infinity'],
  ['true', 't'],
  [`DATE '2024-02-29'`, '2024-02-29'],
  [`DATE '0044-03-15 (BC)'`, '0044-03-15 BC'],
  [`'infinity'::TIMESTAMP`, 'infinity'],
  [`TIMESTAMP '1969-12-31 23:59:59.999999'`, '1969-12-31 23:59:59.999999'],
  [`TIMESTAMPTZ '2024-07-01 12:00:00+02'`, '2024-07-01 10:00:00+00'],
  [`TIME '23:59:59.5'`, '23:59:59.5'],
  [`INTERVAL '1 year 2 months 3 days 04:05:06.5'`, '1 year 2 mons 3 days 04:05:06.5'],
  [`'a'::BLOB || '\\x00'::BLOB`, '\\x6100'],
  [`'2c5ea4c0-4067-11e9-8bad-9b1deb4d3b7d'::UUID`, '2c5ea4c0-4067-11e9-8bad-9b1deb4d3b7d'],
  [`'tab' || chr(9) || 'line' || chr(10) || '\\ "quote" '' 🐎 ž'`, `tab\tline\n\\ "quote" ' 🐎 ž`],
  [`''`, ''],
  ['NULL', null],
  ['[1, NULL, 3]', '{1,NULL,3}'],
  [`{'a': 1, 'b': 'x'}`, '{"a":1,"b":"x"}'],
] as const

test('values of every type, as text and as binary', async (t) => {
  const db = await connect(t)
  const text = `SELECT ${TYPES.map(([sql], i) => `${sql} AS c${i}`).join(', ')}`
  const shown = await db.query({ text, types: AS_TEXT, rowMode: 'array' })
  assert.deepEqual(
    shown.rows[0],
    TYPES.map(([, value]) => value),
  )
  const wire = await wireClient(port, 'me', stack.masterToken)
  t.after(async () => wire.end())
  const binary = await wire.query(text, 1)
  const decoded = binary.rows[0]?.map((value, i) => value && binaryText(binary.types[i] ?? 0, value))
  assert.deepEqual(
    decoded,
    TYPES.map(([, value]) => value),
  )
})

/** What a driver would make of a binary value, in the words of the text format. */
function binaryText(oid: number, value: Buffer): string {
  if (oid === OID.interval) {
    const [micros, days, months] = [value.readBigInt64BE(0), value.readInt32BE(8), value.readInt32BE(12)]
    assert.equal(micros, ((4n * 60n + 5n) * 60n + 6n) * 1_000_000n + 500_000n)
    return `${Math.floor(months / 12)} year ${months % 12} mons ${days} days 04:05:06.5`
  }
  if (oid === OID.date && value.readInt32BE(0) < -700_000) return '0044-03-15 BC'
  const text = textOf(oid, value)
  if (oid === OID.float4 || oid === OID.float8) return text
  return oid === OID.numeric ? text : text.replace(/(:\d\d)\.(\d*?)0+(?=$|\+)/, (_, time, rest) => time + (rest && `.${rest}`))
}

test('parameters in binary', async (t) => {
  const wire = await wireClient(port, 'me', stack.masterToken)
  t.after(async () => wire.end())
  const int8 = Buffer.alloc(8)
  int8.writeBigInt64BE(-9007199254740993n)
  const day = Buffer.alloc(4)
  day.writeInt32BE(8825) // 2024-02-29, counted from 2000
  const { rows } = await wire.query(
    'SELECT "string" FROM "in.c-main".typed WHERE "integer" = $1 AND "date" = $2 AND "boolean" = $3',
    0,
    [
      { oid: OID.int8, bytes: int8 },
      { oid: OID.date, bytes: day },
      { oid: OID.bool, bytes: Buffer.from([1]) },
    ],
  )
  assert.equal(String(rows[0]?.[0]).slice(0, 6), 'Příliš')
  await assert.rejects(wire.query('SELECT $1', 0, [{ oid: OID.int8, bytes: Buffer.from([1]) }]), /22P03/)
})

test('columns of a typed table have their types, nulls and every character', async (t) => {
  const db = await connect(t)
  const { rows, fields } = await db.query({
    text: 'SELECT * FROM "in.c-main".typed ORDER BY 1',
    types: AS_TEXT,
    rowMode: 'array',
  })
  assert.deepEqual(rows, [
    [
      '-9007199254740993',
      '1234567890123456.7890',
      '-0.1',
      't',
      '2024-02-29',
      '2024-02-29 23:59:59.123456',
      'Příliš "žluť" 🐎\t\\ \n x',
    ],
    ['5', null, null, null, null, null, null],
  ])
  assert.deepEqual(
    fields.map(({ dataTypeID }) => dataTypeID),
    [20, 1700, 701, 16, 1082, 1114, 25],
  )
  const typed = await db.query('SELECT "float", "boolean", "timestamp" FROM "in.c-main".typed WHERE "date" = $1', ['2024-02-29'])
  assert.equal(typed.rows[0].float, -0.1)
  assert.equal(typed.rows[0].boolean, true)
})

test('a prepared statement runs again and again, binary from the sixth time on, and sees new rows', async (t) => {
  const db = await connect(t)
  await client.create('in.c-main', 'growing', 'n\n0\n')
  for (let i = 1; i <= 7; i++) {
    const query = { name: 'again', text: 'SELECT count(*) AS n, $1::INTEGER AS i FROM "in.c-main".growing', values: [i] }
    const { rows } = await db.query({ ...query, binary: i > 5 } as pg.QueryConfig)
    assert.deepEqual(rows, [{ n: String(i), i }])
    await client.load('in.c-main.growing', `n\n${i}\n`, { incremental: true })
  }
  const described = await db.query({ name: 'described', text: 'SELECT id FROM orders WHERE id = $1', values: ['2'] })
  assert.deepEqual(described.rows, [{ id: '2' }])
  await db.query('DEALLOCATE ALL')
})

test('a large result arrives whole, all at once, in parts, and through a cursor', async (t) => {
  const db = await connect(t)
  const text = `SELECT i, 'row ' || i AS name FROM range(30000) t(i)`
  const whole = await rowsOf(db, text)
  assert.equal(whole.length, 30_000)
  assert.deepEqual(whole.at(-1), ['29999', 'row 29999'])
  const inParts = await db.query({ text, rows: 777, rowMode: 'array' } as pg.QueryArrayConfig)
  assert.deepEqual(inParts.rows, whole)

  await db.query('BEGIN')
  await db.query(`DECLARE c NO SCROLL CURSOR FOR ${text}`)
  const first = await rowsOf(db, 'FETCH 2 FROM c')
  const second = await db.query({ text: 'FETCH FORWARD 3 FROM c', rowMode: 'array' })
  assert.deepEqual([...first, ...second.rows], whole.slice(0, 5))
  assert.equal(second.command, 'FETCH')
  // Another query runs while the cursor is open.
  assert.deepEqual(await rowsOf(db, 'SELECT count(*) FROM orders'), [['3']])
  assert.equal((await rowsOf(db, 'FETCH ALL c')).length, 29_995)
  assert.deepEqual(await rowsOf(db, 'FETCH NEXT FROM c'), [])
  await db.query('CLOSE c')
  await db.query('COMMIT')
  assert.equal((await failure(db.query('FETCH 1 FROM c'))).code, '34000')
  assert.equal((await failure(db.query(`DECLARE d CURSOR FOR ${text}`))).code, '25P01')
})

/** The bytes of a COPY ... TO STDOUT. */
function copied(db: pg.Client, text: string): Promise<{ rows: Buffer[]; command: string }> {
  return new Promise((resolve, reject) => {
    const rows: Buffer[] = []
    let command = ''
    db.query({
      submit: (connection: { query(text: string): void }) => connection.query(text),
      handleCopyData: ({ chunk }: { chunk: Buffer }) => rows.push(chunk),
      handleRowDescription: () => {},
      handleCommandComplete: (message: { text: string }) => {
        command = message.text
      },
      handleReadyForQuery: () => resolve({ rows, command }),
      handleError: reject,
    } as never)
  })
}

test('COPY writes to the client, a row at a time', async (t) => {
  const db = await connect(t)
  const from = `SELECT * FROM (VALUES (1, 'a,b'), (2, NULL), (3, ''), (4, 'say "x"\t\\')) t(n, s)`
  const lines = async (sql: string) => (await copied(db, sql)).rows.map(String)
  assert.deepEqual(await lines(`COPY (${from}) TO STDOUT`), ['1\ta,b\n', '2\t\\N\n', '3\t\n', '4\tsay "x"\\t\\\\\n'])
  const csv = await copied(db, `COPY (${from}) TO STDOUT WITH (FORMAT csv, HEADER true)`)
  assert.deepEqual(csv.rows.map(String), ['n,s\n', '1,"a,b"\n', '2,\n', '3,""\n', '4,"say ""x""\t\\"\n'])
  assert.equal(csv.command, 'COPY 4')
  assert.deepEqual(await lines(`COPY (${from}) TO STDOUT CSV DELIMITER ';' NULL 'none' QUOTE ''''`), [
    '1;a,b\n',
    '2;none\n',
    '3;\n',
    '4;say "x"\t\\\n',
  ])
  assert.deepEqual(await lines('COPY "in.c-main".orders (city, id) TO STDOUT'), ['Praha\t1\n', 'Brno\t2\n', 'Praha\t3\n'])
  const [first, end] = (await copied(db, 'COPY (SELECT 258::INTEGER, NULL) TO STDOUT (FORMAT binary)')).rows
  assert.equal(first?.subarray(0, 11).toString('latin1'), 'PGCOPY\n\xff\r\n\0')
  assert.deepEqual([first?.subarray(19).toString('hex'), end?.toString('hex')], ['00020000000400000102ffffffff', 'ffff'])
  assert.equal((await failure(copied(db, 'COPY orders FROM STDIN'))).code, '0A000')
  assert.equal((await failure(copied(db, `COPY (SELECT 1) TO '/tmp/x'`))).code, '0A000')
})

test('a statement is cancelled, and the connection goes on', async (t) => {
  const db = await connect(t)
  const running = failure(db.query('SELECT count(*) FROM range(10000000000) a(i) WHERE i % 7 = 1'))
  const { processID, secretKey } = db as unknown as { processID: number; secretKey: number }
  const request = Buffer.alloc(16)
  for (const [i, value] of [16, 80_877_102, processID, secretKey].entries()) request.writeInt32BE(value, i * 4)
  await until('the statement is cancelled', async () => {
    // Closed when it arrived: none may reach the next statement.
    await new Promise((resolve) => connectSocket(port, '127.0.0.1').end(request).resume().once('close', resolve))
    return Promise.race([running, new Promise<undefined>((resolve) => setTimeout(resolve, 200, undefined))])
  })
  assert.equal((await running).code, '57014')
  assert.deepEqual(await rowsOf(db, 'SELECT 1'), [[1]])
  await db.query('SET statement_timeout = 50')
  const late = await failure(db.query('SELECT count(*) FROM range(10000000000) a(i) WHERE i % 7 = 1'))
  assert.deepEqual([late.code, /longer than 0\.1 s/.test(late.message)], ['57014', true], late.message)
})

test('a client that leaves in the middle frees its session', async (t) => {
  for (let i = 0; i < 4; i++) {
    const db = await connect(t)
    const left = db.query('SELECT * FROM range(1000000000)').catch(() => {})
    await until(
      'rows arrive',
      () => (db as unknown as { connection: { stream: { bytesRead: number } } }).connection.stream.bytesRead > 100_000,
    )
    ;(db as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy()
    await left
  }
  assert.deepEqual(await rowsOf(await connect(t), 'SELECT 1'), [[1]])
})

test('what a statement failed with has its SQLSTATE and its place', async (t) => {
  const db = await connect(t)
  for (const [sql, code, message] of [
    // Of a schema that no test reads: DuckDB's sentence for one that was read names the table alone.
    ['SELECT *\nFROM "in.c-other".nothing', '42P01', /in\.c-other\.nothing.*does not exist/],
    ['SELECT nothing FROM orders', '42703', /"nothing" not found/],
    ['SELECT 1 +', '42601', /syntax error/],
    ['SELECT nothing(1)', '42883', /nothing/],
    [`SELECT 'x'::INTEGER`, '22P02', /Could not convert/],
    ['SELECT 300::TINYINT', '22003', /out of range/],
    ['DELETE FROM "in.c-main".orders', '25006', /DELETE/],
    ['CREATE TABLE x (a INTEGER)', '25006', /CREATE/],
    [`SELECT * FROM read_csv('/etc/passwd')`, '25006', /read_csv/],
    [`ATTACH '/tmp/x'`, '25006', /ATTACH/],
    ['SELECT c.relname FROM pg_class c, orders', '0A000', /not both/],
    ['SAVEPOINT a', '25P01', /in a transaction/],
    [`SET TimeZone = 'Europe/Prague'`, '0A000', /always UTC/],
    ['SET nothing = 1', '42704', /"nothing" is not known/],
  ] as const) {
    const error = await failure(db.query(sql))
    assert.equal(error.code, code, `${sql}: ${error.message}`)
    assert.match(error.message, message)
  }
  assert.equal((await failure(db.query('SELECT *\nFROM "in.c-main".nothing'))).position, '15')
  assert.equal((await failure(db.query('SELECT $1 + $2', ['1']))).code, '08P01')
  assert.deepEqual(await rowsOf(db, 'SELECT 1'), [[1]])
})

test('a transaction reads one state, and fails as a whole', async (t) => {
  const db = await connect(t)
  await client.create('in.c-main', 'moving', 'n\n1\n')
  await db.query('START TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY')
  assert.deepEqual(await rowsOf(db, 'SELECT count(*) FROM "in.c-main".moving'), [['1']])
  await client.load('in.c-main.moving', 'n\n2\n', { incremental: true })
  assert.deepEqual(await rowsOf(db, 'SELECT count(*) FROM "in.c-main".moving'), [['1']])
  assert.equal((await failure(db.query('INSERT INTO "in.c-main".moving VALUES (1)'))).code, '25006')
  assert.equal((await failure(db.query('SELECT 1'))).code, '25P02')
  assert.equal((await db.query('COMMIT')).command, 'ROLLBACK')
  assert.deepEqual(await rowsOf(db, 'SELECT count(*) FROM "in.c-main".moving'), [['2']])
})

test('a name without a schema that several buckets have is refused, unless search_path chooses one', async (t) => {
  for (const name of ['twin-a', 'twin-b']) await client.bucket(name)
  for (const bucket of ['in.c-twin-a', 'in.c-twin-b']) await client.create(bucket, 'twins', `n\n${bucket}\n`)
  t.after(async () => {
    for (const bucket of ['in.c-twin-a', 'in.c-twin-b']) await stack.request('DELETE', `/v2/storage/buckets/${bucket}?force=1`)
  })
  const db = await connect(t)
  const refused = await failure(db.query('SELECT * FROM twins'))
  assert.equal(refused.code, '42P09')
  assert.match(refused.message, /in\.c-twin-a, in\.c-twin-b\. Write "in\.c-twin-a"\."twins", or set search_path/)
  assert.deepEqual(await rowsOf(db, 'WITH twins AS (SELECT 1 AS n) SELECT n FROM twins'), [[1]])
  await db.query('SET search_path TO "in.c-twin-b"')
  assert.deepEqual(await rowsOf(db, 'SELECT * FROM twins'), [['in.c-twin-b']])
})

test('settings', async (t) => {
  const db = await connect(t, { application_name: 'test' })
  assert.deepEqual(await rowsOf(db, 'SHOW application_name'), [['test']])
  await db.query(`SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL READ COMMITTED`)
  await db.query(`SET extra_float_digits = 3; SET client_encoding TO 'UTF8'; SET DateStyle = 'ISO'; SET TIME ZONE 'UTC'`)
  assert.deepEqual(await rowsOf(db, 'SHOW extra_float_digits'), [['3']])
  await db.query('RESET ALL')
  assert.deepEqual(await rowsOf(db, 'SHOW extra_float_digits'), [['1']])
  await db.query('SET search_path TO "in.c-other", public')
  assert.equal((await failure(db.query('SELECT * FROM orders'))).code, '42P01')
  await db.query('SET search_path = "in.c-main"')
  assert.equal((await rowsOf(db, 'SELECT * FROM orders')).length, 3)
  await db.query('DISCARD ALL')
})

// --------------------------------------------------------------------------------------------------------------- the catalogue

test('what psql sends for \\dt and \\d', async (t) => {
  const db = await connect(t)
  const relations = await rowsOf(
    db,
    `SELECT n.nspname as "Schema", c.relname as "Name",
       CASE c.relkind WHEN 'r' THEN 'table' WHEN 'v' THEN 'view' WHEN 'p' THEN 'partitioned table' END as "Type",
       pg_catalog.pg_get_userbyid(c.relowner) as "Owner"
     FROM pg_catalog.pg_class c
          LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
          LEFT JOIN pg_catalog.pg_am am ON am.oid = c.relam
     WHERE c.relkind IN ('r','p','') AND n.nspname <> 'pg_catalog' AND n.nspname !~ '^pg_toast'
       AND n.nspname <> 'information_schema' AND pg_catalog.pg_table_is_visible(c.oid)
     ORDER BY 1,2;`,
  )
  assert.deepEqual(
    relations.slice(-2).map((row) => row.slice(0, 3)),
    [
      ['in.c-main', 'orders', 'table'],
      ['in.c-main', 'typed', 'table'],
    ],
  )
  const [[oid] = []] = await rowsOf(
    db,
    `SELECT c.oid, n.nspname, c.relname FROM pg_catalog.pg_class c LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
     WHERE c.relname OPERATOR(pg_catalog.~) '^(typed)$' COLLATE pg_catalog.default
       AND n.nspname OPERATOR(pg_catalog.~) '^(in.c-main)$' COLLATE pg_catalog.default ORDER BY 2, 3;`,
  )
  const columns = await rowsOf(
    db,
    `SELECT a.attname, pg_catalog.format_type(a.atttypid, a.atttypmod),
       (SELECT pg_catalog.pg_get_expr(d.adbin, d.adrelid, true) FROM pg_catalog.pg_attrdef d
        WHERE d.adrelid = a.attrelid AND d.adnum = a.attnum AND a.atthasdef),
       a.attnotnull
     FROM pg_catalog.pg_attribute a WHERE a.attrelid = '${oid}' AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum;`,
  )
  assert.deepEqual(columns.slice(0, 3), [
    ['integer', 'bigint', null, true],
    ['numeric', 'numeric(20,4)', null, false],
    ['float', 'double precision', null, false],
  ])
  const keys = await rowsOf(
    db,
    `SELECT c2.relname, i.indisprimary, pg_catalog.pg_get_constraintdef(con.oid, true)
     FROM pg_catalog.pg_class c, pg_catalog.pg_class c2, pg_catalog.pg_index i
       LEFT JOIN pg_catalog.pg_constraint con ON (conrelid = i.indrelid AND conindid = i.indexrelid AND contype IN ('p','u','x'))
     WHERE c.oid = '${oid}' AND c.oid = i.indrelid AND i.indexrelid = c2.oid`,
  )
  assert.deepEqual(keys, [['typed_pkey', true, 'PRIMARY KEY ("integer")']])
})

test('what psql 15 sends for \\l shows the database that the client named', async (t) => {
  for (const database of ['default', 'millrace']) {
    const db = await connect(t, { database })
    const databases = await rowsOf(
      db,
      `SELECT d.datname as "Name", d.daticulocale as "ICU Locale" FROM pg_catalog.pg_database d WHERE NOT d.datistemplate ORDER BY 1`,
    )
    assert.deepEqual(databases, [[database, null]])
    assert.deepEqual(await rowsOf(db, 'SELECT current_database()'), [[database]])
  }
})

test('ten megabytes of SQL are refused, and the connection goes on', async (t) => {
  const db = await connect(t)
  const { code, message } = await failure(db.query(`SELECT 1 -- ${'x'.repeat(10_000_000)}`))
  assert.equal(code, '54000', message)
  assert.match(message, /1048576 bytes/)
  assert.deepEqual(await rowsOf(db, 'SELECT 1'), [[1]])
})

test('the catalogue follows the tables, and a text that only looks like one of its names does not reach it', async (t) => {
  const db = await connect(t)
  const names = async () =>
    (
      await rowsOf(db, 'SELECT table_name FROM information_schema.tables WHERE table_schema = $1 ORDER BY 1', ['in.c-later'])
    ).flat()
  assert.deepEqual(await names(), [])
  await client.bucket('later')
  await client.create('in.c-later', 'one', 'a,b\n1,2\n')
  assert.deepEqual(await names(), ['one'])
  await stack
    .request('POST', '/v2/storage/tables/in.c-later.one/columns', { json: { name: 'c' } })
    .then((made) => client.succeed(made))
  const columns = await rowsOf(
    db,
    `SELECT column_name FROM information_schema.columns WHERE table_name = 'one' ORDER BY ordinal_position`,
  )
  assert.deepEqual(columns.flat(), ['a', 'b', 'c'])
  await client.succeed(await stack.request('DELETE', '/v2/storage/tables/in.c-later.one?async=true'))
  assert.deepEqual(await names(), [])

  assert.deepEqual(await rowsOf(db, `SELECT id FROM orders WHERE city = 'pg_class' OR id = '1'`), [['1']])
  assert.deepEqual(await rowsOf(db, 'WITH pg_tables AS (SELECT 7 AS n) SELECT n FROM pg_tables'), [[7]])
  assert.match(String((await rowsOf(db, 'SELECT version()'))[0]?.[0]), /^PostgreSQL 18/)
  assert.match(String((await rowsOf(db, `SELECT setting FROM pg_settings WHERE name = 'server_version'`))[0]?.[0]), /^18\.6/)
  assert.deepEqual(await rowsOf(db, `SELECT 'in.c-main.orders'::text, current_schema() IS NOT NULL`), [
    ['in.c-main.orders', true],
  ])
  // PostgreSQL reads it and DuckDB does not: the catalogue has a table of that name without rows, and must not answer.
  assert.equal((await failure(db.query('SELECT id FROM orders FOR UPDATE'))).code, '42601')
  assert.equal((await failure(db.query('SELECT * FROM pg_class; DROP TABLE pg_class'))).code, '25006')
  assert.deepEqual((await rowsOf(db, 'SHOW TABLES')).slice(-2), [
    ['in.c-main', 'orders'],
    ['in.c-main', 'typed'],
  ])
})

test('a killed catalogue is started again, and a prepared question is described', async (t) => {
  const db = await connect(t)
  const [pid] = stack.platform.sqlPort.catalogPids()
  process.kill(pid!, 'SIGKILL')
  const count = () => rowsOf(db, 'SELECT count(*) FROM pg_class WHERE relname = $1', ['orders'])
  const answered = await until('the catalogue answers', async () => count().catch(() => undefined))
  assert.deepEqual(answered, [['1']])
  const wire = await wireClient(port, 'me', stack.masterToken)
  t.after(async () => wire.end())
  const { types, rows } = await wire.query('SELECT oid > 0, relname FROM pg_class WHERE relname = $1', 1, [
    { oid: OID.text, bytes: Buffer.from('typed') },
  ])
  assert.deepEqual([types, rows.map((row) => row.map(String))], [[OID.bool, 19], [['\u0001', 'typed']]])
})

// ----------------------------------------------------------------------------------------------------------- who sees what

test('a token sees what it may read, and nothing of another project', async (t) => {
  await client.bucket('seen')
  await client.create('in.c-seen', 'shown', 'a\n1\n')
  const made = await stack.request('POST', '/v2/storage/tokens', {
    json: { description: 'seen', bucketPermissions: { 'in.c-seen': 'read' } },
  })
  const { token } = made.json<{ token: string }>()
  const some = await connect(t, { password: token })
  assert.deepEqual(await rowsOf(some, 'SELECT * FROM shown'), [['1']])
  assert.equal((await failure(some.query('SELECT * FROM "in.c-main".orders'))).code, '42501')
  const listed = `SELECT table_name FROM information_schema.tables WHERE table_schema LIKE 'in.c-%'`
  assert.deepEqual(await rowsOf(some, listed), [['shown']])

  const { masterToken, projectId } = await stack.newProject()
  const other = await connect(t, { password: masterToken, database: String(projectId) })
  assert.equal((await failure(other.query('SELECT * FROM "in.c-main".orders'))).code, '42P01')
  assert.equal((await failure(other.query('SELECT * FROM orders'))).code, '42P01')
  assert.deepEqual(await rowsOf(other, listed), [])
})

test('a database is a branch', async (t) => {
  const made = await stack.request('POST', '/v2/storage/dev-branches', { json: { name: 'feature' } })
  const { id } = (await client.succeed(made)).results as { id: number }
  const db = await connect(t, { database: String(id) })
  assert.deepEqual(await rowsOf(db, 'SELECT 1'), [[1]])
  for (const database of ['nothing', '987654321']) assert.equal((await failure(clientOf({ database }).connect())).code, '3D000')
})

test('a token without any bucket is refused, as by SQL over HTTP', async () => {
  const made = await stack.request('POST', '/v2/storage/tokens', { json: { description: 'bare' } })
  const { token } = made.json<{ token: string }>()
  const error = await failure(clientOf({ password: token }).connect())
  assert.deepEqual([error.code, /no access to any bucket/.test(error.message)], ['42501', true])
  assert.equal((await stack.request('POST', '/v2/storage/query', { token, json: { sql: 'select 1' } })).status, 403)
})

test('a deleted token ends its connections', async (t) => {
  const made = await stack.request('POST', '/v2/storage/tokens', { json: { description: 'short', canManageBuckets: true } })
  const { token, id } = made.json<{ token: string; id: string }>()
  const [idle, busy] = [await connect(t, { password: token }), await connect(t, { password: token })]
  const ended = new Promise<{ code: string }>((resolve) => idle.once('error', resolve as never))
  const query = new pg.Query('SELECT i FROM range(100000000000) r(i) WHERE i < 100000 OR i = 99999999999')
  const running = new Promise<{ code: string }>((resolve) => query.once('error', resolve as never))
  const begun = new Promise<unknown>((resolve) => query.once('row', resolve))
  busy.query(query)
  await begun
  await stack.request('DELETE', `/v2/storage/tokens/${id}`)
  assert.equal((await ended).code, '57P01')
  assert.equal((await running).code, '57P01')
})

test('a BI tool is told where to connect, reads the buckets of its token, changes nothing, and ends when the token is revoked', async (t) => {
  const made = await stack.request('POST', '/v2/storage/tokens', {
    json: { description: 'Metabase', bucketPermissions: { 'in.c-main': 'read' } },
  })
  const { id, token } = made.json<{ id: string; token: string }>()
  const told = (await stack.request('GET', '/v2/storage/query/connection', { token })).json()
  assert.deepEqual(told, { host: '127.0.0.1', port, database: 'default', isEncrypted: false })
  const db = await connect(t, { user: 'reader', password: token, database: 'default' })
  assert.ok(((await db.query('SELECT * FROM "in.c-main".orders')).rowCount ?? 0) > 0)
  await assert.rejects(db.query('CREATE TABLE mine AS SELECT 1'), { code: '25006' })
  await stack.request('DELETE', `/v2/storage/tokens/${id}`)
  await until('the connection ends', () =>
    db.query('SELECT 1').then(
      () => false,
      () => true,
    ),
  )
})

test('a workspace is read and written with its own password or a token', async (t) => {
  const made = await stack.request('POST', '/v2/storage/workspaces', { json: {} })
  const { id, connection } = made.json<{ id: number; connection: { user: string; password: string; port: number } }>()
  assert.equal(connection.port, port)
  const { user, password } = connection
  const db = await connect(t, { user, password, database: 'workspace' })
  // As in PostgreSQL: SELECT, with the rows of the table.
  const created = await db.query('CREATE TABLE totals AS SELECT city, count(*) AS n FROM "in.c-main".orders GROUP BY city')
  assert.equal(created.command, 'SELECT')
  assert.equal(created.rowCount, (await db.query('SELECT * FROM totals')).rowCount)
  const inserted = await db.query('INSERT INTO totals VALUES ($1, $2)', ['Ostrava', 5])
  assert.deepEqual([inserted.command, inserted.rowCount], ['INSERT', 1])
  await db.query('BEGIN')
  await db.query('DELETE FROM totals')
  assert.deepEqual(await rowsOf(db, 'SELECT count(*) FROM totals'), [['0']])
  await db.query('ROLLBACK')

  const byToken = await connect(t, { user, database: 'workspace' })
  assert.deepEqual(await rowsOf(byToken, 'SELECT * FROM totals ORDER BY city'), [
    ['Brno', '1'],
    ['Ostrava', '5'],
    ['Praha', '2'],
  ])
  const columns = await rowsOf(
    byToken,
    `SELECT column_name, data_type FROM information_schema.columns WHERE table_name = 'totals' ORDER BY 1`,
  )
  assert.deepEqual(columns, [
    ['city', 'text'],
    ['n', 'bigint'],
  ])
  assert.equal((await failure(db.query('DELETE FROM "in.c-main".orders'))).code.length, 5)
  assert.equal((await rowsOf(db, 'SELECT * FROM "in.c-main".orders')).length, 3)

  const { masterToken } = await stack.newProject()
  assert.equal((await failure(clientOf({ user, password: masterToken }).connect())).code, '28000')
  const ended = new Promise<{ code: string }>((resolve) => db.once('error', resolve as never))
  await stack.request('POST', `/v2/storage/workspaces/${id}/password`)
  assert.equal((await ended).code, '57P01')
  assert.equal((await failure(clientOf({ user, password }).connect())).code, '28P01')
})

test('8: bytea arrives and comes back byte by byte, in every form that clients use', async (t) => {
  const made = await stack.request('POST', '/v2/storage/workspaces', { json: {} })
  const { user, password } = made.json<{ connection: { user: string; password: string } }>().connection
  const db = await connect(t, { user, password, database: 'workspace' })
  const all = Buffer.from(Array.from({ length: 256 }, (_, i) => i))
  const hex = all.toString('hex')
  await db.query('CREATE TABLE blobs (id INTEGER, bytes BLOB)')
  await db.query('INSERT INTO blobs VALUES (1, $1)', [all]) // binary, as asyncpg sends it
  await db.query('INSERT INTO blobs VALUES (2, $1)', [`\\x${hex}`])
  await db.query(`INSERT INTO blobs VALUES (3, '\\x${hex}'::bytea)`) // psycopg2's Binary
  await db.query(`INSERT INTO blobs VALUES (4, E'\\\\x${hex}'::bytea)`)
  const escaped = Array.from(all, (byte) => `\\${byte.toString(8).padStart(3, '0')}`).join('')
  await db.query(`INSERT INTO blobs VALUES (5, '${escaped}'::bytea)`)
  const returned = await db.query('INSERT INTO blobs VALUES (6, $1) RETURNING bytes', [all])
  assert.deepEqual(returned.rows[0].bytes, all)
  const { rows } = await db.query('SELECT id, bytes FROM blobs ORDER BY id')
  for (const { id, bytes } of rows) assert.deepEqual(bytes, all, `row ${id}`)
  assert.equal(rows.length, 6)
  const binary = await db.query({ text: 'SELECT bytes FROM blobs', binary: true } as pg.QueryConfig)
  assert.deepEqual(binary.rows[0].bytes, all)
  assert.deepEqual((await db.query('SELECT $1::bytea AS b', [all])).rows[0].b, all)
  assert.equal((await failure(db.query(`SELECT '\\x6'::bytea`))).code, '22P02')
})

test('3: a column is added to a table of a workspace, and clients see the columns of temporary tables', async (t) => {
  const made = await stack.request('POST', '/v2/storage/workspaces', { json: {} })
  const { user, password } = made.json<{ connection: { user: string; password: string } }>().connection
  const db = await connect(t, { user, password, database: 'workspace' })
  await db.query('CREATE TABLE model AS SELECT 1 AS id')
  // What dbt does for append_new_columns.
  await db.query('BEGIN')
  await db.query('CREATE TEMPORARY TABLE model__dbt_tmp AS SELECT 2 AS id, 3 AS added')
  const columnsOf = (table: string) =>
    rowsOf(
      db,
      `SELECT column_name FROM "workspace".INFORMATION_SCHEMA.columns WHERE table_name = '${table}' ORDER BY ordinal_position`,
    )
  assert.deepEqual(await columnsOf('model__dbt_tmp'), [['id'], ['added']])
  await db.query('ALTER TABLE model ADD COLUMN added INTEGER')
  await db.query('INSERT INTO model (id, added) (SELECT id, added FROM model__dbt_tmp)')
  await db.query('COMMIT')
  assert.deepEqual(await columnsOf('model'), [['id'], ['added']])
  assert.deepEqual(await rowsOf(db, 'SELECT id, added FROM model ORDER BY id'), [
    [1, null],
    [2, 3],
  ])
  const refused = await failure(db.query('ALTER TABLE "in.c-main".orders ADD COLUMN x INTEGER'))
  assert.ok(refused.message.length > 10, refused.message)
  assert.deepEqual(await rowsOf(db, 'SELECT count(*) FROM "in.c-main".orders'), [['3']])
})

test('12: options of the connection are applied, and what is not supported is refused', async (t) => {
  const db = await connect(t, { options: '-c statement_timeout=3s -csearch_path=in.c-main --lock-timeout=5' } as never)
  const shown = async (name: string) => (await rowsOf(db, `SHOW ${name}`))[0]?.[0]
  assert.deepEqual([await shown('statement_timeout'), await shown('search_path')], ['3000', '"in.c-main"'])
  await db.query('SET statement_timeout = 0')
  await db.query('RESET ALL')
  assert.equal(await shown('statement_timeout'), '3000')
  const code = async (options: string) => (await failure(clientOf({ options } as never).connect())).code
  assert.equal(await code('-c no_such_setting=1'), '42704')
  assert.equal(await code('-c client_encoding=LATIN1'), '0A000')
  assert.equal(await code('-c statement_timeout=soon'), '22023')
  assert.equal(await code('-f s'), '42601')
  const timed = await connect(t, { options: '-c statement_timeout=50' } as never)
  assert.equal((await failure(timed.query('SELECT count(*) FROM range(1e12::BIGINT)'))).code, '57014')
})

test('wrong passwords lock an address out, whoever was right before goes on', async (t) => {
  const fresh = await stack.request('POST', '/v2/storage/tokens', { json: { description: 'fresh' } })
  const codes = []
  for (let i = 0; i < 7; i++) codes.push((await failure(clientOf({ password: `wrong ${i}` }).connect())).code)
  assert.equal(codes[0], '28P01')
  assert.equal(codes.at(-1), '28000')
  assert.equal((await failure(clientOf({ password: fresh.json<{ token: string }>().token }).connect())).code, '28000')
  assert.deepEqual(await rowsOf(await connect(t), 'SELECT 1'), [[1]])
})
