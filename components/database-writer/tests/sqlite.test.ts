// SQLite files in a folder that the operator named: made, filled, changed by key; what lies outside stays closed.

import assert from 'node:assert/strict'
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { DEFAULT_WORKER } from '../../../server/src/model/worker-settings.ts'
import { fillTable, makeTable } from '../../../tests/support/project-table.ts'
import { type Job, type ShellStack, shareShellStack } from '../../../tests/support/shell-stack.ts'

const home = mkdtempSync(join(tmpdir(), 'millrace-sqlite-out-'))
const [outbox, outside] = [join(home, 'outbox'), join(home, 'outside')]
for (const folder of [outbox, outside]) mkdirSync(folder)
symlinkSync(outside, join(outbox, 'link'))
test.after(() => rmSync(home, { recursive: true, force: true }))
const startProject = shareShellStack({ worker: { ...DEFAULT_WORKER, folders: { read: {}, write: { outbox } } } })
const ITEMS = 'in.c-shop.items'

async function run(stack: ShellStack, path: string, parameters: object = {}): Promise<Job> {
  const config = await stack.configure('platform.wr-database', {
    parameters: { db: { type: 'sqlite', folder: 'outbox', path }, table: { tableName: 'items' }, ...parameters },
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
