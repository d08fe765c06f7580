// DuckDB's own readers against the drivers: random tables of PostgreSQL, MariaDB and SQLite arrive the same by either. `npm run test:readers`, not part of
// `npm test`: it takes the extension files from the package index of Python, where they are as DuckDB has signed them (MILLRACE_EXTENSION_FILES
// names a folder that has them already), and a MariaDB of the machine.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { DEFAULT_WORKER } from '../../server/src/model/worker-settings.ts'
import { chance, SEED } from '../support/chance.ts'
import { runCli } from '../support/run-cli.ts'
import { PASSWORD, startMariadb } from '../support/servers/mariadb-server.ts'
import { anyFloat, anyHex, anyText, digits, MARIADB_VALUES, POSTGRESQL_VALUES, signed } from '../support/servers/random-values.ts'
import { connectionTo, openDatabase } from '../support/servers/source-database.ts'
import { type Job, type ShellStack, shellStack } from '../support/shell-stack.ts'

const COMPONENT = 'platform.ex-database'
const TABLES = Number(process.env.READERS_TABLES ?? 5)
const ROWS = 200
const run = promisify(execFile)
const names = ['postgres', 'mysql', 'sqlite'] as const

/** The folder with the files, which are fetched once. */
async function extensionFiles(): Promise<string> {
  const folder = process.env.MILLRACE_EXTENSION_FILES ?? join(tmpdir(), 'millrace-extension-files')
  if (names.every((name) => existsSync(join(folder, `${name}_scanner.duckdb_extension`)))) return folder
  await mkdir(folder, { recursive: true })
  const packages = names.map((name) => `duckdb-extension-${name}-scanner==1.5.5`)
  await run('python3', ['-m', 'pip', 'download', '--quiet', '--no-deps', '--dest', folder, ...packages])
  for (const wheel of (await readdir(folder)).filter((name) => name.endsWith('.whl')))
    await run('python3', ['-c', UNPACK, join(folder, wheel), folder])
  return folder
}

const UNPACK = `import sys, zipfile, os
z = zipfile.ZipFile(sys.argv[1])
for n in z.namelist():
    if n.endswith('.duckdb_extension'): open(os.path.join(sys.argv[2], os.path.basename(n)), 'wb').write(z.read(n))`

async function readBoth(stack: ShellStack, db: object, row: object, expected: RegExp): Promise<void> {
  const config = await stack.configure(COMPONENT, { parameters: { db } })
  const read = async (reader: string): Promise<string> => {
    const configData = { parameters: { db, ...row, reader, outputTable: reader } }
    const answer = await stack.request('POST', '/queue/jobs', { json: { component: COMPONENT, config, mode: 'run', configData } })
    const job = await stack.wait(answer.json<Job>())
    assert.equal(job.status, 'success', `${reader}: ${job.result.message} (seed ${SEED})`)
    const events = await stack.request('GET', `/v2/storage/events?runId=${job.id}&limit=500`)
    return events
      .json<{ message: string }[]>()
      .map(({ message }) => message)
      .join('\n')
  }
  assert.doesNotMatch(await read('driver'), /DuckDB/)
  assert.match(await read('duckdb'), expected, `seed ${SEED}`)
  const bucket = `"in.c-platform-ex-database-${config}"`
  const minus = (a: string, b: string) =>
    `(select count(*) from (select t::varchar from ${bucket}.${a} t except all select t::varchar from ${bucket}.${b} t))`
  const sql = `select (select count(*) from ${bucket}.driver), ${minus('driver', 'duckdb')}, ${minus('duckdb', 'driver')}`
  const { rows } = (await stack.request('POST', '/v2/storage/query', { json: { sql } })).json<{ rows: unknown[][] }>()
  assert.deepEqual(rows[0]?.map(Number), [ROWS, 0, 0], `seed ${SEED}`)
  const types = async (table: string) =>
    (await stack.request('GET', `/v2/storage/tables/in.c-platform-ex-database-${config}.${table}`)).json<{ definition: object }>()
      .definition
  assert.deepEqual(await types('duckdb'), await types('driver'))
}

const BY_DUCKDB = /DuckDB reads the rows, by its extension/

test('random tables are the same by the driver and by DuckDB', async (t) => {
  const files = await extensionFiles()
  const inbox = await mkdtemp(join(tmpdir(), 'millrace-readers-'))
  t.after(() => rm(inbox, { recursive: true, force: true }))
  const folders = { read: { inbox }, write: {} }
  const stack = await shellStack(t, { worker: { ...DEFAULT_WORKER, egressAllow: ['127.0.0.1'], folders } })
  const env = { MILLRACE_DATA_DIR: stack.dataDir }
  for (const name of names) {
    const { code, err } = await runCli(['extension', 'add', name, '--file', join(files, `${name}_scanner.duckdb_extension`)], env)
    assert.equal(code, 0, err)
  }
  await t.test('PostgreSQL', async (inner) => {
    const source = await openDatabase(inner)
    const types = Object.keys(POSTGRESQL_VALUES)
    for (let table = 0; table < TABLES; table++) {
      await source.run(`create table t${table} (id int primary key, ${types.map((type, at) => `c${at} ${type}`).join(', ')})`)
      for (let id = 0; id < ROWS; id++)
        await source.client.query(
          `insert into t${table} values (${id}, ${types.map((type, at) => `$${at + 1}::text::${type}`).join(', ')})`,
          types.map((type) => (chance() < 0.15 ? null : POSTGRESQL_VALUES[type]!().replace(/-?NaN/, 'NaN'))),
        )
      await source.run(`analyze t${table}`)
      const row = { table: { tableName: `t${table}` }, ...(table % 2 === 1 && { partRows: 60 }) }
      await readBoth(stack, connectionTo(source.url), row, BY_DUCKDB)
    }
    await source.run(
      `create table odd as select i as id, (case when i = 7 then 'NaN' else i::text end)::numeric(5,2) as n from generate_series(1, ${ROWS}) i`,
    )
    await readBoth(stack, connectionTo(source.url), { table: { tableName: 'odd' }, invalidValues: 'null' }, BY_DUCKDB)
  })
  await t.test('MariaDB', async (inner) => {
    const source = await startMariadb(inner)
    const db = { type: 'mysql', host: '127.0.0.1', port: source.port, user: 'reader', '#password': PASSWORD, database: 'shop' }
    const types = Object.keys(MARIADB_VALUES)
    const quote = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`
    for (let table = 0; table < TABLES; table++) {
      await source.run(`create table t${table} (id int primary key, ${types.map((type, at) => `c${at} ${type}`).join(', ')})`)
      const rows = Array.from({ length: ROWS }, (_, id) => {
        const values = types.map((type) => {
          const text = chance() < 0.15 ? null : MARIADB_VALUES[type]!()
          if (text === null) return 'null'
          return /binary|blob|bit/.test(type) ? `x'${text}'` : /point/.test(type) ? `ST_GeomFromText('${text}')` : quote(text)
        })
        return `(${[id, ...values].join(', ')})`
      })
      await source.run(`insert into t${table} values ${rows.join(', ')}`)
      await readBoth(stack, db, { table: { tableName: `t${table}` } }, BY_DUCKDB)
    }
    const wrong = await stack.configure(COMPONENT, {
      parameters: { db: { ...db, '#password': 'not-this' }, table: { tableName: 't0' } },
    })
    const json = { component: COMPONENT, config: wrong, mode: 'run' }
    const job = await stack.wait((await stack.request('POST', '/queue/jobs', { json })).json<Job>())
    assert.doesNotMatch(JSON.stringify(job), /not-this/)
  })
  await t.test('SQLite', async () => {
    for (let table = 0; table < TABLES; table++) {
      const file = new DatabaseSync(join(inbox, `t${table}.db`))
      file.exec('create table items (id integer primary key, whole integer, part real, words text, big bigint)')
      const insert = file.prepare('insert into items values (?, ?, ?, ?, ?)')
      const number = () => Number(anyFloat().replace(/-?NaN|-?Infinity/, '0.5'))
      for (let id = 0; id < ROWS; id++) {
        const values = [BigInt(signed(digits(18))), number(), anyText(), BigInt(signed(digits(9)))]
        insert.run(id, ...values.map((value) => (chance() < 0.15 ? null : value)))
      }
      file.exec(`create table mixed (id integer primary key, any, bytes blob)`)
      for (let id = 0; id < ROWS; id++)
        file.prepare('insert into mixed values (?, ?, ?)').run(id, id % 2 ? 'text' : 1.5, Buffer.from(anyHex(), 'hex'))
      file.close()
      const db = { type: 'sqlite', folder: 'inbox', path: `t${table}.db` }
      await readBoth(stack, db, { table: { tableName: 'items' } }, BY_DUCKDB)
      await readBoth(
        stack,
        db,
        { table: { tableName: 'mixed' } },
        /The driver reads the rows: column "any" of type any has values/,
      )
    }
  })
})
