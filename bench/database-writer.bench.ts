// A table to PostgreSQL (platform.wr-database, with the start of its program) against COPY FROM STDIN of the same file: into an empty table,
// over a filled one, and one per cent of changed rows by key. DATABASE_WRITER_ROWS changes the size of the runs (1,000,000).

import { createReadStream, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import { startPostgres } from '../tests/support/servers/postgres-server.ts'
import { inTurns, report, round, runNode } from './support/measure.ts'
import { writeFolder } from './support/write-folder.ts'

const ROUNDS = 3
const rows = Number(process.env.DATABASE_WRITER_ROWS ?? 1_000_000)
const program = fileURLToPath(new URL('../components/database-writer/src/main.ts', import.meta.url))
const postgres = await startPostgres()
const client = new pg.Client({ connectionString: postgres.url })
await client.connect()
const columns = { id: 'INTEGER', city: 'STRING', amount: 'NUMERIC', paid: 'BOOLEAN' }
const line = (id: number, more: number) => `"${id}","city ${id % 997}","${(id % 1000) + more}.25","${id % 2 === 0}"`
const whole = writeFolder(
  columns,
  Array.from({ length: rows }, (_, id) => line(id, 0)),
)
const changed = writeFolder(
  columns,
  Array.from({ length: rows / 100 }, (_, at) => line(at * 100, 1)),
)
const { hostname, port, username, password, pathname } = new URL(postgres.url)
const db = { host: hostname, port: Number(port), user: username, '#password': password, database: pathname.slice(1) }
const make = (name: string) =>
  client.query(
    `drop table if exists ${name}; create table ${name} (id bigint primary key, city text, amount numeric, paid boolean)`,
  )

let peak = 0
async function deliver(folder: string, mode: string, tableName: string, more: object = {}): Promise<number> {
  writeFileSync(join(folder, 'config.json'), JSON.stringify({ parameters: { db, table: { tableName }, mode, ...more } }))
  const { seconds, mib } = await runNode([program], { KBC_DATADIR: folder })
  peak = Math.max(peak, mib)
  return seconds
}

const { copy, empty, filled, direct, changes } = await inTurns(ROUNDS, {
  copy: async () => {
    await make('bare')
    const began = performance.now()
    await pipeline(createReadStream(whole.file), client.query(copyFrom('copy bare from stdin (format csv, header true)')))
    return (performance.now() - began) / 1000
  },
  empty: async () => {
    await make('ours')
    return deliver(whole.path, 'full', 'ours')
  },
  filled: () => deliver(whole.path, 'full', 'ours'),
  direct: () => deliver(whole.path, 'full', 'ours', { direct: true }),
  changes: () => deliver(changed.path, 'upsert', 'ours'),
})
report({
  bench: 'database-writer',
  ratio: copy / empty,
  target: '>= 0.8',
  rows,
  copySeconds: round(copy),
  emptySeconds: round(empty),
  replacedSeconds: round(filled),
  replacedRatio: round(copy / filled),
  directSeconds: round(direct),
  directRatio: round(copy / direct),
  changedOnePercentSeconds: round(changes),
  peakMib: Math.round(peak),
})
await client.end()
await postgres.stop()
for (const { path } of [whole, changed]) rmSync(path, { recursive: true, force: true })
