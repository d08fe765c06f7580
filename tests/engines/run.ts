// Whether other programs read the tables right: pyiceberg and DuckDB with its own Iceberg reader. `npm run test:engines`, not part of
// `npm test`: it needs Python 3 and, the first time, the package index of Python. MILLRACE_ENGINES names another folder for the packages.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { tableClient } from '../support/table-client.ts'
import { startTestStack } from '../support/test-stack.ts'

const run = promisify(execFile)
const PACKAGES = [
  'pyiceberg[pyarrow]==0.12.0',
  ...['', '-extension-iceberg', '-extension-httpfs', '-extension-avro'].map((part) => `duckdb${part}==1.5.5`),
]
const FOLDER = process.env.MILLRACE_ENGINES ?? join(tmpdir(), 'millrace-engines')
const READERS = fileURLToPath(new URL('./readers.py', import.meta.url))

/** As Python writes the values. */
const TYPED = [
  'x',
  '9007199254740993',
  '1.5',
  'True',
  '1969-12-31',
  '2026-01-02 03:04:05',
  '1.25',
  '1.2500',
  '12345678901234567890123456789.123456789',
]

interface Found {
  readonly rows: number
  readonly nulls: number
  readonly travelled: readonly number[]
  readonly typed: readonly (readonly (string | null)[])[]
}

if (!existsSync(join(FOLDER, 'bin', 'python'))) {
  await run('python3', ['-m', 'venv', FOLDER])
  await run(join(FOLDER, 'bin', 'pip'), ['install', '--quiet', ...PACKAGES])
}

const ends: (() => unknown)[] = []
const stack = await startTestStack({ after: (end) => ends.push(end) })
try {
  await fill()
  const foreign = await stack.newProject()
  const { stdout } = await run(join(FOLDER, 'bin', 'python'), [READERS, stack.url, stack.masterToken, foreign.masterToken])
  const { pyiceberg, duckdb } = JSON.parse(stdout) as {
    readonly pyiceberg: Found & { readonly filtered: unknown; readonly foreign: string; readonly wrong: string }
    readonly duckdb: Found & { readonly joined: number }
  }
  for (const [name, found] of Object.entries({ pyiceberg, duckdb })) {
    assert.deepEqual([found.rows, found.nulls], [1011, 0], name)
    assert.deepEqual(found.travelled, [1000, 1005, 1011], name)
    assert.deepEqual(found.typed, [TYPED, TYPED.map(() => null)], name)
    process.stdout.write(`${name}: ${found.rows} rows, states of ${found.travelled.join(', ')} rows, all types right\n`)
  }
  assert.deepEqual(pyiceberg.filtered, [{ id: '7', name: 'a7', note: '' }])
  assert.deepEqual([pyiceberg.foreign, pyiceberg.wrong], ['NoSuchTableError', 'UnauthorizedError'])
  assert.equal(duckdb.joined, 500)
} finally {
  for (const end of ends) await end()
}

/** Upserts, a column added after the first loads, every type, nulls, decimals of 9, 18 and 38 digits, a date before 1970. */
async function fill(): Promise<void> {
  const { bucket, create, load, succeed } = tableClient(stack)
  const lines = (from: number, to: number, text: string) =>
    Array.from({ length: to - from }, (_, i) => `${from + i},${text}${from + i}\n`).join('')
  await bucket()
  await create('in.c-main', 'people', `id,name\n${lines(0, 1000, 'a')}`, { primaryKey: 'id' })
  await load('in.c-main.people', `id,name\n${lines(950, 1005, 'b')}`, { incremental: true })
  await succeed(await stack.request('POST', '/v2/storage/tables/in.c-main.people/columns', { json: { name: 'note' } }))
  await load('in.c-main.people', 'id,name,note\n1005,x,n\n3,y,n\n', { incremental: true })
  const more = Array.from({ length: 5 }, (_, i) => `${1006 + i},z,n\n`).join('')
  await load('in.c-main.people', `id,name,note\n${more}`, { incremental: true })
  await create('in.c-main', 'other', `id,v\n${lines(0, 500, 'o')}`)
  const columns = [
    ...['STRING', 'INTEGER', 'FLOAT', 'BOOLEAN', 'DATE', 'TIMESTAMP'].map((basetype) => ({
      name: basetype.toLowerCase(),
      basetype,
    })),
    ...['9,2', '18,4', '38,9'].map((length, i) => ({ name: `decimal${i}`, definition: { type: 'NUMERIC', length } })),
  ]
  const definition = { json: { name: 'typed', columns } }
  await succeed(await stack.request('POST', '/v2/storage/buckets/in.c-main/tables-definition', definition))
  const header = columns.map(({ name }) => name).join()
  const values = TYPED.map((value) => value.replace('True', 'true')).join()
  await load('in.c-main.typed', `${header}\n${values}\n${','.repeat(columns.length - 1)}\n`)
}
