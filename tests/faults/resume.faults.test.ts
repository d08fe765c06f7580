// kill -9 of the stack in the middle of an extraction with `resume`: the job is lost, and the next run of its configuration requests only
// what had not come, with the same table as a run that nothing happened to.

import assert from 'node:assert/strict'
import { existsSync, readdirSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { kills } from '../support/chance.ts'
import { until } from '../support/until.ts'
import { type Stack, startStack } from './stack.ts'

const KILLS = kills(2, 20)
const PAGES = 2 * KILLS + 8
const PER_PAGE = 50

/** Pages of items; the one that is held gets no answer until somebody lets it go. */
async function startApi(t: TestContext) {
  const asked: number[] = []
  let held: number | undefined
  const server = createServer((request, response) => {
    const page = Number(new URL(request.url ?? '', 'http://api').searchParams.get('page'))
    asked.push(page)
    if (page === held) return
    const ids = page > PAGES ? [] : Array.from({ length: PER_PAGE }, (_, n) => ({ id: (page - 1) * PER_PAGE + n }))
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(ids))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const hold = (page: number | undefined) => {
    held = page
    server.closeAllConnections()
  }
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, asked, hold } // a TCP server has an address with a port
}

interface Job {
  readonly id: string
  readonly status: string
  readonly isFinished: boolean
}

const ended = (stack: Stack, id: string): Promise<Job> =>
  until(`job ${id} ends`, async () => {
    const job = (await stack.get(`/queue/jobs/${id}`)).body as Job
    return job.isFinished && job
  })

const partsIn = ({ dataDir }: Stack): string[] => {
  const folder = join(dataDir, 'checkpoints')
  if (!existsSync(folder)) return []
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('/answers'))
}

test(`${KILLS} kills: the next run continues, and no row is lost or doubled`, async (t) => {
  const api = await startApi(t)
  // One attempt: a lost run of the extractor would start again by itself.
  const stack = await startStack(t, { env: { MILLRACE_EGRESS_ALLOW: '127.0.0.1', MILLRACE_JOB_ATTEMPTS: '1' } })
  const parameters = {
    api: { baseUrl: api.url, pagination: { method: 'pagenum' } },
    config: { resume: true, incrementalOutput: true, outputBucket: 'shop', jobs: [{ endpoint: 'items', dataType: 'items' }] },
  }
  const created = await stack.post('/v2/storage/components/platform.ex-http/configs', {
    name: 'c',
    configuration: { parameters },
  })
  const config = (created.body as { id: string }).id
  const run = async (): Promise<string> => {
    const answer = await stack.post('/queue/platform.ex-http/run', { config })
    assert.equal(answer.status, 202, JSON.stringify(answer.body))
    return (answer.body as Job).id
  }

  for (let kill = 1; kill <= KILLS; kill++) {
    const page = 1 + 2 * kill // further every time: the page before has been answered
    api.hold(page)
    const lost = await run()
    await until(
      () => `page ${page} is asked for\n${stack.output()}`,
      () => api.asked.includes(page),
    )
    await stack.kill()
    await stack.start()
    assert.equal((await ended(stack, lost)).status, 'error')
    assert.equal(partsIn(stack).length, 1, 'the part of the killed run is there')
  }
  api.hold(undefined)
  const last = await ended(stack, await run())
  assert.equal(last.status, 'success', JSON.stringify(last))
  const answered = Array.from({ length: PAGES + 1 }, (_, at) => at + 1)
  const twice = api.asked.length - answered.length
  assert.ok(twice <= 2 * KILLS, `only what had no answer was asked for again: ${api.asked}`)
  assert.equal(api.asked.filter((page) => page === 1).length, 1)
  const tableId = 'in.c-shop.items'
  const rowsCount = async () => ((await stack.get(`/v2/storage/tables/${tableId}`)).body as { rowsCount: number }).rowsCount
  assert.equal(await rowsCount(), PAGES * PER_PAGE)
  assert.deepEqual(partsIn(stack), [], 'a run that succeeded leaves nothing behind')

  // The run after is a new one.
  const before = api.asked.length
  assert.equal((await ended(stack, await run())).status, 'success')
  assert.deepEqual(api.asked.slice(before), answered)
  assert.equal(await rowsCount(), 2 * PAGES * PER_PAGE)
})
