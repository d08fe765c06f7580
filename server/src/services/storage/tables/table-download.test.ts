// Whole tables in one request: what curl, pandas, DuckDB, R and Excel read (docs/getting-data-out.md).

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readdir, readlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { DuckDBInstance } from '@duckdb/node-api'
import { tableClient } from '../../../../../tests/support/clients/table-client.ts'
import { shareTestStack } from '../../../../../tests/support/test-stack.ts'
import { until } from '../../../../../tests/support/until.ts'

const startProject = shareTestStack()

async function stackWithPeople() {
  const stack = await startProject()
  const client = tableClient(stack)
  await client.bucket()
  await client.create('in.c-main', 'people', 'id,name,note\n1,"Ada ""A"", x",\n2,Jiří,b\n3,"two\nlines",c\n')
  const get = (query = '', options = {}) => stack.request('GET', `/v2/storage/tables/in.c-main.people/data${query}`, options)
  return { stack, ...client, get }
}

test('CSV has a header and every value in quotes, under the name of the table', async () => {
  const { get } = await stackWithPeople()
  const answer = await get()
  assert.equal(answer.status, 200, answer.text)
  assert.equal(answer.text, '"id","name","note"\n"1","Ada ""A"", x",""\n"2","Jiří","b"\n"3","two\nlines","c"\n')
  assert.equal(answer.headers.get('content-type'), 'text/csv; charset=utf-8')
  assert.equal(answer.headers.get('content-disposition'), 'attachment; filename="in.c-main.people.csv"')
  assert.equal(Number(answer.headers.get('content-length')), Buffer.byteLength(answer.text))
  assert.equal((await get('?format=csv')).text, answer.text)
  assert.equal((await get('?whereColumn=id&whereValues=9')).text, '"id","name","note"\n', 'no rows, but a header')
})

test('JSON lines of an untyped table hold strings; of a typed one numbers, booleans and nulls', async () => {
  const { stack, get, succeed, load } = await stackWithPeople()
  const answer = await get('?format=jsonl')
  assert.equal(answer.headers.get('content-type'), 'application/x-ndjson')
  assert.equal(answer.headers.get('content-disposition'), 'attachment; filename="in.c-main.people.jsonl"')
  assert.deepEqual(linesOf(answer.text), [
    { id: '1', name: 'Ada "A", x', note: '' },
    { id: '2', name: 'Jiří', note: 'b' },
    { id: '3', name: 'two\nlines', note: 'c' },
  ])
  assert.equal((await get('?format=jsonl&limit=0')).text, '')

  const columns = ['INTEGER', 'NUMERIC', 'FLOAT', 'BOOLEAN', 'DATE', 'TIMESTAMP', 'STRING'].map((basetype) => ({
    name: basetype.toLowerCase(),
    basetype,
  }))
  const made = await stack.request('POST', '/v2/storage/buckets/in.c-main/tables-definition', {
    json: { name: 'typed', columns },
  })
  await succeed(made)
  await load(
    'in.c-main.typed',
    `${columns.map(({ name }) => name).join(',')}\n-7,1.5,0.25,true,2026-01-02,2026-01-02 03:04:05,7\n,,nan,,,,\n`,
  )
  const typed = await stack.request('GET', '/v2/storage/tables/in.c-main.typed/data?format=jsonl')
  assert.equal(typed.status, 200, typed.text)
  const [first, empty] = linesOf(typed.text)
  assert.deepEqual(first, {
    integer: -7,
    numeric: 1.5,
    float: 0.25,
    boolean: true,
    date: '2026-01-02',
    timestamp: '2026-01-02 03:04:05',
    string: '7',
  })
  const { string: _, ...others } = empty ?? {}
  assert.deepEqual(others, { integer: null, numeric: null, float: null, boolean: null, date: null, timestamp: null })
})

test('Parquet is one file that another engine reads', async () => {
  const { stack } = await stackWithPeople()
  const path =
    '/v2/storage/tables/in.c-main.people/data?format=parquet&columns=id,name&orderBy[0][column]=id&orderBy[0][order]=DESC'
  const response = await fetch(new URL(path, stack.url), { headers: { 'X-StorageApi-Token': stack.masterToken } })
  assert.equal(response.headers.get('content-type'), 'application/vnd.apache.parquet')
  assert.equal(response.headers.get('content-disposition'), 'attachment; filename="in.c-main.people.parquet"')
  const file = join(stack.dataDir, 'people.parquet')
  await writeFile(file, Buffer.from(await response.arrayBuffer()))
  const db = await (await DuckDBInstance.create(':memory:')).connect()
  const read = await db.runAndReadAll(`SELECT * FROM '${file}'`)
  assert.deepEqual(read.columnNames(), ['id', 'name'])
  assert.deepEqual(read.getRowsJS(), [
    ['3', 'two\nlines'],
    ['2', 'Jiří'],
    ['1', 'Ada "A", x'],
  ])
})

test('filters, columns, times, order and limit are those of the preview; what is wrong is refused', async () => {
  const { get } = await stackWithPeople()
  const ids = async (query: string) => (await get(`?columns=id&${query}`)).text.replaceAll('"', '').trim().split('\n').slice(1)
  assert.deepEqual(await ids('whereFilters[0][column]=id&whereFilters[0][operator]=gt&whereFilters[0][values][0]=1'), ['2', '3'])
  assert.deepEqual(await ids('orderBy[0][column]=id&orderBy[0][order]=DESC&limit=2'), ['3', '2'])
  assert.deepEqual(await ids('fulltextSearch=jiř'), ['2'])
  assert.deepEqual(await ids('changedSince=-1 hour'), ['1', '2', '3'])
  assert.deepEqual(await ids('changedUntil=-1 hour'), [])
  for (const [query, code] of [
    ['format=xml', 'storage.tables.validation.invalidFormat'],
    ['columns=ghost', 'storage.tables.validation.columnNotExists'],
    ['limit=many', 'storage.tables.validation'],
    ['orderBy[0][column]=id&orderBy[0][order]=up', 'storage.tables.validation'],
    ['whereColumn=ghost&whereValues=1', 'storage.tables.validation.columnNotExists'],
  ] as const) {
    const answer = await get(`?${query}`)
    assert.deepEqual([answer.status, answer.json().code], [400, code], query)
  }
})

test('an alias gives out what it shows, and a token only what it may read', async () => {
  const { stack, bucket, get } = await stackWithPeople()
  await bucket('open')
  const json = {
    sourceTable: 'in.c-main.people',
    name: 'few',
    aliasColumns: ['id', 'name'],
    aliasFilter: { column: 'id', values: ['2'] },
  }
  assert.equal((await stack.request('POST', '/v2/storage/buckets/in.c-open/table-aliases', { json })).status, 201)
  const made = await stack.request('POST', '/v2/storage/tokens', { json: { bucketPermissions: { 'in.c-open': 'read' } } })
  const { token } = made.json<{ token: string }>()
  const few = (query: string) => stack.request('GET', `/v2/storage/tables/in.c-open.few/data?${query}`, { token })
  assert.equal((await few('format=csv')).text, '"id","name"\n"2","Jiří"\n')
  assert.deepEqual(linesOf((await few('format=jsonl')).text), [{ id: '2', name: 'Jiří' }])
  assert.equal((await few('columns=note')).status, 400)
  assert.equal((await get('', { token })).status, 403)
  assert.equal((await get('', { token: null })).status, 401)
  assert.equal((await get('', { token: (await stack.newProject()).masterToken })).status, 404)
  assert.equal((await stack.request('GET', '/v2/storage/tables/in.c-main.ghost/data')).status, 404)
})

test('a client that leaves in the middle leaves no file behind, and nothing is left after one that stays', async () => {
  const { stack, create } = await stackWithPeople()
  const row = () => `${randomBytes(6000).toString('hex')}\n`
  await create('in.c-main', 'large', `value\n${Array.from({ length: 1500 }, row).join('')}`)
  const path = new URL('/v2/storage/tables/in.c-main.large/data', stack.url)
  const gone = new AbortController()
  const response = await fetch(path, { headers: { 'X-StorageApi-Token': stack.masterToken }, signal: gone.signal })
  const reader = response.body!.getReader()
  await reader.read()
  assert.equal((await openDownloads()).length, 1, 'the answer is being sent')
  gone.abort()
  await until('the file is closed', async () => (await openDownloads()).length === 0)
  assert.deepEqual(await downloadsIn(stack.dataDir), [])

  const whole = await stack.request('GET', path.href)
  assert.equal(whole.text.length, '"value"\n'.length + 1500 * 12_003)
  await until('the file is closed', async () => (await openDownloads()).length === 0)
  assert.deepEqual(await downloadsIn(stack.dataDir), [])
})

test('a preview says whether there are more rows', async () => {
  const { stack } = await stackWithPeople()
  const cut = async (query: string) => {
    const answer = await stack.request('GET', `/v2/storage/tables/in.c-main.people/data-preview?${query}`)
    return [answer.headers.get('x-millrace-truncated'), answer.text.split('\n').length]
  }
  assert.deepEqual(await cut('columns=id&limit=2'), ['true', 4])
  assert.deepEqual(await cut('columns=id&limit=3'), ['false', 5])
  assert.equal((await cut('limit=1&format=json'))[0], 'true')
})

test('an export job writes JSON lines in slices or as one file, packed or not', async () => {
  const { exported } = await stackWithPeople()
  for (const gzip of [false, true])
    assert.deepEqual(
      linesOf(await exported('in.c-main.people', { fileType: 'jsonl', gzip, columns: ['id'] })),
      ['1', '2', '3'].map((id) => ({ id })),
    )
})

const linesOf = (text: string): Record<string, unknown>[] => {
  assert.ok(text.endsWith('\n'))
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>)
}

/** Files of downloads that this process holds open; they have no name any more. */
async function openDownloads(): Promise<string[]> {
  const files = await readdir('/proc/self/fd')
  const targets = await Promise.all(files.map((file) => readlink(`/proc/self/fd/${file}`).catch(() => '')))
  return targets.filter((target) => target.includes('/download-'))
}

const downloadsIn = async (dir: string): Promise<string[]> =>
  (await readdir(dir, { recursive: true })).filter((name) => name.includes('download-'))
