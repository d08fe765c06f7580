import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startTestStack } from '../../../../../tests/support/test-stack.ts'

const C = '/v2/storage/components/keboola.ex-generic-v2/configs'
const SECRET = 'a very clear secret'

test('a configuration moves into another project with rows and secrets, and nothing is shown in clear', async (t) => {
  const stack = await startTestStack(t)
  const other = await stack.newProject()
  const content = (n: number) => ({ parameters: { n, '#password': `${SECRET} ${n}`, '#name': '{{ placeholder }}' } })
  await stack.request('POST', C, { json: { name: 'n', configurationId: 'c', configuration: content(0), state: { s: 1 } } })
  for (const n of [1, 2]) await stack.request('POST', `${C}/c/rows`, { json: { rowId: `r${n}`, configuration: content(n) } })
  await stack.request('PUT', `${C}/c`, { json: { rowsSortOrder: ['r2', 'r1'] } })
  const body = {
    sourceStorageApiToken: stack.masterToken,
    destinationStack: new URL(stack.url).host,
    destinationStorageApiToken: other.masterToken,
    componentId: 'keboola.ex-generic-v2',
    configId: 'c',
    branchId: 'default',
  }
  const migrate = (change: object = {}, query = '') =>
    stack.request('POST', `/encryption/migrate-configuration${query}`, { token: null, json: { ...body, ...change } })
  const inOther = () => stack.request('GET', `${C}/c`, { token: other.masterToken })

  const dry = await migrate({}, '?dry-run=true')
  assert.equal(dry.status, 200, dry.text)
  assert.equal((await inOther()).status, 404, 'a dry run writes nothing')
  const done = await migrate()
  assert.equal(done.status, 200, done.text)
  assert.deepEqual(done.json().data, {
    destinationStack: body.destinationStack,
    componentId: 'keboola.ex-generic-v2',
    configId: 'c',
    branchId: 'default',
  })
  const made = (await inOther()).json<{
    version: number
    state: object
    rows: { id: string }[]
    configuration: { parameters: Record<string, string> }
  }>()
  assert.deepEqual([made.version, made.state, made.rows.map(({ id }) => id)], [1, {}, ['r2', 'r1']])
  const source = (await stack.request('GET', `${C}/c`)).json<typeof made>()
  const [before, after] = [source.configuration.parameters, made.configuration.parameters]
  assert.ok(after['#password']?.startsWith('KBC::ProjectSecure::') && after['#password'] !== before['#password'])
  assert.equal(after['#name'], '{{ placeholder }}')
  for (const answer of [dry, done, await inOther()]) assert.ok(!answer.text.includes(SECRET))

  // Saving the clear value again changes nothing: the cipher there holds the same secret.
  const again = await stack.request('PUT', `${C}/c`, { token: other.masterToken, json: { configuration: content(0) } })
  assert.equal(again.json<typeof made>().version, 1)

  const small = (await stack.request('POST', '/v2/storage/tokens', { json: { canManageBuckets: true, description: 's' } })).json<{
    token: string
  }>()
  for (const [change, status, code] of [
    [{}, 400, 'configurationAlreadyExists'],
    [{ configId: 'none' }, 404, 'storage.configuration.notFound'],
    [{ branchId: '999' }, 404, 'devBranch.notFound'],
    [{ componentId: 'no.such' }, 404, 'storage.components.notFound'],
    [{ sourceStorageApiToken: 'wrong' }, 401, 'storage.tokenInvalid'],
    [{ destinationStorageApiToken: 'wrong' }, 401, 'storage.tokenInvalid'],
    [{ sourceStorageApiToken: small.token }, 403, 'encryption.migrationNeedsMasterTokens'],
    [{ destinationStack: 'connection.example.com' }, 501, 'encryption.otherStack'],
    [{ configId: undefined }, 400, 'storage.validation'],
  ] as const) {
    const answer = await migrate(change)
    assert.deepEqual(
      [answer.status, answer.json<{ context: { stringCode: string } }>().context.stringCode],
      [status, code],
      answer.text,
    )
    assert.ok(!answer.text.includes(SECRET) && !answer.text.includes(stack.masterToken))
  }
})
