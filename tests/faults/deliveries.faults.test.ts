// kill -9 of the stack after the last row of a delivery was answered and before its receipts are stored: the next run stores them and sends
// nothing again. A delivery whose receipts are stored is over, also when the stack was killed before it could clean up.

import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { until } from '../support/until.ts'
import { type Stack, startStack } from './stack.ts'

const KILLS = process.env.MILLRACE_LONG ? 12 : 2
const ROWS = 40

interface Job {
  readonly id: string
  readonly status: string
  readonly isFinished: boolean
}

async function startApi(t: TestContext) {
  const got: string[] = []
  const server = createServer((request, response) => {
    got.push(request.url ?? '')
    request.resume().on('end', () => response.writeHead(200, { 'content-type': 'application/json' }).end('{"ok":true}'))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, got } // a TCP server has an address with a port
}

/** Lines of the journals of all deliveries that are not over. */
const answered = ({ dataDir }: Stack): number => {
  const folder = join(dataDir, 'checkpoints')
  if (!existsSync(folder)) return 0
  const journals = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.jsonl'))
  return journals.flatMap((name) => readFileSync(join(folder, name), 'utf8').match(/"done":/g) ?? []).length
}

test(`${KILLS} kills between delivery and receipts: no row is sent again, none is without a receipt`, async (t) => {
  const api = await startApi(t)
  const stack = await startStack(t, { env: { MILLRACE_EGRESS_ALLOW: '127.0.0.1' } })
  await stack.post('/v2/storage/buckets', { stage: 'in', name: 'c-crm' })
  const csv = ['id,name', ...Array.from({ length: ROWS }, (_, at) => `${at},n${at}`)].join('\n')
  const made = await stack.post('/v2/storage/buckets/in.c-crm/tables', { name: 'people', dataString: csv, primaryKey: 'id' })
  assert.equal(made.status, 201, JSON.stringify(made.body))
  const created = await stack.post('/v2/storage/components/platform.wr-http/configs', {
    name: 'c',
    configuration: {
      parameters: { api: { baseUrl: api.url }, requests: { create: { path: 'people' } } },
      storage: { input: { tables: [{ source: 'in.c-crm.people' }] } },
    },
  })
  const config = (created.body as { id: string }).id
  const run = async (): Promise<string> => {
    const answer = await stack.post('/queue/jobs', { component: 'platform.wr-http', config, mode: 'run' })
    assert.equal(answer.status, 201, JSON.stringify(answer.body))
    return (answer.body as Job).id
  }
  const ended = (id: string): Promise<Job> =>
    until(`job ${id} ends`, async () => {
      const job = (await stack.get(`/queue/jobs/${id}`)).body as Job
      return job.isFinished && job
    })
  const receipts = async (): Promise<readonly [number, number]> => {
    const sql = `select count(*)::int, count(distinct delivery)::int from "out.c-platform-wr-http-${config}".receipts`
    const answer = await stack.post('/v2/storage/query', { sql })
    return (answer.body as { rows?: [number, number][] }).rows?.[0] ?? [0, 0]
  }

  let deliveries = 0
  for (let kill = 1; kill <= KILLS; kill++) {
    const killed = await run()
    await until('every row is answered', () => answered(stack) >= ROWS)
    await stack.kill()
    await stack.start()
    await ended(killed)
    deliveries++
    // Its receipts were stored, or the next run stores them: both are one delivery.
    if ((await receipts())[1] < deliveries) assert.equal((await ended(await run())).status, 'success')
    assert.equal(api.got.length, deliveries * ROWS)
    assert.deepEqual(await receipts(), [deliveries * ROWS, deliveries])
  }
  assert.equal((await ended(await run())).status, 'success')
  assert.equal(api.got.length, (deliveries + 1) * ROWS, 'a new run is a new delivery')
})
