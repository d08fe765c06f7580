// An external S3 that cannot be reached for a while, under a stack whose jobs are running: they wait for it, or fail with that reason.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { frozenProxy } from '../support/servers/frozen-proxy.ts'
import { startS3 } from '../support/servers/start-s3.ts'
import { type Job, shellStack } from '../support/shell-stack.ts'
import { until } from '../support/until.ts'

const PROGRAM = `
sleep 1
printf 'id\\n1\\n' > "$KBC_DATADIR/out/tables/t.csv"
printf 'some text' > "$KBC_DATADIR/out/files/report.txt"
echo 'the program is done'`

async function startWithStore(t: TestContext, storeWaitMs: number) {
  const s3 = await startS3()
  t.after(s3.close)
  const way = await frozenProxy(s3.endpoint)
  t.after(way.close)
  const stack = await shellStack(t, {
    bucket: 'millrace',
    externalS3: { endpoint: way.url.replace(/\/$/, ''), ...s3.sessions.root, roleArn: undefined },
    worker: { storeWaitMs },
  })
  await stack.add('writer', PROGRAM)
  return { stack, way }
}

async function startJob({ configure, request }: Awaited<ReturnType<typeof startWithStore>>['stack'], name: string): Promise<Job> {
  const output = {
    tables: [{ source: 't.csv', destination: `out.c-main.${name}` }],
    files: [{ source: 'report.txt', tags: [name] }],
  }
  const config = await configure('writer', { storage: { output } })
  const answer = await request('POST', '/queue/jobs', { json: { component: 'writer', config, mode: 'run' } })
  assert.equal(answer.status, 201, answer.text)
  return answer.json<Job>()
}

test('a job whose program ends while the object store is away stores its results when the store is back', async (t) => {
  const { stack, way } = await startWithStore(t, 120_000)
  const job = await startJob(stack, 'patient')
  const state = async () => (await stack.request('GET', job.url)).json<Job>()
  await until('the job runs', async () => (await state()).status === 'processing')
  way.cut()
  const events = async () => (await stack.request('GET', `/v2/storage/events?runId=${job.id}`)).text
  await until('the program has ended', async () => (await events()).includes('the program is done'))
  await until('readiness names the store', async () => (await stack.request('GET', '/ready')).status === 503)
  assert.equal((await state()).status, 'processing')
  way.join()
  const ended = await until('the job has ended', async () => {
    const now = await state()
    return now.isFinished && now
  })
  assert.deepEqual([ended.status, ended.result.message], ['success', 'Component processing finished.'])
  const preview = await stack.request('GET', '/v2/storage/tables/out.c-main.patient/data-preview')
  assert.equal(preview.text.trim(), '"id"\n"1"')
  const files = (await stack.request('GET', '/v2/storage/files?tags[]=patient')).json<{ sizeBytes: number }[]>()
  assert.deepEqual(
    files.map(({ sizeBytes }) => sizeBytes),
    [9],
  )
})

test('a job that may not wait fails with the true reason', async (t) => {
  const { stack, way } = await startWithStore(t, 0)
  const job = await startJob(stack, 'hasty')
  const state = async () => (await stack.request('GET', job.url)).json<Job>()
  await until('the job runs', async () => (await state()).status === 'processing')
  way.cut()
  const ended = await until('the job has ended', async () => {
    const now = await state()
    return now.isFinished && now
  })
  assert.equal(ended.status, 'error')
  assert.match(ended.result.message, /^The object store could not /)
})
