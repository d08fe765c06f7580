// Apps and a stack that is killed: no process outlives it, the app is there again with the next request, and a push was taken whole or not.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { findIsolation } from '../../server/src/engines/runner/isolation.ts'
import { chance, kills } from '../support/chance.ts'
import { type GitClient, openGitClient } from '../support/clients/git-client.ts'
import { until } from '../support/until.ts'
import { type Stack, startStack } from './stack.ts'

const PATH = process.env.PATH ?? '/usr/bin:/bin'
const { problem } = await findIsolation({ mode: 'auto', readable: [], uid: 65_534, path: PATH, hidden: [] })
const ROUNDS = kills(2, 30)
/** So far ahead that a node which was killed counts as gone at once. */
const LATER = { MILLRACE_TEST_CLOCK_OFFSET_MS: '31000' }

test('apps and their repositories on a stack that is killed in the middle of pushes', async (t) => {
  const stack = await startStack(t)
  const app = problem === undefined ? await runningApp(stack) : undefined // code that users write runs isolated only
  const client = await hostedRepository(t, stack)
  let last = await client.commit({ 'a.txt': 'first' })
  const begin = performance.now()
  assert.equal(await client.push(), undefined)
  const pushMs = performance.now() - begin

  for (let round = 0; round < ROUNDS; round++) {
    const next = await client.commit({ 'a.txt': `round ${round}`, [`file-${round}.txt`]: String(chance()).repeat(10_000) })
    const pushing = client.push()
    await sleep((pushMs * (round + chance())) / ROUNDS) // somewhere in it
    await stack.kill()
    const wasTaken = (await pushing) === undefined
    await stack.start(LATER)
    await t.test('a branch has moved or it has not, and the repository is whole', async () => {
      const { commits } = await client.clone()
      if (wasTaken) assert.equal(commits[0], next, 'what was acknowledged is there')
      else assert.ok([next, last].includes(commits[0]!), `${commits[0]} is neither before nor after`)
      assert.equal(await client.push({ force: true }), undefined, 'the next push goes on')
      assert.equal((await client.clone({ depth: 1 })).commits[0], next)
    })
    last = next
    if (app && round === 0) await t.test('no app is left running, and it starts again when somebody asks', app.isThereAgain)
  }
})

const SCRIPT = `
import { createServer } from 'node:http'
createServer((request, response) => response.end('alive')).listen(process.env.PORT, '127.0.0.1')
`

async function runningApp(stack: Stack) {
  const made = await stack.post('/data-science/apps', { name: 'App', config: { parameters: { script: SCRIPT } } })
  assert.equal(made.status, 201, JSON.stringify(made.body))
  const { id } = made.body as { id: string }
  const deployed = await stack.request('PATCH', `/data-science/apps/${id}`, { desiredState: 'running' })
  assert.equal(deployed.status, 200, JSON.stringify(deployed.body))
  const { url } = (await stack.post(`/data-science/apps/${id}/links`, {})).body as { url: string }
  const open = async () => (await fetch(new URL(new URL(url).pathname, stack.url))).text()
  assert.equal(await open(), 'alive')
  const tokensOf = async () =>
    ((await stack.get('/v2/storage/tokens')).body as { description: string }[]).filter(({ description }) =>
      description.startsWith(`App ${id} `),
    )
  assert.equal((await tokensOf()).length, 1)
  const runs = async () => (await stack.get(`/data-science/apps/${id}/runs`)).body as { state: string; reason: string | null }[]
  return {
    async isThereAgain(): Promise<void> {
      assert.equal(await open(), 'alive', 'the link and the deployment have outlived the stack')
      await until('the run of the killed stack has ended', async () => (await runs())[1]?.state === 'stopped')
      assert.equal((await runs())[1]?.reason, 'its node has ended')
      assert.equal((await runs())[0]?.state, 'running')
      await until('its token is gone', async () => (await tokensOf()).length === 1)
    },
  }
}

async function hostedRepository(t: TestContext, stack: Stack): Promise<GitClient> {
  const json = { name: 'App', type: 'python-js', useManagedGitRepo: true }
  const { id } = (await stack.post('/data-science/apps', json)).body as { id: string }
  const { secret } = (await stack.post(`/data-science/apps/${id}/git-repo/credentials`, {})).body as { secret: string }
  return openGitClient(t, () => `${stack.url}/git/data-apps/${id}.git`, secret)
}
