// Apps and a stack that is killed: no process outlives it, and the app is there again with the next request.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findIsolation } from '../../server/src/engines/runner/isolation.ts'
import { until } from '../support/until.ts'
import { startStack } from './stack.ts'

const PATH = process.env.PATH ?? '/usr/bin:/bin'
const { problem } = await findIsolation({ mode: 'auto', readable: [], uid: 65_534, path: PATH, hidden: [] })
/** Code that users write runs isolated only. */
const isolated = problem === undefined ? test : test.skip

const SCRIPT = `
import { createServer } from 'node:http'
createServer((request, response) => response.end('alive')).listen(process.env.PORT, '127.0.0.1')
`

isolated('a killed stack leaves no app running, and starts it again when somebody asks', async (t) => {
  const stack = await startStack(t)
  const made = await stack.post('/data-science/apps', { name: 'App', config: { parameters: { script: SCRIPT } } })
  assert.equal(made.status, 201, JSON.stringify(made.body))
  const { id } = made.body as { id: string }
  const deployed = await stack.request('PATCH', `/data-science/apps/${id}`, { desiredState: 'running' })
  assert.equal(deployed.status, 200, JSON.stringify(deployed.body))
  const link = async () =>
    new URL(((await stack.post(`/data-science/apps/${id}/links`, {})).body as { url: string }).url).pathname
  const path = await link()
  const open = async () => (await fetch(new URL(path, stack.url))).text()
  assert.equal(await open(), 'alive')
  const tokensOf = async () =>
    ((await stack.get('/v2/storage/tokens')).body as { description: string }[]).filter(({ description }) =>
      description.startsWith(`App ${id} `),
    )
  assert.equal((await tokensOf()).length, 1)

  await stack.kill()
  await stack.start()
  assert.equal(await open(), 'alive', 'the link and the deployment have outlived the stack')
  const runs = async () => (await stack.get(`/data-science/apps/${id}/runs`)).body as { state: string; reason: string | null }[]
  await until('the run of the killed stack has ended', async () => (await runs())[1]?.state === 'stopped')
  assert.equal((await runs())[1]?.reason, 'its node has ended')
  assert.equal((await runs())[0]?.state, 'running')
  await until('its token is gone', async () => (await tokensOf()).length === 1)
})
