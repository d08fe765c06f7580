// SQLite and DuckDB files in a folder that the operator named: made, filled, changed by key; what lies outside stays closed.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { DuckDBInstance } from '@duckdb/node-api'
import { DEFAULT_WORKER } from '../../../server/src/model/worker-settings.ts'
import { fillTable, makeTable } from '../../../tests/support/project-table.ts'
import { type Job, type ShellStack, shareShellStack } from '../../../tests/support/shell-stack.ts'
import { openDuckdb } from '../src/targets/duckdb.ts'

const home = mkdtempSync(join(tmpdir(), 'millrace-sqlite-out-'))
const [outbox, outside] = [join(home, 'outbox'), join(home, 'outside')]
for (const folder of [outbox, outside]) mkdirSync(folder)
symlinkSync(outside, join(outbox, 'link'))
test.after(() => rmSync(home, { recursive: true, force: true }))
const startProject = shareShellStack({ worker: { ...DEFAULT_WORKER, folders: { read: {}, write: { outbox } } } })
const ITEMS = 'in.c-shop.items'

async function run(stack: ShellStack, path: string, parameters: object = {}, type = 'sqlite'): Promise<Job> {
  const config = await stack.configure('platform.wr-database', {
    parameters: { db: { type, folder: 'outbox', path }, table: { tableName: 'items' }, ...parameters },
    storage: { input: { tables: [{ source: ITEMS }] } },
  })
  const answer = await stack.request('POST', '/queue/jobs', { json: { component: 'platform.wr-database', config, mode: 'run' } })
  assert.equal(answer.status, 201, answer.text)
  return stack.wait(answer.json<Job>())
}

test('a file is made, filled and changed by key, and rows that it refuses are counted', async () => {
  const stack = await startProject()
  await makeTable(stack, ITEMS, { columns: { id: 'INTEGER', name: 'STRING', sold: 'BOOLEAN' }, primaryKey: ['id'] })
  await fillTable(
    stack,
    ITEMS,
    ['id', 'name', 'sold'],
    [
      ['9007199254740993', 'a "b"', 'true'],
      ['2', null, 'false'],
      ['3', '', null],
    ],
  )
  assert.equal((await run(stack, 'shop.db', { dryRun: true })).status, 'success')
  assert.ok(!existsSync(join(outbox, 'shop.db')), 'a dry run makes no file')
  const first = await run(stack, 'shop.db')
  assert.equal(first.status, 'success', first.result.message)
  const db = new DatabaseSync(join(outbox, 'shop.db'))
  const rows = () =>
    db
      .prepare('select cast(id as text) as id, name, sold, typeof(id) as kind from items order by items.id desc')
      .all()
      .map((row) => Object.values(row))
  assert.deepEqual(rows(), [
    ['9007199254740993', 'a "b"', 1, 'integer'],
    ['3', '', null, 'integer'],
    ['2', null, 0, 'integer'],
  ])
  db.exec("create trigger guard before insert on items when new.name = 'bad' begin select raise(abort, 'no'); end")
  await fillTable(
    stack,
    ITEMS,
    ['id', 'name', 'sold'],
    [
      ['3', 'three', null],
      ['4', 'bad', null],
    ],
  )
  const second = await run(stack, 'shop.db', { invalidRows: 'reject', maxRejectedPercent: 50 })
  assert.equal(second.status, 'success', second.result.message)
  const events = (await stack.request('GET', `/v2/storage/events?runId=${second.id}&limit=200`)).text
  assert.match(events, /of 2 rows 0 inserted, 1 updated, 0 deleted, 1 rejected/)
  assert.deepEqual(rows()[1], ['3', 'three', null, 'integer'])
  db.close()
})

test('changes since the last run reach the database, with deleted rows', async () => {
  const stack = await startProject()
  await makeTable(stack, ITEMS, { columns: { id: 'INTEGER', name: 'STRING' }, primaryKey: ['id'] })
  const fill = (...rows: [string, string][]) => fillTable(stack, ITEMS, ['id', 'name'], rows)
  await fill(['1', 'a'], ['2', 'b'], ['3', 'c'])
  const configuration = (mode: string) => ({
    parameters: { db: { type: 'sqlite', folder: 'outbox', path: 'changes.db' }, table: { tableName: 'items' }, mode },
    storage: { input: { tables: [{ source: ITEMS, changes: true }] } },
  })
  const config = await stack.configure('platform.wr-database', configuration('upsert'))
  const deliver = async (json: object) => {
    const answer = await stack.request('POST', '/queue/jobs', {
      json: { component: 'platform.wr-database', mode: 'run', ...json },
    })
    const job = await stack.wait(answer.json<Job>())
    return { job, events: (await stack.request('GET', `/v2/storage/events?runId=${job.id}&limit=200`)).text }
  }
  assert.match((await deliver({ config })).events, /of 3 rows 3 inserted, 0 updated, 0 deleted/)
  await fill(['1', 'a'], ['2', 'B'], ['4', 'd'])
  assert.match((await deliver({ config })).events, /of 3 rows 1 inserted, 1 updated, 1 deleted/)
  assert.match((await deliver({ config })).events, /of 0 rows 0 inserted, 0 updated, 0 deleted/)
  const db = new DatabaseSync(join(outbox, 'changes.db'))
  assert.deepEqual(
    db
      .prepare('select * from items order by id')
      .all()
      .map((row) => Object.values(row)),
    [
      [1, 'a'],
      [2, 'B'],
      [4, 'd'],
    ],
  )
  db.close()
  const { job } = await deliver({ configData: configuration('full') })
  assert.match(job.result.message, /have deleted rows, too: use the mode "upsert"/)
})

test('no path and no statement leads out of the folder', async () => {
  const stack = await startProject()
  await makeTable(stack, ITEMS, { columns: { id: 'INTEGER' }, primaryKey: ['id'] })
  await fillTable(stack, ITEMS, ['id'], [['1']])
  for (const path of ['../outside/a.db', 'link/a.db', '', 'x\0y', '/etc/a.db']) {
    const job = await run(stack, path)
    assert.match(job.result.message, /is not the path of a file below the folder/, path)
  }
  const target = join(outside, 'stolen.db')
  for (const preSql of [`attach '${target}' as other`, `commit; vacuum into '${target}'`]) {
    const job = await run(stack, 'own.db', { preSql })
    assert.equal(job.status, 'error', preSql)
  }
  assert.ok(!existsSync(target))
})

/** All rows of a query, as texts. */
async function askDuckdb(path: string, sql: string): Promise<(string | null)[][]> {
  const instance = await DuckDBInstance.create(path)
  try {
    const rows = await (await (await instance.connect()).run(sql)).getRows()
    return rows.map((row) => row.map((value) => (value === null ? null : String(value))))
  } finally {
    instance.closeSync()
  }
}

test('a DuckDB file is made, filled, changed by key and replaced, and values that do not fit become a table', async () => {
  const stack = await startProject()
  const columns = ['id', 'name', 'price', 'sold', 'at']
  const types = { id: 'INTEGER', name: 'STRING', price: 'NUMERIC', sold: 'BOOLEAN', at: 'TIMESTAMP' }
  await makeTable(stack, ITEMS, { columns: types, primaryKey: ['id'] })
  const rows = [
    ['9007199254740993', 'a "b"\nc', '12345678901234567890.123456789', 'true', '2026-01-31 10:00:00'],
    ['2', null, null, 'false', null],
    ['3', '', '0.5', null, null],
  ]
  await fillTable(stack, ITEMS, columns, rows)
  const file = join(outbox, 'shop.duckdb')
  assert.equal((await run(stack, 'shop.duckdb', { dryRun: true }, 'duckdb')).status, 'success')
  assert.ok(!existsSync(file), 'a dry run makes no file')
  const first = await run(stack, 'shop.duckdb', {}, 'duckdb')
  assert.equal(first.status, 'success', first.result.message)
  const all = () => askDuckdb(file, 'select * from items order by id desc')
  assert.deepEqual(await all(), [
    ['9007199254740993', 'a "b"\nc', '12345678901234567890.123456789', 'true', '2026-01-31 10:00:00'],
    ['3', '', '0.500000000', null, null],
    ['2', null, null, 'false', null],
  ])
  await fillTable(stack, ITEMS, columns, [
    ['3', 'three', '0.5', null, null],
    ['4', 'four', '1', null, null],
  ])
  const counts = async ({ id }: Job) => {
    const { text } = await stack.request('GET', `/v2/storage/events?runId=${id}&limit=200`)
    return /of \d+ rows [^.]*/.exec(text)?.[0]
  }
  const dry = await run(stack, 'shop.duckdb', { dryRun: true }, 'duckdb')
  assert.equal(await counts(dry), 'of 2 rows 1 would be inserted, 1 would be updated, 0 would be deleted, 0 would be rejected')
  const second = await run(stack, 'shop.duckdb', { postSql: 'create table done (n integer)' }, 'duckdb')
  assert.equal(second.status, 'success', second.result.message)
  assert.equal(await counts(second), 'of 2 rows 1 inserted, 1 updated, 0 deleted, 0 rejected')
  assert.deepEqual(
    (await all()).map((row) => row[1]),
    ['a "b"\nc', 'four', 'three', null],
  )
  const third = await run(stack, 'shop.duckdb', { mode: 'full', primaryKey: ['id'] }, 'duckdb')
  assert.equal(await counts(third), 'of 2 rows 2 inserted, 0 updated, 4 deleted, 0 rejected')

  await askDuckdb(file, 'create table codes (id bigint primary key, name integer not null)')
  await fillTable(stack, ITEMS, columns, [
    ['1', '10', null, null, null],
    ['2', 'many', null, null, null],
    ['3', '30', null, null, null],
  ])
  const codes = { table: { tableName: 'codes' }, columns: [{ source: 'id' }, { source: 'name' }] }
  const refused = await run(stack, 'shop.duckdb', codes, 'duckdb')
  assert.match(refused.result.message, /^The DuckDB file answered: .*many.*INT32.* With "invalidRows": "reject" such rows/)
  const rejecting = await run(stack, 'shop.duckdb', { ...codes, invalidRows: 'reject', maxRejectedPercent: 50 }, 'duckdb')
  assert.equal(rejecting.status, 'success', rejecting.result.message)
  assert.equal(await counts(rejecting), 'of 3 rows 2 inserted, 0 updated, 0 deleted, 1 rejected')
  assert.deepEqual(await askDuckdb(file, 'select * from codes order by id'), [
    ['1', '10'],
    ['3', '30'],
  ])
  await fillTable(stack, ITEMS, columns, [['5', null, null, null, null]])
  const broken = await run(stack, 'shop.duckdb', { ...codes, invalidRows: 'reject' }, 'duckdb')
  assert.match(broken.result.message, /^The DuckDB file answered: .*NOT NULL constraint failed/)
})

test('no statement over a DuckDB file leads out of it, and another file is refused', async () => {
  const stack = await startProject()
  await makeTable(stack, ITEMS, { columns: { id: 'INTEGER' }, primaryKey: ['id'] })
  await fillTable(stack, ITEMS, ['id'], [['1']])
  const target = join(outside, 'stolen')
  const statements = [
    `attach '${target}' as other`,
    `commit; copy items to '${target}'`,
    `create table t as select * from read_text('/etc/hostname')`,
    `reset enable_external_access`,
    'install httpfs',
  ]
  for (const preSql of statements) {
    const job = await run(stack, 'own.duckdb', { preSql }, 'duckdb')
    assert.match(job.result.message, /disabled by configuration|has been locked/, preSql)
  }
  assert.ok(!existsSync(target))
  writeFileSync(join(outbox, 'notes.txt'), 'id,name\n1,a\n')
  const job = await run(stack, 'notes.txt', {}, 'duckdb')
  assert.match(job.result.message, /^The file is not a DuckDB database that can be written: /)
})

test('a DuckDB file that another program has open is waited for, then refused with a sentence', async (t) => {
  const place = { path: join(home, 'busy.duckdb'), dataDir: home, isDry: false, lockSeconds: 60 }
  const code = `const { DuckDBInstance } = await import(${JSON.stringify(import.meta.resolve('@duckdb/node-api'))})
    const instance = await DuckDBInstance.create(${JSON.stringify(place.path)})
    process.stdout.write('open'); setInterval(() => instance, 1000)`
  const holder = spawn(process.execPath, ['--input-type=module', '--eval', code], { stdio: ['ignore', 'pipe', 'inherit'] })
  t.after(() => holder.kill('SIGKILL'))
  await once(holder.stdout, 'data')
  await assert.rejects(
    openDuckdb({ ...place, lockSeconds: 0 }),
    /The DuckDB file is open in another program for more than 0 s, so nothing was written/,
  )
  const waiting = openDuckdb(place)
  holder.kill('SIGKILL')
  await (await waiting).close()
})
