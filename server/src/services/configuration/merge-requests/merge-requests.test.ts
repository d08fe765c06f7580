import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { newMember, newStackAdmin } from '../../../../../tests/support/clients/person-client.ts'
import { masterActor } from '../../../../../tests/support/master-actor.ts'
import {
  type Answer,
  type RequestOptions,
  shareTestStack,
  startTestStack,
  type TestStack,
} from '../../../../../tests/support/test-stack.ts'
import { move } from './merge-request-states.ts'
import { mustManage } from './merge-requests.ts'

const CONFIGS = 'components/keboola.ex-generic-v2/configs'

interface MergeRequest {
  id: number
  state: string
  approvals: unknown[]
  merge: { mergerName: string | null }
  changeLog: { configurations: { configurationId: string }[] }
  activityLog: { action: string; reason: string | null }[]
  autoMergeStrategy: string
  autoMergeAt: string | null
  externalId: string | null
}

const startProject = shareTestStack()

test('merge requests are of tokens that manage branches, and never of those that only propose', () => {
  const master = masterActor(1)
  const limited = { ...master, isMasterToken: false, canManageDevBranches: false }
  mustManage(master)
  mustManage({ ...limited, canManageDevBranches: true })
  for (const actor of [
    limited,
    { ...master, onlyProposes: true },
    { ...limited, canManageDevBranches: true, onlyProposes: true },
  ])
    assert.throws(() => mustManage(actor), { code: 'accessDenied' })
})

async function start(project?: TestStack) {
  const stack = project ?? (await startProject())
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
  const reviewer = Number((await ok('GET', 'tokens/verify')).json<{ id: string }>().id)
  const open = async (more: object = {}) =>
    (
      await ok('POST', 'merge-request', {
        json: { branchFromId: branch, branchIntoId: main, title: 'T', reviewerIds: [reviewer], ...more },
      })
    ).json<MergeRequest>()
  const approve = async (id: number) => {
    await ok('PUT', `merge-request/${id}/request-review`, { json: {} })
    return (await ok('PUT', `merge-request/${id}/approve`, { json: {} })).json<MergeRequest>()
  }
  /** The job that was made last, when it has ended. */
  const lastJob = async () => {
    const [job] = (await ok('GET', 'jobs?limit=1')).json<{ id: number }[]>()
    return await stack.platform.storageJobs.waitFor(stack.projectId, job!.id)
  }
  const read = async (id: number) => (await ok('GET', `merge-request/${id}?include=activityLog`)).json<MergeRequest>()
  return { ...stack, ok, refused, finished, branch, main, inBranch, open, approve, lastJob, read }
}

test('reviewers are people who may approve', async () => {
  const { ok, refused, open, branch, main } = await start()
  const { id: reader } = (await ok('POST', 'tokens', { json: { description: 'reads' } })).json<{ id: string }>()
  const json = { branchFromId: branch, branchIntoId: main, title: 'T' }
  for (const stranger of [987_654, Number(reader)]) {
    const reviewerIds = [stranger]
    await refused('POST', 'merge-request', { json: { ...json, reviewerIds } }, 422, 'mergeRequest.unknownReviewer')
  }
  const { id } = await open()
  await refused('PUT', `merge-request/${id}`, { json: { reviewerIds: [987_654] } }, 422, 'mergeRequest.unknownReviewer')
})

test('a merge request is reviewed, approved and merged', async () => {
  const { ok, refused, finished, open } = await start()
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
  assert.deepEqual([merged.state, merged.merge.mergerName], ['published', 'Master token of Test'])
  assert.deepEqual(
    merged.changeLog.configurations.map(({ configurationId }) => configurationId),
    ['c'],
  )
  assert.deepEqual(
    merged.activityLog.map((entry) => entry.action),
    ['created', 'request-review', 'request-changes', 'request-review', 'approve', 'merge', 'publish'],
  )
  assert.deepEqual((await ok('GET', `${CONFIGS}/c`)).json().configuration, { a: 2 })
  assert.equal((await ok('GET', 'merge-request')).json<unknown[]>().length, 1)
})

test('M8: metadata that was set in the branch is merged also when the configuration did not change', async () => {
  const { ok, finished, branch, open, approve } = await start()
  const set = (path: string, ...items: [string, string][]) =>
    ok('POST', `${path}/metadata`, { json: { metadata: items.map(([key, value]) => ({ key, value })) } })
  await ok('POST', CONFIGS, { json: { name: 'm', configurationId: 'm', configuration: {} } })
  await set(`branch/default/${CONFIGS}/m`, ['both', 'default'], ['kept', 'default'], ['later', 'then'])
  await ok('POST', `branch/${branch}/${CONFIGS}/m/reset-to-default`)
  await set(`branch/${branch}/${CONFIGS}/m`, ['both', 'branch'], ['new', 'branch'])
  await set(`branch/default/${CONFIGS}/m`, ['later', 'now'])
  const { id } = await open()
  await approve(id)
  assert.equal((await finished(await ok('PUT', `merge-request/${id}/merge`))).status, 'success')
  const merged = (await ok('GET', `branch/default/${CONFIGS}/m/metadata`)).json<{ key: string; value: string }[]>()
  assert.deepEqual(Object.fromEntries(merged.map(({ key, value }) => [key, value])), {
    both: 'branch',
    kept: 'default',
    later: 'now',
    new: 'branch',
  })
  assert.equal((await ok('GET', `${CONFIGS}/m`)).json<{ version: number }>().version, 1)
})

test('M6: a configuration that was changed and then deleted in the default branch keeps the branch from merging', async () => {
  const { ok, request, open, approve, branch } = await start()
  for (const configurationId of ['changed', 'deleted'])
    await ok('POST', CONFIGS, { json: { name: 'n', configurationId, configuration: {} } })
  for (const id of ['changed', 'deleted']) await ok('POST', `branch/${branch}/${CONFIGS}/${id}/reset-to-default`)
  await ok('DELETE', `${CONFIGS}/deleted`)
  const { id } = await open()
  await approve(id)
  assert.deepEqual((await ok('GET', `merge-request/${id}/conflicts`)).json(), [], 'deleted as it was is no conflict')
  await ok('POST', `${CONFIGS}/changed/rows`, { json: { rowId: 'r', configuration: {} } })
  await ok('DELETE', `${CONFIGS}/changed`)
  const answer = await request('PUT', `/v2/storage/merge-request/${id}/merge`)
  assert.equal(answer.status, 400)
  assert.match(
    answer.json<{ error: string }>().error,
    /^Merge request \d+ cannot be merged\. \n Errors: \n - Configuration "changed"/,
  )
})

test('M3: while a branch merges nothing is written into it, and no other merge begins', async () => {
  const { ok, refused, request, finished, open, approve, branch, main, platform, read } = await start()
  const other = await finished(await ok('POST', 'dev-branches', { json: { name: 'other' } }))
  const second = await open({ branchFromId: (other.results as { id: number }).id })
  const first = await open()
  await approve(first.id)
  await approve(second.id)
  await sql`update merge_request set state = 'in_merge' where id = ${first.id}`.execute(platform.metadata.db)
  const writes: [string, string, object][] = [
    ['POST', CONFIGS, { name: 'x' }],
    ['PUT', `${CONFIGS}/c`, { name: 'x' }],
    ['PUT', `${CONFIGS}/c/state`, { state: {} }],
    ['POST', `${CONFIGS}/c/rows`, {}],
    ['DELETE', `${CONFIGS}/c`, {}],
    ['POST', `${CONFIGS}/c/metadata`, { metadata: [{ key: 'a', value: 'b' }] }],
    ['POST', `${CONFIGS}/c/versions/1/rollback`, {}],
    ['POST', 'metadata', { metadata: [{ key: 'a', value: 'b' }] }],
    ['POST', 'buckets', { stage: 'in', name: 'b' }],
    ['POST', 'buckets/in.c-b/tables-async', { name: 't', dataString: 'a' }],
    ['POST', 'files/prepare', { name: 'f' }],
    ['POST', 'workspaces', {}],
  ]
  for (const [method, path, json] of writes) {
    const answer = await request(method, `/v2/storage/branch/${branch}/${path}`, { json })
    assert.deepEqual(
      [answer.status, answer.json<{ error: string }>().error],
      [403, "You don't have access to the resource."],
      path,
    )
  }
  const elsewhere: [string, object][] = [
    [`/stream/v1/branches/${branch}/sources`, { name: 's', type: 'http' }],
    ['/queue/jobs', { component: 'keboola.ex-generic-v2', config: 'c', branchId: String(branch) }],
    ['/sandboxes/sandboxes', { branchId: String(branch), type: 'duckdb' }],
  ]
  for (const [path, json] of elsewhere) assert.equal((await request('POST', path, { json })).status, 403, path)
  await ok('GET', `branch/${branch}/${CONFIGS}/c`)
  await ok('PUT', `${CONFIGS}/c`, { json: { description: 'default is not locked' } })
  await ok('POST', `branch/${main}/${CONFIGS}`, { json: { name: 'x' } })
  const answer = await request('PUT', `/v2/storage/merge-request/${second.id}/merge`)
  assert.deepEqual([answer.status, answer.json<{ error: string }>().error], [400, 'Cannot merge, another merge is in progress.'])
  assert.equal((await read(second.id)).state, 'approved')
  await sql`update merge_request set state = 'approved' where id = ${first.id}`.execute(platform.metadata.db)
  await ok('POST', `branch/${branch}/${CONFIGS}`, { json: { name: 'x' } })
  await refused('PUT', `merge-request/${first.id}/merge`, {}, 400, 'mergeRequest.conflict')
})

test('writes into a branch while it merges are never a 5xx', async () => {
  const { ok, request, finished, open, approve, branch } = await start()
  const { id } = await open()
  await approve(id)
  let isOver = false
  const write = async (n: number): Promise<number[]> => {
    const statuses: number[] = []
    while (!isOver || statuses.length === 0)
      statuses.push((await request('POST', `/v2/storage/branch/${branch}/${CONFIGS}`, { json: { name: `w${n}` } })).status)
    return statuses
  }
  const writers = [1, 2, 3, 4].map(write)
  const job = await finished(await ok('PUT', `merge-request/${id}/merge`))
  isOver = true
  assert.equal(job.status, 'success', JSON.stringify(job))
  const seen = new Set((await Promise.all(writers)).flat())
  assert.deepEqual(
    [...seen].filter((status) => ![201, 403, 404].includes(status)),
    [],
  )
})

test('conflicts are listed and keep an approved request from merging', async () => {
  const { ok, refused, open } = await start()
  const { id } = await open()
  await ok('PUT', `${CONFIGS}/c`, { json: { configuration: { a: 'main' } } })
  await ok('PUT', `merge-request/${id}/request-review`, { json: {} })
  await ok('PUT', `merge-request/${id}/approve`, { json: {} })
  const [conflict] = (await ok('GET', `merge-request/${id}/conflicts`)).json<{ configurationId: string; isDeleted: boolean }[]>()
  assert.deepEqual([conflict?.configurationId, conflict?.isDeleted], ['c', false])
  await refused('PUT', `merge-request/${id}/merge`, {}, 400, 'mergeRequest.conflict')
  assert.deepEqual((await ok('GET', `${CONFIGS}/c`)).json().configuration, { a: 'main' })
})

test('wrong branches, unknown requests, other projects and small tokens are refused', async () => {
  const { ok, refused, open, branch, main, newProject } = await start()
  const { id } = await open()
  await refused(
    'POST',
    'merge-request',
    { json: { branchFromId: main, branchIntoId: branch, title: 'x' } },
    400,
    'mergeRequest.targetNotDefault',
  )
  await refused(
    'POST',
    'merge-request',
    { json: { branchFromId: main, branchIntoId: main, title: 'x' } },
    422,
    'mergeRequest.branches',
  )
  await refused(
    'POST',
    'merge-request',
    { json: { branchFromId: 999, branchIntoId: main, title: 'x' } },
    404,
    'mergeRequest.branchNotFound',
  )
  await refused('POST', 'merge-request', { json: { title: 'x' } }, 400, 'storage.validation')
  await refused('GET', 'merge-request/999', {}, 404, 'mergeRequest.notFound')
  await refused('GET', 'merge-request/x', {}, 404, 'mergeRequest.notFound')
  const { masterToken } = await newProject()
  await refused('GET', `merge-request/${id}`, { token: masterToken }, 404, 'mergeRequest.notFound')
  await refused('PUT', `merge-request/${id}`, { token: masterToken, json: { title: 'x' } }, 404, 'mergeRequest.notFound')
  assert.deepEqual((await ok('GET', 'merge-request', { token: masterToken })).json(), [])
  const { token } = (await ok('POST', 'tokens', { json: { description: 'small' } })).json<{ token: string }>()
  await refused('PUT', `merge-request/${id}/request-review`, { token, json: {} }, 403, 'accessDenied')
})

test('with autoMergeStrategy immediately the approval merges, unless there are conflicts', async () => {
  const { ok, open, approve, lastJob, read } = await start()
  const { id } = await open({ autoMergeStrategy: 'immediately' })
  assert.equal((await approve(id)).state, 'in_merge')
  assert.equal((await lastJob()).status, 'success')
  assert.equal((await read(id)).state, 'published')
  assert.deepEqual((await ok('GET', `${CONFIGS}/c`)).json().configuration, { a: 2 })
})

test('an approved request with conflicts waits; it merges when they are gone and somebody says immediately', async () => {
  const { ok, inBranch, open, approve, lastJob, read } = await start()
  await ok('PUT', `${CONFIGS}/c`, { json: { configuration: { a: 'main' } } })
  const { id } = await open({ autoMergeStrategy: 'immediately' })
  assert.equal((await approve(id)).state, 'approved')
  await ok('POST', `${inBranch}/rebase`, { json: { version: 2, configuration: { a: 3 } } })
  const updated = await ok('PUT', `merge-request/${id}`, { json: { autoMergeStrategy: 'immediately' } })
  assert.equal(updated.json<MergeRequest>().state, 'in_merge')
  assert.equal((await lastJob()).status, 'success')
  assert.equal((await read(id)).state, 'published')
})

test('a scheduled merge happens at its time and not before, whoever looks how often', async (t) => {
  let now = new Date('2026-05-01T10:00:00Z')
  const { ok, refused, platform, open, approve, lastJob, read } = await start(
    await startTestStack(t, { clock: { now: () => now } }),
  )
  const scheduled = { autoMergeStrategy: 'scheduled', autoMergeAt: '2026-05-01T14:00:00+0200' }
  const { id } = await open(scheduled)
  for (const autoMergeAt of [null, 'tomorrow', '2026-99-01'])
    await refused('PUT', `merge-request/${id}`, { json: { autoMergeAt } }, 422, 'mergeRequest.autoMergeAt')
  assert.equal((await approve(id)).state, 'approved')
  now = new Date('2026-05-01T11:59:59Z')
  await platform.mergeRequests.tick()
  assert.equal((await read(id)).state, 'approved')
  now = new Date('2026-05-01T12:00:00Z')
  await Promise.all([platform.mergeRequests.tick(), platform.mergeRequests.tick()])
  const job = await lastJob()
  assert.deepEqual([job.status, job.source.tokenDescription], ['success', 'Master token of Test'])
  assert.equal((await read(id)).state, 'published')
  assert.deepEqual((await ok('GET', `${CONFIGS}/c`)).json().version, 2, 'merged once')
})

test('a scheduled merge that finds a conflict gives the request back, says why, and does not try for ever', async () => {
  const { ok, platform, open, approve, lastJob, read } = await start()
  const { id } = await open({ autoMergeStrategy: 'scheduled', autoMergeAt: '2020-01-01T00:00:00Z', externalId: 'x' })
  await ok('PUT', `${CONFIGS}/c`, { json: { configuration: { a: 'main' } } })
  await approve(id)
  await platform.mergeRequests.tick()
  assert.equal((await lastJob()).status, 'error')
  const given = await read(id)
  assert.deepEqual([given.state, given.autoMergeStrategy], ['approved', 'none'])
  const last = given.activityLog.at(-1)
  assert.equal(last?.action, 'fail')
  assert.match(String(last?.reason), /Configuration "c" for component "keboola\.ex-generic-v2"/)
  const cleared = await ok('PUT', `merge-request/${id}`, { json: { externalId: null, autoMergeAt: null } })
  assert.deepEqual([cleared.json<MergeRequest>().externalId, cleared.json<MergeRequest>().autoMergeAt], [null, null])
})

test('a request ends with its branch', async () => {
  const { ok, refused, finished, open, approve, read, branch } = await start()
  const { id } = await open()
  await approve(id)
  assert.equal((await finished(await ok('DELETE', `dev-branches/${branch}`))).status, 'success')
  assert.equal((await read(id)).state, 'canceled')
  await refused('PUT', `merge-request/${id}/merge`, {}, 409, 'mergeRequest.notReady')
})

test('a merge whose job died with its node can be asked for again', () => {
  assert.equal(move('in_merge', 'merge'), 'in_merge')
  assert.throws(() => move('in_merge', 'auto-merge'), { code: 'mergeRequest.wrongState' })
})

test('a person who opened a request approves it neither by themselves nor by a token that they made', async () => {
  const stack = await start()
  const { ok, branch, main, projectId } = stack
  const root = await newStackAdmin(stack, `root-${projectId}@example.com`)
  const ann = (await newMember(stack, root, { projectId, role: 'admin', email: `ann-${projectId}@example.com` })).in(projectId)
  const bob = (await newMember(stack, root, { projectId, role: 'admin', email: `bob-${projectId}@example.com` })).in(projectId)
  const body = { branchFromId: branch, branchIntoId: main, title: 'T' }
  const { id, creator } = await ann.ok<{ id: number; creator: object }>('POST', '/v2/storage/merge-request', body)
  assert.deepEqual(Object.keys(creator), ['id', 'name'])
  await ann.ok('PUT', `/v2/storage/merge-request/${id}/request-review`, {})
  const rights = { canManageDevBranches: true, canManageTokens: true }
  const first = await ann.ok<{ id: string; token: string }>('POST', '/v2/storage/tokens', { description: 'bob', ...rights })
  const second = (await ok('POST', 'tokens', { token: first.token, json: { description: 'bob', ...rights } })).json<{
    token: string
  }>()
  await ann.ok('DELETE', `/v2/storage/tokens/${first.id}`)
  const approve = `/v2/storage/merge-request/${id}/approve`
  const own = [
    await ann.call('PUT', approve, { json: {} }),
    await stack.request('PUT', approve, { token: second.token, json: {} }),
  ]
  for (const answer of own) assert.deepEqual([answer.status, answer.json().code], [400, 'mergeRequest.refused'], answer.text)
  await bob.ok('PUT', approve, {})
  const ofBob = await bob.ok<{ token: string }>('POST', '/v2/storage/tokens', { description: 'script', ...rights })
  const twice = await stack.request('PUT', approve, { token: ofBob.token, json: {} })
  assert.deepEqual([twice.status, twice.json().code], [400, 'mergeRequest.refused'], twice.text)
})
