// What 50 open live streams cost while nothing happens: processor time of the whole process, clients included, against a core. The time of the
// same stack with one of them is taken off.

import { setTimeout as sleep } from 'node:timers/promises'
import { openEventStream } from '../tests/support/event-stream.ts'
import { startTestStack } from '../tests/support/test-stack.ts'
import { report, round } from './support/measure.ts'

const READERS = 50
const MEASURED_MS = 20_000

const ends: (() => unknown)[] = []
const stack = await startTestStack({ after: (end) => ends.push(end) })
const open = () => openEventStream(`${stack.url}/v2/storage/changes`, { 'x-storageapi-token': stack.masterToken })

async function coreUsed(): Promise<number> {
  const before = process.cpuUsage()
  await sleep(MEASURED_MS)
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000 / MEASURED_MS
}

const streams = await Promise.all(Array.from({ length: READERS }, open))
await sleep(30_000) // what starting left to do
const all = await coreUsed()
for (const stream of streams.slice(1)) stream.close()
const one = await coreUsed()
report({ bench: 'changes', ratio: (all - one) / 0.01, target: '<= 1', coreOfOne: round(one), coreOfFifty: round(all) })
for (const stream of streams) stream.close()
for (const end of ends) await end()
process.exit(0)
