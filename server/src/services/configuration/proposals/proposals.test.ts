import assert from 'node:assert/strict'
import test from 'node:test'
import { type ShellStack, shareShellStack, shellStack } from '../../../../../tests/support/shell-stack.ts'
import type { RequestOptions } from '../../../../../tests/support/test-stack.ts'
import { until } from '../../../../../tests/support/until.ts'

const startProject = shareShellStack()

interface Proposal {
  readonly id: number
  readonly state: string
  readonly branchId: number
  readonly refusal: { readonly reason: string } | null
  readonly changes: readonly {
    readonly configurationId: string
    readonly kind: string
    readonly differences: readonly { readonly pointer: string; readonly before: string | null; readonly after: string | null }[]
  }[]
  readonly runs: readonly {
    readonly configurationId: string
    readonly jobId: string | null
    readonly problem: string | null
  }[]
  readonly storageChanges: readonly {
    readonly kind: string
    readonly name: string
    readonly change: string
    readonly differences: readonly object[]
  }[]
  readonly hosts: readonly { readonly host: string; readonly isNew: boolean }[]
  readonly tables: readonly string[]
  readonly link: string
  readonly expires: string | null
  readonly runBy: readonly { readonly configurationId: string }[]
  readonly costs: readonly { readonly configurationId: string; readonly runs: number }[]
}

const CONFIGS = '/v2/storage/components/test.noop/configs'

async function start() {
  const stack = await startProject()
  await stack.add('test.noop', 'true')
  const made = await stack.request('POST', '/v2/storage/tokens', {
    json: { description: 'agent', canManageBuckets: true, canManageDevBranches: true, onlyProposes: true },
  })
  assert.equal(made.status, 201, made.text)
  const { token } = made.json<{ token: string }>()
  const asAgent = (method: string, path: string, options: RequestOptions = {}) =>
    stack.request(method, path, { token, ...options })
  return { stack, token, asAgent, mine: async () => (await asAgent('GET', '/v2/storage/proposals')).json<Proposal[]>() }
}

const contentOf = async (stack: ShellStack, id: string) =>
  (await stack.request('GET', `${CONFIGS}/${id}`)).json<{ configuration: object; version: number }>()

test('the review shows hosts of addresses that are secrets, without the rest of them', async () => {
  const { stack, asAgent, mine } = await start()
  const encrypted = await stack.request('POST', `/encryption/encrypt?projectId=${stack.projectId}&componentId=test.noop`, {
    body: 'https://sealed.example.com/path-of-the-secret',
    headers: { 'content-type': 'text/plain' },
  })
  const parameters = { '#url': 'https://user:word@hook.example.com/path-of-the-secret', other: { '#url': encrypted.text } }
  await asAgent('POST', CONFIGS, { json: { name: 'x', configuration: { parameters } } })
  const [proposal] = await mine()
  const review = await stack.request('GET', `/v2/storage/proposals/${proposal!.id}`)
  assert.deepEqual(review.json<Proposal>().hosts, [
    { host: 'hook.example.com', isNew: true },
    { host: 'sealed.example.com', isNew: true },
  ])
  assert.doesNotMatch(review.text, /path-of-the-secret|word/)
})

test('changes of a token that only proposes go into its own branch, and production changes when a person accepts', async () => {
  const { stack, asAgent, mine } = await start()
  const id = await stack.configure('test.noop', {
    parameters: { url: 'https://known.example.com/a', '#password': 'hidden value' },
  })
  const before = await contentOf(stack, id)
  assert.deepEqual(await mine(), [])

  const json = {
    configuration: {
      parameters: { url: 'https://new.example.com/b', '#password': 'other value' },
      storage: { output: { tables: [{ source: 'a.csv', destination: 'out.c-main.a' }] } },
    },
  }
  const changed = await asAgent('PUT', `${CONFIGS}/${id}`, { json })
  assert.equal(changed.status, 200, changed.text)
  const created = await asAgent('POST', CONFIGS, { json: { name: 'of the agent', configuration: { host: 'db.example.org' } } })
  assert.equal(created.status, 201, created.text)
  assert.deepEqual(await contentOf(stack, id), before, 'production is as it was')
  const own = (await asAgent('GET', `${CONFIGS}/${id}`)).json<{ configuration: { parameters: { url: string } } }>()
  assert.equal(own.configuration.parameters.url, 'https://new.example.com/b', 'the token reads its own branch')

  const [proposal] = await mine()
  assert.equal(proposal?.state, 'open')
  const place = `/v2/storage/proposals/${proposal!.id}`
  const review = (await stack.request('GET', place)).json<Proposal>()
  assert.deepEqual(review.changes.map(({ kind }) => kind).sort(), ['changed', 'created'])
  const differences = review.changes.find(({ configurationId }) => configurationId === id)!.differences
  assert.deepEqual(
    differences.find(({ pointer }) => pointer === '/configuration/parameters/url'),
    {
      pointer: '/configuration/parameters/url',
      before: '"https://known.example.com/a"',
      after: '"https://new.example.com/b"',
      copiedFrom: null,
    },
  )
  assert.deepEqual(
    differences.find(({ pointer }) => pointer.endsWith('#password')),
    { pointer: '/configuration/parameters/#password', before: '(secret)', after: '(secret)', copiedFrom: null },
  )
  assert.deepEqual(review.hosts, [
    { host: 'db.example.org', isNew: true },
    { host: 'new.example.com', isNew: true },
  ])
  assert.deepEqual(review.tables, ['out.c-main.a'])

  assert.equal((await stack.request('POST', `${place}/accept`)).status, 409, 'not submitted yet')
  const submitted = await asAgent('POST', `${place}/submit`, { json: { title: 'Another address', description: 'It moved.' } })
  assert.equal(submitted.json<Proposal>().state, 'submitted', submitted.text)
  const late = await asAgent('PUT', `${CONFIGS}/${id}`, { json: { name: 'late' } })
  assert.equal(late.status, 409)
  assert.match(late.text, /its branch cannot be changed/)
  for (const step of ['accept', 'refuse'])
    assert.equal((await asAgent('POST', `${place}/${step}`, { json: { reason: 'mine' } })).status, 403, `no ${step} of its own`)

  const refused = await stack.request('POST', `${place}/refuse`, { json: { reason: 'Use the test address first.' } })
  assert.equal(refused.json<Proposal>().state, 'refused', refused.text)
  assert.equal((await mine())[0]?.refusal?.reason, 'Use the test address first.')
  json.configuration.parameters.url = 'https://test.example.com/b'
  assert.equal((await asAgent('PUT', `${CONFIGS}/${id}`, { json })).status, 200)
  assert.equal((await asAgent('POST', `${place}/submit`, { json: { title: 'Test address' } })).status, 200)
  const accepted = await stack.request('POST', `${place}/accept`, { json: { reason: 'good' } })
  assert.equal(accepted.status, 200, accepted.text)
  await until('the proposal is applied', async () => (await mine())[0]?.state === 'accepted')

  const after = await contentOf(stack, id)
  assert.match(JSON.stringify(after.configuration), /test\.example\.com/)
  assert.equal((await stack.request('GET', `${CONFIGS}/${created.json<{ id: string }>().id}`)).status, 200)
  const [newest] = (await stack.request('GET', `${CONFIGS}/${id}/versions`)).json<
    { changeDescription: string; creatorToken: { description: string } }[]
  >()
  assert.match(newest!.changeDescription, /Proposal of agent/)
  assert.match(newest!.creatorToken.description, /Master token/)
  assert.equal((await stack.request('POST', `${CONFIGS}/${id}/versions/${before.version}/rollback`, { json: {} })).status, 201)

  assert.equal((await asAgent('PUT', `${CONFIGS}/${id}`, { json: { name: 'next' } })).status, 200)
  const [next] = await mine()
  assert.equal(next?.state, 'open', 'the next change begins another proposal')
  assert.notEqual(next?.id, proposal?.id)
  assert.equal((await asAgent('DELETE', `/v2/storage/proposals/${next!.id}`)).status, 204)
  assert.equal((await mine())[0]?.state, 'discarded')
})

test('everything but configurations is refused to a token that only proposes, and other branches are closed', async () => {
  const { stack, token, asAgent } = await start()
  const id = await stack.configure('test.noop', {})
  const other = await stack.request('POST', '/v2/storage/dev-branches', { json: { name: 'other' } })
  const branch = await stack.wait(other.json())
  const otherId = (branch.results as { id: number }).id
  const app = (
    await stack.request('POST', '/data-science/apps', {
      json: { name: 'x', type: 'node', config: { parameters: { script: '1' } } },
    })
  ).json<{ id: string }>()
  const refused: [string, string, object?][] = [
    ['POST', '/v2/storage/buckets', { stage: 'in', name: 'main' }],
    ['POST', '/queue/jobs', { component: 'test.noop', config: id, mode: 'run' }],
    ['POST', '/v2/storage/tokens', { description: 'wider', canManageBuckets: true }],
    ['POST', '/v2/storage/dev-branches', { name: 'mine' }],
    ['POST', '/v2/storage/workspaces', {}],
    ['POST', '/v2/storage/files/prepare', { name: 'a' }],
    ['POST', '/sync-actions/actions', { componentId: 'test.noop', action: 'run' }],
    ['PUT', `/v2/storage/branch/default/components/test.noop/configs/${id}`, { name: 'x' }],
    ['PUT', `/v2/storage/branch/${otherId}/components/test.noop/configs/${id}`, { name: 'x' }],
    ['GET', '/iceberg/v1/default/namespaces/in.c-main/tables/orders'],
    ['GET', `/data-science/apps/${app.id}/password`],
    ['GET', `/sandboxes/apps/${app.id}/password`],
    ['POST', `/data-science/apps/${app.id}/links`, {}],
    ['POST', `/sandboxes/apps/${app.id}/preview-link`, {}],
  ]
  for (const [method, path, json] of refused) {
    const answer = await asAgent(method, path, json ? { json } : {})
    assert.equal(answer.status, 403, `${method} ${path}: ${answer.status} ${answer.text}`)
    assert.match(answer.text, /only proposes/)
  }
  assert.equal(
    await stack.platform.tokens.authenticateDirect(token),
    undefined,
    'the PostgreSQL port and other doors stay closed',
  )
  assert.deepEqual((await asAgent('GET', '/v2/storage/proposals')).json(), [], 'what was refused opened no branch')
  const weak = (await stack.request('POST', '/v2/storage/tokens', { json: { description: 'weak' } })).json<{ token: string }>()
    .token
  assert.deepEqual((await stack.request('GET', '/v2/storage/proposals', { token: weak })).json(), [])
})

test('two first changes at once have one branch', async () => {
  const { asAgent, mine } = await start()
  const answers = await Promise.all(['a', 'b', 'c'].map((name) => asAgent('POST', CONFIGS, { json: { name } })))
  for (const answer of answers) assert.equal(answer.status, 201, answer.text)
  assert.equal((await mine()).length, 1)
})

test('an accepted proposal is undone as one, unless something of it has changed since', async () => {
  const { stack, asAgent, mine } = await start()
  const id = await stack.configure('test.noop', { parameters: { a: 1 } })
  const doomed = await stack.configure('test.noop', { parameters: { b: 1 } })
  const flow = await stack.configure('keboola.flow', {
    phases: [{ id: 'p', name: 'p', next: [] }],
    tasks: [{ id: 't', name: 't', phase: 'p', task: { type: 'job', componentId: 'test.noop', configId: id, mode: 'run' } }],
  })
  const job = await stack.request('POST', '/queue/jobs', { json: { component: 'test.noop', config: id, mode: 'run' } })
  await stack.wait(job.json())
  const propose = async () => {
    assert.equal((await asAgent('PUT', `${CONFIGS}/${id}`, { json: { configuration: { parameters: { a: 2 } } } })).status, 200)
    assert.equal((await asAgent('DELETE', `${CONFIGS}/${doomed}`)).status, 204)
    const made = (await asAgent('POST', CONFIGS, { json: { name: 'new' } })).json<{ id: string }>().id
    const place = `/v2/storage/proposals/${(await mine())[0]!.id}`
    assert.equal((await asAgent('POST', `${place}/submit`, { json: { title: 'all' } })).status, 200)
    return { place, made }
  }
  const { place, made } = await propose()
  const review = (await stack.request('GET', place)).json<Proposal>()
  assert.deepEqual(
    review.runBy.map(({ configurationId }) => configurationId),
    [flow],
  )
  assert.deepEqual(
    review.costs.map(({ configurationId, runs }) => ({ configurationId, runs })),
    [{ configurationId: id, runs: 1 }],
  )
  assert.equal(review.link, `${stack.url}/console/proposals/${review.id}`)
  assert.ok(review.expires !== null && new Date(review.expires).getTime() > Date.now())
  assert.equal((await stack.request('POST', `${place}/undo`)).status, 409, 'not accepted yet')
  const accept = async (at: string) => {
    assert.equal((await stack.request('POST', `${at}/accept`)).status, 200)
    await until('the proposal is applied', async () => (await stack.request('GET', at)).json<Proposal>().state === 'accepted')
  }
  await accept(place)
  assert.equal((await stack.request('GET', `${CONFIGS}/${doomed}`)).status, 404)
  assert.equal((await asAgent('POST', `${place}/undo`)).status, 403, 'a person decides')
  const undone = await stack.request('POST', `${place}/undo`)
  assert.equal(undone.json<Proposal>().state, 'undone', undone.text)
  assert.deepEqual((await contentOf(stack, id)).configuration, { parameters: { a: 1 } })
  assert.equal((await stack.request('GET', `${CONFIGS}/${doomed}`)).status, 200)
  assert.equal((await stack.request('GET', `${CONFIGS}/${made}`)).status, 404)
  assert.equal((await stack.request('POST', `${place}/undo`)).status, 409)

  const next = await propose()
  await accept(next.place)
  await stack.request('PUT', `${CONFIGS}/${id}`, { json: { name: 'changed since' } })
  const late = await stack.request('POST', `${next.place}/undo`)
  assert.equal(late.status, 409, late.text)
  assert.match(late.text, /has changed since proposal/)
  assert.equal((await stack.request('GET', `${CONFIGS}/${next.made}`)).status, 200, 'nothing of it was undone')
})

test('jobs of a proposal start once it is accepted, unless the person leaves them out', async () => {
  const { stack, asAgent, mine } = await start()
  const id = await stack.configure('test.noop', { parameters: { a: 1 } })
  const propose = async () => {
    const made = (await asAgent('POST', CONFIGS, { json: { name: 'new', configuration: {} } })).json<{ id: string }>().id
    const [proposal] = await mine()
    return { made, place: `/v2/storage/proposals/${proposal!.id}` }
  }
  const jobsOf = async (config: string) =>
    (await stack.request('GET', `/queue/jobs?configId=${config}`)).json<{ id: string; token: { description: string } }[]>()
  const first = await propose()
  const submit = (place: string, run: readonly object[]) => asAgent('POST', `${place}/submit`, { json: { title: 'Run it', run } })
  const wrong = await submit(first.place, [{ component: 'test.noop', config: 'nothing' }])
  assert.equal(wrong.status, 404, wrong.text)
  const places = [first.made, id].map((config) => ({ component: 'test.noop', config }))
  const submitted = await submit(first.place, places)
  assert.equal(submitted.status, 200, submitted.text)
  const runsAt = async (place: string) => (await stack.request('GET', place)).json<Proposal>().runs
  assert.deepEqual(
    await runsAt(first.place),
    [first.made, id].map((configurationId) => ({ componentId: 'test.noop', configurationId, jobId: null, problem: null })),
  )
  assert.deepEqual(await jobsOf(id), [], 'nothing ran yet')
  assert.equal((await stack.request('POST', `${first.place}/accept`)).status, 200)
  const started = await until('they are started', async () => {
    const runs = await runsAt(first.place)
    return runs.every(({ jobId }) => jobId !== null) && runs
  })
  for (const { jobId, configurationId } of started) {
    const job = await stack.wait((await stack.request('GET', `/queue/jobs/${jobId}`)).json())
    assert.equal(job.status, 'success')
    assert.deepEqual(
      (await jobsOf(configurationId)).map((one) => [one.id, /Master/.test(one.token.description)]),
      [[jobId, true]],
      'once, with the rights of the person',
    )
  }

  const next = await propose()
  await submit(next.place, [{ component: 'test.noop', config: next.made }])
  const accepted = await stack.request('POST', `${next.place}/accept`, { json: { runJobs: false } })
  assert.equal(accepted.status, 200, accepted.text)
  await until('it is applied', async () => (await mine())[0]?.state === 'accepted')
  assert.deepEqual(
    (await runsAt(next.place)).map(({ jobId, problem }) => [jobId, problem]),
    [[null, 'Accepted without running it.']],
  )

  const broken = await propose()
  await asAgent('PUT', `${CONFIGS}/${broken.made}`, { json: { isDisabled: true } })
  await submit(broken.place, [{ component: 'test.noop', config: broken.made }])
  assert.equal((await stack.request('POST', `${broken.place}/accept`)).status, 200)
  const [failed] = await until('it is tried', async () => {
    const runs = await runsAt(broken.place)
    return runs[0]!.problem !== null && runs
  })
  assert.match(failed!.problem!, /disabled/)
  assert.deepEqual(await jobsOf(next.made), [])
})

test('data tests and contracts are proposed, applied with the configurations and undone with them', async () => {
  const { stack, asAgent, mine } = await start()
  await stack.request('POST', '/v2/storage/buckets', { json: { stage: 'in', name: 'main' } })
  await stack.request('POST', '/v2/storage/buckets/in.c-main/tables', { form: { name: 'orders', dataString: 'id,price\n1,5\n' } })
  const tableId = 'in.c-main.orders'
  interface DataTest {
    readonly id: string
    readonly name: string
    readonly severity: string
    readonly isEnabled: boolean
    readonly parameters: object
  }
  const TESTS = '/v2/storage/data-tests'
  const known = (
    await stack.request('POST', TESTS, {
      json: { tableId, name: 'price', type: 'range', parameters: { column: 'price', min: 0 } },
    })
  ).json<DataTest>()
  const old = (
    await stack.request('POST', TESTS, { json: { tableId, name: 'old', type: 'notNull', parameters: { columns: ['id'] } } })
  ).json<DataTest>()
  const tests = async (ask = stack.request) => (await ask('GET', `${TESTS}?tableId=${tableId}`)).json<DataTest[]>()
  const production = await tests()
  assert.equal(production.length, 2)

  const changed = await asAgent('PUT', `${TESTS}/${known.id}`, { json: { parameters: { column: 'price', min: 1 } } })
  assert.equal(changed.status, 200, changed.text)
  const created = await asAgent('POST', TESTS, {
    json: { tableId, name: 'ids', type: 'unique', parameters: { columns: ['id'] }, severity: 'warn' },
  })
  assert.equal(created.status, 201, created.text)
  const kept = await asAgent('DELETE', `${TESTS}/${old.id}`)
  assert.equal(kept.json<{ code: string }>().code, 'storage.dataTests.proposedRemoval', kept.text)
  const renamed = await asAgent('PUT', `${TESTS}/${old.id}`, { json: { name: 'older' } })
  assert.equal(renamed.json<{ code: string }>().code, 'storage.dataTests.proposedRemoval', renamed.text)
  assert.equal((await asAgent('PUT', `${TESTS}/${old.id}`, { json: { isEnabled: false } })).status, 200)
  const { contract } = (await stack.request('GET', `/v2/storage/tables/${tableId}/contract`)).json<{ contract: string }>()
  const agreed = await asAgent('PUT', `/v2/storage/tables/${tableId}/contract`, { json: { contract } })
  assert.equal(agreed.status, 200, agreed.text)
  const tried = await asAgent('POST', `/v2/storage/tables/${tableId}/data-tests/run`)
  assert.equal(tried.status, 202, tried.text)
  const { results } = await stack.wait(tried.json())
  assert.equal((results as { status: string }).status, 'passed', JSON.stringify(results))
  assert.equal((await asAgent('POST', `${TESTS}/import`, { json: { runResults: {} } })).status, 403, 'results are not proposed')
  assert.deepEqual(await tests(), production, 'production is as it was')
  const isDraft = async () =>
    (await stack.request('GET', `/v2/storage/tables/${tableId}/contract`)).json<{ isDraft: boolean }>().isDraft
  assert.equal(await isDraft(), true)
  assert.equal((await stack.request('GET', `/v2/storage/tables/${tableId}/data-tests/runs`)).text, '[]')

  const [proposal] = await mine()
  const place = `/v2/storage/proposals/${proposal!.id}`
  const review = (await stack.request('GET', place)).json<Proposal>()
  assert.deepEqual(
    review.storageChanges.map(({ kind, name, change }) => `${change} ${kind} ${name}`),
    ['changed dataTest price', 'created dataTest ids', 'changed dataTest old', `created dataContract ${tableId}`],
  )
  assert.deepEqual(review.storageChanges[0]!.differences, [{ pointer: '/rule/min', before: '0', after: '1', copiedFrom: null }])
  assert.deepEqual(review.tables, [tableId])
  assert.equal((await asAgent('POST', `${place}/submit`, { json: { title: 'Tests' } })).status, 200)
  assert.equal((await asAgent('PUT', `${TESTS}/${old.id}`, { json: { severity: 'warn' } })).status, 409, 'it is submitted')
  const accept = async () => {
    assert.equal((await stack.request('POST', `${place}/accept`)).status, 200)
    await until('it is applied', async () => (await mine())[0]?.state === 'accepted')
  }
  await accept()
  const applied = new Map((await tests()).map((one) => [one.name, one]))
  assert.deepEqual([...applied.keys()], ['ids', 'old', 'price'])
  assert.deepEqual(applied.get('price')!.parameters, { column: 'price', min: 1 })
  assert.equal(applied.get('price')!.id, known.id, 'its runs stay with it')
  assert.equal(applied.get('old')!.isEnabled, false)
  assert.equal(applied.get('ids')!.severity, 'warn')
  assert.equal(await isDraft(), false)
  const load = await stack.request('POST', `/v2/storage/tables/${tableId}/import`, { form: { dataString: 'id,price\n1,0\n' } })
  assert.match(load.text, /price/, 'loads are tested by it')
  assert.equal(load.status, 400, load.text)

  await stack.request('PUT', `${TESTS}/${applied.get('ids')!.id}`, { json: { severity: 'stop' } })
  const late = await stack.request('POST', `${place}/undo`)
  assert.equal(late.json<{ code: string }>().code, 'proposals.storageChangedSince', late.text)
  assert.equal((await tests()).length, 3, 'nothing of it was undone')
  await stack.request('PUT', `${TESTS}/${applied.get('ids')!.id}`, { json: { severity: 'warn' } })
  const undone = await stack.request('POST', `${place}/undo`)
  assert.equal(undone.json<Proposal>().state, 'undone', undone.text)
  const plain = (all: readonly DataTest[]) =>
    all.map(({ id, name, severity, isEnabled, parameters }) => ({ id, name, severity, isEnabled, parameters }))
  assert.deepEqual(plain(await tests()), plain(production))
  assert.equal(await isDraft(), true)
})

test('tables and descriptions are proposed, and undone while they are empty', async () => {
  const { stack, asAgent, mine } = await start()
  await stack.request('POST', '/v2/storage/buckets', { json: { stage: 'in', name: 'main' } })
  await stack.request('POST', '/v2/storage/buckets', { json: { stage: 'out', name: 'other' } })
  await stack.request('POST', '/v2/storage/buckets/in.c-main/tables', { form: { name: 'orders', dataString: 'id,price\n1,5\n' } })
  const known = 'in.c-main.orders'
  const texts = (description: string, ofColumn: string) => ({
    provider: 'user',
    metadata: [{ key: 'KBC.description', value: description }],
    columnsMetadata: { price: [{ key: 'KBC.description', value: ofColumn, columnName: 'price' }] },
  })
  const describe = (ask = stack.request) => ask('POST', `/v2/storage/tables/${known}/metadata`, { json: texts('ours', 'gross') })
  assert.equal((await describe()).status, 201)
  const define = (bucket: string, name: string, more: object = {}) =>
    asAgent('POST', `/v2/storage/buckets/${bucket}/tables-definition`, {
      json: {
        name,
        columns: [{ name: 'id', definition: { type: 'INTEGER' } }, { name: 'city' }],
        primaryKeysNames: ['id'],
        ...more,
      },
    })
  const tablesOf = async (ask = stack.request) =>
    (await ask('GET', '/v2/storage/tables')).json<{ id: string }[]>().map(({ id }) => id)

  const taken = await define('in.c-main', 'orders')
  assert.equal(taken.status, 400, taken.text)
  assert.match(taken.text, /already/)
  for (const [bucket, name] of [
    ['in.c-new', 'cities'],
    ['in.c-new', 'streets'],
    ['in.c-main', 'cities'],
    ['in.c-main', 'wrong'],
  ] as const) {
    const defined = await define(bucket, name)
    assert.equal(defined.status, 202, defined.text)
    assert.equal((await stack.wait(defined.json())).status, 'success')
  }
  assert.equal((await asAgent('DELETE', '/v2/storage/tables/in.c-main.wrong')).status, 204, 'of its own')
  const foreign = await asAgent('DELETE', `/v2/storage/tables/${known}`)
  assert.equal(foreign.status, 403, foreign.text)
  const described = await asAgent('POST', '/v2/storage/tables/in.c-new.cities/metadata', {
    json: { provider: 'user', metadata: [{ key: 'KBC.description', value: 'Cities' }] },
  })
  assert.equal(described.status, 201, described.text)
  const other = { json: texts('theirs', 'net') }
  assert.equal((await asAgent('POST', `/v2/storage/tables/${known}/metadata`, other)).status, 201)
  const rows = await asAgent('POST', '/v2/storage/tables/in.c-new.cities/import', { form: { dataString: 'id,city\n1,Brno\n' } })
  assert.equal(rows.json<{ code: string }>().code, 'proposals.notPossible', rows.text)
  assert.deepEqual(await tablesOf(), [known], 'production is as it was')

  const [proposal] = await mine()
  const place = `/v2/storage/proposals/${proposal!.id}`
  const review = (await stack.request('GET', place)).json<Proposal>()
  assert.deepEqual(
    review.storageChanges.map(({ kind, name, change }) => `${change} ${kind} ${name}`),
    [
      'created table in.c-new.cities',
      'created table in.c-new.streets',
      'created table in.c-main.cities',
      `changed tableMetadata ${known}`,
    ],
  )
  assert.match(JSON.stringify(review.storageChanges[0]), /INTEGER.*Cities/)
  assert.deepEqual(review.storageChanges.at(-1)!.differences, [
    { pointer: '/metadata/KBC.description', before: '"ours"', after: '"theirs"', copiedFrom: null },
    { pointer: '/columnsMetadata/price/KBC.description', before: '"gross"', after: '"net"', copiedFrom: null },
  ])
  assert.equal((await asAgent('POST', `${place}/submit`, { json: { title: 'Tables' } })).status, 200)

  const inTheWay = await stack.request('POST', '/v2/storage/buckets/in.c-main/tables', {
    form: { name: 'cities', dataString: 'a\n' },
  })
  assert.equal(inTheWay.status, 201, inTheWay.text)
  const conflict = await stack.request('POST', `${place}/accept`)
  assert.equal(conflict.json<{ code: string }>().code, 'proposals.storageConflict', conflict.text)
  assert.equal((await stack.request('DELETE', '/v2/storage/tables/in.c-main.cities')).status, 204)
  assert.equal((await stack.request('POST', `${place}/accept`)).status, 200)
  await until('it is applied', async () => (await mine())[0]?.state === 'accepted')
  assert.deepEqual((await tablesOf()).sort(), ['in.c-main.cities', known, 'in.c-new.cities', 'in.c-new.streets'])
  const made = (await stack.request('GET', '/v2/storage/tables/in.c-new.cities')).json<{
    primaryKey: string[]
    isTyped: boolean
    rowsCount: number
    metadata: { key: string; value: string }[]
  }>()
  assert.deepEqual([made.primaryKey, made.isTyped, made.rowsCount], [['id'], true, 0])
  assert.equal(made.metadata.find(({ key }) => key === 'KBC.description')?.value, 'Cities')
  const textsNow = async () => {
    const { metadata, columnMetadata } = (await stack.request('GET', `/v2/storage/tables/${known}`)).json<{
      metadata: { value: string }[]
      columnMetadata: { price: { value: string }[] }
    }>()
    return [metadata[0]?.value, columnMetadata.price[0]?.value]
  }
  assert.deepEqual(await textsNow(), ['theirs', 'net'])

  const load = await stack.request('POST', '/v2/storage/tables/in.c-main.cities/import', {
    form: { dataString: 'id,city\n1,Brno\n' },
  })
  assert.equal(load.status, 200, load.text)
  await describe()
  const late = await stack.request('POST', `${place}/undo`)
  assert.equal(late.json<{ code: string }>().code, 'proposals.storageChangedSince', late.text)
  assert.equal((await tablesOf()).length, 4, 'nothing of it was undone')
  await stack.request('POST', `/v2/storage/tables/${known}/metadata`, other)
  const undone = await stack.request('POST', `${place}/undo`)
  assert.equal(undone.json<Proposal>().state, 'undone', undone.text)
  assert.deepEqual((await tablesOf()).sort(), ['in.c-main.cities', known], 'rows are kept')
  assert.deepEqual(await textsNow(), ['ours', 'gross'])
  const buckets = (await stack.request('GET', '/v2/storage/buckets')).json<{ id: string }[]>()
  assert.deepEqual(
    buckets.map(({ id }) => id),
    ['in.c-main', 'out.c-other'],
    'a bucket that it created is gone with its tables',
  )
  const { token: reader } = (
    await stack.request('POST', '/v2/storage/tokens', {
      json: { description: 'reader', bucketPermissions: { 'in.c-main': 'read', 'out.c-other': 'write' }, onlyProposes: true },
    })
  ).json<{ token: string }>()
  const unwanted = await stack.request('POST', `/v2/storage/tables/${known}/metadata`, { ...other, token: reader })
  assert.equal(unwanted.status, 403, unwanted.text)
})

test('people propose a branch of their own', async () => {
  const { stack, asAgent } = await start()
  const id = await stack.configure('test.noop', { parameters: { a: 1 } })
  const made = await stack.wait((await stack.request('POST', '/v2/storage/dev-branches', { json: { name: 'mine' } })).json())
  const branchId = (made.results as { id: number }).id
  await stack.request('PUT', `/v2/storage/branch/${branchId}/components/test.noop/configs/${id}`, { json: { name: 'better' } })
  const begin = (branch: number, ask = stack.request) => ask('POST', '/v2/storage/proposals', { json: { branchId: branch } })
  const begun = await begin(branchId)
  assert.equal(begun.status, 201, begun.text)
  const place = `/v2/storage/proposals/${begun.json<Proposal>().id}`
  assert.equal((await begin(branchId)).status, 409)
  assert.equal((await begin(branchId, asAgent)).status, 403)
  assert.equal((await begin(999_999)).status, 404)
  assert.equal(
    (await stack.request('POST', `${place}/submit`, { json: { title: 'Better name' } })).json<Proposal>().state,
    'submitted',
  )
  assert.equal((await stack.request('POST', `${place}/accept`)).status, 200, 'a user who is alone approves')
  await until('it is applied', async () => (await stack.request('GET', place)).json<Proposal>().state === 'accepted')
  assert.equal((await stack.request('GET', `${CONFIGS}/${id}`)).json<{ name: string }>().name, 'better')
})

test('other tokens neither submit nor discard a proposal, and see it only with rights for the whole project', async () => {
  const { stack, asAgent, mine } = await start()
  const tokenWith = async (rights: object) => {
    const made = await stack.request('POST', '/v2/storage/tokens', { json: { description: 'other', ...rights } })
    assert.equal(made.status, 201, made.text)
    const { token } = made.json<{ token: string }>()
    return (method: string, path: string, options: RequestOptions = {}) => stack.request(method, path, { token, ...options })
  }
  assert.equal((await asAgent('POST', CONFIGS, { json: { name: 'of the agent', configuration: {} } })).status, 201)
  const [proposal] = await mine()
  const place = `/v2/storage/proposals/${proposal!.id}`

  const otherAgent = await tokenWith({ canManageBuckets: true, canManageDevBranches: true, onlyProposes: true })
  const seen = (await otherAgent('GET', '/v2/storage/proposals')).json<Proposal[]>()
  assert.deepEqual(
    seen.map(({ id }) => id).filter((id) => id === proposal!.id),
    [proposal!.id],
  )
  for (const ask of [otherAgent, stack.request])
    assert.equal((await ask('POST', `${place}/submit`, { json: { title: 'not mine' } })).status, 403)
  assert.equal((await otherAgent('DELETE', place)).status, 403)

  const limited = await tokenWith({ bucketPermissions: {}, componentAccess: ['test.noop'] })
  assert.deepEqual((await limited('GET', '/v2/storage/proposals')).json(), [])
  assert.equal((await limited('GET', place)).status, 404)
  assert.equal((await limited('DELETE', place)).status, 404)

  assert.equal((await mine())[0]?.state, 'open', 'nothing of it changed it')
  assert.equal((await stack.request('DELETE', place)).status, 204, 'who may decide discards it')
  assert.equal((await mine())[0]?.state, 'discarded')
})

test('a proposal that is not decided expires, and a token begins and submits only so many in an hour', async (t) => {
  let now = Date.now()
  const stack = await shellStack(t, { clock: { now: () => new Date(now) } })
  await stack.add('test.noop', 'true')
  const { token } = (
    await stack.request('POST', '/v2/storage/tokens', { json: { description: 'a', canManageBuckets: true, onlyProposes: true } })
  ).json<{ token: string }>()
  const asAgent = (method: string, path: string, json?: object) => stack.request(method, path, { token, ...(json && { json }) })
  const mine = async () => (await asAgent('GET', '/v2/storage/proposals')).json<Proposal[]>()
  assert.equal((await asAgent('POST', CONFIGS, { name: 'a' })).status, 201)
  const [first] = await mine()
  const place = `/v2/storage/proposals/${first!.id}`
  for (let n = 0; n < 10; n++) {
    assert.equal((await asAgent('POST', `${place}/submit`, { title: 'x' })).status, 200)
    assert.equal((await stack.request('POST', `${place}/refuse`, { json: { reason: 'no' } })).status, 200)
  }
  const tooMany = await asAgent('POST', `${place}/submit`, { title: 'x' })
  assert.equal(tooMany.status, 429, tooMany.text)
  now += 15 * 86_400_000
  assert.equal((await mine())[0]?.state, 'expired')
  assert.equal((await stack.request('POST', `${place}/accept`)).status, 409)
  assert.equal(await stack.platform.proposals.sweep(), 1)
  assert.equal((await mine())[0]?.state, 'discarded')
  for (let n = 0; n < 20; n++) {
    assert.equal((await asAgent('POST', CONFIGS, { name: 'b' })).status, 201)
    assert.equal((await asAgent('DELETE', `/v2/storage/proposals/${(await mine())[0]!.id}`)).status, 204)
  }
  const refused = await asAgent('POST', CONFIGS, { name: 'c' })
  assert.equal(refused.status, 429, refused.text)
  assert.match(refused.text, /20 new proposals per hour/)
})
