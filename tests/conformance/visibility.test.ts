// What a list does not show to a token, the detail refuses: jobs of the queue, storage jobs, snapshots, events and the live stream follow
// one rule. A token sees what was given to it, and what it made itself.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { tableClient } from '../support/clients/table-client.ts'
import { type Job, type ShellStack, shareShellStack } from '../support/shell-stack.ts'

const startProject = shareShellStack()

const tokenFor = async (stack: ShellStack, json: object): Promise<string> =>
  (await stack.request('POST', '/v2/storage/tokens', { json })).json<{ token: string }>().token

const statusOf = async (stack: ShellStack, path: string, token: string): Promise<number> =>
  (await stack.request('GET', path, { token })).status

const idsOf = async (stack: ShellStack, path: string, token: string): Promise<string[]> =>
  (await stack.request('GET', path, { token })).json<{ id: string | number }[]>().map(({ id }) => String(id))

test('a token that may use one component sees the jobs of that one, and its own', async () => {
  const stack = await startProject()
  await stack.add('test.mine', 'echo mine')
  await stack.add('test.other', 'echo other')
  const run = async (component: string, token = stack.masterToken) =>
    stack.wait((await stack.request('POST', `/queue/${component}/run`, { json: { configData: {} }, token })).json<Job>())
  const limited = await tokenFor(stack, { componentAccess: ['test.mine'] })
  const none = await tokenFor(stack, {})
  const changes = async (since: string) =>
    (await stack.request('GET', `/v2/storage/changes?since=${since}`, { token: limited })).json<{
      lastEventId: string
      changes: { id: string; componentId: string }[]
    }>()
  const { lastEventId } = await changes('')
  const [mine, other] = [await run('test.mine'), await run('test.other')]
  for (const list of ['/queue/jobs', '/queue/search/jobs']) {
    assert.deepEqual(await idsOf(stack, list, limited), [mine.id])
    assert.deepEqual(await idsOf(stack, list, none), [])
    assert.deepEqual(await idsOf(stack, list, stack.masterToken), [other.id, mine.id])
  }
  const grouped = async (token: string) =>
    (await stack.request('GET', '/queue/search/grouped-jobs', { token })).json<{ jobs: Job[] }[]>().flatMap(({ jobs }) => jobs)
  assert.deepEqual(
    (await grouped(limited)).map(({ id }) => id),
    [mine.id],
  )
  for (const path of ['', '/events']) {
    assert.equal(await statusOf(stack, `/queue/jobs/${mine.id}${path}`, limited), 200)
    assert.equal(await statusOf(stack, `/queue/jobs/${other.id}${path}`, limited), 403)
    assert.equal(await statusOf(stack, `/queue/jobs/${mine.id}${path}`, none), 403)
  }
  assert.equal(await statusOf(stack, `/queue/job/${other.id}/open-api-lineage`, limited), 403)
  assert.equal((await stack.request('POST', `/queue/jobs/${other.id}/rerun`, { token: limited })).status, 403)
  const own = await run('test.mine', limited)
  assert.deepEqual(await idsOf(stack, '/queue/jobs', limited), [own.id, mine.id])
  const seen = (await changes(lastEventId)).changes.map(({ componentId }) => componentId)
  assert.deepEqual([...new Set(seen)], ['test.mine'])
})

test('a token that may read one bucket sees the jobs, snapshots and events of that one', async () => {
  const stack = await startProject()
  const { bucket, create, succeed } = tableClient(stack)
  await bucket('shown')
  await bucket('shown_2') // an underscore is no pattern
  await bucket('hidden')
  const snapshots: Record<string, string> = {}
  for (const name of ['shown', 'hidden']) {
    await create(`in.c-${name}`, 't', 'id\n1\n')
    const job = await succeed(await stack.request('POST', `/v2/storage/tables/in.c-${name}.t/snapshots`, { json: {} }))
    snapshots[name] = String((job.results as { id: string }).id)
  }
  const reader = await tokenFor(stack, { bucketPermissions: { 'in.c-shown': 'read' } })
  const all = (await stack.request('GET', '/v2/storage/jobs')).json<{ id: number; tableId: string | null }[]>()
  const [shown, hidden] = ['in.c-shown.t', 'in.c-hidden.t'].map((id) => all.filter(({ tableId }) => tableId === id))
  assert.ok(shown!.length > 0 && hidden!.length > 0)
  assert.deepEqual(
    await idsOf(stack, '/v2/storage/jobs', reader),
    shown!.map(({ id }) => String(id)),
  )
  assert.equal(await statusOf(stack, `/v2/storage/jobs/${shown![0]!.id}`, reader), 200)
  assert.equal(await statusOf(stack, `/v2/storage/jobs/${hidden![0]!.id}`, reader), 403)
  assert.equal(await statusOf(stack, `/v2/storage/snapshots/${snapshots.shown}`, reader), 200)
  assert.equal(await statusOf(stack, `/v2/storage/snapshots/${snapshots.hidden}`, reader), 403)

  const eventOf = async (table: string) => (await idsOf(stack, `/v2/storage/tables/${table}/events`, stack.masterToken))[0]!
  assert.equal(await statusOf(stack, `/v2/storage/events/${await eventOf('in.c-shown.t')}`, reader), 200)
  assert.equal(await statusOf(stack, `/v2/storage/events/${await eventOf('in.c-hidden.t')}`, reader), 403)
})

test('the numbers of a run count only tables that the token may read', async () => {
  const stack = await startProject()
  const { bucket, create } = tableClient(stack)
  await bucket('hidden')
  await create('in.c-hidden', 't', 'id\n1\n')
  await stack.request('POST', '/v2/storage/tables/in.c-hidden.t/import', {
    form: { dataString: 'id\n2\n' },
    headers: { 'X-KBC-RunId': 'r1' },
  })
  const none = await tokenFor(stack, {})
  const counted = async (token: string) =>
    (await stack.request('GET', '/v2/storage/stats?runId=r1', { token })).json<{ tables: { import: { totalCount: number } } }>()
      .tables.import.totalCount
  assert.deepEqual([await counted(stack.masterToken), await counted(none)], [1, 0])
})
