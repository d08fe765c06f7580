// An example like the README's, looked at closely, over HTTP only: two rows of the extractor and a secret, run twice with state, then killed.

import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { type Job, shellStack } from '../support/shell-stack.ts'
import { until } from '../support/until.ts'

const SECRET = 'canary-9f8e7d-of-the-extractor'

/** Orders after a cursor, customers, and an address that never answers; all behind a password. */
async function startApi(t: TestContext) {
  const asked: string[] = []
  const server = createServer((request: IncomingMessage, response) => {
    asked.push(request.url ?? '')
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://api')
    if (pathname === '/slow') return
    if (request.headers['x-key'] !== SECRET) {
      response.writeHead(401).end('{"error":"who are you"}')
      return
    }
    const since = Number(searchParams.get('since') ?? 0)
    const items =
      pathname === '/orders' ? [1, 2, 3].map((n) => ({ id: since + n, amount: n * 10 })) : [{ id: 'c1', name: 'Ada "the first"' }]
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(items))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, asked } // a TCP server has an address with a port
}

test('two rows of the extractor run, keep their state, run again from it, and can be killed', async (t) => {
  const api = await startApi(t)
  const stack = await shellStack(t, { worker: { jobs: 4, path: process.env.PATH ?? '', egressAllow: ['127.0.0.1'] } })
  const root = {
    parameters: {
      api: { baseUrl: api.url, http: { headers: { 'X-Key': { attr: '#key' } } } },
      config: { '#key': SECRET },
    },
  }
  const jobs = (endpoint: string, params: object = {}) => ({
    parameters: { config: { jobs: [{ endpoint, dataType: endpoint, params }] } },
  })
  const rows = [
    { rowId: 'orders', name: 'orders', configuration: JSON.stringify(jobs('orders', { since: { time: 'previousStart' } })) },
    { rowId: 'customers', name: 'customers', configuration: JSON.stringify(jobs('customers')) },
  ]
  const config = await stack.configure('keboola.ex-generic-v2', root, rows)
  const run = async (): Promise<Job> => {
    const answer = await stack.request('POST', '/queue/keboola.ex-generic-v2/run', { json: { config } })
    assert.equal(answer.status, 202, answer.text)
    return stack.wait(answer.json<Job>())
  }

  const first = await run()
  assert.equal(first.status, 'success', JSON.stringify(first))
  const bucket = `in.c-keboola-ex-generic-v2-${config}`
  const preview = async (table: string) =>
    (await stack.request('GET', `/v2/storage/tables/${bucket}.${table}/data-preview`)).text.trim().split('\n')
  assert.deepEqual((await preview('customers')).sort(), ['"c1","Ada ""the first"""', '"id","name"'])
  assert.equal((await preview('orders')).length, 4)

  const detail = (await stack.request('GET', `/v2/storage/components/platform.ex-http/configs/${config}`)).json<{
    state: object
    rows: { id: string; state: { component?: { time?: { previousStart: number } } } }[]
  }>()
  assert.deepEqual(detail.state, {})
  const remembered = detail.rows.find(({ id }) => id === 'orders')!.state.component?.time?.previousStart
  assert.ok(remembered, JSON.stringify(detail.rows))
  const second = await run()
  assert.equal(second.status, 'success', JSON.stringify(second))
  assert.equal(api.asked.filter((url) => url === `/orders?since=${remembered}`).length, 1, api.asked.join(' '))

  const slow = await stack.configure('platform.ex-http', {
    ...root,
    parameters: { ...root.parameters, config: { ...root.parameters.config, jobs: [{ endpoint: 'slow' }] } },
  })
  const running = (await stack.request('POST', '/queue/platform.ex-http/run', { json: { config: slow } })).json<Job>()
  await until('the run asks for /slow', () => api.asked.includes('/slow'))
  await stack.request('POST', `/queue/jobs/${running.id}/kill`)
  const killed = await stack.wait(running)
  assert.equal(killed.status, 'terminated')

  // The secret went to the API and nowhere else.
  const everything = [
    ...(await Promise.all(
      [first, second, killed].map(
        async ({ id }) =>
          (await stack.request('GET', `/queue/jobs/${id}/events`)).text + (await stack.request('GET', `/queue/jobs/${id}`)).text,
      ),
    )),
    ...readdirSync(stack.dataDir, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1')),
  ].join('\n')
  for (const form of [SECRET, Buffer.from(SECRET).toString('base64').slice(0, -4), Buffer.from(SECRET).toString('hex')])
    assert.ok(!everything.includes(form), form)
})

test('lines of the extractor arrive with their own level, a failure once', async (t) => {
  const api = await startApi(t)
  const stack = await shellStack(t, { worker: { jobs: 1, path: process.env.PATH ?? '', egressAllow: ['127.0.0.1'] } })
  const eventsOf = async (dataField: unknown) => {
    const config = await stack.configure('platform.ex-http', {
      parameters: {
        api: { baseUrl: api.url, http: { headers: { 'X-Key': { attr: '#key' } } }, pagination: { method: 'pagenum' } },
        config: { '#key': SECRET, debug: true, jobs: [{ endpoint: 'customers', dataField }] },
      },
    })
    const { id, ...started } = (await stack.request('POST', '/queue/platform.ex-http/run', { json: { config } })).json<Job>()
    await stack.wait({ id, ...started })
    return (await stack.request('GET', `/queue/jobs/${id}/events`)).json<
      { type: string; message: string; results?: Record<string, unknown> }[]
    >()
  }

  const events = await eventsOf('nobody')
  const messageOf = (start: string) => events.find(({ message }) => message.startsWith(start))
  assert.deepEqual(
    events.filter(({ type }) => type === 'warn').map(({ message }) => message),
    ["datafield 'nobody' contains no data!"],
  )
  assert.equal(messageOf('Extractor finished successfully')?.message, 'Extractor finished successfully.')
  assert.equal(messageOf('GET http')?.type, 'info', 'DEBUG lines are shown: somebody asked for them')
  assert.deepEqual(messageOf('GET http')?.results?.body, null)

  const failed = await eventsOf({ pth: 'x' })
  assert.deepEqual(
    failed.filter(({ type }) => type === 'error').map(({ message }) => message),
    ["'dataField.path' must be set! (config.jobs.0.dataField)"],
  )
})
