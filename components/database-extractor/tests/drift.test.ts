// The columns of a source change between runs: what becomes of the table, shown before and done by the run.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DEFAULT_WORKER } from '../../../server/src/model/worker-settings.ts'
import { connectionTo, openDatabase } from '../../../tests/support/servers/source-database.ts'
import { type Job, type ShellStack, shareShellStack } from '../../../tests/support/shell-stack.ts'
import { typeForBoth } from '../src/compare/drift.ts'

const startProject = shareShellStack({ worker: { ...DEFAULT_WORKER, egressAllow: ['127.0.0.1'] } })
const COMPONENT = 'platform.ex-database'

interface ChangeEvent {
  readonly type: string
  readonly results: {
    readonly columnChanges: { readonly table: string; readonly changes: readonly { readonly column: string }[] }
  }
}

async function setUp(stack: ShellStack, url: string) {
  const db = connectionTo(url)
  const config = await stack.configure(COMPONENT, { parameters: { db } })
  const tableId = `in.c-platform-ex-database-${config}.items`
  const run = async (more: object = {}): Promise<Job> => {
    const configData = { parameters: { db, table: { tableName: 'items' }, ...more } }
    const answer = await stack.request('POST', '/queue/jobs', { json: { component: COMPONENT, config, mode: 'run', configData } })
    return stack.wait(answer.json<Job>())
  }
  const good = async (more: object = {}): Promise<string> => {
    const job = await run(more)
    assert.equal(job.status, 'success', job.result.message)
    return (await stack.request('GET', `/v2/storage/events?runId=${job.id}&limit=200`)).text
  }
  const preview = async (more: object = {}) => {
    const configData = { parameters: { db, table: { tableName: 'items' }, verifyTable: tableId, ...more } }
    const json = { componentId: COMPONENT, action: 'previewChanges', configData }
    return (await stack.request('POST', '/sync-actions/actions', { json })).json()
  }
  const rows = async (): Promise<unknown[][]> => {
    const sql = `select * from "in.c-platform-ex-database-${config}".items order by 1`
    return (await stack.request('POST', '/v2/storage/query', { json: { sql } })).json<{ rows: unknown[][] }>().rows
  }
  const types = async (): Promise<string> => {
    const shown = (await stack.request('GET', `/v2/storage/tables/${tableId}`)).json<{
      definition: { columns: { name: string; basetype: string; definition: { length?: string } }[] }
    }>()
    return shown.definition.columns
      .map(({ name, basetype, definition }) => `${name} ${basetype}${basetype === 'NUMERIC' ? ` ${definition.length}` : ''}`)
      .join(', ')
  }
  const changeEvents = async () => {
    const q = encodeURIComponent(`message:"The columns of the source of ${tableId} have changed"`)
    return (await stack.request('GET', `/v2/storage/events?component=${COMPONENT}&q=${q}`)).json<ChangeEvent[]>()
  }
  return { config, tableId, run, good, preview, rows, types, changeEvents }
}

test('new columns are added, types become wider, dropped columns stay, and the next run reads on', async (t) => {
  const { url, run: execute } = await openDatabase(t)
  const stack = await startProject()
  await execute(`create table items (id int primary key, price int, code int, day date, gone text);
    insert into items values (1, 10, 7, '2026-01-01', 'x'), (2, null, 8, null, 'y')`)
  const { good, preview, rows, types, tableId, changeEvents } = await setUp(stack, url)
  await good()
  await execute(`alter table items alter price type numeric(10,2), alter code type text, alter day type timestamp, drop column gone, add column extra text;
    insert into items values (3, 1.25, 'A7', '2026-01-02 03:04:05', 'new')`)
  const shown = await preview()
  assert.equal(shown.stops, false)
  assert.deepEqual(
    (shown.changes as { column: string; change: string; becomes: string }[])
      .map(({ column, change, becomes }) => `${column} ${change} ${becomes}`)
      .sort(),
    ['code type STRING', 'day type TIMESTAMP', 'extra added STRING', 'gone dropped STRING', 'price type NUMERIC(21,2)'],
  )
  const log = await good({ incremental: true })
  assert.match(
    log,
    /Column \\"price\\" is numeric\(10,2\) in the source and INTEGER in the table: the column of the table becomes NUMERIC\(21,2\)/,
  )
  assert.equal(await types(), 'code STRING, day TIMESTAMP, extra STRING, gone STRING, id INTEGER, price NUMERIC 21,2')
  assert.deepEqual((await rows()).map(String), [
    '1,10.00,7,2026-01-01 00:00:00,,',
    '2,,8,,,',
    '3,1.25,A7,2026-01-02 03:04:05,,new',
  ])
  const [event] = await changeEvents()
  assert.equal(event?.type, 'warn')
  assert.equal(event?.results.columnChanges.table, tableId)
  assert.deepEqual(
    event?.results.columnChanges.changes.map(({ column }) => column).sort(),
    ['code', 'day', 'extra', 'gone', 'price'],
    'one event has them all',
  )
  assert.match(await good({ mode: 'verify' }), /is equal to its source/)
  await execute('alter table items alter price type numeric(5,1)')
  await good()
  assert.equal((await changeEvents()).length, 1, 'a column that stays dropped is no news')
  const left = (await preview()).changes as { column: string }[]
  assert.deepEqual(
    left.map(({ column }) => column),
    ['gone'],
    'the wider type stays',
  )
  const events = (await stack.request('GET', `/v2/storage/tables/${tableId}/events?limit=50`)).text
  assert.match(events, /"storage\.tableColumn\w*"/)
})

test('a row can stop, or ignore, what has changed', async (t) => {
  const { url, run: execute } = await openDatabase(t)
  const stack = await startProject()
  await execute(`create table items (id int primary key, price int, gone text); insert into items values (1, 10, 'x')`)
  const { run, good, preview, rows } = await setUp(stack, url)
  await good()
  await execute('alter table items add column extra text')
  const stopped = await run({ newColumns: 'stop' })
  assert.match(stopped.result.message, /"extra" \(text\) is new in the source: the run stops\. Change newColumns/)
  assert.equal((await preview({ newColumns: 'stop' })).stops, true)
  await good({ newColumns: 'ignore' })
  assert.equal((await rows())[0]?.length, 3)
  await execute("alter table items alter price type text using 'much'")
  assert.match(
    (await run({ changedTypes: 'stop' })).result.message,
    /"price" is text in the source and INTEGER in the table: the run stops/,
  )
  assert.match(
    (await run({ changedTypes: 'ignore' })).result.message,
    /the value "much" of column "price" is not a valid INTEGER/,
  )
  await execute('alter table items drop column gone')
  assert.match((await run({ droppedColumns: 'stop' })).result.message, /"gone" is no longer in the source: the run stops/)
  assert.match((await run({ newColumns: 'maybe' })).result.message, /newColumns must be add, ignore, stop/)
  await good()
  assert.deepEqual((await rows()).map(String), ['1,much,,'])
})

test('a type for both holds every value of either', () => {
  const both = (a: string, b: string) => {
    const read = (text: string) => {
      const [base, length] = text.split(' ')
      return { base: base as 'STRING', length }
    }
    const { base, length } = typeForBoth(read(a), read(b))
    return length === undefined ? base : `${base} ${length}`
  }
  for (const [a, b, wider] of [
    ['INTEGER', 'INTEGER', 'INTEGER'],
    ['NUMERIC 10,2', 'NUMERIC 8,4', 'NUMERIC 12,4'],
    ['INTEGER', 'NUMERIC 30,20', 'STRING'],
    ['NUMERIC 38,9', 'NUMERIC 38,0', 'STRING'],
    ['DATE', 'TIMESTAMP', 'TIMESTAMP'],
    ['BOOLEAN', 'INTEGER', 'STRING'],
    ['FLOAT', 'NUMERIC 10,2', 'STRING'],
    ['STRING', 'DATE', 'STRING'],
  ] as const) {
    assert.equal(both(a, b), wider, `${a} and ${b}`)
    assert.equal(both(b, a), wider, `${b} and ${a}`)
  }
})

test('a form can ask how many rows a run would read', async (t) => {
  const { url, run: execute } = await openDatabase(t)
  const stack = await startProject()
  await execute('create table items as select i as id from generate_series(1, 500) as i; analyze items')
  const ask = async (parameters: object) => {
    const configData = { parameters: { db: connectionTo(url), ...parameters } }
    return (
      await stack.request('POST', '/sync-actions/actions', { json: { componentId: COMPONENT, action: 'estimate', configData } })
    ).json()
  }
  assert.deepEqual(await ask({ table: { schema: 'public', tableName: 'items' } }), {
    status: 'success',
    rows: 500,
    isExact: false,
  })
  assert.deepEqual(await ask({ query: 'select * from items where id > 490' }), { status: 'success', rows: 10, isExact: true })
})
