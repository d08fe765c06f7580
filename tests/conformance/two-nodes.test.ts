// Two nodes on one PostgreSQL and one S3: each runs what it can, and neither waits for the other's clock.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { findIsolation } from '../../server/src/engines/runner/isolation.ts'
import { freshPostgres } from '../support/on-both-databases.ts'
import { type Job, shellStack } from '../support/shell-stack.ts'
import { startS3 } from '../support/start-s3.ts'
import { startTestStack, type TestStack } from '../support/test-stack.ts'
import { until } from '../support/until.ts'

type Roles = readonly ('api' | 'worker' | 'scheduler')[]

async function startNodes(t: TestContext) {
  const database = await freshPostgres()
  const s3 = await startS3()
  t.after(async () => {
    await s3.close()
    await database.remove()
  })
  const shared = {
    databaseUrl: (database.location as { url: string }).url, // of PostgreSQL
    databaseConnections: 3,
    bucket: 'millrace',
    externalS3: { endpoint: s3.endpoint, ...s3.sessions.root, roleArn: undefined },
    encryptionKeys: [randomBytes(32)],
  }
  return { node: (roles: Roles) => ({ ...shared, roles }) }
}

test('a job runs on the node that has its component, whichever looks first', async (t) => {
  const { node } = await startNodes(t)
  const first = await shellStack(t, node(['api', 'worker']))
  await startTestStack(t, node(['worker'])) // it does not have the component
  await first.add('test.own', 'true')
  const jobs = await Promise.all(
    Array.from({ length: 12 }, async () => {
      const answer = await first.request('POST', '/queue/jobs', { json: { component: 'test.own', mode: 'run', configData: {} } })
      assert.equal(answer.status, 201, answer.text)
      return answer.json<Job>()
    }),
  )
  for (const job of jobs) {
    const { status, result } = await first.wait(job)
    assert.equal(status, 'success', JSON.stringify(result))
  }
})

test('work that one node creates starts on the other at once', async (t) => {
  const { node } = await startNodes(t)
  const alone = await startTestStack(t)
  const api = await startTestStack(t, node(['api']))
  await startTestStack(t, node(['worker']))
  const [here, there] = [await timeOfJobs(alone), await timeOfJobs(api)]
  // Without hints a job waits half a second on average for the other node to look: ten times as long and more.
  assert.ok(there < 3 * here + 1500, `${Math.round(there)} ms over two nodes, ${Math.round(here)} ms on one`)
})

/** Ten jobs, one after the other. */
async function timeOfJobs(stack: TestStack): Promise<number> {
  const once = async (i: number) => {
    const made = await stack.request('POST', '/v2/storage/buckets', { json: { name: `b${i}`, stage: 'in' } })
    assert.equal(made.status, 201, made.text)
    const job = await stack.request('DELETE', `/v2/storage/buckets/in.c-b${i}?async=1`)
    assert.equal(job.status, 202, job.text)
    const { id } = job.json<{ id: number }>()
    await stack.platform.storageJobs.waitFor(stack.projectId, id, { pollMs: 5 })
  }
  await once(0)
  const began = performance.now()
  for (let i = 1; i <= 10; i++) await once(i)
  return performance.now() - began
}

test('an app runs on every node that is asked for it, and a stop reaches all of them', async (t) => {
  const isolation = { mode: 'auto', readable: [], uid: 65_534 } as const
  const path = process.env.PATH ?? '/usr/bin:/bin'
  const { problem } = await findIsolation({ ...isolation, path, hidden: [] })
  if (problem !== undefined) return t.diagnostic(`not isolated: ${problem}`) // code that users write runs isolated only
  const { node } = await startNodes(t)
  const first = await startTestStack(t, { ...node(['api']), worker: { isolation, path } })
  const second = await startTestStack(t, { ...node(['api']), worker: { isolation, path } })
  const script = `import { createServer } from 'node:http'
    createServer((request, response) => response.end('alive')).listen(process.env.PORT, '127.0.0.1')`
  const made = await first.request('POST', '/data-science/apps', { json: { config: { parameters: { script } } } })
  const at = `/data-science/apps/${made.json<{ id: string }>().id}`
  const deployed = await first.request('PATCH', at, { json: { desiredState: 'running' } })
  assert.equal(deployed.status, 200, deployed.text)
  const link = new URL((await first.request('POST', `${at}/links`)).json<{ url: string }>().url).pathname
  for (const { url } of [first, second]) assert.equal(await (await fetch(new URL(link, url))).text(), 'alive')
  const running = async () =>
    (await second.request('GET', `${at}/runs`, { token: first.masterToken }))
      .json<{ state: string }[]>()
      .filter(({ state }) => state === 'running').length
  await until('both run', async () => (await running()) === 2)
  const stop = { json: { desiredState: 'stopped' }, token: first.masterToken }
  assert.equal((await second.request('PATCH', at, stop)).status, 200)
  await until('both have ended', async () => (await running()) === 0)
  assert.equal((await fetch(new URL(link, first.url))).status, 409)
})
