// Several nodes look for due schedules in one database, by a simulated time: the loop, the firing and the store are the real ones. Nodes
// die, stand still and come back, their clocks jump, and calls get lost. See docs/adr/0059.
//  1. Every minute that a schedule was due is accounted for once: it was started, or an execution says that it was not, and why.
//  2. A job exists for every execution that was started, and for no other.

import assert from 'node:assert/strict'
import { sql } from 'kysely'
import type { MetadataDb } from '../../server/src/engines/metadata-db/metadata-db.ts'
import type { Actor } from '../../server/src/model/actor.ts'
import { createFiring } from '../../server/src/services/jobs/scheduler/firing.ts'
import { DEFAULT_POLICY } from '../../server/src/services/jobs/scheduler/schedule-configuration.ts'
import { createSchedulerLoop } from '../../server/src/services/jobs/scheduler/scheduler.loop.ts'
import { createSchedulerStore } from '../../server/src/services/jobs/scheduler/scheduler.store.ts'
import type { Scheduler } from '../../server/src/services/jobs/scheduler/scheduler.ts'
import { createZones } from '../../server/src/services/jobs/scheduler/zone.ts'
import { createSimulatedNetwork } from './simulated-network.ts'
import { createSimulatedTime } from './simulated-time.ts'

export interface SchedulerReport {
  readonly steps: number
  readonly activeMs: number
  readonly started: number
  readonly recorded: number
  readonly crashes: number
  readonly lostCalls: number
  readonly jumps: number
}

interface Node {
  readonly loop: ReturnType<typeof createSchedulerLoop>
  isDead: boolean
  silentUntil: number
  skewMs: number
}

const NODES = 3
const MINUTE = 60_000
const SCHEDULES = [
  { cronTab: '* * * * *', everyMinutes: 1, policy: DEFAULT_POLICY },
  { cronTab: '*/2 * * * *', everyMinutes: 2, policy: { ...DEFAULT_POLICY, missed: 'skip' } },
] as const
/** On a full, even minute. */
const START = 1_000_000_080_000

export async function simulateScheduler(metadata: MetadataDb, seed: number): Promise<SchedulerReport> {
  const time = createSimulatedTime(seed, START)
  const { db } = metadata
  const { random, between } = time
  await sql`drop table if exists simulated_run`.execute(db)
  await sql`create table simulated_run (configuration_id text, run integer)`.execute(db)
  await sql`delete from schedule`.execute(db)
  const made = await sql<{ id: number }>`insert into project (name, features, is_disabled, created_at)
    values ('scheduled', '[]', 0, 0) returning id`.execute(db)
  const projectId = Number(made.rows[0]!.id)
  const store = createSchedulerStore(db)
  const first = START + 2 * MINUTE
  const ids = await metadata.inTransaction((trx) =>
    Promise.all(
      SCHEDULES.map(async ({ cronTab, policy }, index) => {
        const configurationId = String(index)
        const target = { componentId: 'ex', configurationId, configurationRowIds: [], mode: 'run', tag: '' }
        const record = await store.insert(trx, {
          ...{ projectId, tokenId: 1, configurationId, configurationVersion: 1, target, policy, stoppedReason: undefined },
          schedule: { cronTab, timezone: 'UTC', state: 'enabled' },
          nextRunAt: new Date(first),
          createdAt: new Date(START),
        })
        return record.id
      }),
    ),
  )
  const network = createSimulatedNetwork(time, async () => {})
  const nodes: Node[] = []
  let [crashes, jumps, runs] = [0, 0, 0]

  function addNode(): void {
    let self: Node
    const clock = { now: () => new Date(time.now() + self.skewMs) }
    const actor = { projectId, tokenId: 1 } as Actor // the only members these rules read
    const { fireDue } = createFiring({
      scheduler: { store: network.storeOf(store, () => self), zoneOf: createZones() } as Scheduler, // what firing uses of it
      inTransaction: (work) => network.call(self, () => metadata.inTransaction(work)),
      recordEvent: async () => {},
      recordChange: async () => {},
      notifications: { scheduleMissed: async () => {} },
      schedulerComponentId: 'scheduler',
      configurationExists: () => network.call(self, async () => true),
      actorOfToken: () => network.call(self, async () => actor),
      queue: {
        prepare: async (_, { configurationId }) => ({
          insert: async (trx) => {
            const run = ++runs
            await sql`insert into simulated_run values (${configurationId}, ${run})`.execute(trx)
            return { id: String(run) }
          },
        }),
        hasUnfinished: async () => false,
        wake: () => {},
      },
      onError: () => {},
    })
    const loop = createSchedulerLoop({ clock, fireDue, onError: () => {} })
    self = { loop, isDead: false, silentUntil: 0, skewMs: 0 }
    nodes.push(self)
    loop.start()
  }

  const alive = (): Node[] => nodes.filter((node) => !node.isDead)
  const pick = <T>(list: readonly T[]): T => list[between(0, list.length - 1)]!

  function fail(): void {
    const kind = random()
    if (alive().length === 0) return
    const node = pick(alive())
    if (kind < 0.4) {
      crashes++
      node.isDead = true
      void node.loop.stop()
      time.after(between(100, 6 * MINUTE), () => network.isCalm() || addNode())
    } else if (kind < 0.7) node.silentUntil = time.now() + between(100, 2 * MINUTE)
    else {
      jumps++
      node.skewMs = random() < 0.3 ? between(-60 * MINUTE, 60 * MINUTE) : between(-3_000, 3_000)
    }
  }

  async function check(): Promise<Pick<SchedulerReport, 'started' | 'recorded'>> {
    const total = { started: 0, recorded: 0 }
    for (const [index, id] of ids.entries()) {
      const { everyMinutes } = SCHEDULES[index]!
      const record = (await store.find(projectId, id))!
      assert.ok(record.nextRunAt, `schedule ${index} has stopped: ${record.stoppedReason}`)
      const executions = (await store.executions(projectId, [id], 100_000)).get(id)!
      const runs = await sql<{ run: number }>`select run from simulated_run where configuration_id = ${String(index)}`.execute(db)
      const started = executions.filter(({ status }) => status === 'started')
      assert.deepEqual(
        runs.rows.map(({ run }) => String(run)).sort(),
        started.map(({ jobId }) => jobId).sort(),
        `schedule ${index}: jobs and started executions differ`,
      )
      const passed = (record.nextRunAt.getTime() - first) / (everyMinutes * MINUTE)
      const told = executions.map(({ reason }) => Number(/^(\d+) runs? from/.exec(reason ?? '')?.[1] ?? 1))
      const accounted = told.reduce((sum, count) => sum + count, 0)
      assert.equal(accounted, passed, `schedule ${index}: ${passed} runs were due, ${accounted} are accounted for`)
      total.started += started.length
      total.recorded += passed - started.length
    }
    return total
  }

  const run = async (): Promise<SchedulerReport> => {
    for (let i = 0; i < NODES; i++) addNode()
    const spanMs = between(12, 25) * MINUTE
    for (let i = 0; i < between(2, 10); i++) time.after(between(0, spanMs), fail)
    time.after(spanMs, () => {
      network.calm()
      for (const node of alive()) Object.assign(node, { skewMs: 0, silentUntil: 0 })
      if (alive().length === 0) addNode()
    })
    await time.runUntil(() => false, spanMs + 5 * MINUTE)
    for (const node of nodes) void node.loop.stop()
    const counts = await check()
    return { steps: time.steps(), activeMs: time.now() - START, ...counts, crashes, lostCalls: network.lostCalls(), jumps }
  }
  return time.withTimers(run).finally(() => {
    for (const node of nodes) node.isDead = true
    time.clear()
  })
}
