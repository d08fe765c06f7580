// A durable token through the API (token, event, one transaction, synced) against the same two inserts in a bare node:sqlite transaction.

import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { startStackProcess } from '../tests/support/stack-process.ts'
import { inTurns, report, requestsPerSecond } from './support/measure.ts'

const DURATION_MS = 2000
const cleanups: Array<() => unknown> = []
const stack = await startStackProcess({ after: (work) => cleanups.push(work as () => unknown) }) // it passes one function without parameters
const folder = mkdtempSync(join(tmpdir(), 'millrace-bench-'))
const db = new DatabaseSync(join(folder, 'bare.db'))
db.exec(`pragma journal_mode = wal; pragma synchronous = full;
  create table token (id integer primary key autoincrement, project_id integer, hash text unique, description text, permissions text, created_at integer);
  create table event (id integer primary key autoincrement, project_id integer, uuid text unique, event text, message text, params text, created_at integer)`)
const insertToken = db.prepare(
  'insert into token (project_id, hash, description, permissions, created_at) values (1, ?, ?, ?, 0)',
)
const insertEvent = db.prepare(
  'insert into event (project_id, uuid, event, message, params, created_at) values (1, ?, ?, ?, ?, 0)',
)

function bareTransactionsPerSecond(): number {
  const started = performance.now()
  let done = 0
  while (performance.now() - started < DURATION_MS) {
    db.exec('begin immediate')
    insertToken.run(randomBytes(32).toString('hex'), 'bench', '{}')
    insertEvent.run(randomBytes(16).toString('hex'), 'storage.tokenCreated', 'Created token', '{}')
    db.exec('commit')
    done++
  }
  return (done / (performance.now() - started)) * 1000
}

const create = {
  url: `${stack.url}/v2/storage/tokens`,
  method: 'POST',
  headers: { 'x-storageapi-token': stack.masterToken, 'content-type': 'application/json' },
  body: JSON.stringify({ description: 'bench' }),
  connections: 16,
  durationMs: DURATION_MS,
}
await requestsPerSecond(create) // warm
const perSecond = await inTurns(5, { ours: () => requestsPerSecond(create), bare: bareTransactionsPerSecond })
report({
  bench: 'token-create',
  ratio: perSecond.ours / perSecond.bare,
  target: '>= 0.5',
  oursPerSecond: Math.round(perSecond.ours),
  barePerSecond: Math.round(perSecond.bare),
})
db.close()
rmSync(folder, { recursive: true })
for (const cleanup of cleanups) await cleanup()
