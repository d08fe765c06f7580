import assert from 'node:assert/strict'
import test from 'node:test'
import { type ShellStack, shareShellStack } from '../../../../../tests/support/shell-stack.ts'
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
  readonly hosts: readonly { readonly host: string; readonly isNew: boolean }[]
  readonly tables: readonly string[]
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
    { pointer: '/configuration/parameters/url', before: '"https://known.example.com/a"', after: '"https://new.example.com/b"' },
  )
  assert.deepEqual(
    differences.find(({ pointer }) => pointer.endsWith('#password')),
    { pointer: '/configuration/parameters/#password', before: '(secret)', after: '(secret)' },
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
  assert.match(late.text, /closed for changes/)
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
