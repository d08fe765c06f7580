// A durable update of a configuration (version, head, event, one transaction, synced) through the API, against the same three
// statements in a bare node:sqlite transaction.

import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { startStackProcess } from '../tests/support/stack-process.ts'
import { inTurns, report, requestsPerSecond } from './measure.ts'

const DURATION_MS = 2000
const CLIENTS = 16
const cleanups: Array<() => unknown> = []
const stack = await startStackProcess({ after: (work) => cleanups.push(work as () => unknown) }) // it passes one function without parameters
const path = '/v2/storage/components/platform.ex-http/configs'
await stack.post(path, { name: 'bench', configurationId: 'bench' })

const content = (n: number) => ({ parameters: { api: { baseUrl: 'https://example.com' }, n, text: 'x'.repeat(500) } })

const folder = mkdtempSync(join(tmpdir(), 'millrace-bench-'))
const db = new DatabaseSync(join(folder, 'bare.db'))
db.exec(`pragma journal_mode = wal; pragma synchronous = full;
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

function bareTransactionsPerSecond(): number {
  const started = performance.now()
  let done = 0
  while (performance.now() - started < DURATION_MS) {
    const text = JSON.stringify(content(done))
    db.exec('begin immediate')
    const version = Number(readHead.get()?.version) + 1
    insertVersion.run(version, 'bench', text, 0)
    updateHead.run(version, text, 0)
    insertEvent.run(randomBytes(16).toString('hex'), 'storage.componentConfigurationChanged', 'Changed configuration', '{}')
    db.exec('commit')
    done++
  }
  return (done / (performance.now() - started)) * 1000
}

let counter = 0
const update = {
  url: `${stack.url}${path}/bench`,
  method: 'PUT',
  headers: { 'x-storageapi-token': stack.masterToken, 'content-type': 'application/json' },
  body: () => JSON.stringify({ configuration: content(counter++) }),
  connections: CLIENTS,
  durationMs: DURATION_MS,
}
const ourUpdatesPerSecond = () => requestsPerSecond(update)

for (let i = 0; i < 4; i++) await ourUpdatesPerSecond() // V8 takes its time until the whole way of a request is compiled well
const perSecond = await inTurns(5, { ours: ourUpdatesPerSecond, bare: bareTransactionsPerSecond })
report({
  bench: 'configuration-update',
  ratio: perSecond.ours / perSecond.bare,
  target: '>= 0.5',
  oursPerSecond: Math.round(perSecond.ours),
  barePerSecond: Math.round(perSecond.bare),
})
db.close()
rmSync(folder, { recursive: true })
for (const cleanup of cleanups) await cleanup()
