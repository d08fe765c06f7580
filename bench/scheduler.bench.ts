// Ten thousand schedules: due in the same minute (all queued within 10 s), idle (under 1 % of a core), replanned (under 1 s).

import { setTimeout as sleep } from 'node:timers/promises'
import { parseCron } from '../server/src/services/jobs/scheduler/cron.ts'
import { nextRun } from '../server/src/services/jobs/scheduler/planned-runs.ts'
import { createZones } from '../server/src/services/jobs/scheduler/zone.ts'
import { startTestStack } from '../tests/support/test-stack.ts'
import { report } from './support/measure.ts'

const SCHEDULES = Number(process.env.BENCH_SCHEDULES ?? 10_000)
const TARGETS = 100
const IDLE_SECONDS = 10

planning()
const cleanups: (() => unknown)[] = []
const t = { after: (work: () => unknown) => cleanups.push(work) } as unknown as Parameters<typeof startTestStack>[0] // all it uses of a test
let now = new Date('2026-05-01T12:00:10Z')
const clock = { now: () => now }
// The role api only: nothing ticks and nothing runs by itself while the minute is measured.
const stack = await startTestStack(t, { clock, roles: ['api'] })
const targets = await inParallel(TARGETS, async () => {
  const answer = await stack.request('POST', '/v2/storage/components/platform.ex-http/configs', {
    json: { name: 't', configuration: {} },
  })
  return answer.json<{ id: string }>().id
})
await inParallel(SCHEDULES, async (i) => {
  const configuration = {
    schedule: { cronTab: '5 12 * * *', timezone: 'Europe/Prague', state: 'enabled' },
    target: { componentId: 'platform.ex-http', configurationId: targets[i % TARGETS], mode: 'run' },
  }
  if (i % 2 === 0) configuration.schedule = { cronTab: '5 10 * * *', timezone: 'UTC', state: 'enabled' }
  const made = await stack.request('POST', '/v2/storage/components/platform.scheduler/configs', {
    json: { name: 's', configuration },
  })
  const activated = await stack.request('POST', '/scheduler/schedules', { json: { configurationId: made.json().id } })
  if (activated.status !== 201) throw new Error(activated.text)
})

// What looking every second costs, and nothing else of the process.
let idleMicroseconds = 0
for (let i = 0; i < IDLE_SECONDS; i++) {
  const before = process.cpuUsage()
  await stack.platform.scheduler.loop.tick(now)
  const { user, system } = process.cpuUsage(before)
  idleMicroseconds += user + system
  await sleep(1000)
}
const cpuShare = idleMicroseconds / 1e6 / IDLE_SECONDS
report({
  bench: 'schedules-idle',
  ratio: cpuShare / 0.01,
  target: '<= 1',
  schedules: SCHEDULES,
  coreShare: Number(cpuShare.toFixed(4)),
})

now = new Date('2026-05-02T10:05:00Z')
const started = performance.now()
const fired = await stack.platform.scheduler.loop.tick(now)
const seconds = (performance.now() - started) / 1000
if (fired !== SCHEDULES) throw new Error(`${fired} of ${SCHEDULES} schedules fired`)
report({ bench: 'schedules-due', ratio: seconds / 10, target: '<= 1', schedules: SCHEDULES, seconds: Number(seconds.toFixed(2)) })
for (const cleanup of cleanups) await cleanup()

function planning(): void {
  const zoneOf = createZones()
  const zones = ['UTC', 'Europe/Prague', 'America/New_York', 'Asia/Kolkata', 'Australia/Lord_Howe'].map(zoneOf)
  const crons = ['*/5 * * * *', '30 2 * * *', '0 9 * * 1-5', '0 0 1 * *', '15 14 L 3,6 *', '* * * * *'].map(parseCron)
  const from = Date.parse('2026-03-29T00:30:00Z') // beside a change of some of them: the slow case
  for (const zone of zones) nextRun({ cron: crons[0]!, zone, dst: 'once' }, from) // a zone learns its year once
  const started = performance.now()
  for (let i = 0; i < 10_000; i++)
    nextRun({ cron: crons[i % crons.length]!, zone: zones[i % zones.length]!, dst: 'once' }, from + i * 60_000)
  const seconds = (performance.now() - started) / 1000
  report({ bench: 'schedules-planning', ratio: seconds, target: '<= 1', crons: 10_000, seconds: Number(seconds.toFixed(3)) })
}

/** `count` pieces of work, sixteen at a time. */
async function inParallel<T>(count: number, work: (i: number) => Promise<T>): Promise<T[]> {
  const results: T[] = []
  let next = 0
  const worker = async () => {
    for (let i = next++; i < count; i = next++) results[i] = await work(i)
  }
  await Promise.all(Array.from({ length: 16 }, worker))
  return results
}
