// A merge that is killed in the middle leaves no branch locked: it is finished after the next start.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { kills } from '../support/chance.ts'
import { until } from '../support/until.ts'
import { startStack } from './stack.ts'

const ROUNDS = kills(3, 20)
const CONFIGS = 'components/keboola.ex-generic-v2/configs'

test('M3: a kill at any moment of a merge leaves neither a locked branch nor half a merge', async (t) => {
  const stack = await startStack(t)
  const send = async (method: string, path: string, body?: object) => {
    const response = await fetch(`${stack.url}/v2/storage/${path}`, {
      method,
      headers: { 'x-storageapi-token': stack.masterToken, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    })
    return { status: response.status, body: (await response.json()) as Record<string, unknown> }
  }
  const ok = async (method: string, path: string, body?: object) => {
    const answer = await send(method, path, body)
    assert.ok(answer.status < 300, `${method} ${path}: ${JSON.stringify(answer)}`)
    return answer.body
  }
  const main = Number((await ok('GET', 'dev-branches/default')).id)
  for (let round = 0; round < ROUNDS; round++) {
    const made = await ok('POST', 'dev-branches', { name: `round ${round}` })
    const branch = await until('the branch is made', async () => {
      const job = await ok('GET', `jobs/${made.id}`)
      return job.status === 'success' && (job.results as { id: number }).id
    })
    for (const id of ['a', 'b']) await ok('POST', `branch/${branch}/${CONFIGS}`, { name: id, configurationId: `${id}${round}` })
    const { id } = await ok('POST', 'merge-request', { branchFromId: branch, branchIntoId: main, title: 'T' })
    for (const step of ['request-review', 'approve']) await ok('PUT', `merge-request/${id}/${step}`, {})
    const asked = send('PUT', `merge-request/${id}/merge`).catch(() => undefined)
    if (round % 3 > 0) await asked
    await pause(round % 3 === 2 ? 50 : 0) // another moment of the merge in each round
    await stack.kill()
    await asked
    await stack.start()
    const state = await until('the merge has ended', async () => {
      const request = await ok('GET', `merge-request/${id}`)
      return request.state !== 'in_merge' && String(request.state)
    })
    const merged = await Promise.all(['a', 'b'].map(async (name) => (await send('GET', `${CONFIGS}/${name}${round}`)).status))
    assert.ok(['approved', 'published'].includes(state), state)
    assert.deepEqual(merged, state === 'published' ? [200, 200] : [404, 404])
    const written = await send('POST', `branch/${branch}/${CONFIGS}`, { name: 'later' })
    assert.equal(written.status, state === 'published' ? 404 : 201)
    if (state === 'approved') assert.equal(round % 3, 0, 'what was acknowledged is done')
  }
})
