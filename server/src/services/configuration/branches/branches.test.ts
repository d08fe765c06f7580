import assert from 'node:assert/strict'
import { test } from 'node:test'
import { GetObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3'
import { type FileAnswer, s3ClientFor, uploadClient } from '../../../../../tests/support/clients/file-client.ts'
import { type Answer, type RequestOptions, shareTestStack } from '../../../../../tests/support/test-stack.ts'
import { until } from '../../../../../tests/support/until.ts'

const startProject = shareTestStack()

const CONFIGS = 'components/platform.ex-http/configs'

interface Branch {
  id: number
  name: string
  isDefault: boolean
  creatorToken: unknown
}
interface Job {
  id: number
  status: string
  operationName: string
  results: unknown
  error?: { code: string; message: string }
}
interface Configuration {
  id: string
  name: string
  version: number
  changeDescription: string
  configuration: unknown
  state: unknown
  isDeleted: boolean
  rows: { id: string; version: number; configuration: unknown; changeDescription: string }[]
}

async function start() {
  const stack = await startProject()
  const ok = async (method: string, path: string, options?: RequestOptions): Promise<Answer> => {
    const answer = await stack.request(method, `/v2/storage/${path}`, options)
    assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${answer.text}`)
    return answer
  }
  const refused = async (method: string, path: string, options: RequestOptions, status: number, code: string, text?: RegExp) => {
    const answer = await stack.request(method, `/v2/storage/${path}`, options)
    assert.deepEqual([answer.status, answer.json().code], [status, code], `${method} ${path}: ${answer.text}`)
    if (text) assert.match(String(answer.json().error), text)
  }
  const finished = async (answer: Answer): Promise<Job> => {
    assert.equal(answer.status, 202)
    await stack.platform.storageJobs.waitFor(stack.projectId, answer.json<Job>().id)
    return (await ok('GET', `jobs/${answer.json<Job>().id}`)).json<Job>()
  }
  const newBranch = async (name = 'dev'): Promise<Branch> => {
    const job = await finished(await ok('POST', 'dev-branches/', { json: { name } }))
    assert.equal(job.status, 'success', JSON.stringify(job))
    return job.results as Branch
  }
  const get = async (branch: number | 'default', id: string): Promise<Configuration> =>
    (await ok('GET', `branch/${branch}/${CONFIGS}/${id}`)).json<Configuration>()
  const create = async (json: object = {}): Promise<string> =>
    (await ok('POST', CONFIGS, { json: { name: 'n', ...json } })).json<Configuration>().id
  return { ...stack, ok, refused, finished, newBranch, get, create }
}

test('every project has a default branch named Main, and every route takes its id or the word default', async () => {
  const { ok, create, refused } = await start()
  const [main, ...others] = (await ok('GET', 'dev-branches')).json<Branch[]>()
  assert.deepEqual([main?.name, main?.isDefault, main?.creatorToken, others.length], ['Main', true, [], 0])
  const id = await create()
  for (const prefix of ['', 'branch/default/', `branch/${main?.id}/`]) await ok('GET', `${prefix}${CONFIGS}/${id}`)
  assert.deepEqual((await ok('GET', 'dev-branches/default')).json(), main)
  assert.equal(
    (await ok('PUT', 'dev-branches/default', { json: { description: 'd' } })).json<{ description: string }>().description,
    'd',
  )
  await refused(
    'PUT',
    `dev-branches/${main?.id}`,
    { json: { name: 'x' } },
    400,
    'devBranch.defaultName',
    /can not update default branch name/,
  )
  await refused('DELETE', 'dev-branches/default', {}, 400, 'devBranch.deleteDefault', /Cannot delete Main branch/)
  for (const unknown of ['999', 'x', '0'])
    await refused('GET', `dev-branches/${unknown}`, {}, 404, 'devBranch.notFound', /^Branch id:".+" was not found\.$/)
  await refused('GET', `branch/999/${CONFIGS}`, {}, 404, 'notFound')
})

test('a branch is made by a job with a copy of every configuration at version 1, and no state', async () => {
  const { ok, newBranch, create, get, refused } = await start()
  const id = await create({ configuration: { a: 1 }, state: { s: 1 } })
  await ok('POST', `${CONFIGS}/${id}/rows`, { json: { rowId: 'r', name: 'R', configuration: { r: 1 } } })
  await ok('PUT', `${CONFIGS}/${id}/rows/r`, { json: { configuration: { r: 2 } } })
  const deleted = await create()
  await ok('DELETE', `${CONFIGS}/${deleted}`)
  const branch = await newBranch()
  assert.deepEqual([branch.name, branch.isDefault], ['dev', false])
  const copy = await get(branch.id, id)
  assert.deepEqual([copy.version, copy.configuration, copy.state], [1, { a: 1 }, {}])
  assert.equal(copy.changeDescription, `Copied from default branch configuration "n" (${id}) version 3`)
  assert.deepEqual(
    copy.rows.map((row) => [row.version, row.configuration, row.changeDescription]),
    [[1, { r: 2 }, 'Copied from default branch configuration row "R" (r) version 2']],
  )
  assert.equal((await ok('GET', `branch/${branch.id}/${CONFIGS}`)).json<unknown[]>().length, 1)
  await refused(
    'POST',
    'dev-branches',
    { json: { name: 'dev' } },
    400,
    'devBranch.duplicateName',
    /There already is a branch with name "dev"/,
  )
  await refused('POST', 'dev-branches', { json: { name: ' ' } }, 400, 'storage.validation')
  await refused('POST', 'dev-branches', { json: {} }, 400, 'storage.validation')
})

test('changes in a branch and in the default branch do not touch each other', async () => {
  const { ok, newBranch, create, get, refused } = await start()
  const id = await create({ configuration: { a: 1 } })
  const branch = await newBranch()
  const inBranch = `branch/${branch.id}/${CONFIGS}/${id}`
  await ok('PUT', inBranch, { json: { configuration: { a: 'branch' } } })
  await ok('PUT', `${CONFIGS}/${id}`, { json: { configuration: { a: 'main' } } })
  await ok('PUT', `${inBranch}/state`, { json: { state: { s: 'branch' } } })
  assert.deepEqual([(await get('default', id)).configuration, (await get('default', id)).state], [{ a: 'main' }, {}])
  assert.deepEqual(
    [(await get(branch.id, id)).configuration, (await get(branch.id, id)).state],
    [{ a: 'branch' }, { s: 'branch' }],
  )
  await refused(
    'PUT',
    inBranch,
    { json: { state: {} } },
    400,
    'storage.components.stateInBranch',
    /^Using 'state' parameter on configuration update is restricted for dev\/branch context\. Use direct API call\.$/,
  )
  await ok('POST', `${inBranch}/rows`, { json: { rowId: 'r' } })
  await refused(
    'PUT',
    `${inBranch}/rows/r`,
    { json: { state: {} } },
    400,
    'storage.components.stateInBranch',
    /configuration row update/,
  )
  await ok('DELETE', inBranch)
  await refused('DELETE', inBranch, {}, 400, 'storage.components.cannotDeleteConfiguration')
  assert.equal((await get('default', id)).isDeleted, false)
})

test('a diff shows where the branch started, the branch, and the default branch', async () => {
  const { ok, newBranch, create, refused } = await start()
  const id = await create({ configuration: { a: 1 } })
  await ok('POST', `${CONFIGS}/${id}/rows`, { json: { rowId: 'r', configuration: { r: 1 } } })
  const branch = await newBranch()
  const inBranch = `branch/${branch.id}/${CONFIGS}/${id}`
  await ok('PUT', inBranch, { json: { configuration: { a: 2 } } })
  await ok('PUT', `${CONFIGS}/${id}/rows/r`, { json: { configuration: { r: 3 } } })
  const diff = (await ok('GET', `${inBranch}/diff`)).json<Record<'base' | 'ours' | 'theirs', Configuration>>()
  assert.deepEqual([diff.base.version, diff.ours.version, diff.theirs.version], [2, 2, 3])
  assert.deepEqual([diff.base.configuration, diff.ours.configuration, diff.theirs.configuration], [{ a: 1 }, { a: 2 }, { a: 1 }])
  const rowDiff = (await ok('GET', `${inBranch}/rows/r/diff`)).json<typeof diff>()
  assert.deepEqual(rowDiff.theirs.rows[0]?.configuration, { r: 3 })
  await refused('GET', `branch/default/${CONFIGS}/${id}/diff`, {}, 400, 'storage.configuration.diffNotAvailableOnDefaultBranch')
  const own = (await ok('POST', `branch/${branch.id}/${CONFIGS}`, { json: { name: 'own' } })).json<Configuration>()
  const ownDiff = (await ok('GET', `branch/${branch.id}/${CONFIGS}/${own.id}/diff`)).json<typeof diff>()
  assert.deepEqual([ownDiff.base, ownDiff.theirs], [null, null])
})

test('a configuration of a branch is reset to the default branch, also when it was deleted', async () => {
  const { ok, newBranch, create, get, refused } = await start()
  const id = await create({ configuration: { a: 1 } })
  const branch = await newBranch()
  const inBranch = `branch/${branch.id}/${CONFIGS}/${id}`
  await ok('POST', `${inBranch}/rows`, { json: { rowId: 'r' } })
  await ok('PUT', `${CONFIGS}/${id}`, { json: { configuration: { a: 2 } } })
  await ok('DELETE', inBranch)
  assert.equal((await ok('POST', `${inBranch}/reset-to-default`)).status, 204)
  const after = await get(branch.id, id)
  assert.deepEqual([after.version, after.configuration, after.rows.length], [1, { a: 2 }, 0])
  await refused(
    'POST',
    `branch/default/${CONFIGS}/${id}/reset-to-default`,
    {},
    501,
    'storage.configuration.resetNotAvailableOnDefaultBranch',
  )
  await refused('POST', `branch/${branch.id}/${CONFIGS}/none/reset-to-default`, {}, 404, 'storage.configuration.notFound')
})

test('a merge brings created, changed and deleted configurations to the default branch, without state', async () => {
  const { ok, newBranch, create, get, finished, refused } = await start()
  const [changed, removed, untouched] = [
    await create({ configuration: { a: 1 }, state: { s: 'main' } }),
    await create(),
    await create(),
  ]
  await ok('POST', `${CONFIGS}/${changed}/rows`, { json: { rowId: 'gone' } })
  const branch = await newBranch()
  const inBranch = `branch/${branch.id}/${CONFIGS}`
  await ok('PUT', `${inBranch}/${changed}`, { json: { configuration: { a: 2 } } })
  await ok('DELETE', `${inBranch}/${changed}/rows/gone`)
  await ok('POST', `${inBranch}/${changed}/rows`, { json: { rowId: 'r', configuration: { r: 1 } } })
  await ok('PUT', `${inBranch}/${changed}/state`, { json: { state: { s: 'branch' } } })
  await ok('DELETE', `${inBranch}/${removed}`)
  await ok('POST', inBranch, { json: { name: 'new', configurationId: 'created' } })
  const preview = (await ok('GET', `dev-branches/${branch.id}/changes`)).json<{ kind: string; isConflict: boolean }[]>()
  assert.deepEqual(preview.map((change) => change.kind).sort(), ['changed', 'created', 'deleted'])
  assert.ok(preview.every((change) => !change.isConflict))

  const job = await finished(await ok('POST', `dev-branches/${branch.id}/merge`))
  assert.deepEqual([job.status, job.operationName], ['success', 'devBranchMerge'], JSON.stringify(job))
  const after = await get('default', changed)
  assert.deepEqual([after.configuration, after.state, after.rows.map((row) => row.id)], [{ a: 2 }, { s: 'main' }, ['r']])
  assert.match(after.changeDescription, /^Merged from branch "dev"/)
  assert.equal((await get('default', 'created')).version, 1)
  assert.equal((await get('default', untouched)).version, 1)
  await refused('GET', `${CONFIGS}/${removed}`, {}, 404, 'storage.configuration.notFound')
  assert.deepEqual((await ok('GET', `dev-branches/${branch.id}/changes`)).json(), [], 'a second merge has nothing to do')
})

test('a configuration that changed on both sides stops the merge as a whole until it is rebased', async () => {
  const { ok, newBranch, create, get, finished } = await start()
  const [both, other] = [await create({ configuration: { a: 1 } }), await create({ configuration: { b: 1 } })]
  const branch = await newBranch()
  const inBranch = `branch/${branch.id}/${CONFIGS}`
  await ok('PUT', `${inBranch}/${both}`, { json: { configuration: { a: 'branch' } } })
  await ok('PUT', `${inBranch}/${other}`, { json: { configuration: { b: 'branch' } } })
  await ok('PUT', `${CONFIGS}/${both}`, { json: { configuration: { a: 'main' } } })
  const failed = await finished(await ok('POST', `dev-branches/${branch.id}/merge`))
  assert.deepEqual([failed.status, failed.error?.code], ['error', 'devBranch.mergeConflict'])
  assert.ok(failed.error?.message.includes(both))
  assert.deepEqual((await get('default', other)).configuration, { b: 1 }, 'nothing was merged')
  const rebased = await ok('POST', `${inBranch}/${both}/rebase`, {
    json: {
      version: 2,
      configuration: { a: 'both' },
      rows: [{ id: 'r', name: 'R', configuration: { '#s': 'canary' }, isDisabled: true }],
    },
  })
  assert.ok(!rebased.text.includes('canary'))
  const merged = await finished(await ok('POST', `dev-branches/${branch.id}/merge`))
  assert.equal(merged.status, 'success')
  const after = await get('default', both)
  assert.deepEqual([after.configuration, after.rows.map((row) => row.id)], [{ a: 'both' }, ['r']])
  assert.deepEqual((await get('default', other)).configuration, { b: 'branch' })
})

test('a branch is deleted by a job, with everything in it', async () => {
  const { ok, newBranch, create, get, finished, refused } = await start()
  const id = await create()
  const branch = await newBranch()
  await ok('DELETE', `branch/${branch.id}/${CONFIGS}/${id}`)
  await ok('POST', `branch/${branch.id}/${CONFIGS}`, { json: { name: 'own' } })
  await ok('POST', `branch/${branch.id}/metadata`, { json: { metadata: [{ key: 'k', value: 'v' }] } })
  const job = await finished(await ok('DELETE', `dev-branches/${branch.id}`))
  assert.deepEqual([job.status, job.operationName], ['success', 'devBranchDelete'], JSON.stringify(job))
  await refused('GET', `dev-branches/${branch.id}`, {}, 404, 'devBranch.notFound')
  await refused('GET', `branch/${branch.id}/${CONFIGS}`, {}, 404, 'notFound')
  await get('default', id)
  await newBranch('dev')
})

test('names and descriptions that cannot be kept are refused before there is a job', async () => {
  const { refused, newBranch } = await start()
  const { id } = await newBranch()
  for (const bad of [
    { name: '' },
    { name: '  ' },
    { name: 'x'.repeat(256) },
    { name: 'a\u0000b' },
    { name: 'x', description: 'a\u0000b' },
    { name: 'x', description: 'd'.repeat(65_537) },
  ]) {
    await refused('POST', 'dev-branches', { json: bad }, 400, 'storage.validation')
    await refused('PUT', `dev-branches/${id}`, { json: bad }, 400, 'storage.validation')
  }
})

test('A4: credentials that were given before read no file of a deleted branch', async () => {
  const stack = await startProject()
  const send = async <T>(method: string, path: string, json?: object): Promise<T> => {
    const answer = await stack.request(method, `/v2/storage/${path}`, json && { json })
    assert.ok(answer.status < 300, answer.text)
    return answer.json<T>()
  }
  const ended = async (job: { id: number }) => await stack.platform.storageJobs.waitFor(stack.projectId, job.id)
  const made = await ended(await send('POST', 'dev-branches', { name: 'files' }))
  const { id } = made.results as { id: number }
  const prepared = await send<FileAnswer>('POST', `branch/${id}/files/prepare`, { name: 'f.csv', federationToken: 1 })
  const { bucket, key } = prepared.uploadParams!
  await uploadClient(prepared).send(new PutObjectCommand({ Bucket: bucket, Key: key, Body: 'a' }))
  const opened = await send<FileAnswer>('GET', `branch/${id}/files/${prepared.id}?federationToken=1`)
  const reader = s3ClientFor(opened.credentials!, prepared.uploadParams!.endpoint)
  const read = () => reader.send(new GetObjectCommand({ Bucket: bucket, Key: opened.s3Path!.key }))
  assert.equal(await (await read()).Body?.transformToString(), 'a')
  await ended(await send('DELETE', `dev-branches/${id}`))
  await until('the object is gone', async () => {
    const error = await read().then(
      () => undefined,
      (thrown: { $metadata?: { httpStatusCode?: number } }) => thrown,
    )
    return error?.$metadata?.httpStatusCode === 404
  })
})

test('metadata belongs to its branch and needs the prefix', async () => {
  const { ok, newBranch, refused } = await start()
  const branch = await newBranch()
  const set = async (where: number | 'default', value: string) =>
    (await ok('POST', `branch/${where}/metadata`, { json: { metadata: [{ key: 'KBC.projectDescription', value }] } })).json<
      { id: string; value: string }[]
    >()
  await set('default', 'main')
  const [item] = await set(branch.id, 'branch')
  assert.equal((await ok('GET', 'branch/default/metadata')).json<{ value: string }[]>()[0]?.value, 'main')
  await ok('DELETE', `branch/${branch.id}/metadata/${item?.id}`)
  await refused(
    'DELETE',
    `branch/${branch.id}/metadata/${item?.id}`,
    {},
    404,
    'storage.metadata.notFound',
    /^Metadata with id ".+" not found$/,
  )
  await refused('GET', 'metadata', {}, 501, 'notImplemented')
  await refused(
    'POST',
    'branch/default/metadata',
    { json: { metadata: [{ key: 'a b', value: 'x' }] } },
    400,
    'storage.metadata.invalidKey',
  )
})

test('branches of another project are not found, and a token without the right is refused', async () => {
  const { ok, newBranch, newProject, refused } = await start()
  const branch = await newBranch()
  const { masterToken } = await newProject()
  await refused('GET', `dev-branches/${branch.id}`, { token: masterToken }, 404, 'devBranch.notFound')
  await refused('DELETE', `dev-branches/${branch.id}`, { token: masterToken }, 404, 'devBranch.notFound')
  await refused('GET', `branch/${branch.id}/metadata`, { token: masterToken }, 404, 'notFound')
  const { token } = (await ok('POST', 'tokens', { json: { description: 'small' } })).json<{ token: string }>()
  await refused('POST', 'dev-branches', { token, json: { name: 'x' } }, 403, 'accessDenied')
  await refused('DELETE', `dev-branches/${branch.id}`, { token }, 403, 'accessDenied')
  await refused('PUT', `dev-branches/${branch.id}`, { token, json: { name: 'x' } }, 403, 'accessDenied')
})

test('A9: a token that manages buckets looks at branches, and neither makes, changes, merges nor deletes one', async () => {
  const { ok, refused, newBranch } = await start()
  const { id } = await newBranch('kept')
  const main = (await ok('GET', 'dev-branches/default')).json<Branch>().id
  const made = (await ok('POST', 'tokens', { json: { description: 'manages', canManageBuckets: true } })).json<{
    token: string
  }>()
  const { token } = made
  const verified = (await ok('GET', 'tokens/verify', { token })).json<{ canManageDevBranches: boolean }>()
  assert.equal(verified.canManageDevBranches, false)
  for (const [method, path, json] of [
    ['POST', 'dev-branches', { name: 'new' }],
    ['PUT', `dev-branches/${id}`, { name: 'renamed' }],
    ['POST', `dev-branches/${id}/merge`, {}],
    ['DELETE', `dev-branches/${id}`, undefined],
    ['DELETE', 'dev-branches/987654', undefined],
    ['POST', 'merge-request', { branchFromId: id, branchIntoId: main, title: 'T' }],
  ] as const)
    await refused(method, path, { token, json }, 403, 'accessDenied', /^You don't have access to the resource\.$/)
  await ok('GET', `dev-branches/${id}/changes`, { token })
  await ok('POST', `branch/${id}/metadata`, { token, json: { metadata: [{ key: 'k', value: 'v' }] } })
})
