// Nodes that share one database run schedules, flows, jobs and loads for months, in one process, by a simulated time: the scheduler, the
// queue, flows, storage jobs, their loops and their stores are the real ones. Time in which nothing is open and nothing is due is skipped.
// Now and then nodes die, stand still or lose answers, clocks jump, the database is away, or disks are full. See docs/adr/0059.

import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { sql } from 'kysely'
import type { MetadataDb } from '../../server/src/engines/metadata-db/metadata-db.ts'
import { PlatformError } from '../../server/src/kit/errors.ts'
import type { Actor } from '../../server/src/model/actor.ts'
import type { JobRun } from '../../server/src/model/storage-job.ts'
import { flowFormatOf } from '../../server/src/services/jobs/flows/flow-plan.ts'
import { createFlowsLoop } from '../../server/src/services/jobs/flows/flows.loop.ts'
import { createFlows, type Flows } from '../../server/src/services/jobs/flows/flows.ts'
import { createFlowValidation } from '../../server/src/services/jobs/flows/validation.ts'
import { createFlowQueue, createQueueFlows } from '../../server/src/services/jobs/queue/flow-queue.ts'
import { createQueueLoop, type JobHandle, type JobOutcome } from '../../server/src/services/jobs/queue/queue.loop.ts'
import type { JobRow } from '../../server/src/services/jobs/queue/queue.schema.ts'
import { createQueueStore } from '../../server/src/services/jobs/queue/queue.store.ts'
import { createQueue, type Queue } from '../../server/src/services/jobs/queue/queue.ts'
import { createStateHistory } from '../../server/src/services/jobs/queue/state-history.store.ts'
import { createFiring } from '../../server/src/services/jobs/scheduler/firing.ts'
import { nextRun, type Plan } from '../../server/src/services/jobs/scheduler/planned-runs.ts'
import {
  DEFAULT_POLICY,
  type Policy,
  planOf,
  runRequestOf,
} from '../../server/src/services/jobs/scheduler/schedule-configuration.ts'
import { createSchedulerLoop } from '../../server/src/services/jobs/scheduler/scheduler.loop.ts'
import { createSchedulerStore } from '../../server/src/services/jobs/scheduler/scheduler.store.ts'
import type { Scheduler } from '../../server/src/services/jobs/scheduler/scheduler.ts'
import { createZones } from '../../server/src/services/jobs/scheduler/zone.ts'
import { createStorageJobsLoop } from '../../server/src/services/storage/storage-jobs/storage-jobs.loop.ts'
import { createStorageJobs } from '../../server/src/services/storage/storage-jobs/storage-jobs.ts'
import { checkFlow, FLOWS } from './simulated-flows.ts'
import { createSimulatedNetwork } from './simulated-network.ts'
import { createSimulatedTime, type SimulatedTime } from './simulated-time.ts'

export interface ClusterReport {
  readonly hours: number
  /** Of these hours, those in which something was open; the others were skipped. */
  readonly activeHours: number
  readonly steps: number
  readonly jobs: number
  readonly flows: number
  readonly storageJobs: number
  /** Due minutes that started a job, and those with a record of why not. */
  readonly started: number
  readonly recorded: number
  readonly faults: number
  readonly crashes: number
  readonly lostCalls: number
}

const NODES = 3
const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const PROJECT_LIMIT = 3
const ATTEMPTS = 3
const WORKER_LEASE_MS = 15 * SECOND
const RENEW_MS = 2 * SECOND
/** How long a period with faults lasts at most; after it everything has to end. */
const TROUBLE_MS = 3 * MINUTE
const RECOVERY_MS = HOUR
const LOOK_MS = 400
const REPEATABLE = 'repeatable'
const ROWS = ['x', 'y']
const OPERATION = 'tableImport'
const SCHEDULER = 'keboola.scheduler'
const OPEN = "('created','waiting','processing','terminating')"
/** One that waited for its locks when its node died: who takes it over runs nothing of it, and ends it as failed. */
const IS_LOST_INLINE = '(new.is_inline = 1 and new.worker is not old.worker)'
const NO_FACTS = { result: {}, usage: [], metrics: [], error: null, cause: null, unsavedState: null } as const
const QUIET = { error: () => {}, warn: () => {}, info: () => {} }

interface SimulatedSchedule {
  readonly cronTab: string
  readonly timezone: string
  readonly target: string
  readonly policy?: Partial<Policy>
}

/** Hours around changes of the clocks, whole days, and one that runs every minute for some minutes. */
const SCHEDULES: readonly SimulatedSchedule[] = [
  { cronTab: '30 2 * * *', timezone: 'Europe/Prague', target: 's1' },
  { cronTab: '40 2 * * 0', timezone: 'Europe/Prague', target: 'nested' },
  { cronTab: '*/20 0-3 * 3,10 0', timezone: 'Europe/Prague', target: 's2' },
  { cronTab: '30 1 * 3,11 *', timezone: 'America/New_York', target: 'retrying', policy: { dst: 'every' } },
  { cronTab: '15 2 * 4,10 0', timezone: 'Australia/Lord_Howe', target: 'rows-s', policy: { missed: 'skip', dst: 'skip' } },
  { cronTab: '0 * 1 1,4,7,10 *', timezone: 'UTC', target: 's3', policy: { overlap: 'skip' } },
  { cronTab: '0-9 12 15 2,8 *', timezone: 'Asia/Kolkata', target: 's3', policy: { graceMinutes: 0 } },
]

interface Node {
  readonly name: string
  readonly queue: Queue
  readonly nudge: (killed?: readonly number[]) => void
  isDead: boolean
  silentUntil: number
  skewMs: number
  fullUntil: number
}

/** Simulates so many days; `path` is the file of the database. */
export async function simulateCluster(metadata: MetadataDb, path: string, seed: number, days: number): Promise<ClusterReport> {
  const start = Date.UTC(2025 + (seed % 20), 0, 1)
  const time = createSimulatedTime(seed, start)
  const world = await createWorld(metadata, path, time, start + days * DAY)
  return time.withTimers(() => world.run()).finally(world.end)
}

async function createWorld(metadata: MetadataDb, path: string, time: SimulatedTime, end: number) {
  const { db } = metadata
  const { random, between } = time
  const startedAt = time.now()
  const pick = <T>(list: readonly T[]): T => list[between(0, list.length - 1)]! // none of the lists is empty
  const zoneOf = createZones()
  const projectId = await prepareDatabase(metadata)
  const view = new DatabaseSync(path, { readOnly: true })
  const look = createLook(view)
  const network = createSimulatedNetwork(time, async () => {})
  network.calm()
  const schedules = createSchedulerStore(db)
  const plans = new Map<number, { readonly plan: Plan; checkedUntil: number }>()
  const actor = { projectId, tokenId: 1, tokenDescription: 'test', isMasterToken: true } as Actor // the only members these rules read
  const branch = { id: projectId, isDefault: true }
  const nodes: Node[] = []
  const begun = new Map<number, number>()
  const total = { jobs: 0, flows: 0, storageJobs: 0, started: 0, recorded: 0, faults: 0, crashes: 0 }
  let generation = 0
  let skippedMs = 0
  let troubleUntil = 0

  for (const [index, { cronTab, timezone, target, policy }] of SCHEDULES.entries()) {
    const flow = FLOWS[target]
    const whole = { ...DEFAULT_POLICY, ...policy }
    const plan = planOf({ cronTab, timezone }, whole.dst, zoneOf, time.now())
    const nextRunAt = new Date(nextRun(plan, time.now())!.at) // each of them runs every year
    const record = await metadata.inTransaction((trx) =>
      schedules.insert(trx, {
        ...{ projectId, tokenId: 1, configurationId: String(index), configurationVersion: 1, policy: whole },
        target: {
          componentId: flow?.component ?? REPEATABLE,
          configurationId: target,
          configurationRowIds: [],
          mode: 'run',
          tag: '',
        },
        schedule: { cronTab, timezone, state: 'enabled' },
        stoppedReason: undefined,
        nextRunAt,
        createdAt: new Date(time.now()),
      }),
    )
    plans.set(record.id, { plan, checkedUntil: nextRunAt.getTime() })
  }

  const configurationOf = (id: string) => JSON.stringify(FLOWS[id]?.content ?? {})

  function addNode(): void {
    const name = `node-${generation++}`
    const self: Node = {
      name,
      queue: undefined as never,
      nudge: () => {},
      isDead: false,
      silentUntil: 0,
      skewMs: 0,
      fullUntil: 0,
    } // below
    nodes.push(self)
    time.ownedBy(self, () => startNode(self))
  }

  /** What wiring/modules.ts does, for the modules that are simulated. */
  function startNode(self: Node): void {
    const { name: worker } = self
    const own = network.databaseOf(db, () => self)
    const inTransaction: MetadataDb['inTransaction'] = (work) => network.call(self, () => metadata.inTransaction(work))
    const clock = { now: () => new Date(time.now() + self.skewMs) }
    const components = {
      find: (id: string) => ({
        ...{ id, tag: '1', features: [], labels: [], problem: undefined, isWriter: false },
        isFlow: flowFormatOf(id) !== undefined,
      }),
      canonicalId: (id: string) => id,
      problemOf: () => undefined,
    }
    const flows: Flows = createFlows({
      ...{ db: own, inTransaction, clock, onError: () => {} },
      queue: createFlowQueue(() => queue),
      validation: createFlowValidation({
        formatOf: flowFormatOf,
        componentExists: () => true,
        findConfiguration: async (_, id) => configurationOf(id),
      }),
      configurations: { find: async (_, id) => configurationOf(id), variables: async () => ({}) },
      notifications: { notify: async () => {}, phaseEnded: async () => {}, scheduleMissed: async () => {} },
      recordChange: async () => {},
      recordEvent: async () => {},
      decrypt: async (_, text) => text,
    })
    const flowsLoop = createFlowsLoop({ flows, onError: () => {} })
    const queueFlows = createQueueFlows(flows)
    const store = createQueueStore(own)
    const states = createStateHistory(own)
    const queue: Queue = createQueue({
      ...{ store, inTransaction, clock, components, states, flows: queueFlows, isPausedCopy: false },
      configurations: {
        get: async ({ configurationId }) => ({
          isDisabled: false,
          configuration: configurationOf(configurationId),
          rows: configurationId.startsWith('rows') ? ROWS.map((id) => ({ id, isDisabled: false })) : [],
        }),
      },
      encrypt: async (_, __, text) => text,
      findBranch: async () => branch,
      onChange: (killed) => {
        self.nudge(killed)
        // Hints between nodes may be lost: the loops look by themselves, too.
        for (const node of nodes) if (node !== self && !node.isDead && random() < 0.7) time.ownedBy(node, () => node.nudge())
      },
    })
    const storageJobs = createStorageJobs({ db: own, inTransaction, clock })
    const storageLoop = createStorageJobsLoop({ jobs: storageJobs, inTransaction, clock, log: QUIET, onlyNode: false, worker })
    storageLoop.registerHandler(OPERATION, (run) => load(self, run))
    const queueLoop = createQueueLoop({
      ...{ store, inTransaction, clock, worker, log: QUIET, isAlone: false, labels: new Set<string>() },
      queue: () => queue,
      runJob: (handle) => runComponent(self, handle, storageJobs, storageLoop),
      recordState: states.record,
      rowsOf: async () => ROWS,
      openFlow: queueFlows.open,
      onMoved: () => flowsLoop.nudge(),
      slots: () => 3,
      projectLimit: () => PROJECT_LIMIT,
      hasWorkerWith: async () => true,
      hasComponent: () => true,
      knowsComponent: () => true,
      findElsewhere: async () => new Set(),
      isRepeatable: (id) => id === REPEATABLE,
      attempts: () => ATTEMPTS,
      recordEvent: async () => {},
    })
    const { fireDue } = createFiring({
      scheduler: { store: createSchedulerStore(own), zoneOf } as Scheduler, // what firing uses of it
      ...{ inTransaction, schedulerComponentId: SCHEDULER, onError: () => {} },
      recordEvent: async () => {},
      recordChange: async () => {},
      notifications: { scheduleMissed: async () => {} },
      configurationExists: async () => true,
      actorOfToken: async () => actor,
      queue: {
        prepare: (_, target) => queue.prepareLater(actor, runRequestOf(target), { branch, baseUrl: 'http://test' }),
        hasUnfinished: (_, { componentId, configurationId }) => queue.hasUnfinished(projectId, componentId, configurationId),
        wake: () => self.nudge(),
      },
    })
    const nudge = (killed?: readonly number[]): void => {
      queueLoop.nudge(killed)
      flowsLoop.nudge()
    }
    Object.assign(self, { queue, nudge })
    void queueLoop.start()
    flowsLoop.start()
    createSchedulerLoop({ clock, fireDue, onError: () => {} }).start()
    storageLoop.start().catch(() => self.isDead || crash(self, 5 * SECOND)) // a node that cannot start is started again
    void renewLease(self)
  }

  /** What the thread of worker-lease.ts does: by the clock of the database. */
  async function renewLease(node: Node): Promise<void> {
    for (;;) {
      await network.call(node, () => writeLeases([node])).catch(() => undefined) // it is tried again
      await time.sleep(RENEW_MS)
    }
  }

  const writeLeases = (some: readonly Node[]): Promise<void> =>
    metadata.inTransaction(async (trx) => {
      for (const { name } of some)
        await sql`insert into worker_lease (worker, alive_until) values (${name}, ${time.now() + WORKER_LEASE_MS})
          on conflict (worker) do update set alive_until = excluded.alive_until`.execute(trx)
    })

  const isDiskFull = (node: Node): boolean => node.fullUntil > time.now()
  const diskFull = () => Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' })
  /** Work that outlasts leases is of interest while something fails. */
  const workMs = (): number => (time.now() < troubleUntil && random() < 0.2 ? between(SECOND, 90 * SECOND) : between(0, 300))

  /** A component: begins, works for a while, loads its results in one or two storage jobs, and publishes the end. */
  async function runComponent(
    node: Node,
    { job, signal, begin, publish, markPublished }: JobHandle,
    storageJobs: ReturnType<typeof createStorageJobs>,
    storageLoop: ReturnType<typeof createStorageJobsLoop>,
  ): Promise<JobOutcome> {
    const failed = (error: string): JobOutcome => ({ ...NO_FACTS, end: signal.reason === 'killed' ? 'killed' : 'failed', error })
    try {
      await begin(null)
      begun.set(job.id, (begun.get(job.id) ?? 0) + 1)
      await time.sleep(workMs())
      if (signal.aborted) return failed('aborted')
      if (isDiskFull(node)) throw diskFull()
      if (random() < 0.03) return failed('the component failed')
      for (let loads = between(0, 2); loads > 0; loads--) {
        const requester = {
          actor,
          origin: { runId: String(job.id), remoteAddress: null, userAgent: null },
          baseUrl: 'http://test',
        }
        const order = { operationName: OPERATION, lockKeys: [`table:${pick(['t1', 't2'])}`], input: job.id }
        const created =
          random() < 0.5
            ? await storageLoop.runInline(requester, order, (run) => load(node, run))
            : await storageJobs.waitForSuccess(await storageJobs.create(requester, order))
        if (created.status === 'error' || signal.aborted) return failed('the load failed')
      }
      await publish(async (trx) => {
        await sql`insert into simulated_output values (${job.id})`.execute(trx)
        await markPublished(trx, { result: {}, metrics: [] })
      })
      return { ...NO_FACTS, end: 'succeeded' }
    } catch (error) {
      if (error instanceof PlatformError && error.code === 'queue.leaseLost') return failed('aborted')
      return failed(String(error)) // as the runner reports any other error
    }
  }

  /** A load: works for a while, then adds its rows. */
  async function load(node: Node, { job, publish }: JobRun): Promise<undefined> {
    await time.sleep(workMs())
    if (isDiskFull(node)) throw diskFull()
    if (random() < 0.02) throw new PlatformError('storage.validation', { field: 'data', reason: 'The file is not valid CSV.' })
    await publish(async (trx) => {
      await sql`insert into simulated_load values (${job.id})`.execute(trx)
      return undefined
    })
  }

  const alive = (): Node[] => nodes.filter((node) => !node.isDead)

  function crash(node: Node, awayMs: number): void {
    node.isDead = true
    network.forget(node)
    nodes.splice(nodes.indexOf(node), 1)
    total.crashes++
    time.plan(time.now() + awayMs, addNode)
  }

  const FAULTS: readonly (() => void)[] = [
    () => crash(pick(alive()), between(100, 40 * SECOND)),
    () => crash(pick(alive()), between(100, 40 * SECOND)),
    () => {
      // The whole cluster: mostly for minutes, sometimes for days.
      const awayMs = random() < 0.3 ? between(HOUR, 3 * DAY) : between(SECOND, 20 * MINUTE)
      for (const node of alive()) crash(node, awayMs + between(0, 10 * SECOND))
    },
    () => void Object.assign(pick(alive()), { silentUntil: time.now() + between(100, MINUTE) }),
    () => {
      pick(alive()).skewMs = random() < 0.4 ? between(-HOUR, HOUR) : between(-3 * SECOND, 3 * SECOND)
    },
    () => network.loseCalls(0.02),
    () => network.beAway(time.now() + (random() < 0.1 ? between(MINUTE, 2 * MINUTE) : between(100, 20 * SECOND))),
    () => network.beFull(time.now() + between(SECOND, MINUTE)),
    () => void Object.assign(pick(alive()), { fullUntil: time.now() + between(SECOND, MINUTE) }),
    () => {
      const open = look.openJobs()
      const node = pick(alive())
      if (open.length > 0) time.ownedBy(node, () => void node.queue.kill(actor, pick(open)).catch(() => undefined)) // refused, or lost
    },
  ]

  /** Faults come when something is due: around the runs of schedules, one to three at once. */
  function planTrouble(): void {
    const periods = Math.ceil((end - startedAt) / (10 * DAY))
    for (let i = 0; i < periods; i++) {
      const after = between(startedAt, end - 3 * DAY)
      // Schedules of certain months have no run in a short simulation; the first one runs every day.
      const due = pick([...plans.values()].map(({ plan }) => nextRun(plan, after)!.at).filter((at) => at <= end - DAY))
      const from = due + between(-2 * SECOND, 8 * SECOND)
      for (let faults = between(1, 3); faults > 0; faults--)
        time.plan(from + between(0, 20 * SECOND), () => {
          if (alive().length === 0) return
          total.faults++
          pick(FAULTS)()
        })
      time.plan(due - 5 * SECOND, () => {
        troubleUntil = time.now() + TROUBLE_MS
        network.loseCalls(0.002)
      })
      time.plan(from + TROUBLE_MS, calm)
    }
  }

  function calm(): void {
    network.calm()
    for (const node of nodes) Object.assign(node, { skewMs: 0, silentUntil: 0, fullUntil: 0 })
  }

  /** Skips the time in which nothing is open and nothing becomes due. */
  async function skipQuietTime(): Promise<void> {
    const earliest = Math.max(0, ...nodes.map(({ skewMs }) => skewMs))
    const nextDue = alive().length === 0 ? Number.POSITIVE_INFINITY : look.nextDue() - earliest - 100
    const ms = Math.min(nextDue, time.nextPlanned() - 1) - time.now()
    if (ms < 5 * SECOND) return
    if (alive().length > 0) await checkAll()
    time.skip(ms)
    skippedMs += ms
    await writeLeases(alive())
  }

  /** While nothing is open: everything that has ended since the last look, which is deleted then. */
  async function checkAll(): Promise<void> {
    assert.deepEqual(look.broken(), [], 'rules that a transaction broke')
    await checkSchedules()
    checkJobs()
    checkStorageJobs()
    await metadata.inTransaction(async (trx) => {
      for (const table of ['queue_job', 'flow_run', 'storage_job', 'simulated_output', 'simulated_load', 'simulated_move'])
        await sql`delete from ${sql.table(table)}`.execute(trx)
    })
    begun.clear()
  }

  async function checkSchedules(): Promise<void> {
    for (const [id, known] of plans) {
      const record = (await schedules.find(projectId, id))!
      assert.ok(record.nextRunAt, `schedule ${id} has stopped: ${record.stoppedReason}`)
      const until = record.nextRunAt.getTime()
      assert.ok(until > time.now() - 2 * MINUTE, `schedule ${id} was due at ${record.nextRunAt.toISOString()} and was missed`)
      if (until === known.checkedUntil) continue
      const executions = look.executions(id, known.checkedUntil, until)
      let due = 0
      const minutes = new Set<number>()
      for (let run = nextRun(known.plan, known.checkedUntil - 1); run && run.at < until; run = nextRun(known.plan, run.at)) {
        due++
        minutes.add(run.at)
      }
      const started = executions.filter(({ status }) => status === 'started')
      for (const { due_at, job_id } of started) {
        assert.ok(minutes.has(due_at), `schedule ${id} ran for ${new Date(due_at).toISOString()}, which is no minute of it`)
        assert.ok(look.hasJob(Number(job_id)), `job ${job_id} of schedule ${id} does not exist`)
      }
      const accounted = executions.reduce((sum, { reason }) => sum + Number(/^(\d+) runs? from/.exec(reason ?? '')?.[1] ?? 1), 0)
      assert.equal(accounted, due, `schedule ${id}: ${due} runs were due, ${accounted} are accounted for`)
      known.checkedUntil = until
      total.started += started.length
      total.recorded += due - started.length
    }
    // Every job that is not part of another one was started by a schedule, once.
    assert.deepEqual(look.jobsWithoutSchedule(), [], 'jobs that no execution of a schedule names')
  }

  function checkJobs(): void {
    assert.equal(look.countLocks(), 0, 'a job that has ended holds no lock')
    const jobs = look.jobs()
    const moves = look.moves()
    const outputs = look.outputs()
    for (const job of jobs) {
      total.jobs++
      if (job.type === 'orchestrationContainer') {
        total.flows++
        const children = jobs.filter(({ parent_job_id }) => parent_job_id === job.id)
        checkFlow(
          job.configuration_id ?? '',
          job.status,
          children.map(({ id, status, request }) => ({
            task: String((JSON.parse(request) as { orchestrationTaskId?: string }).orchestrationTaskId),
            status,
            ...moves.get(id)!, // written by a trigger
          })),
        )
      }
      if (job.type !== 'standard') continue
      const ends = outputs.filter((id) => id === job.id).length
      const starts = begun.get(job.id) ?? 0
      assert.ok(ends <= 1, `job ${job.id} has published ${ends} times`)
      if (job.status === 'success') assert.equal(ends, 1, `job ${job.id} is a success without its results`)
      if (job.status === 'error') assert.equal(ends, 0, `job ${job.id} is an error though all its results were published`)
      if (job.status === 'cancelled') assert.equal(starts, 0, `job ${job.id} is cancelled and has run`)
      assert.ok(starts <= (job.component_id === REPEATABLE ? ATTEMPTS : 1), `job ${job.id} was started ${starts} times`)
    }
  }

  function checkStorageJobs(): void {
    assert.equal(look.countStorageLocks(), 0, 'a storage job that has ended holds no lock')
    const loads = look.loads()
    for (const { id, status } of look.storageJobs()) {
      total.storageJobs++
      const count = loads.filter((one) => one === id).length
      assert.equal(count, status === 'success' ? 1 : 0, `storage job ${id} (${status}) was applied ${count} times`)
    }
  }

  return {
    async run(): Promise<ClusterReport> {
      for (let i = 0; i < NODES; i++) addNode()
      planTrouble()
      time.plan(end, calm)
      let nextLook = 0
      let quietAt = time.now()
      const isOver = async (): Promise<boolean> => {
        // A node that waits for an answer may be about to change something.
        if (network.isBusy() || time.now() < nextLook) return false
        if (alive().length > 0 && look.countOpen() > 0) {
          assert.ok(time.now() - quietAt < RECOVERY_MS, `jobs that do not end: ${JSON.stringify(look.open())}`)
          nextLook = time.now() + LOOK_MS
          return false
        }
        if (time.now() > end + MINUTE) return true
        await skipQuietTime()
        quietAt = time.now()
        return false
      }
      assert.ok(await time.runUntil(isOver, end - startedAt + 10 * DAY), `jobs that never ended: ${JSON.stringify(look.open())}`)
      await checkAll()
      const ms = time.now() - startedAt
      const hours = (some: number) => Math.round((some / HOUR) * 100) / 100
      return {
        ...{ hours: hours(ms), activeHours: hours(ms - skippedMs), steps: time.steps(), ...total },
        lostCalls: network.lostCalls(),
      }
    },
    end: (): void => {
      for (const node of nodes) node.isDead = true
      time.clear()
      view.close()
    },
  }
}

/** Empties the tables, and lets the database itself write down what breaks a rule, and the order in which jobs begin and end. */
async function prepareDatabase({ inTransaction }: MetadataDb): Promise<number> {
  return inTransaction(async (trx) => {
    for (const table of [
      'queue_job',
      'queue_lock',
      'flow_run',
      'storage_job',
      'storage_job_lock',
      'schedule_execution',
      'schedule',
    ])
      await sql`delete from ${sql.table(table)}`.execute(trx)
    await sql`delete from worker_lease`.execute(trx)
    for (const statement of [
      'create table if not exists simulated_output (job_id integer)',
      'create table if not exists simulated_load (job_id integer)',
      'create table if not exists simulated_broken (rule text)',
      'create table if not exists simulated_move (seq integer primary key autoincrement, job_id integer, kind text)',
      ...['simulated_output', 'simulated_load', 'simulated_broken', 'simulated_move'].map((table) => `delete from ${table}`),
      `create trigger if not exists simulated_created after insert on queue_job begin
        insert into simulated_move (job_id, kind) values (new.id, 'created'); end`,
      `create trigger if not exists simulated_ended after update on queue_job
        when old.status in ${OPEN} and new.status not in ${OPEN} begin
        insert into simulated_move (job_id, kind) values (new.id, 'ended'); end`,
      `create trigger if not exists simulated_changed after update on queue_job
        when old.status not in ${OPEN} and (new.status <> old.status or new.result <> old.result or new.attempt <> old.attempt) begin
        insert into simulated_broken values ('job ' || new.id || ' had ended and changed'); end`,
      `create trigger if not exists simulated_overlap after update on queue_job
        when new.status = 'processing' and new.lock_key is not null and new.parent_job_id is null and exists
          (select 1 from queue_job other where other.lock_key = new.lock_key and other.id <> new.id
            and other.parent_job_id is null and other.status in ('processing', 'terminating')) begin
        insert into simulated_broken values ('job ' || new.id || ' runs a configuration that another job runs'); end`,
      `create trigger if not exists simulated_limit after update on queue_job
        when new.status = 'processing' and old.status <> 'processing' and new.type = 'standard' and (select count(*) from queue_job other
          where other.type = 'standard' and other.status in ('processing', 'terminating')) > ${PROJECT_LIMIT} begin
        insert into simulated_broken values ('job ' || new.id || ' runs beyond the limit of its project'); end`,
      `create trigger if not exists simulated_storage after update on storage_job
        when old.ended_at is not null and (new.status <> old.status or new.attempt <> old.attempt) begin
        insert into simulated_broken values ('storage job ' || new.id || ' had ended and changed'); end`,
      `create trigger if not exists simulated_storage_overlap after update on storage_job
        when new.status = 'processing' and old.status = 'waiting' and not ${IS_LOST_INLINE} and exists (select 1 from storage_job_lock own
          join storage_job_lock other on other.lock_key = own.lock_key and other.job_id <> own.job_id
          join storage_job on storage_job.id = other.job_id
          where own.job_id = new.id and storage_job.status = 'processing') begin
        insert into simulated_broken values ('storage job ' || new.id || ' runs beside one with its lock'); end`,
    ])
      await sql.raw(statement).execute(trx)
    const made = await sql<{ id: number }>`insert into project (name, features, is_disabled, created_at)
      values ('simulated', '[]', 0, 0) returning id`.execute(trx)
    return Number(made.rows[0]!.id)
  })
}

type Job = Pick<JobRow, 'id' | 'type' | 'status' | 'component_id' | 'configuration_id' | 'parent_job_id' | 'request'>

/** What an onlooker sees: reads that are not part of the simulation. */
function createLook(view: DatabaseSync) {
  const reader = <T>(text: string) => {
    const statement = view.prepare(text)
    return (...values: number[]): T[] => statement.all(...values) as T[] // the columns that it selects
  }
  const openJobs = reader<{ id: number }>(`select id from queue_job where status in ${OPEN}`)
  const open = reader<{ id: number; status: string; waiting_reason: string | null }>(
    `select id, status, component_id, worker, waiting_reason from queue_job where status in ${OPEN}
      union all select id, status, operation_name, worker, null from storage_job where ended_at is null`,
  )
  const countOpen = reader<{ n: number }>(`select (select count(*) from queue_job where status in ${OPEN})
    + (select count(*) from storage_job where ended_at is null) + (select count(*) from flow_run where wake_at is not null) as n`)
  const nextDue = reader<{ at: number }>('select min(next_run_at) as at from schedule')
  const broken = reader<{ rule: string }>('select rule from simulated_broken')
  const executions = reader<{ due_at: number; status: string; job_id: string | null; reason: string | null }>(
    'select due_at, status, job_id, reason from schedule_execution where schedule_id = ? and due_at >= ? and due_at < ?',
  )
  const job = reader<{ id: number }>('select id from queue_job where id = ?')
  const jobsWithoutSchedule = reader<{ id: number }>(`select id from queue_job where parent_job_id is null
    and not exists (select 1 from schedule_execution where job_id = cast(queue_job.id as text) and status = 'started')`)
  const locks = reader<{ n: number }>('select count(*) as n from queue_lock')
  const jobs = reader<Job>(
    'select id, type, status, component_id, configuration_id, parent_job_id, request from queue_job order by id',
  )
  const moves = reader<{ job_id: number; kind: string; seq: number }>('select job_id, kind, seq from simulated_move')
  const outputs = reader<{ job_id: number }>('select job_id from simulated_output')
  const storageLocks = reader<{ n: number }>('select count(*) as n from storage_job_lock')
  const storageJobs = reader<{ id: number; status: string }>('select id, status from storage_job')
  const loads = reader<{ job_id: number }>('select job_id from simulated_load')
  return {
    openJobs: () => openJobs().map(({ id }) => id),
    open,
    countOpen: () => countOpen()[0]!.n,
    nextDue: () => nextDue()[0]!.at,
    broken: () => broken().map(({ rule }) => rule),
    executions,
    hasJob: (id: number) => job(id).length === 1,
    jobsWithoutSchedule: () => jobsWithoutSchedule().map(({ id }) => id),
    countLocks: () => locks()[0]!.n,
    jobs,
    moves: () => {
      const found = new Map<number, { createdAt: number; endedAt: number }>()
      for (const { job_id, kind, seq } of moves()) {
        const known = found.get(job_id) ?? { createdAt: 0, endedAt: Number.POSITIVE_INFINITY }
        found.set(job_id, kind === 'created' ? { ...known, createdAt: seq } : { ...known, endedAt: seq })
      }
      return found
    },
    outputs: () => outputs().map(({ job_id }) => job_id),
    countStorageLocks: () => storageLocks()[0]!.n,
    storageJobs,
    loads: () => loads().map(({ job_id }) => job_id),
  }
}
