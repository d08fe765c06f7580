// Followers of a job get its changes on this node immediately, and miss nothing that happens meanwhile.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { type Job, shareShellStack } from '../../../../../tests/support/shell-stack.ts'
import { followJob } from './job-events.ts'
import { createJobNotifier } from './job-notifier.ts'
import type { JobRow } from './queue.schema.ts'

const startProject = shareShellStack()

const NEVER_MS = 600_000

test('a stream shows what a job says and its end as soon as it is told, without looking', async (t) => {
  const notifier = createJobNotifier()
  const said: { id: number; message: string }[] = []
  let job = { id: 7, status: 'processing', waiting_reason: null } as JobRow // the only fields that a stream shows by itself
  const server = createServer(async (_, response) => {
    const follower = notifier.follow(7)
    await followJob(
      response,
      {
        follower,
        since: undefined,
        current: async () => job,
        list: async (since = '0') => said.filter(({ id }) => id > Number(since)),
        view: ({ id, status }) => ({ id, status }),
      },
      NEVER_MS,
    ).finally(follower.leave)
  })
  t.after(() => server.close())
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const response = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
  const chunks = response.body!.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  const until = async (part: string) => {
    while (!text.includes(part)) text += (await chunks.read()).value ?? assert.fail(`ended before ${part}: ${text}`)
  }
  await until('"processing"')
  said.push({ id: 1, message: 'one' })
  notifier.notify(8) // of another job
  notifier.notify(7)
  await until('"message":"one"')
  said.push({ id: 2, message: 'two' })
  job = { ...job, status: 'success' }
  notifier.notify(7)
  await until('event: end\ndata: {"id":7,"status":"success"}')
  assert.deepEqual([...text.matchAll(/event: (\w+)/g)].map(([, name]) => name).join(), 'status,log,log,status,end')
})

test('a notification while a follower looks is not lost, and waiting ends with the time given', async () => {
  const notifier = createJobNotifier()
  const follower = notifier.follow(1)
  const other = notifier.follow(1)
  notifier.notify(1)
  assert.equal(await follower.next(NEVER_MS), true)
  assert.equal(await follower.next(1), false, 'heard once')
  const waiting = follower.next(NEVER_MS)
  notifier.notify(1)
  assert.equal(await waiting, true)
  follower.leave()
  notifier.notify(1)
  assert.equal(await follower.next(1), false, 'who has left hears nothing')
  assert.equal(await other.next(NEVER_MS), true, 'whoever stayed does')
})

test('a stream that starts late has everything the job said, however much', async () => {
  const { add, configure, url, masterToken, request, wait } = await startProject()
  await add('test.much', 'seq 1 2500 | sed "s/^/line /"')
  const config = await configure('test.much', {})
  const job = await wait((await request('POST', '/queue/test.much/run', { json: { config } })).json<Job>())
  const response = await fetch(`${url}/queue/jobs/${job.id}/events`, {
    headers: { accept: 'text/event-stream', 'x-storageapi-token': masterToken },
  })
  const lines = [...(await response.text()).matchAll(/"message":"line (\d+)"/g)].map(([, line]) => Number(line))
  assert.deepEqual(
    lines,
    Array.from({ length: 2500 }, (_, i) => i + 1),
  )
})

test('a stream ends when its token is deleted', async () => {
  const { url, request } = await startProject()
  const later = { component: 'platform.ex-http', configData: {}, delay: '86400' }
  const { id } = (await request('POST', '/queue/jobs', { json: later })).json<Job>()
  const token = (await request('POST', '/v2/storage/tokens', { json: { canManageBuckets: true } })).json<{
    id: string
    token: string
  }>()
  const response = await fetch(`${url}/queue/jobs/${id}/events`, {
    headers: { accept: 'text/event-stream', 'x-storageapi-token': token.token },
  })
  assert.equal(response.status, 200)
  assert.equal((await request('DELETE', `/v2/storage/tokens/${token.id}`)).status, 204)
  assert.match(await response.text(), /event: status/) // resolves only when the stream has ended
})
