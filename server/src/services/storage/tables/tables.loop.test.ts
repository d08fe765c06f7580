import assert from 'node:assert/strict'
import { test } from 'node:test'
import { tableClient } from '../../../../../tests/support/clients/table-client.ts'
import { shareTestStack, startTestStack, type TestStack } from '../../../../../tests/support/test-stack.ts'
import { PlatformError } from '../../../kit/errors.ts'
import { createTablesLoop } from './tables.loop.ts'

const startProject = shareTestStack()

const DAY_MS = 86_400_000

const objectsOf = async ({ platform, projectId }: TestStack): Promise<string[]> =>
  (await platform.objects.store.list({ prefix: `tables/${projectId}/` })).objects.map((object) => object.key)

test('many small loads are compacted into one file; the rows, their order and their load times stay', async () => {
  const stack = await startProject()
  const { bucket, create, load, exported } = tableClient(stack)
  const { parts, engine, loop: own } = stack.platform.tables
  await own.stop() // it would do the same at a time of its own
  await bucket()
  await create('in.c-main', 't', 'id\n0\n')
  for (let i = 1; i <= 9; i++) await load('in.c-main.t', `id\n${i}\n`, { incremental: true })
  const before = await exported('in.c-main.t', { includeInternalTimestamp: true })
  const { inTransaction, clock } = parts
  const log = { info() {}, warn() {}, error() {} }
  const loop = createTablesLoop({ parts, engine, objects: stack.platform.objects.store, inTransaction, clock, log })
  const segments = async () => {
    const row = (await parts.store.listToCompact(10))[0] ?? (await parts.store.findByKey(1))
    return row?.snapshotId === undefined ? 0 : ((await parts.store.findState(row.snapshotId))?.snapshot.segments.length ?? 0)
  }
  const many = await segments()
  assert.ok(many > 8, String(many))
  await loop.tick(new Date())
  assert.equal((await parts.store.listToCompact(10)).length, 0)
  assert.ok((await segments()) < many)
  assert.equal(await exported('in.c-main.t', { includeInternalTimestamp: true }), before)
})

test('a table that cannot be compacted is not tried over and over: after the next load, or at once when it failed in passing', async () => {
  const stack = await startProject()
  const { bucket, create, load } = tableClient(stack)
  const { parts, loop: own } = stack.platform.tables
  await own.stop()
  await bucket()
  await create('in.c-main', 't', 'id\n0\n')
  for (let i = 1; i <= 9; i++) await load('in.c-main.t', `id\n${i}\n`, { incremental: true })
  let tries = 0
  let error: PlatformError = new PlatformError('tableEngine.workerDied', { reason: 'test' })
  const { inTransaction, clock } = parts
  const log = { info() {}, warn() {}, error() {} }
  const compact = () => {
    tries++
    return Promise.reject(error)
  }
  const loop = createTablesLoop({ parts, engine: { compact }, objects: stack.platform.objects.store, inTransaction, clock, log })
  for (let i = 0; i < 3; i++) await loop.tick(clock.now())
  assert.equal(tries, 3, 'a worker that died is no reason to give up')
  error = new PlatformError('tableEngine.outOfMemory', { limit: 1 })
  for (let i = 0; i < 3; i++) await loop.tick(clock.now())
  assert.equal(tries, 4)
  await load('in.c-main.t', 'id\n10\n', { incremental: true })
  await loop.tick(clock.now())
  assert.equal(tries, 5)
})

test('a table that is loaded all the time is tidied by its loads, and compactions in vain are not repeated at once', async () => {
  const stack = await startProject()
  const { bucket, create, load, exported } = tableClient(stack)
  const { parts, loop: own, engine } = stack.platform.tables
  await own.stop()
  await bucket()
  await create('in.c-main', 't', 'id\n0\n')
  let max = 0
  const count = async () => {
    const row = await parts.store.findByKey(1)
    return (await parts.store.findState(row?.snapshotId ?? 0))?.snapshot.segments.length ?? 0
  }
  for (let i = 1; i <= 40; i++) {
    await load('in.c-main.t', `id\n${i}\n`, { incremental: true })
    max = Math.max(max, await count())
  }
  assert.ok(max <= 33, `${max} segments`)
  assert.equal((await exported('in.c-main.t')).split('\n').length, 42)

  let tries = 0
  let nowMs = Date.now()
  const clock = { now: () => new Date(nowMs) }
  const compact: typeof engine.compact = async (request, run) => {
    tries++
    nowMs += 1000
    const after = await engine.compact({ ...request, force: true }, run)
    await load('in.c-main.t', `id\n${100 + tries}\n`, { incremental: true })
    return after
  }
  const log = { info() {}, warn() {}, error() {} }
  const { inTransaction } = parts
  const loop = createTablesLoop({ parts, engine: { compact }, objects: stack.platform.objects.store, inTransaction, clock, log })
  for (let i = 0; i < 5; i++) await loop.tick(clock.now())
  assert.equal(tries, 1)
  nowMs += 11_000
  await loop.tick(clock.now())
  assert.equal(tries, 2)
})

test('a project in which nothing has changed is looked at once a day, and others when their tables have changed', async () => {
  const [one, other] = [await startProject(), await startProject()]
  for (const stack of [one, other]) {
    const { bucket, create } = tableClient(stack)
    await bucket()
    await create('in.c-main', 't', 'id\n0\n')
    await create('in.c-main', 'u', 'id\n0\n')
  }
  const { parts, engine, loop: own } = one.platform.tables
  await own.stop()
  const looked: number[] = []
  const store: typeof parts.store = {
    ...parts.store,
    everySnapshot: (projectId) => {
      if ([one.projectId, other.projectId].includes(projectId)) looked.push(projectId)
      return parts.store.everySnapshot(projectId)
    },
  }
  const { inTransaction, clock } = parts
  const log = { info() {}, warn() {}, error() {} }
  const objects = one.platform.objects.store
  const loop = createTablesLoop({ parts: { ...parts, store }, engine, objects, inTransaction, clock, log })
  const started = Date.now() + 2 * DAY_MS
  const lookedAfter = async (hours: number) => {
    looked.length = 0
    await loop.sweep(new Date(started + hours * 3_600_000))
    return looked.toSorted((a, b) => a - b)
  }
  const both = [one.projectId, other.projectId].toSorted((a, b) => a - b)
  assert.deepEqual(await lookedAfter(0), both)
  assert.deepEqual(await lookedAfter(0.5), [])
  await one.request('DELETE', '/v2/storage/tables/in.c-main.t')
  assert.deepEqual(await lookedAfter(0.6), [one.projectId])
  assert.deepEqual(await lookedAfter(0.7), [one.projectId], 'what may have to go is looked at until it is gone')
  const left = (await objectsOf(one)).length
  assert.ok((await lookedAfter(2)).includes(one.projectId))
  assert.equal((await objectsOf(one)).length, left - 1)
  assert.deepEqual(await lookedAfter(30), both)
})

test('a state never names files of another project, which the sweep of that project would remove', async () => {
  const { platform, projectId } = await startProject()
  const { store, inTransaction } = platform.tables.parts
  const segment = { rows: 1, bytes: 1, fieldIds: [2], minLoadedAt: 1, maxLoadedAt: 1, deletes: null }
  const columns = [{ fieldId: 2, name: 'id', type: 'STRING' as const, nullable: false }]
  const segments = [{ ...segment, key: `tables/${projectId + 1}/1/x.parquet` }]
  const state = { typed: false, columns, primaryKey: [], nextFieldId: 3, segments }
  const insert = inTransaction((trx) => store.insertState(trx, { projectId, key: 1 }, state, new Date()))
  await assert.rejects(insert, /a file of another project/)
})

test('old states are forgotten, and files no state needs are swept; nothing else is', async (t) => {
  let nowMs = Date.now()
  const stack = await startTestStack(t, { clock: { now: () => new Date(nowMs) } })
  const { bucket, create, rows, succeed } = tableClient(stack)
  // Data in the request itself: the AWS SDK would not upload to a store whose clock is a month ahead.
  const load = async (id: string, dataString: string) => {
    const answer = await stack.request('POST', `/v2/storage/tables/${id}/import`, { form: { dataString } })
    assert.equal(answer.status, 200, answer.text)
  }
  const { loop } = stack.platform.tables
  await bucket()
  await create('in.c-main', 't', 'id\n1\n')
  await create('in.c-main', 'kept', 'id\n5\n')
  await succeed(await stack.request('POST', '/v2/storage/tables/in.c-main.kept/snapshots', { json: {} }))
  await load('in.c-main.t', 'id\n2\n')
  await load('in.c-main.kept', 'id\n6\n')
  assert.equal((await objectsOf(stack)).length, 4)

  const tickTwice = async () => {
    for (let i = 0; i < 2; i++) {
      nowMs += 2 * 3_600_000
      await loop.tick(new Date(nowMs))
    }
  }
  await tickTwice()
  assert.equal((await objectsOf(stack)).length, 4, 'nothing is old yet')
  nowMs += 2 * DAY_MS
  await tickTwice()
  assert.equal((await objectsOf(stack)).length, 4, 'a state within the retention can be travelled to')
  nowMs += 30 * DAY_MS
  await load('in.c-main.t', 'id\n3\n')
  nowMs += 30 * DAY_MS
  await tickTwice()
  // Left: the present state of both tables, the last state before the retention began, and what the snapshot keeps.
  const past = await stack.request('POST', '/v2/storage/buckets/in.c-main/tables-async', {
    json: { name: 'past', sourceTableId: 'in.c-main.t', timestamp: Math.floor(nowMs / 1000) - 40 * 86_400 },
  })
  assert.equal(past.status, 400, 'too long ago')
  assert.deepEqual([await rows('in.c-main.t'), await rows('in.c-main.kept')], [[['3']], [['6']]])
  const left = await objectsOf(stack)
  assert.equal(left.length, 3, left.join('\n'))

  await stack.request('DELETE', '/v2/storage/tables/in.c-main.t')
  nowMs += 2 * DAY_MS
  for (let i = 0; i < 2; i++) {
    await loop.sweep(new Date(nowMs))
    nowMs += 3_600_000
  }
  assert.equal((await objectsOf(stack)).length, 3, 'credentials of an hour could still read the file of the dropped table')
  await tickTwice()
  assert.equal((await objectsOf(stack)).length, 2, 'the snapshot and the table that is left')
})
