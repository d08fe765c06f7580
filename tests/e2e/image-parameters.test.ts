// What whoever runs the stack gives a component: in clear for the program, nowhere else.

import assert from 'node:assert/strict'
import test from 'node:test'
import { type Job, shareShellStack } from '../support/shell-stack.ts'

const startProject = shareShellStack()

const CLEAR = 'canary-of-the-stack'
const SEALED = 'canary-under-a-cipher'
const OF_PROCESSOR = 'canary-of-a-processor'

test('secrets of image_parameters reach the program and nobody else', async () => {
  const stack = await startProject()
  const { add, request, configure, wait } = stack
  const cipher = (
    await request('POST', '/encryption/encrypt?componentId=test.images', {
      body: SEALED,
      headers: { 'content-type': 'text/plain' },
    })
  ).text
  assert.match(cipher, /^KBC::ComponentSecure::/)
  // Backwards, they show that the program had them; forwards they must never be seen.
  const script = `cat "$KBC_DATADIR/config.json"; echo; grep -o "canary[a-z-]*" "$KBC_DATADIR/config.json" | rev
    echo "{\\"variables\\":{\\"told\\":\\"$(grep -o "[a-z-]*of-the-stack" "$KBC_DATADIR/config.json")\\"}}" > "$KBC_DATADIR/out/result.json"
    echo "[{\\"metric\\":\\"$(grep -o "[a-z-]*of-the-stack" "$KBC_DATADIR/config.json")\\",\\"value\\":1}]" > "$KBC_DATADIR/out/usage.json"
    grep -o '"fail":true' "$KBC_DATADIR/config.json" && { grep -o "canary[a-z-]*" "$KBC_DATADIR/config.json" >&2; exit 1; }; true`
  await add('test.images', script, {
    image_parameters: { '#key': CLEAR, nested: { '#sealed': cipher, plain: 7 } },
    synchronous_actions: ['show'],
  })
  await add('test.processor', 'cat "$KBC_DATADIR/config.json"; rev "$KBC_DATADIR/config.json"', {
    image_parameters: { '#own': OF_PROCESSOR },
  })
  const run = async (configuration: object): Promise<[Job, string]> => {
    const config = await configure('test.images', configuration)
    const job = await wait((await request('POST', '/queue/test.images/run', { json: { config } })).json<Job>())
    return [job, (await request('GET', `/queue/jobs/${job.id}/events`)).text]
  }
  const reversed = (text: string) => [...text].reverse().join('')
  const seen: string[] = []

  const [job, said] = await run({ processors: { after: [{ definition: { component: 'test.processor' }, parameters: {} }] } })
  assert.equal(job.status, 'success', JSON.stringify(job))
  for (const secret of [CLEAR, SEALED, OF_PROCESSOR]) assert.ok(said.includes(reversed(secret)), said)
  assert.ok(said.includes('plain') && said.includes('[hidden]'))
  assert.deepEqual((job.result as unknown as { outputVariables: object }).outputVariables, { told: '[hidden]' })
  assert.deepEqual(job.usageData, [{ metric: '[hidden]', value: 1 }])
  seen.push(said, JSON.stringify(job))

  const [failed, why] = await run({ parameters: { fail: true } })
  assert.match(failed.error!.message, /\[hidden\]/)
  seen.push(why, JSON.stringify(failed))

  const action = await request('POST', '/sync-actions/actions', {
    json: { componentId: 'test.images', action: 'show', configData: {} },
  })
  seen.push(action.text)
  for (const path of ['/v2/storage', '/v2/storage/components/test.images', '/v2/storage/components/test.processor']) {
    const shown = await request('GET', path, { token: null })
    assert.equal(shown.status, 200)
    assert.ok(!shown.text.includes(cipher) && !shown.text.includes('/bin/sh')) // nor what the command is
    seen.push(shown.text)
  }
  for (const text of seen) for (const secret of [CLEAR, SEALED, OF_PROCESSOR]) assert.ok(!text.includes(secret), secret)
})

test('a cipher of the component is refused in a configuration, which could send it anywhere', async () => {
  const { add, request, configure, wait } = await startProject()
  const cipher = (
    await request('POST', '/encryption/encrypt?componentId=test.images', {
      body: SEALED,
      headers: { 'content-type': 'text/plain' },
    })
  ).text
  await add('test.images', 'true', { image_parameters: { '#key': cipher }, synchronous_actions: ['show'] })
  const parameters = { api: { '#token': cipher } }
  const config = await configure('test.images', { parameters })
  const job = await wait((await request('POST', '/queue/test.images/run', { json: { config } })).json<Job>())
  assert.equal(job.status, 'error')
  assert.match(job.error!.message, /"parameters\.api\.#token" has the value of a secret of the component/)
  const action = await request('POST', '/sync-actions/actions', {
    json: { componentId: 'test.images', action: 'show', configData: { parameters } },
  })
  assert.equal(action.status, 400, action.text)
})
