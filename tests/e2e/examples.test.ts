// The sample components of examples/, installed by copying, as in docs/components.md.

import assert from 'node:assert/strict'
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { fileURLToPath } from 'node:url'
import { type Job, shellStack } from '../support/shell-stack.ts'

const EXAMPLES = fileURLToPath(new URL('../../examples/components', import.meta.url))

test('the components in shell and in Python run, one on what the other wrote', async (t) => {
  const stack = await shellStack(t)
  for (const name of ['hello-shell', 'hello-python']) {
    cpSync(join(EXAMPLES, name), join(stack.dataDir, 'components', name), { recursive: true })
    cpSync(join(EXAMPLES, name, `${name}.json`), join(stack.dataDir, 'components', `${name}.json`))
  }
  for (const id of ['example.hello-shell', 'example.hello-python']) await stack.known(id)
  const run = async (component: string, config: string): Promise<Job> =>
    stack.wait((await stack.request('POST', `/queue/${component}/run`, { json: { config } })).json<Job>())

  const shell = await stack.configure('example.hello-shell', { parameters: { greeting: 'good morning' } })
  const greeted = await run('example.hello-shell', shell)
  assert.equal(greeted.status, 'success', JSON.stringify(greeted))
  const mute = await run('example.hello-shell', await stack.configure('example.hello-shell', {}))
  assert.equal(mute.error?.message, 'The parameter "greeting" is missing.')

  const source = `in.c-example-hello-shell-${shell}.greetings`
  const python = await stack.configure('example.hello-python', {
    parameters: { column: 'text' },
    storage: { input: { tables: [{ source, destination: 'greetings.csv' }] } },
  })
  for (const runs of [1, 2]) {
    const counted = await run('example.hello-python', python)
    assert.equal(counted.status, 'success', JSON.stringify(counted))
    const { state } = (await stack.request('GET', `/v2/storage/components/example.hello-python/configs/${python}`)).json<{
      state: { component: object }
    }>()
    assert.deepEqual(state.component, { runs })
  }
  const rows = (await stack.request('GET', `/v2/storage/tables/out.c-example-hello-python-${python}.lengths/data-preview`)).text
  assert.match(rows, /"greetings\.csv","good morning","12"/)
  const action = await stack.request('POST', '/sync-actions/actions', {
    json: { componentId: 'example.hello-python', action: 'testConnection' },
  })
  assert.deepEqual(action.json(), { status: 'success' })
})
