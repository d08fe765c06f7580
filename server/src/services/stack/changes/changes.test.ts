import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type EventStream, openEventStream } from '../../../../../tests/support/event-stream.ts'
import { masterActor } from '../../../../../tests/support/master-actor.ts'
import { type Job, shellStack } from '../../../../../tests/support/shell-stack.ts'
import type { startTestStack } from '../../../../../tests/support/test-stack.ts'
import { until } from '../../../../../tests/support/until.ts'
import { createChangeFeed } from './change-feed.ts'
import type { Change, Position } from './changes.store.ts'

const cleanups: (() => unknown)[] = []
const scope = { after: (work: () => unknown) => void cleanups.push(work) } as unknown as Parameters<typeof startTestStack>[0] // all they use
let stack: Awaited<ReturnType<typeof shellStack>>

before(async () => {
  stack = await shellStack(scope)
  await stack.add('test.works', 'true')
})
after(async () => {
  for (const cleanup of cleanups.toReversed()) await cleanup()
})

async function open(token = stack.masterToken, query = '', lastEventId?: string): Promise<EventStream> {
  const headers = { 'x-storageapi-token': token, ...(lastEventId !== undefined && { 'last-event-id': lastEventId }) }
  const stream = await openEventStream(`${stack.url}/v2/storage/changes${query}`, headers)
  cleanups.push(stream.close)
  if (stream.status === 200 && lastEventId === undefined) await until('it begins', () => stream.events[0]?.event === 'open')
  return stream
}

const told = ({ events }: EventStream, kind: string, id: unknown) =>
  events.filter(({ event, data }) => event === kind && data.id === String(id)).map(({ data }) => data)
const statesOf = (stream: EventStream, kind: string, id: unknown) => told(stream, kind, id).map(({ state }) => state)

async function ok<T = { id: string }>(method: string, path: string, json?: object, token = stack.masterToken): Promise<T> {
  const answer = await stack.request(method, path, { token, ...(json && { json }) })
  assert.ok(answer.status < 300, `${path}: ${answer.text}`)
  return (answer.text === '' ? undefined : answer.json<T>()) as T
}

const CONFIGS = '/v2/storage/components/test.works/configs'

test('every kind of change is told with ids, the new state and the version, to its project only', async () => {
  const stream = await open()
  const other = await stack.newProject()
  const foreign = await open(other.masterToken)
  const { id } = await ok('POST', CONFIGS, { name: 'c', configuration: { secret: 'content' } })
  await ok('PUT', `${CONFIGS}/${id}`, { name: 'renamed' })
  await ok('POST', `${CONFIGS}/${id}/rows`, { name: 'row' })
  await ok('DELETE', `${CONFIGS}/${id}`)
  await until('the configuration is told about', () => told(stream, 'configuration', id).length === 4)
  assert.deepEqual(statesOf(stream, 'configuration', id), ['created', 'changed', 'changed', 'deleted'])
  const [created, renamed] = told(stream, 'configuration', id)
  assert.deepEqual([created!.version, renamed!.version, renamed!.componentId], [1, 2, 'test.works'])
  assert.deepEqual(Object.keys(created!), ['kind', 'id', 'state', 'version', 'branchId', 'componentId'])

  await ok('POST', '/v2/storage/buckets', { name: 'live', stage: 'in' })
  await ok('POST', '/v2/storage/buckets/in.c-live/tables', { name: 't', dataString: 'id\n1\n' })
  await ok('POST', '/v2/storage/tables/in.c-live.t/import', { dataString: 'id\n2\n' })
  await until('the load is told about', () => statesOf(stream, 'table', 'in.c-live.t').at(-1) === 'changed')
  assert.equal(statesOf(stream, 'table', 'in.c-live.t')[0], 'created')

  const file = await ok<{ id: number }>('POST', '/v2/storage/files/prepare', { name: 'f', federationToken: true })
  await ok('DELETE', `/v2/storage/files/${file.id}`)
  await until('the file is told about', () => statesOf(stream, 'file', file.id).join() === 'created,deleted')

  const target = await stack.configure('test.works', {})
  const schedule = await stack.configure('platform.scheduler', {
    schedule: { cronTab: '0 0 1 1 *', timezone: 'UTC', state: 'enabled' },
    target: { componentId: 'test.works', configurationId: target, mode: 'run' },
  })
  const active = await ok<{ id: string; nextExecutionTime: string }>('POST', '/scheduler/schedules', {
    configurationId: schedule,
  })
  await stack.platform.scheduler.loop.tick(new Date(active.nextExecutionTime))
  await ok('DELETE', `/scheduler/schedules/${active.id}`)
  await until('the schedule is told about', () => statesOf(stream, 'schedule', active.id).join() === 'active,fired,deleted')

  const flow = await stack.configure('platform.flow', {
    phases: [{ id: 'a', name: 'A' }],
    tasks: [{ id: 't', name: 't', phase: 'a', task: { type: 'job', componentId: 'test.works', configId: target } }],
  })
  const run = await stack.wait(await ok<Job>('POST', '/queue/jobs', { component: 'platform.flow', config: flow }))
  assert.equal(run.status, 'success')
  await until('the run is told about', () => statesOf(stream, 'job', run.id).at(-1) === 'success')
  assert.deepEqual(statesOf(stream, 'job', run.id), ['created', 'processing', 'success'])
  await until('the flow is told about', () => statesOf(stream, 'flow', run.id).at(-1) === 'success')
  const versions = told(stream, 'flow', run.id).map(({ version }) => Number(version))
  assert.deepEqual(
    versions,
    versions.toSorted((a, b) => a - b),
  )
  assert.ok(!JSON.stringify(stream.events).includes('content'))
  assert.deepEqual(
    foreign.events.map(({ event }) => event).filter((event) => event !== 'alive'),
    ['open'],
  )
})

test('a bucket that is deleted by force tells of each of its tables and their aliases', async () => {
  const stream = await open()
  await ok('POST', '/v2/storage/buckets', { name: 'going', stage: 'in' })
  await ok('POST', '/v2/storage/buckets', { name: 'staying', stage: 'in' })
  for (const name of ['a', 'b']) await ok('POST', '/v2/storage/buckets/in.c-going/tables', { name, dataString: 'id\n1\n' })
  await ok('POST', '/v2/storage/buckets/in.c-staying/table-aliases', { sourceTable: 'in.c-going.a', name: 'seen' })
  await ok('DELETE', '/v2/storage/buckets/in.c-going?force=1')
  for (const id of ['in.c-going.a', 'in.c-going.b', 'in.c-staying.seen'])
    await until(`${id} is told about`, () => statesOf(stream, 'table', id).at(-1) === 'deleted')
})

test('a client without a position gets what changed in the last seconds', async () => {
  const made = await ok('POST', CONFIGS, { name: 'just made' })
  const stream = await open(stack.masterToken, '?kinds=configuration&recentSeconds=60')
  await until('it is told about', () => told(stream, 'configuration', made.id).length === 1)
  const none = await open(stack.masterToken, '?kinds=configuration&recentSeconds=0')
  const later = await ok('POST', CONFIGS, { name: 'made later' })
  await until('it is told about', () => told(none, 'configuration', later.id).length === 1)
  assert.equal(told(none, 'configuration', made.id).length, 0)
})

test('a client that comes back gets what it missed, once, and only the kinds it asked for', async () => {
  const first = await open()
  const before = await ok('POST', CONFIGS, { name: 'before' })
  const seen = await until('it is told about', () => first.events.find(({ data }) => data.id === before.id))
  first.close()
  const missed: string[] = []
  for (let i = 0; i < 3; i++) missed.push((await ok('POST', CONFIGS, { name: `missed ${i}` })).id)
  await ok('POST', '/v2/storage/files/prepare', { name: 'f', federationToken: true })
  const again = await open(stack.masterToken, '?kinds=configuration,table', seen.id)
  const live = await ok('POST', CONFIGS, { name: 'live' })
  await until('the live one is told about', () => told(again, 'configuration', live.id).length > 0)
  assert.deepEqual(
    again.events.map(({ data }) => data.id),
    [...missed, live.id],
  )
  type Page = { lastEventId: string; isReset: boolean; changes: { id: string }[] }
  const page = await ok<Page>('GET', `/v2/storage/changes?kinds=configuration&since=${seen.id}`)
  assert.deepEqual([page.isReset, page.changes.map((change) => change.id)], [false, [...missed, live.id]])
  assert.deepEqual((await ok<Page>('GET', `/v2/storage/changes?since=${page.lastEventId}`)).changes, [])
  assert.deepEqual((await ok<Page>('GET', '/v2/storage/changes')).changes, [])
  assert.equal((await ok<Page>('GET', '/v2/storage/changes?since=0.1.1')).isReset, true)
  const [tx, id] = seen.id.split('.')
  const [reset] = await until('an old position is reset', async () => {
    const { events, close } = await open(stack.masterToken, '', `${tx}.${id}.1000`)
    await until('it answers', () => events.length > 0)
    close()
    return events
  })
  assert.equal(reset!.event, 'reset')
  const future = await open(stack.masterToken, '', `${tx}.${Number.MAX_SAFE_INTEGER}.${Date.now()}`)
  await until('a position of another database is reset', () => future.events[0]?.event === 'reset')
  assert.equal((await open(stack.masterToken, '', 'x')).status, 400)
  assert.equal((await open(stack.masterToken, '?kinds=job,weather')).status, 400)
  assert.equal((await open('1-1-wrong')).status, 401)
})

test('a token hears of what it may see, and its stream ends with it', async () => {
  await ok('POST', '/v2/storage/buckets', { name: 'mine', stage: 'in' })
  await ok('POST', '/v2/storage/buckets', { name: 'theirs', stage: 'in' })
  const limited = await ok<{ id: string; token: string }>('POST', '/v2/storage/tokens', {
    description: 'limited',
    bucketPermissions: { 'in.c-mine': 'read' },
    componentAccess: ['test.other'],
  })
  const stream = await open(limited.token)
  for (const bucket of ['in.c-theirs', 'in.c-mine'])
    await ok('POST', `/v2/storage/buckets/${bucket}/tables`, { name: 't', dataString: 'id\n1\n' })
  await ok('POST', CONFIGS, { name: 'not theirs' })
  await ok('POST', '/v2/storage/files/prepare', { name: 'of the master', federationToken: true })
  const own = await ok<{ id: number }>('POST', '/v2/storage/files/prepare', { name: 'own', federationToken: true }, limited.token)
  await until('its own file is told about', () => told(stream, 'file', own.id).length === 1)
  assert.deepEqual(new Set(stream.events.map(({ data }) => data.id ?? 'open')), new Set(['open', 'in.c-mine.t', String(own.id)]))
  assert.equal(stream.isOver(), false)
  await ok('DELETE', `/v2/storage/tokens/${limited.id}`)
  await until('the stream ends', () => stream.isOver())
  assert.equal((await open(limited.token)).status, 401)
})

test('fifty streams cost as many reads as one, and none when all have left', async () => {
  let reads = 0
  const row = (id: number): Change => ({
    ...{ tx: 0, id, projectId: 1, kind: 'job', objectId: String(id), state: 'created', version: null, createdAt: 0 },
    ...{ branchId: null, componentId: null, tokenId: null },
  })
  const rows: Change[] = [row(1)]
  const feed = createChangeFeed({
    store: {
      insert: async () => {},
      sweep: async () => {},
      endBefore: async () => ({ tx: 0, id: 0 }),
      end: async () => ({ tx: 0, id: rows.length }),
      listAfter: async ({ id }: Position) => {
        reads++
        return rows.slice(id)
      },
    },
    clock: { now: () => new Date(0) },
    canonicalId: (id) => id,
    onError: (error) => {
      throw error
    },
    lookMs: 5,
  })
  const written = Array.from({ length: 50 }, () => [] as string[])
  const leaves = []
  for (const texts of written) {
    const output = { open: () => {}, write: (text: string) => texts.push(text) > 0, end: () => {} }
    leaves.push(
      await feed.listen({ actor: masterActor(1), isStillAdmitted: async () => true, kinds: undefined, since: undefined, output }),
    )
  }
  reads = 0
  rows.push(row(2))
  await until('all have it', () => written.every((texts) => texts.length === 2))
  assert.ok(reads < 25, `${reads} reads for 50 streams`)
  for (const leave of leaves) leave()
  await feed.stop()
  reads = 0
  await until('some looks would have passed', () => new Promise((resolve) => setTimeout(() => resolve(true), 50)))
  assert.equal(reads, 0)
})
