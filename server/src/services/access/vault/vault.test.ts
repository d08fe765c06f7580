import assert from 'node:assert/strict'
import test from 'node:test'
import { type Job, shareShellStack } from '../../../../../tests/support/shell-stack.ts'
import { until } from '../../../../../tests/support/until.ts'

const startProject = shareShellStack()

interface Variable {
  readonly hash: string
  readonly key: string
  readonly value: string
  readonly flags: readonly string[]
  readonly attributes: Readonly<Record<string, string>>
}

const SECRET = 'canary-in-the-vault'

test('variables of the vault are set, listed, limited to a branch and removed', async () => {
  const stack = await startProject()
  const set = async (json: object) => {
    const answer = await stack.request('POST', '/vault/variables', { json })
    assert.equal(answer.status, 201, answer.text)
    return answer.json<Variable>()
  }
  const dev = (await stack.request('POST', '/v2/storage/dev-branches', { json: { name: 'dev' } })).json<{ results?: unknown }>()
  assert.ok(dev)
  const branches = async () =>
    (await stack.request('GET', '/v2/storage/dev-branches')).json<{ id: number; isDefault: boolean }[]>()
  const branch = await until('the branch is there', async () => (await branches()).find(({ isDefault }) => !isDefault))
  const branchId = String(branch.id)

  const first = await set({ key: 'host', value: 'one', attributes: [] })
  const again = await set({ key: 'host', value: 'two' })
  assert.equal(again.hash, first.hash)
  const ofBranch = await set({ key: 'host', value: 'of the branch', attributes: { branchId } })
  const secret = await set({ key: 'password', value: SECRET, flags: ['encrypted'] })
  assert.match(secret.value, /^KBC::ProjectWideSecure::/)
  const list = async (query = '') => (await stack.request('GET', `/vault/variables${query}`)).json<Variable[]>()
  assert.deepEqual(
    (await list()).map(({ key, value }) => [key, value]),
    [
      ['host', 'two'],
      ['host', 'of the branch'],
      ['password', secret.value],
    ],
  )
  assert.deepEqual((await list('?key=password&limit=1')).length, 1)
  assert.deepEqual(
    (await list(`?attributes[branchId]=${branchId}`)).map(({ hash }) => hash),
    [ofBranch.hash],
  )
  const scoped = (await stack.request('GET', `/vault/variables/scoped/branch/${branchId}`)).json<Variable[]>()
  assert.deepEqual(scoped.map(({ key, value }) => [key, value]).sort()[0], ['host', 'of the branch'])
  assert.equal((await stack.request('DELETE', `/vault/variables/${first.hash}`)).status, 204)
  assert.equal((await stack.request('DELETE', `/vault/variables/${first.hash}`)).status, 404)
  for (const json of [{ key: 'with blank', value: 'x' }, { key: 'x' }, { key: 'x', value: 'y', flags: ['loud'] }])
    assert.equal((await stack.request('POST', '/vault/variables', { json })).status, 400)
  const limited = (await stack.request('POST', '/v2/storage/tokens', { json: { description: 'limited' } })).json<{
    token: string
  }>()
  assert.equal((await stack.request('GET', '/vault/variables', { token: limited.token })).status, 403)
  const other = await stack.newProject()
  assert.deepEqual((await stack.request('GET', '/vault/variables', { token: other.masterToken })).json(), [])
  const foreign = await stack.request('DELETE', `/vault/variables/${secret.hash}`, { token: other.masterToken })
  assert.equal(foreign.status, 404)
  assert.ok(
    (await list()).some(({ hash }) => hash === secret.hash),
    'removed by its own project only',
  )
})

test('a run gets the values of the vault, a secret only where a # field opens it, and says which are missing', async () => {
  const stack = await startProject()
  await stack.add(
    'test.vault',
    'cat "$KBC_DATADIR/config.json"; grep -q \'"action":"show"\' "$KBC_DATADIR/config.json" && exit; echo; grep -c canary-in-the-vault "$KBC_DATADIR/config.json"',
    { synchronous_actions: ['show'] },
  )
  await stack.request('POST', '/vault/variables', { json: { key: 'host', value: 'with "quotes"' } })
  await stack.request('POST', '/vault/variables', { json: { key: 'password', value: SECRET, flags: ['encrypted'] } })
  const run = async (parameters: object): Promise<[Job, string]> => {
    const config = await stack.configure('test.vault', { parameters })
    const job = await stack.wait((await stack.request('POST', '/queue/test.vault/run', { json: { config } })).json<Job>())
    return [job, (await stack.request('GET', `/queue/jobs/${job.id}/events`)).text]
  }
  const [job, said] = await run({ url: 'https://{{vault.host}}/', '#key': '{{ vault.password }}' })
  assert.equal(job.status, 'success', JSON.stringify(job))
  const config = (JSON.parse(said) as { message: string }[]).find(({ message }) => message.startsWith('{'))!.message
  assert.deepEqual(JSON.parse(config).parameters, { url: 'https://with "quotes"/', '#key': '[hidden]' })
  assert.ok(!said.includes(SECRET))
  const [inClear] = await run({ key: '{{ vault.password }}' })
  assert.equal(inClear.status, 'error') // grep finds nothing: in a field without # it stays a cipher
  const action = await stack.request('POST', '/sync-actions/actions', {
    json: { componentId: 'test.vault', action: 'show', configData: { parameters: { '#key': '{{ vault.password }}' } } },
  })
  assert.deepEqual(action.json<{ parameters: object }>().parameters, { '#key': '[hidden]' })
  const [missing] = await run({ a: '{{ vault.none }}', b: '{{vault.nothing}}' })
  assert.match(missing.error!.message, /vault\.none, vault\.nothing/)
})
