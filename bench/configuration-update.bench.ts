// A durable update of a configuration through the API, against the same rows in the same tables by prepared statements of node:sqlite: it
// reads the head, writes version, head, event and change, in one synced transaction. `slimRatio` compares with a
// transaction of three short rows, as the first releases wrote them.

import { randomBytes, randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import { METADATA_FILE } from '../server/src/wiring/data-files.ts'
import { startStackProcess } from '../tests/support/stack-process.ts'
import { inTurns, report, requestsPerSecond, round } from './support/measure.ts'

const DURATION_MS = 2000
const CLIENTS = 16
const cleanups: Array<() => unknown> = []
const stack = await startStackProcess({ after: (work) => cleanups.push(work as () => unknown) }) // it passes one function without parameters
const path = '/v2/storage/components/platform.ex-http/configs'
await stack.post(path, { name: 'bench', configurationId: 'bench' })

const content = (n: number) => ({ parameters: { api: { baseUrl: 'https://example.com' }, n, text: 'x'.repeat(500) } })
await stack.request('PUT', `${path}/bench`, { configuration: content(0) })

const folder = mkdtempSync(join(tmpdir(), 'millrace-bench-'))
const DURABLE = 'pragma journal_mode = wal; pragma synchronous = full'

/** As many transactions as go into the time. */
function perSecond(db: DatabaseSync, write: (text: string) => void): number {
  const started = performance.now()
  let done = 0
  while (performance.now() - started < DURATION_MS) {
    const text = JSON.stringify(content(done))
    db.exec('begin immediate')
    write(text)
    db.exec('commit')
    done++
  }
  return (done / (performance.now() - started)) * 1000
}

type Row = Record<string, SQLInputValue>

/** What an update of ours writes, into a copy of its database. */
function sameRows() {
  const copy = join(folder, 'same.db')
  const original = new DatabaseSync(join(stack.dataDir, METADATA_FILE), { readOnly: true })
  original.exec(`vacuum into '${copy}'`)
  original.close()
  const db = new DatabaseSync(copy)
  db.exec(DURABLE)
  const last = (table: string, order: string): Row =>
    db.prepare(`select * from ${table} order by ${order} desc limit 1`).get() as Row // of a table of the product
  const [version, event, change] = [
    last('configuration_version', 'version'),
    withoutId(last('event', 'id')),
    withoutId(last('change', 'id')),
  ]
  const insertInto = (table: string, row: Row) => {
    const names = Object.keys(row)
    return db.prepare(`insert into ${table} (${names.join()}) values (${names.map((name) => `$${name}`).join()})`)
  }
  const readHead = db.prepare(`select * from configuration join configuration_version content
    on content.owner_id = configuration.id and content.version = configuration.content_version
    where configuration.project_id = 1 and configuration_id = 'bench'`)
  const insertVersion = insertInto('configuration_version', version)
  const updateHead =
    db.prepare(`update configuration set version = ?, content_version = ?, change_description = ?, version_identifier = ?,
    revision = revision + 1, changed_at = ?, words_stale = 1 where id = ?`)
  const [insertEvent, insertChange] = [insertInto('event', event), insertInto('change', change)]

  return () =>
    perSecond(db, (text) => {
      const next = Number((readHead.get() as Row).version) + 1
      const now = Date.now()
      insertVersion.run({ ...version, version: next, content_version: next, content: text, created_at: now })
      updateHead.run(next, next, 'Configuration updated', randomUUID(), now, version.owner_id!)
      insertEvent.run({ ...event, uuid: randomUUID(), created_at: now })
      insertChange.run({ ...change, version: next, created_at: now })
    })
}

function withoutId({ id: _, ...row }: Row): Row {
  return row
}

function threeShortRows() {
  const db = new DatabaseSync(join(folder, 'slim.db'))
  db.exec(`${DURABLE};
    create table head (id integer primary key, version integer, name text, configuration text, changed_at integer);
    create table version (owner integer, version integer, name text, configuration text, changed_at integer, primary key (owner, version));
    create table event (id integer primary key autoincrement, project_id integer, uuid text unique, event text, message text, params text, created_at integer);
    insert into head values (1, 1, 'bench', '{}', 0)`)
  const readHead = db.prepare('select version from head where id = 1')
  const insertVersion = db.prepare('insert into version values (1, ?, ?, ?, ?)')
  const updateHead = db.prepare('update head set version = ?, configuration = ?, changed_at = ? where id = 1')
  const insertEvent = db.prepare(
    'insert into event (project_id, uuid, event, message, params, created_at) values (1, ?, ?, ?, ?, 0)',
  )
  return () =>
    perSecond(db, (text) => {
      const version = Number(readHead.get()?.version) + 1
      insertVersion.run(version, 'bench', text, 0)
      updateHead.run(version, text, 0)
      insertEvent.run(randomBytes(16).toString('hex'), 'storage.componentConfigurationChanged', 'Changed configuration', '{}')
    })
}

let counter = 1
const update = {
  url: `${stack.url}${path}/bench`,
  method: 'PUT',
  headers: { 'x-storageapi-token': stack.masterToken, 'content-type': 'application/json' },
  body: () => JSON.stringify({ configuration: content(counter++) }),
  connections: CLIENTS,
  durationMs: DURATION_MS,
}
const ours = () => requestsPerSecond(update)

const candidates = { ours, bare: sameRows(), slim: threeShortRows() }
for (let i = 0; i < 4; i++) await ours() // V8 takes its time until the whole way of a request is compiled well
const figures = await inTurns(5, candidates)
report({
  bench: 'configuration-update',
  ratio: figures.ours / figures.bare,
  target: '>= 0.5',
  oursPerSecond: Math.round(figures.ours),
  barePerSecond: Math.round(figures.bare),
  slimPerSecond: Math.round(figures.slim),
  slimRatio: round(figures.ours / figures.slim),
})
rmSync(folder, { recursive: true })
for (const cleanup of cleanups) await cleanup()
