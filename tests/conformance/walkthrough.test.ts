// docs/walkthrough.md, run as it stands. The only help it gets: once its schedule is active, the clock of the stack goes on to the next minute.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runCommandsOf } from '../support/document-commands.ts'
import { startTestStack } from '../support/test-stack.ts'

const MINUTE = 60_000

test('the walkthrough works, command by command', async (t) => {
  let aheadMs = 0
  const stack = await startTestStack(t, { clock: { now: () => new Date(Date.now() + aheadMs) } })
  const env = { MILLRACE_URL: stack.url, MILLRACE_TOKEN: stack.masterToken, MILLRACE_DATA_DIR: stack.dataDir }
  const walking = runCommandsOf(t, 'docs/walkthrough.md', env)
  const hurrying = setInterval(async () => {
    const active = (await stack.request('GET', '/scheduler/schedules')).json<unknown[]>()
    if (active.length === 0 || aheadMs > 0) return
    aheadMs = MINUTE - (Date.now() % MINUTE)
  }, 300)
  const walk = await walking.finally(() => clearInterval(hurrying))

  assert.equal(await walk.readFile('joined.csv'), '"1","Ann"\n"2","Bob"\n"3","Cyril"\n')
  const versions = await walk.readJson<{ version: number; changeDescription: string }[]>('versions.json')
  assert.deepEqual(
    versions.map(({ version }) => version),
    [4, 3, 2, 1],
  )
  assert.equal(versions[0]?.changeDescription, 'For everybody')
  assert.equal((await walk.readJson<{ version: string }>('rolled-back.json')).version, '5')
  assert.match((await walk.readJson<{ id: string }>('copy.json')).id, /^\w+$/)
  const { executions } = await walk.readJson<{ executions: { status: string }[] }>('fired.json')
  assert.equal(executions[0]?.status, 'started')
})
