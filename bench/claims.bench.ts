// How many jobs two workers start and end a second on one PostgreSQL, beside one connection that only starts and ends rows of the same table by
// `for update skip locked`, without limits, locks and leases. Jobs do nothing, and are announced in the live stream as in a stack. Target: at least half of it.

import { sql } from 'kysely'
import { type MetadataDb, openMetadataDb } from '../server/src/engines/metadata-db/metadata-db.ts'
import type { Actor } from '../server/src/model/actor.ts'
import { createQueueLoop, type JobOutcome } from '../server/src/services/jobs/queue/queue.loop.ts'
import { createQueueStore } from '../server/src/services/jobs/queue/queue.store.ts'
import { createQueue } from '../server/src/services/jobs/queue/queue.ts'
import { createStateHistory } from '../server/src/services/jobs/queue/state-history.store.ts'
import { createChanges } from '../server/src/services/stack/changes/changes.ts'
import { migratedPostgres } from '../tests/support/fresh-databases.ts'
import { until } from '../tests/support/until.ts'
import { inTurns, report } from './support/measure.ts'

const JOBS = 400
const PROJECTS = 20
const ROUNDS = 5
const DONE: JobOutcome = { end: 'succeeded', result: {}, usage: [], metrics: [], error: null, cause: null, unsavedState: null }
const none = () => {
  throw new Error('there are no flows here')
}

function createWorker(metadata: MetadataDb) {
  const { db, inTransaction, clock } = metadata
  const store = createQueueStore(db, createChanges({ db, clock }).record)
  const states = createStateHistory(db)
  const queue = createQueue({
    ...{ store, inTransaction, clock, states },
    components: {
      find: (id) => ({ id, tag: '1', features: [], labels: [], problem: undefined, isFlow: false, isWriter: false }),
      canonicalId: (id) => id,
      problemOf: () => undefined,
    },
    configurations: { get: async () => ({ isDisabled: false, configuration: '{}', rows: [] }) },
    flows: { check: none, open: none, wake: none, progress: none },
    encrypt: async (_, __, text) => text,
    findBranch: async (projectId) => ({ id: projectId, isDefault: true }),
    isPausedCopy: false,
    onChange: () => {},
  })
  const loop = createQueueLoop({
    ...{ store, inTransaction, clock },
    queue: () => queue,
    runJob: async () => DONE,
    recordState: states.record,
    rowsOf: async () => [],
    openFlow: none,
    onMoved: () => {},
    slots: () => 10,
    projectLimit: () => 10,
    labels: new Set<string>(),
    hasWorkerWith: async () => true,
    hasComponent: () => true,
    knowsComponent: () => true,
    findElsewhere: async () => new Set(),
    isRepeatable: () => false,
    attempts: () => 1,
    recordEvent: async () => {},
    isAlone: false,
    log: { error: console.error, warn: () => {} },
  })
  return { queue, loop, store }
}

const database = await migratedPostgres()
const nodes = await Promise.all([1, 2].map(() => openMetadataDb(database.location)))
const [metadata] = nodes as [MetadataDb, MetadataDb]
for (const node of nodes) await node.reach({ waitMs: 10_000 })
const projects: number[] = []
for (let i = 0; i < PROJECTS; i++) {
  const made = await sql<{ id: number }>`insert into project (name, features, is_disabled, created_at)
    values (${`p${i}`}, '[]', 0, 0) returning id`.execute(metadata.db)
  projects.push(Number(made.rows[0]!.id))
}
const workers = nodes.map(createWorker)

async function fill(): Promise<void> {
  for (let i = 0; i < JOBS; i++) {
    const projectId = projects[i % PROJECTS]!
    const actor = { projectId, tokenId: 1, tokenDescription: 'bench', isMasterToken: true } as Actor // the only members these rules read
    const branch = { id: projectId, isDefault: true }
    await workers[0]!.queue.create(actor, { component: 'x', config: `c${i}` }, { branch, baseUrl: '' })
  }
}

const left = async (): Promise<number> =>
  Number((await sql<{ n: number }>`select count(*) as n from queue_job where ended_at is null`.execute(metadata.db)).rows[0]!.n)

async function queueSeconds(): Promise<number> {
  await fill()
  const began = performance.now()
  for (const { loop } of workers) await loop.start()
  await until('all jobs have ended', async () => (await left()) === 0)
  const seconds = (performance.now() - began) / 1000
  for (const { loop } of workers) await loop.stop(0)
  return seconds
}

async function bareSeconds(): Promise<number> {
  await fill()
  const began = performance.now()
  for (;;) {
    const { rows } = await sql<{ id: number }>`update queue_job set status = 'processing' where id = (
      select id from queue_job where ended_at is null and status = 'created' order by id limit 1 for update skip locked) returning id`.execute(
      metadata.db,
    )
    const [job] = rows
    if (!job) break
    await sql`update queue_job set status = 'success', ended_at = 1 where id = ${job.id}`.execute(metadata.db)
  }
  return (performance.now() - began) / 1000
}

const seconds = await inTurns(ROUNDS, { queue: queueSeconds, bare: bareSeconds })
report({
  bench: 'claims',
  ratio: seconds.bare / seconds.queue,
  target: '>= 0.5',
  jobsPerSecond: { queue: Math.round(JOBS / seconds.queue), bare: Math.round(JOBS / seconds.bare) },
})
for (const node of nodes) await node.close()
await database.remove()
process.exit(0) // a PostgreSQL of this process ends with it
