// SQLite files of a named folder and of the project; what lies outside of them stays closed.

import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
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
