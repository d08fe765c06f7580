// Several nodes that share one database run jobs, in one process, by a simulated time: the queue, its loop and its store are the real
// ones; the database is SQLite, one transaction at a time. Between a node and the database calls take time, fail or get lost, before or
// after they took effect; nodes die, stand still, come back, and their clocks jump. See docs/adr/0059.

import assert from 'node:assert/strict'
import { sql } from 'kysely'
import type { MetadataDb } from '../../server/src/engines/metadata-db/metadata-db.ts'
import { PlatformError } from '../../server/src/kit/errors.ts'
import type { Actor } from '../../server/src/model/actor.ts'
import { isFinished } from '../../server/src/services/jobs/queue/job-states.ts'
import {
  createQueueLoop,
  type JobHandle,
  type JobOutcome,
  type QueueLoop,
} from '../../server/src/services/jobs/queue/queue.loop.ts'
import type { JobRow } from '../../server/src/services/jobs/queue/queue.schema.ts'
import { createQueueStore } from '../../server/src/services/jobs/queue/queue.store.ts'
import { createQueue, type Queue } from '../../server/src/services/jobs/queue/queue.ts'
import { createStateHistory } from '../../server/src/services/jobs/queue/state-history.store.ts'
import { createSimulatedNetwork } from './simulated-network.ts'
import { createSimulatedTime, type SimulatedTime } from './simulated-time.ts'

export interface EpisodeReport {
  readonly steps: number
  readonly activeMs: number
  readonly jobs: number
  readonly crashes: number
  readonly lostCalls: number
  readonly jumps: number
  readonly statuses: Readonly<Record<string, number>>
}

const NODES = 3
const SLOTS = 3
const PROJECT_LIMIT = 2
const ATTEMPTS = 3
const REPEATABLE = 'repeatable'
const ROWS = ['a', 'b', 'c']
const WORKER_LEASE_MS = 15_000
const RENEW_MS = 2_000
/** How long everything may take once nothing goes wrong any more. */
const RECOVERY_MS = 30 * 60_000
const QUIET = { error: () => {}, warn: () => {} }
const noFlow = () => assert.fail('there are no flows here')
const DONE: JobOutcome = { end: 'succeeded', result: {}, usage: [], metrics: [], error: null, cause: null, unsavedState: null }

interface Node {
  readonly name: string
  readonly loop: QueueLoop
  readonly queue: Queue
  isDead: boolean
  silentUntil: number
  skewMs: number
}

/** What one component did, reported by the component. */
interface Run {
  readonly jobId: number
  readonly componentId: string
  readonly attempt: number
}

/** One episode: some minutes in which jobs are created and killed while nodes fail, and the time after it in which all jobs must end. */
export async function simulateQueue(metadata: MetadataDb, seed: number): Promise<EpisodeReport> {
  const time = createSimulatedTime(seed, 1_000_000_000)
  const world = await createWorld(metadata, time)
  return time.withTimers(() => world.run()).finally(world.end)
}

async function createWorld(metadata: MetadataDb, time: SimulatedTime) {
  const { db } = metadata
  const { random, between } = time
  for (const table of ['queue_job', 'queue_lock', 'worker_lease', 'simulated_output'])
    await sql`delete from ${sql.table(table)}`.execute(db).catch(() => undefined) // the last one is made below
  await sql`create table if not exists simulated_output (job_id integer, attempt integer, part integer)`.execute(db)
  const projects: number[] = []
  for (const name of ['one', 'two']) {
    const made = await sql<{ id: number }>`insert into project (name, features, is_disabled, created_at)
      values (${name}, '[]', 0, 0) returning id`.execute(db)
    projects.push(Number(made.rows[0]!.id))
  }
  const nodes: Node[] = []
  const begun: Run[] = []
  const seen = new Map<number, JobRow>()
  const created: { readonly id: number; readonly actor: Actor }[] = []
  let [crashes, jumps, generation] = [0, 0, 0]

  const network = createSimulatedNetwork(time, checkAlways)
  const { travel, call } = network

  function addNode(): Node {
    const name = `node-${generation++}`
    let self: Node
    const inTransaction: MetadataDb['inTransaction'] = (work) => call(self, () => metadata.inTransaction(work))
    const clock = { now: () => new Date(time.now() + self.skewMs) }
    const store = network.storeOf(createQueueStore(db), () => self)
    const queue = createQueue({
      store,
      inTransaction,
      clock,
      components: {
        find: (id) => ({ id, tag: '1', features: [], labels: [], problem: undefined, isFlow: false, isWriter: false }),
        canonicalId: (id) => id,
        problemOf: () => undefined,
      },
      configurations: {
        get: async ({ configurationId }) => ({
          isDisabled: false,
          configuration: '{}',
          rows: configurationId.startsWith('rows') ? ROWS.map((id) => ({ id, isDisabled: false })) : [],
        }),
      },
      flows: { check: noFlow, open: noFlow, wake: noFlow, progress: noFlow },
      states: createStateHistory(db),
      encrypt: async (_, __, text) => text,
      findBranch: async (projectId) => ({ id: projectId, isDefault: true }),
      isPausedCopy: false,
      onChange: (killed) => {
        // Hints between nodes may be lost: the loops look by themselves, too.
        for (const node of nodes) if (!node.isDead && random() < 0.7) node.loop.nudge(killed)
      },
    })
    const loop = createQueueLoop({
      store,
      queue: () => queue,
      inTransaction,
      clock,
      runJob: (handle) => runComponent(self, handle),
      recordState: createStateHistory(db).record,
      rowsOf: async () => ROWS,
      openFlow: noFlow,
      onMoved: () => {},
      slots: () => SLOTS,
      projectLimit: () => PROJECT_LIMIT,
      labels: new Set<string>(),
      hasWorkerWith: async () => true,
      hasComponent: () => true,
      knowsComponent: () => true,
      findElsewhere: async () => new Set(),
      isRepeatable: (id) => id === REPEATABLE,
      attempts: () => ATTEMPTS,
      recordEvent: async () => {},
      isAlone: false,
      worker: name,
      log: QUIET,
    })
    self = { name, loop, queue, isDead: false, silentUntil: 0, skewMs: 0 }
    nodes.push(self)
    void loop.start()
    void renewLease(self)
    return self
  }

  /** What the thread of worker-lease.ts does: by the clock of the database. */
  async function renewLease(node: Node): Promise<void> {
    while (!node.isDead) {
      const renewed = call(node, () =>
        metadata.inTransaction(async (trx) => {
          await sql`insert into worker_lease (worker, alive_until) values (${node.name}, ${time.now() + WORKER_LEASE_MS})
            on conflict (worker) do update set alive_until = excluded.alive_until`.execute(trx)
        }),
      )
      await renewed.catch(() => undefined) // it is tried again
      await time.sleep(RENEW_MS)
    }
  }

  /** A component: begins, works for a while, publishes its results in one or more parts, and is notified when it is to end. */
  async function runComponent(node: Node, { job, signal, begin, publish, markPublished }: JobHandle): Promise<JobOutcome> {
    const run: Run = { jobId: job.id, componentId: job.component_id, attempt: job.attempt }
    const stays = async () => {
      await travel(node)
      return !signal.aborted
    }
    const ended = (): JobOutcome => ({ ...DONE, end: signal.reason === 'killed' ? 'killed' : 'failed', error: 'aborted' })
    try {
      await begin(null)
      begun.push(run)
      await time.sleep(random() < 0.2 ? between(1_000, 90_000) : between(0, 3_000))
      if (!(await stays())) return ended()
      if (random() < 0.15) return { ...DONE, end: 'failed', error: 'the component failed' }
      const parts = between(1, 2)
      for (let part = 1; part <= parts; part++) {
        if (!(await stays())) return ended()
        await publish(async (trx) => {
          await sql`insert into simulated_output values (${job.id}, ${job.attempt}, ${part === parts ? 0 : part})`.execute(trx)
          if (part === parts) await markPublished(trx, { result: {}, metrics: [] })
        })
      }
      return DONE
    } catch (error) {
      // The runner reports any other error as a failed job.
      if (error instanceof PlatformError && error.code === 'queue.leaseLost') return ended()
      return { ...DONE, end: 'failed', error: String(error) }
    }
  }

  const alive = (): Node[] => nodes.filter((node) => !node.isDead)
  const pick = <T>(list: readonly T[]): T => list[between(0, list.length - 1)]!

  async function createJob(): Promise<void> {
    const node = pick(alive())
    const projectId = pick(projects)
    const actor = { projectId, tokenId: 1, tokenDescription: 'test', isMasterToken: true } as Actor // the only members these rules read
    const request = { component: pick(['once', REPEATABLE]), config: pick(['c1', 'c2', 'c3', 'rows1']) }
    const job = await node.queue.create(actor, request, { branch: { id: projectId, isDefault: true }, baseUrl: 'http://test' })
    created.push({ id: job.id, actor })
  }

  async function killJob(): Promise<void> {
    const one = created.length > 0 ? pick(created) : undefined
    if (one) await pick(alive()).queue.kill(one.actor, one.id)
  }

  function crash(): void {
    const node = pick(alive())
    node.isDead = true
    crashes++
    void node.loop.stop(0)
    time.after(between(100, 40_000), addNode)
  }

  const FAULTS: readonly (readonly [number, () => void])[] = [
    [0.3, crash],
    [0.6, () => void Object.assign(pick(alive()), { silentUntil: time.now() + between(100, 60_000) })],
    [
      1,
      () => {
        pick(alive()).skewMs = random() < 0.3 ? between(-3_600_000, 3_600_000) : between(-3_000, 3_000)
        jumps++
      },
    ],
  ]

  function scheduleWork(): void {
    const jobs = between(5, 15)
    const spanMs = between(20_000, 180_000)
    const ignored = () => undefined // refused, or lost on the way: then nothing was promised
    for (let i = 0; i < jobs; i++) time.after(between(0, spanMs), () => void createJob().catch(ignored))
    for (let i = 0; i < between(0, 4); i++) time.after(between(0, spanMs), () => void killJob().catch(ignored))
    for (let i = 0; i < between(1, 8); i++) {
      const kind = random()
      time.after(between(0, spanMs), () => alive().length > 0 && FAULTS.find(([share]) => kind < share)![1]())
    }
    time.after(spanMs, () => {
      network.calm()
      for (const node of alive()) Object.assign(node, { skewMs: 0, silentUntil: 0 })
      if (alive().length === 0) addNode()
    })
  }

  const jobRows = async (): Promise<readonly JobRow[]> =>
    (await sql<JobRow>`select * from queue_job where project_id in (${sql.join(projects)})`.execute(db)).rows

  /** What must hold after every transaction. */
  async function checkAlways(): Promise<void> {
    const rows = await jobRows()
    const byLock = new Map<string, number>()
    const byProject = new Map<number, number>()
    for (const row of rows) {
      const before = seen.get(row.id)
      if (before && isFinished(before.status)) assert.deepEqual(row, before, 'a job that has ended does not change')
      seen.set(row.id, row)
      if (row.status !== 'processing' && row.status !== 'terminating') continue
      if (row.lock_key !== null && row.parent_job_id === null) {
        assert.ok(!byLock.has(row.lock_key), `jobs ${byLock.get(row.lock_key)} and ${row.id} run one configuration`)
        byLock.set(row.lock_key, row.id)
      }
      if (row.type === 'standard') byProject.set(row.project_id, (byProject.get(row.project_id) ?? 0) + 1)
    }
    for (const [project, running] of byProject)
      assert.ok(running <= PROJECT_LIMIT, `${running} jobs of project ${project} run at once`)
  }

  async function checkEnd(): Promise<Record<string, number>> {
    const rows = await jobRows()
    const outputs = (await sql<{ job_id: number; attempt: number; part: number }>`select * from simulated_output`.execute(db))
      .rows
    const locks = await sql`select * from queue_lock where project_id in (${sql.join(projects)})`.execute(db)
    assert.deepEqual(locks.rows, [], 'a job that has ended holds no lock')
    const statuses: Record<string, number> = {}
    for (const row of rows) {
      statuses[row.status] = (statuses[row.status] ?? 0) + 1
      if (row.type !== 'standard') continue
      const parts = outputs.filter((one) => one.job_id === row.id)
      const ends = parts.filter((one) => one.part === 0)
      const starts = begun.filter((run) => run.jobId === row.id)
      assert.ok(ends.length <= 1, `job ${row.id} has published ${ends.length} times`)
      assert.equal(
        new Set(parts.map((one) => one.attempt)).size,
        parts.length > 0 ? 1 : 0,
        `job ${row.id}: parts of two attempts`,
      )
      assert.equal(new Set(parts.map((one) => one.part)).size, parts.length, `job ${row.id} has published a part twice`)
      if (row.status === 'success') assert.equal(ends.length, 1, `job ${row.id} is a success without its results`)
      if (row.status === 'error') assert.equal(ends.length, 0, `job ${row.id} is an error though all its results were published`)
      if (row.status === 'cancelled') assert.deepEqual(starts, [], `job ${row.id} is cancelled and has run`)
      const most = row.component_id === REPEATABLE ? ATTEMPTS : 1
      assert.ok(starts.length <= most, `the component of job ${row.id} was started ${starts.length} times`)
    }
    for (const { id } of created)
      assert.ok(
        rows.some((row) => row.id === id),
        `job ${id} was acknowledged and is gone`,
      )
    return statuses
  }

  return {
    async run(): Promise<EpisodeReport> {
      for (let i = 0; i < NODES; i++) addNode()
      scheduleWork()
      const began = time.now()
      const isOver = async () => network.isCalm() && (await jobRows()).every((row) => isFinished(row.status))
      const isDone = await time.runUntil(isOver, 180_000 + RECOVERY_MS)
      const open = (await jobRows()).filter((row) => !isFinished(row.status))
      assert.ok(
        isDone,
        `jobs that never ended: ${JSON.stringify(open.map(({ id, status, waiting_reason }) => [id, status, waiting_reason]))}`,
      )
      const statuses = await checkEnd()
      return {
        ...{ steps: time.steps(), activeMs: time.now() - began, jobs: seen.size, crashes, lostCalls: network.lostCalls(), jumps },
        statuses,
      }
    },
    end: (): void => {
      for (const node of nodes) node.isDead = true
      time.clear()
    },
  }
}
