// `resume` of the extractor through the platform, in one process: what a failed run received is kept for its own configuration and row,
// given to nobody else, and dropped when it could only fail again.

import assert from 'node:assert/strict'
import { existsSync, readdirSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { type Job, shellStack } from '../support/shell-stack.ts'
import { until } from '../support/until.ts'

async function startApi(t: TestContext) {
  const asked: string[] = []
  const api = { url: '', asked, brokenPage: 0 }
  const server = createServer((request, response) => {
    asked.push(request.url ?? '')
    const page = Number(new URL(request.url ?? '', 'http://api').searchParams.get('page'))
    if (page === api.brokenPage) return void request.socket.destroy()
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(page > 3 ? [] : [{ id: page, name: 'x' }]))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  api.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/` // a TCP server has an address with a port
  return api
}

const settings = (baseUrl: string) => ({
  api: { baseUrl, pagination: { method: 'pagenum' }, retryConfig: { maxRetries: 0 } },
  config: { resume: true, outputBucket: 'shop' },
})
const items = (endpoint: string) => ({ parameters: { config: { jobs: [{ endpoint, dataType: 'items' }] } } })

test('a failed run is continued by its own row only, and what was refused is not tried again', async (t) => {
  const api = await startApi(t)
  const stack = await shellStack(t, { worker: { jobs: 4, path: process.env.PATH ?? '', egressAllow: ['127.0.0.1'] } })
  const configs = '/v2/storage/components/platform.ex-http/configs'
  const other = await stack.newProject()
  const make = async (token?: string) => {
    const as = token === undefined ? {} : { token }
    const configuration = { parameters: settings(api.url) }
    const made = await stack.request('POST', configs, { ...as, json: { name: 'c', configurationId: 'same', configuration } })
    assert.equal(made.status, 201, made.text)
    for (const rowId of ['one', 'two']) {
      const row = { rowId, name: rowId, configuration: JSON.stringify(items(rowId)) }
      assert.equal((await stack.request('POST', `${configs}/same/rows`, { ...as, json: row })).status, 201)
    }
  }
  await make()
  await make(other.masterToken)
  const run = async (rowId: string, token?: string): Promise<{ job: Job; asked: string[] }> => {
    const as = token === undefined ? {} : { token }
    const before = api.asked.length
    const body = { config: 'same', component: 'platform.ex-http', mode: 'run', configRowIds: [rowId] }
    const answer = await stack.request('POST', '/queue/jobs', { ...as, json: body })
    assert.equal(answer.status, 201, answer.text)
    const { id } = answer.json<Job>()
    const job = await until(`job ${id} ends`, async () => {
      const current = (await stack.request('GET', `/queue/jobs/${id}`, as)).json<Job>()
      return current.isFinished && current
    })
    return { job, asked: api.asked.slice(before) }
  }
  const parts = () => {
    const folder = join(stack.dataDir, 'checkpoints')
    return existsSync(folder)
      ? readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('answers'))
      : []
  }

  api.brokenPage = 3
  assert.equal((await run('one')).job.status, 'error')
  assert.equal(parts().length, 1)
  api.brokenPage = 0
  assert.equal((await run('two')).asked[0], '/two?page=1', 'another row starts from its beginning')
  assert.equal((await run('one', other.masterToken)).asked[0], '/one?page=1', 'and so does another project')
  const continued = await run('one')
  assert.equal(continued.job.status, 'success', JSON.stringify(continued.job))
  assert.deepEqual(continued.asked, ['/one?page=3', '/one?page=4'])
  assert.deepEqual(parts(), [])

  // A table with other columns refuses what comes: the next run must not load the same again.
  await stack.request('DELETE', '/v2/storage/tables/in.c-shop.items')
  const definition = {
    name: 'items',
    primaryKeysNames: [],
    columns: [
      { name: 'id', definition: { type: 'INTEGER' } },
      { name: 'name', definition: { type: 'INTEGER' } },
    ],
  }
  const made = await stack.request('POST', '/v2/storage/buckets/in.c-shop/tables-definition', { json: definition })
  assert.equal(made.status, 202, made.text)
  await stack.wait(made.json<Job>())
  const refused = await run('one')
  assert.equal(refused.job.status, 'error', JSON.stringify(refused.job))
  assert.deepEqual(parts(), [])
})
