// Runs that leave thousands of small files: they are stored, or refused by a limit that has a name, and nobody else notices.

import assert from 'node:assert/strict'
import test from 'node:test'
import { DEFAULT_WORKER } from '../../server/src/model/worker-settings.ts'
import { assertWithinBound, longestHold } from '../support/event-loop.ts'
import { type Job, shellStack } from '../support/shell-stack.ts'

type Stack = Awaited<ReturnType<typeof shellStack>>

const writer = (files: number, folder = 'out/files', prefix = 'f') =>
  `cd "$KBC_DATADIR"; mkdir -p ${folder}; cd ${folder}; i=0; while [ $i -lt ${files} ]; do echo $i > ${prefix}$i; i=$((i+1)); done`

async function run(stack: Stack, component: string): Promise<Job> {
  const answer = await stack.request('POST', `/queue/${component}/run`, { json: { configData: {} } })
  assert.equal(answer.status, 202, answer.text)
  return stack.wait(answer.json<Job>())
}

const FILES = process.env.MILLRACE_LONG ? 1_500 : 500

test(`${FILES} small files become files of the project while the event loop keeps turning`, async (t) => {
  const stack = await shellStack(t)
  await stack.add('test.many', writer(FILES))
  let job: Job | undefined
  const { heldMs, boundMs } = await longestHold(async () => {
    job = await run(stack, 'test.many')
  })
  t.diagnostic(`held ${Math.round(heldMs)} ms, bound ${Math.round(boundMs)} ms`)
  assert.equal(job?.status, 'success', JSON.stringify(job?.error))
  const files = (await stack.request('GET', `/v2/storage/files?limit=10000&runId=${job.runId}`)).json<{ name: string }[]>()
  assert.equal(new Set(files.map(({ name }) => name)).size, FILES)
  assertWithinBound({ heldMs, boundMs })
})

test('a row that leaves more results than MILLRACE_RUN_RESULTS allows fails, says so, and stores nothing', async (t) => {
  const stack = await shellStack(t, { worker: { ...DEFAULT_WORKER, results: 20 } })
  await stack.add('test.fits', writer(20))
  assert.equal((await run(stack, 'test.fits')).status, 'success')
  const scripts = { files: writer(21), slices: writer(21, 'out/tables/t', 'slice'), nested: writer(21, 'out/files/a/b/c') }
  for (const [name, script] of Object.entries(scripts)) {
    await stack.add(`test.${name}`, script)
    const job = await run(stack, `test.${name}`)
    assert.equal(job.status, 'error')
    assert.match(job.error!.message, /more than 20 files.*MILLRACE_RUN_RESULTS/)
    assert.equal(job.result.error?.type, 'user')
    const files = (await stack.request('GET', `/v2/storage/files?limit=10000&runId=${job.runId}`)).json<unknown[]>()
    assert.deepEqual(files, [])
  }
})
