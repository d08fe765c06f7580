import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { type Answer, type RequestOptions, startTestStack } from '../../../../tests/support/test-stack.ts'

const CONFIGS = 'components/platform.ex-http/configs'

interface MergeRequest {
  id: number
  state: string
  approvals: unknown[]
  merge: { mergerName: string | null }
  changeLog: unknown[]
  activityLog: { action: string }[]
}

async function start(t: TestContext) {
  const stack = await startTestStack(t)
  const ok = async (method: string, path: string, options?: RequestOptions): Promise<Answer> => {
    const answer = await stack.request(method, `/v2/storage/${path}`, options)
    assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${answer.text}`)
    return answer
  }
  const refused = async (method: string, path: string, options: RequestOptions, status: number, code: string) => {
    const answer = await stack.request(method, `/v2/storage/${path}`, options)
    assert.deepEqual([answer.status, answer.json().code], [status, code], `${method} ${path}: ${answer.text}`)
  }
  const finished = async (answer: Answer) => {
    const job = await stack.platform.storageJobs.waitFor(stack.projectId, answer.json<{ id: number }>().id)
    return job
  }
  await ok('POST', CONFIGS, { json: { name: 'n', configurationId: 'c', configuration: { a: 1 } } })
  const job = await finished(await ok('POST', 'dev-branches', { json: { name: 'dev' } }))
  const branch = (job.results as { id: number }).id
  const main = (await ok('GET', 'dev-branches/default')).json<{ id: number }>().id
  const inBranch = `branch/${branch}/${CONFIGS}/c`
  await ok('PUT', inBranch, { json: { configuration: { a: 2 } } })
  const open = async () =>
    (
      await ok('POST', 'merge-request', { json: { branchFromId: branch, branchIntoId: main, title: 'T', reviewerIds: [1] } })
    ).json<MergeRequest>()
  return { ...stack, ok, refused, finished, branch, main, inBranch, open }
}

test('a merge request is reviewed, approved and merged', async (t) => {
  const { ok, refused, finished, open } = await start(t)
  const { id, state } = await open()
  assert.equal(state, 'development')
  await refused('PUT', `merge-request/${id}/approve`, { json: {} }, 422, 'mergeRequest.wrongState')
  await refused('PUT', `merge-request/${id}/merge`, {}, 409, 'mergeRequest.notReady')
  await ok('PUT', `merge-request/${id}`, { json: { title: 'Better' } })
  await ok('PUT', `merge-request/${id}/request-review`, { json: {} })
  await ok('PUT', `merge-request/${id}/request-changes`, { json: { reason: 'not yet' } })
  await ok('PUT', `merge-request/${id}/request-review`, { json: {} })
  const approved = (await ok('PUT', `merge-request/${id}/approve`, { json: {} })).json<MergeRequest>()
  assert.deepEqual([approved.state, approved.approvals.length], ['approved', 1])
  assert.deepEqual((await ok('GET', `merge-request/${id}/conflicts`)).json(), [])
  const answer = await ok('PUT', `merge-request/${id}/merge`)
  assert.equal(answer.status, 202)
  assert.equal((await finished(answer)).status, 'success')
  const merged = (await ok('GET', `merge-request/${id}?include=activityLog`)).json<MergeRequest>()
  assert.deepEqual([merged.state, merged.merge.mergerName, merged.changeLog], ['published', 'Master token of Test', []])
  assert.deepEqual(
    merged.activityLog.map((entry) => entry.action),
    ['created', 'request-review', 'request-changes', 'request-review', 'approve', 'merge', 'publish'],
  )
  assert.deepEqual((await ok('GET', `${CONFIGS}/c`)).json().configuration, { a: 2 })
  assert.equal((await ok('GET', 'merge-request')).json<unknown[]>().length, 1)
})

test('conflicts are listed and keep an approved request from merging', async (t) => {
  const { ok, refused, open } = await start(t)
  const { id } = await open()
  await ok('PUT', `${CONFIGS}/c`, { json: { configuration: { a: 'main' } } })
  await ok('PUT', `merge-request/${id}/request-review`, { json: {} })
  await ok('PUT', `merge-request/${id}/approve`, { json: {} })
  const [conflict] = (await ok('GET', `merge-request/${id}/conflicts`)).json<{ configurationId: string; isDeleted: boolean }[]>()
  assert.deepEqual([conflict?.configurationId, conflict?.isDeleted], ['c', false])
  await refused('PUT', `merge-request/${id}/merge`, {}, 409, 'mergeRequest.conflict')
  assert.deepEqual((await ok('GET', `${CONFIGS}/c`)).json().configuration, { a: 'main' })
})

test('wrong branches, unknown requests, other projects and small tokens are refused', async (t) => {
  const { ok, refused, open, branch, main, newProject } = await start(t)
  const { id } = await open()
  await refused(
    'POST',
    'merge-request',
    { json: { branchFromId: main, branchIntoId: branch, title: 'x' } },
    422,
    'mergeRequest.branches',
  )
  await refused(
    'POST',
    'merge-request',
    { json: { branchFromId: 999, branchIntoId: main, title: 'x' } },
    404,
    'devBranch.notFound',
  )
  await refused('POST', 'merge-request', { json: { title: 'x' } }, 400, 'storage.validation')
  await refused('GET', 'merge-request/999', {}, 404, 'mergeRequest.notFound')
  await refused('GET', 'merge-request/x', {}, 404, 'mergeRequest.notFound')
  const { masterToken } = await newProject()
  await refused('GET', `merge-request/${id}`, { token: masterToken }, 404, 'mergeRequest.notFound')
  const { token } = (await ok('POST', 'tokens', { json: { description: 'small' } })).json<{ token: string }>()
  await refused('PUT', `merge-request/${id}/request-review`, { token, json: {} }, 403, 'accessDenied')
})
