// Why a table is wrong, down to the answer of the API: an extraction that records its requests, and a search for the load that broke a check.

import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import test from 'node:test'
import { tableClient } from '../support/clients/table-client.ts'
import { type Job, shellStack } from '../support/shell-stack.ts'

interface Found {
  readonly status: string
  readonly cause: {
    readonly jobId: string | null
    readonly answer: { readonly fileId: string; readonly line: number; readonly url: string; readonly status: number } | null
  }
}

test('a search for the load that broke a check names the recorded answer that brought the rows', async (t) => {
  let brokenPage = 0
  const api = createServer((request, response) => {
    const page = Number(new URL(request.url ?? '', 'http://api').searchParams.get('page'))
    const orders = [1, 2].map((n) => ({
      id: page * 10 + n,
      city: `Brno ${page}${n}`,
      price: page === brokenPage && n === 2 ? -5 : 100 + n,
    }))
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ orders }))
  })
  await new Promise<void>((resolve) => api.listen(0, '127.0.0.1', resolve))
  t.after(() => void api.close())
  const url = `http://127.0.0.1:${(api.address() as AddressInfo).port}/` // a TCP server has an address with a port
  const stack = await shellStack(t, { worker: { jobs: 2, path: process.env.PATH ?? '', egressAllow: ['127.0.0.1'] } })
  const jobs = [1, 2, 3].map((page) => ({ endpoint: 'orders', params: { page }, dataType: 'orders', dataField: 'orders' }))
  const config = await stack.configure('keboola.ex-generic-v2', {
    parameters: { api: { baseUrl: url }, config: { record: true, outputBucket: 'shop', jobs } },
  })
  const run = async (): Promise<string> => {
    const started = (await stack.request('POST', '/queue/keboola.ex-generic-v2/run', { json: { config } })).json<Job>()
    const { id, status, result } = await stack.wait(started)
    assert.equal(status, 'success', JSON.stringify(result))
    return String(id)
  }
  await run()
  const good = new Date().toISOString()
  await run()
  brokenPage = 2
  const culprit = await run()
  await run()

  const client = tableClient(stack)
  const bisect = async (json: object): Promise<Found> => {
    const answer = await stack.request('POST', '/v2/storage/tables/in.c-shop.orders/bisect', { json: { goodAt: good, ...json } })
    return (await client.succeed(answer)).results as unknown as Found
  }
  const made = await stack.request('POST', '/v2/storage/data-tests', {
    json: { tableId: 'in.c-shop.orders', name: 'prices', type: 'range', parameters: { column: 'price', min: 0 } },
  })
  const checks = [
    { testId: made.json<{ id: string }>().id },
    { sql: `SELECT id, city FROM "in.c-shop"."orders" WHERE CAST(price AS INTEGER) < 0` },
  ]
  for (const check of checks) {
    const { status, cause } = await bisect(check)
    assert.deepEqual([status, cause.jobId], ['found', culprit])
    assert.deepEqual([cause.answer?.url, cause.answer?.status, cause.answer?.line], [`${url}orders?page=2`, 200, 2])
    const { tags } = (await stack.request('GET', `/v2/storage/files/${cause.answer?.fileId}`)).json<{ tags: string[] }>()
    assert.ok(tags.includes(`runId: ${culprit}`), tags.join())
  }
  const counted = await bisect({
    sql: `SELECT count(*) FROM "in.c-shop"."orders" WHERE CAST(price AS INTEGER) < 0 HAVING count(*) > 0`,
  })
  assert.deepEqual([counted.status, counted.cause.answer], ['found', null], 'a number is in no answer')
})
