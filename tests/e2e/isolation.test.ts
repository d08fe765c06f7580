// Components of an isolating stack, over HTTP only: the stack's own secrets are out of reach, its API is there for who was given a token.

import assert from 'node:assert/strict'
import { dirname } from 'node:path'
import test from 'node:test'
import { createIsolation } from '../../server/src/engines/runner/isolation.ts'
import { DEFAULT_WORKER } from '../../server/src/model/worker-settings.ts'
import { connectionCounter, TRY_ADDRESSES } from '../support/address-attempts.ts'
import { FORMS } from '../support/address-forms.ts'
import { type Job, shellStack } from '../support/shell-stack.ts'

const path = `${dirname(process.execPath)}:${DEFAULT_WORKER.path}`
const isolation = { mode: 'auto', readable: [], uid: 65_534 } as const
const { problem } = await createIsolation({ ...isolation, path, hidden: [] })()

const ASK = `node -e 'fetch(process.env.KBC_URL ?? process.argv[1], { headers: { "X-StorageApi-Token": process.env.KBC_TOKEN ?? "" } }).then((r) => console.log("answered " + r.status), () => console.log("not reached"))'`

test('a component reaches the stack with the token it was given, never without one, and none reads what the stack keeps', async (t) => {
  if (problem !== undefined) return t.diagnostic(problem)
  const stack = await shellStack(t, { worker: { ...DEFAULT_WORKER, path, isolation } })
  await stack.request('POST', '/encryption/encrypt?projectId=1&componentId=x', { json: { '#a': 'makes the root key' } })
  await stack.add('test.with-token', `${ASK} x`, { forward_token: true })
  await stack.add('test.without-token', `${ASK} ${stack.url}`)
  await stack.add('test.curious', `cat ${stack.dataDir}/* 2>&1; find / -name 'root-keys' -o -name 'metadata.sqlite*' 2>/dev/null`)
  const run = async (component: string): Promise<{ job: Job; said: string }> => {
    const answer = await stack.request('POST', `/queue/${component}/run`, { json: { configData: {} } })
    const job = await stack.wait(answer.json<Job>())
    return { job, said: (await stack.request('GET', `/queue/jobs/${job.id}/events`)).text }
  }
  assert.match((await run('test.with-token')).said, /answered 200/)
  const without = await run('test.without-token')
  assert.match(without.said, /not reached/)
  assert.match(without.said, /was refused/)
  const curious = await run('test.curious')
  assert.equal(curious.job.status, 'error') // cat found nothing
  assert.doesNotMatch(curious.said, /Millrace root keys|SQLite format|metadata\.sqlite"/)
})

const TRY_ALL = `cat > "$KBC_DATADIR/try.mjs" <<'SCRIPT'
${TRY_ADDRESSES}
SCRIPT
node "$KBC_DATADIR/try.mjs"`

test('no spelling of a forbidden address leads a command to this machine, by any way out', async (t) => {
  if (problem !== undefined) return t.diagnostic(problem)
  const forms = process.env.MILLRACE_LONG ? FORMS : FORMS.filter((_, i) => i % 10 === 0)
  const { port, connections } = await connectionCounter(t)
  const runAll = async (egressAllow: readonly string[], tried: readonly string[]): Promise<string> => {
    const stack = await shellStack(t, { worker: { ...DEFAULT_WORKER, path, isolation, egressAllow } })
    await stack.add('test.try-all', TRY_ALL)
    const json = { configData: { parameters: { forms: tried, port } } }
    const job = await stack.wait((await stack.request('POST', '/queue/test.try-all/run', { json })).json<Job>())
    assert.equal(job.status, 'success', JSON.stringify(job))
    return (await stack.request('GET', `/queue/jobs/${job.id}/events`)).text
  }
  // The port is open, so that the address has to decide.
  assert.ok((await runAll([`192.0.2.200:${port}`], forms)).includes(`tried ${forms.length}`))
  assert.equal(connections(), 0)
  t.diagnostic(`${forms.length} forms in 5 ways: ${connections()} connections`)
  await runAll([`127.0.0.1:${port}`], ['127.0.0.1'])
  assert.ok(connections() >= 3, `allowed, it is reached by the proxy in each of its ways: ${connections()}`)
})
