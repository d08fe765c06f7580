// SQLite and DuckDB files of a named folder and of the project; what lies outside of them stays closed.

import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { DuckDBInstance } from '@duckdb/node-api'
import { DEFAULT_WORKER } from '../../../server/src/model/worker-settings.ts'
import { type Job, type ShellStack, shareShellStack } from '../../../tests/support/shell-stack.ts'

const home = mkdtempSync(join(tmpdir(), 'millrace-sqlite-'))
const [inbox, outside] = [join(home, 'inbox'), join(home, 'outside')]
for (const folder of [inbox, outside]) mkdirSync(folder)
test.after(() => rmSync(home, { recursive: true, force: true }))
const startProject = shareShellStack({ worker: { ...DEFAULT_WORKER, folders: { read: { inbox }, write: {} } } })

const shop = new DatabaseSync(join(inbox, 'shop.db'))
shop.exec(`create table items (id integer primary key, price real, name text, picture blob, mixed);
  insert into items values (1, 0.1, 'a "b",
c', x'00ff', 1), (9007199254740993, null, '', null, 'two'), (3, 2, null, null, null)`)
const secret = new DatabaseSync(join(outside, 'secret.db'))
secret.exec("create table hidden (word text); insert into hidden values ('canary')")
secret.close()
symlinkSync(join(outside, 'secret.db'), join(inbox, 'link.db'))

async function run(stack: ShellStack, parameters: object, storage: object = {}): Promise<Job> {
  const destination = 'in.c-sqlite.items'
  const output = { tables: [{ source: 'items.csv', destination }] }
  const configData = { parameters: { outputTable: 'items', ...parameters }, storage: { output, ...storage } }
  const answer = await stack.request('POST', '/queue/jobs', {
    json: { component: 'platform.ex-database', mode: 'run', configData },
  })
  assert.equal(answer.status, 201, answer.text)
  return stack.wait(answer.json<Job>())
}

const rowsOf = async (stack: ShellStack): Promise<unknown[]> => {
  const sql = 'select id::text, price, name, picture, mixed from "in.c-sqlite".items order by id'
  return (await stack.request('POST', '/v2/storage/query', { json: { sql } })).json<{ rows: unknown[] }>().rows
}

const ITEMS = [
  ['1', 0.1, 'a "b",\nc', '0x00ff', '1'],
  ['3', 2, null, null, null],
  ['9007199254740993', null, '', null, 'two'],
]
const table = { tableName: 'items' }

test('a table of a SQLite file arrives with the types of its values', async () => {
  const stack = await startProject()
  const job = await run(stack, { db: { type: 'sqlite', folder: 'inbox', path: 'shop.db' }, table })
  assert.equal(job.status, 'success', job.result.message)
  assert.deepEqual(await rowsOf(stack), ITEMS)
  const { definition, primaryKey } = (await stack.request('GET', '/v2/storage/tables/in.c-sqlite.items')).json()
  assert.deepEqual(primaryKey, ['id'])
  const { columns } = definition as { columns: { name: string; definition: { type: string } }[] }
  assert.deepEqual(Object.fromEntries(columns.map((column) => [column.name, column.definition.type])), {
    id: 'INTEGER',
    price: 'FLOAT',
    name: 'STRING',
    picture: 'STRING',
    mixed: 'STRING',
  })
})

test('a SQLite file of the project is read through the input mapping', async () => {
  const stack = await startProject()
  const upload = new FormData()
  upload.set('name', 'shop.db')
  upload.set('tags[]', 'shop')
  upload.set('data', new Blob([readFileSync(join(inbox, 'shop.db'))]), 'shop.db')
  assert.ok((await stack.request('POST', '/import/upload-file', { body: upload })).status < 300)
  const input = { files: [{ source: { tags: [{ name: 'shop' }] } }] }
  const job = await run(stack, { db: { type: 'sqlite' }, query: 'select * from items' }, { input })
  assert.equal(job.status, 'success', job.result.message)
  assert.deepEqual(await rowsOf(stack), ITEMS)
})

test('a preview shows the columns that were chosen', async () => {
  const stack = await startProject()
  const parameters = { db: { type: 'sqlite', folder: 'inbox', path: 'shop.db' }, table, columns: ['name', 'id'] }
  const json = { componentId: 'platform.ex-database', action: 'preview', configData: { parameters } }
  const { columns, rows } = (await stack.request('POST', '/sync-actions/actions', { json })).json()
  assert.deepEqual([columns, rows], [['name', 'id'], ITEMS.map(([id, , name]) => [name, id])])
})

test('increments by numbers beyond 2^53 miss no row', async () => {
  const stack = await startProject()
  const db = { type: 'sqlite', folder: 'inbox', path: 'grows.db' }
  const grows = new DatabaseSync(join(inbox, 'grows.db'))
  grows.exec('create table events (id integer primary key, word text); insert into events values (9007199254740992, 1)')
  const parameters = { db, table: { tableName: 'events' }, incrementalFetchingColumn: 'id' }
  const config = await stack.configure('platform.ex-database', { parameters })
  for (const more of ['', "insert into events values (9007199254740993, 'b'), (9007199254740994, 'c')"]) {
    grows.exec(more)
    const json = { component: 'platform.ex-database', config, mode: 'run' }
    const job = await stack.wait((await stack.request('POST', '/queue/jobs', { json })).json<Job>())
    assert.equal(job.status, 'success', job.result.message)
  }
  grows.close()
  const sql = `select id::text from "in.c-platform-ex-database-${config}".events order by id`
  const { rows } = (await stack.request('POST', '/v2/storage/query', { json: { sql } })).json<{ rows: unknown[] }>()
  assert.deepEqual(rows.flat(), ['9007199254740992', '9007199254740993', '9007199254740994'])
})

test('nothing outside of the named folder is read, by no path and by no query', async () => {
  const stack = await startProject()
  const refused: readonly (readonly [db: object, query: string, message: RegExp])[] = [
    [{ folder: 'inbox', path: '../outside/secret.db' }, 'select * from hidden', /does not exist in the folder/],
    [{ folder: 'inbox', path: 'link.db' }, 'select * from hidden', /does not exist in the folder/],
    [{ folder: 'elsewhere', path: 'shop.db' }, 'select 1', /No folder is named "elsewhere"/],
    [{ folder: 'inbox', path: 'shop.db' }, "select 1); attach 'x' as y; select (1", /must be one statement/],
    [{ folder: 'inbox', path: 'shop.db' }, "select load_extension('/tmp/x')", /load_extension|not authorized/],
    [{ folder: 'inbox', path: 'shop.db' }, "select readfile('/etc/hostname')", /no such function/],
  ]
  for (const [db, query, message] of refused) {
    const job = await run(stack, { db: { type: 'sqlite', ...db }, query })
    assert.equal(job.status, 'error', query)
    assert.match(job.result.message, message, query)
    assert.doesNotMatch(JSON.stringify(job), /canary/)
  }
})

async function duckdb(path: string, ...statements: readonly string[]): Promise<void> {
  const instance = await DuckDBInstance.create(path)
  const connection = await instance.connect()
  for (const sql of statements) await connection.run(sql)
  connection.closeSync()
  instance.closeSync()
}

test('every type of a DuckDB file arrives exactly, verified, by increments, and from a file of the project', async () => {
  const stack = await startProject()
  const path = join(inbox, 'types.duckdb')
  await duckdb(
    path,
    `create table kinds (id bigint primary key, tiny tinyint, huge hugeint, wide decimal(38,9), ub ubigint, single float, twice double, yes boolean,
       day date, moment timestamp, zoned timestamptz, ns timestamp_ns, clock time, words varchar, bytes blob, list integer[], pair struct(a integer, b varchar),
       doc json, kind enum('a', 'b'), key uuid, bits bit)`,
    `insert into kinds values (1, -128, 170141183460469231731687303715884105727, 12345678901234567890123456789.123456789, 18446744073709551615, 0.1, 1e16, true,
       '2026-02-28', '2026-02-28 23:59:59.123456', '2026-03-29 03:30:00.5+02', '2026-01-01 00:00:00.123456789', '13:14:15.5', 'a "b",\nc\\N ž漢😀', '\\x00\\xFFa'::blob,
       [1, null, 3], {a: 1, b: 'x'}, '{"a": [1, null]}', 'b', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', '101'::bit)`,
    `insert into kinds (id, day, moment, zoned, words, twice) values (2, 'infinity', '-infinity', 'infinity', '', 'nan')`,
    'insert into kinds (id, words) select i, i::varchar from range(10, 3000) as t (i)',
    'create view main.few as select id, words from kinds where id < 3',
  )
  const db = { type: 'duckdb', folder: 'inbox', path: 'types.duckdb' }
  const config = await stack.configure('platform.ex-database', { parameters: { db } })
  const read = async (parameters: object, storage: object = {}): Promise<Job> => {
    const configData = { parameters: { db, ...parameters }, storage }
    const json = { component: 'platform.ex-database', config, mode: 'run', configData }
    return stack.wait((await stack.request('POST', '/queue/jobs', { json })).json<Job>())
  }
  const ask = async (sql: string) =>
    (await stack.request('POST', '/v2/storage/query', { json: { sql } })).json<{ rows: unknown[][] }>().rows
  const kinds = { table: { tableName: 'kinds' }, invalidValues: 'null', partRows: 1000 }
  const bucket = `"in.c-platform-ex-database-${config}"`
  const first = await read(kinds)
  assert.equal(first.status, 'success', first.result.message)
  const texts = `tiny::text, huge, wide::text, ub::text, single::text, twice::text, yes::text, day::text, moment::text, zoned::text, ns, clock, words, bytes,
    list, pair, doc, kind, key, bits`
  const rows = await ask(`select ${texts} from ${bucket}.kinds where id < 3 order by id`)
  assert.deepEqual(rows[0], [
    ...[
      '-128',
      '170141183460469231731687303715884105727',
      '12345678901234567890123456789.123456789',
      '18446744073709551615',
      '0.1',
    ],
    ...[
      '1e+16',
      'true',
      '2026-02-28',
      '2026-02-28 23:59:59.123456',
      '2026-03-29 01:30:00.5',
      '2026-01-01 00:00:00.123456789',
      '13:14:15.5',
    ],
    ...['a "b",\nc\\N ž漢😀', '0x00ff61', '[1, NULL, 3]', "{'a': 1, 'b': x}", '{"a": [1, null]}', 'b'],
    ...['a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', '101'],
  ])
  assert.deepEqual(
    rows[1]?.map(String).join(),
    'null,null,null,null,null,nan,null,null,null,null,null,null,,null,null,null,null,null,null,null',
  )
  assert.deepEqual(await ask(`select count(*), count(distinct id) from ${bucket}.kinds`), [[2992, 2992]])
  const verified = await read({ ...kinds, mode: 'verify' })
  assert.equal(verified.status, 'success', verified.result.message)
  assert.match(
    (await read({ ...kinds, invalidValues: 'fail', outputTable: 'strict' })).result.message,
    /"infinity" of column "day" is not a valid DATE/,
  )
  await duckdb(path, "update kinds set words = 'new' where id = 1", 'insert into kinds (id) values (5000)')
  assert.match(
    (await read({ ...kinds, mode: 'verify' })).result.message,
    /1 row missing, 1 with other values, 0 not in the source/,
  )
  const increment = await read({
    table: { schema: 'main', tableName: 'few' },
    primaryKey: ['id'],
    incrementalFetchingColumn: 'id',
  })
  assert.equal(increment.status, 'success', increment.result.message)
  assert.deepEqual((await ask(`select words from ${bucket}.few order by id`)).flat(), ['new', ''])
  const upload = new FormData()
  upload.set('name', 'types.duckdb')
  upload.set('tags[]', 'types')
  upload.set('data', new Blob([readFileSync(path)]), 'types.duckdb')
  assert.ok((await stack.request('POST', '/import/upload-file', { body: upload })).status < 300)
  const input = { files: [{ source: { tags: [{ name: 'types' }] } }] }
  const stored = await read({ db: { type: 'duckdb' }, query: 'select max(id) as m from kinds', outputTable: 'most' }, { input })
  assert.equal(stored.status, 'success', stored.result.message)
  assert.deepEqual(await ask(`select m from ${bucket}.most`), [[5000]])
  const refused: readonly (readonly [file: string, query: string, message: RegExp])[] = [
    ['types.duckdb', "select * from read_csv('/etc/hostname')", /file system operations are disabled/],
    ['types.duckdb', `select 1); attach '${join(outside, 'secret.db')}' as y; select (1`, /must be one statement/],
    ['types.duckdb', 'select 1); set threads = 1; select (1', /must be one statement/],
    ['types.duckdb', 'select * from nothing', /Table with name nothing does not exist.*Check the table/],
    ['shop.db', 'select 1', /is not a DuckDB database that can be read/],
  ]
  for (const [file, query, message] of refused) {
    const job = await read({ db: { ...db, path: file }, query, outputTable: 'no' })
    assert.equal(job.status, 'error', query)
    assert.match(job.result.message, message, query)
    assert.doesNotMatch(job.result.message, new RegExp(home), 'no path of the machine')
  }
})
