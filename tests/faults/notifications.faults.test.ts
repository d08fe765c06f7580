// kill -9 of the stack around the end of jobs: every job that ended has its message, once in the outbox, and every message arrives.

import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { chance, kills } from '../support/chance.ts'
import { startReceiver } from '../support/servers/webhook-receiver.ts'
import { until } from '../support/until.ts'
import { startStack } from './stack.ts'

const KILLS = kills(2, 50)
const DAY_PART_MS = 7_200_000

interface Job {
  readonly id: string
  readonly status: string
  readonly isFinished: boolean
}
interface Delivery {
  readonly messageId: string
  readonly status: string
}

test(`${KILLS} kills: each job that ended has one message, and each message arrives`, async (t) => {
  const receiver = await startReceiver(t)
  const stack = await startStack(t, { env: { MILLRACE_EGRESS_ALLOW: '127.0.0.1' } })
  mkdirSync(join(stack.dataDir, 'components'), { recursive: true })
  const definition = { type: 'command', uri: '', tag: '1', command: ['/bin/true'] }
  writeFileSync(
    join(stack.dataDir, 'components/test.quick.json'),
    JSON.stringify({ id: 'test.quick', type: 'application', name: 'quick', hasRun: true, data: { definition } }),
  )
  await until('the component is known', async () => (await stack.get('/v2/storage/components/test.quick')).status === 200)
  for (const event of ['job-succeeded', 'job-failed']) {
    const recipient = { channel: 'webhook', url: `${receiver.url}/${event}` }
    assert.equal((await stack.post('/notification/project-subscriptions', { event, recipient })).status, 201)
  }

  for (let round = 1; round <= KILLS; round++) {
    // In every other round the receiver hangs, so that the stack dies with attempts under way.
    receiver.answerWith(round % 2 === 0 ? () => {} : (response) => response.end())
    for (let i = 0; i < 5; i++) await stack.post('/queue/jobs', { component: 'test.quick', configData: {} })
    await sleep(chance() * 1200) // the moment of death is the random input of this test
    await stack.kill()
    // Ahead of every pause between two attempts.
    await stack.start({ MILLRACE_TEST_CLOCK_OFFSET_MS: String(round * DAY_PART_MS) })
  }
  receiver.answerWith((response) => response.end())
  const jobs = async () => (await stack.get('/queue/search/jobs?limit=500')).body as Job[]
  await until('every job has ended', async () => (await jobs()).every((job) => job.isFinished))
  await stack.kill()
  await stack.start({ MILLRACE_TEST_CLOCK_OFFSET_MS: String((KILLS + 1) * DAY_PART_MS) })
  const deliveries = async () => (await stack.get('/notification/deliveries?limit=500')).body as Delivery[]
  await until(
    () => `every message is delivered
${stack.output()}`,
    async () => (await deliveries()).every(({ status }) => status === 'delivered'),
  )
  const ended = (await jobs()).filter(({ status }) => status === 'success' || status === 'error')
  const sent = await deliveries()
  assert.equal(sent.length, ended.length)
  const arrived = receiver.received.map(
    ({ body, headers }) => [headers['webhook-id'], JSON.parse(body).job.id as string] as const,
  )
  assert.deepEqual(new Set(arrived.map(([, jobId]) => jobId)), new Set(ended.map(({ id }) => id)))
  assert.deepEqual(new Set(arrived.map(([messageId]) => messageId)), new Set(sent.map(({ messageId }) => messageId)))
})
