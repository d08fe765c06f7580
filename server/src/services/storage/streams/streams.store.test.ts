import assert from 'node:assert/strict'
import { test } from 'node:test'
import { masterActor } from '../../../../../tests/support/master-actor.ts'
import { onBothDatabases } from '../../../../../tests/support/on-both-databases.ts'
import { newProjectRow } from '../../../../../tests/support/project-row.ts'
import { isUniqueViolation } from '../../../engines/metadata-db/dialects.ts'
import { createStreamsStore, type Sink, type Source } from './streams.store.ts'

const NOW = new Date(1_800_000_000_000)

await onBothDatabases('streams store', ({ db, inTransaction }) => {
  const newProject = () => newProjectRow(db)
  const store = createStreamsStore(db)

  async function newSource(): Promise<Source> {
    const projectId = await newProject()
    return inTransaction((trx) =>
      store.insertSource(trx, {
        projectId,
        branchId: 1,
        sourceId: 'shop',
        type: 'http',
        name: 'Shop',
        description: '',
        secretHash: 'hash',
        secret: 'cipher',
        isDisabled: false,
        limits: { records: 1, bytes: 2, ageMs: 3 },
        version: 1,
        createdAt: NOW,
        updatedAt: NOW,
        creator: { tokenId: 1, description: 'me' },
      }),
    )
  }
  const newSink = (source: Source, sinkId = 'orders'): Promise<Sink> =>
    inTransaction((trx) =>
      store.insertSink(trx, {
        projectId: source.projectId,
        sourceKey: source.key,
        sinkId,
        name: 'Orders',
        description: '',
        tableId: 'in.c-shop.orders',
        columns: [{ type: 'body', name: 'body' }],
        isDisabled: false,
        actor: masterActor(source.projectId),
        recordsCount: 0,
        lastLoadedAt: undefined,
        lastError: undefined,
        version: 1,
        createdAt: NOW,
        updatedAt: NOW,
      }),
    )

  test('a source comes back as it was written, is changed over its version only, and is unique in its branch', async () => {
    const source = await newSource()
    assert.deepEqual(await store.findSource(source.projectId, 'shop'), source)
    assert.deepEqual(await store.findSource(source.projectId, 'shop', 1), source)
    assert.equal(await store.findSource(source.projectId, 'shop', 2), undefined)
    assert.equal(await store.findSource(await newProject(), 'shop'), undefined)
    assert.deepEqual(await store.listSources(source.projectId, 1), [source])
    const after = { ...source, name: 'Other', isDisabled: true, version: 2 }
    assert.equal(await inTransaction((trx) => store.updateSource(trx, source, after)), true)
    assert.equal(await inTransaction((trx) => store.updateSource(trx, source, after)), false)
    assert.deepEqual(await store.findSourceByKey(source.key), after)
    await assert.rejects(
      inTransaction((trx) => store.insertSource(trx, source)),
      (error) => isUniqueViolation(error),
    )
  })

  test('a segment is loaded into a sink once, and what is known of it goes with the segment, the sink or the source', async () => {
    const source = await newSource()
    const [first, second] = [await newSink(source, 'a'), await newSink(source, 'b')]
    const load = (sink: Sink, segment: string) => inTransaction((trx) => store.recordLoad(trx, sink, segment, 5, 7))
    const segment = `segment-${source.key}`
    await store.recordFailure(first, 'The table is gone.')
    assert.equal((await store.listSinks(source.projectId, source.key))[0]!.lastError, 'The table is gone.')
    await load(first, segment)
    await assert.rejects(load(first, segment), (error) => isUniqueViolation(error))
    await load(second, segment)
    assert.equal(await store.isLoaded(first.key, segment), true)
    const [loaded] = await store.listSinks(source.projectId, source.key)
    assert.deepEqual([loaded!.recordsCount, loaded!.lastLoadedAt, loaded!.lastError], [5, new Date(7), undefined])
    await inTransaction((trx) => store.removeSink(trx, first))
    assert.equal(await store.isLoaded(first.key, segment), false)
    await store.forgetLoads(segment)
    assert.equal(await store.isLoaded(second.key, segment), false)
    await load(second, segment)
    assert.equal(await inTransaction((trx) => store.removeSource(trx, source)), true)
    assert.equal(await store.isLoaded(second.key, segment), false)
    assert.deepEqual(await store.listSinks(source.projectId, source.key), [])
  })

  test('sinks of a table follow a renamed column, and a batch with the columns of before is not counted', async () => {
    const source = await newSource()
    const [sink, other] = [await newSink(source, 'a'), await newSink(await newSource(), 'a')]
    const rename = (branchId: number, tableId: string, from: string) =>
      inTransaction((trx) => store.renameColumn(trx, source.projectId, { branchId, tableId, from, to: 'text' }))
    await rename(2, sink.tableId, 'body')
    await rename(1, 'in.c-shop.other', 'body')
    await rename(1, sink.tableId, 'id')
    assert.deepEqual(await store.listSinks(source.projectId, source.key), [sink])
    await rename(1, sink.tableId, 'Body')
    const [after] = await store.listSinks(source.projectId, source.key)
    assert.deepEqual(after, { ...sink, columns: [{ type: 'body', name: 'text' }], version: 2 })
    assert.deepEqual(await store.listSinks(other.projectId, other.sourceKey), [other])
    const isCounted = (one: Sink) => inTransaction((trx) => store.recordLoad(trx, one, `renamed-${one.version}`, 5, 7))
    assert.equal(await isCounted(sink), false)
    assert.equal(await isCounted(after!), true)

    const two = [
      { type: 'body', name: 'text' },
      { type: 'uuid', name: 'id' },
    ] as const
    await inTransaction((trx) => store.updateSink(trx, after!, { ...after!, columns: two, version: 3 }))
    await rename(1, sink.tableId, 'id')
    assert.deepEqual((await store.listSinks(source.projectId, source.key))[0]?.columns, two, 'it sends that name already')
  })

  test('tasks are answered to their project for a day', async () => {
    const projectId = await newProject()
    const put = (id: string, now: number) => inTransaction((trx) => store.insertTask(trx, projectId, id, `{"id":"${id}"}`, now))
    await put(`${projectId}/old`, 1)
    assert.equal(await store.findTask(projectId, `${projectId}/old`), `{"id":"${projectId}/old"}`)
    assert.equal(await store.findTask(await newProject(), `${projectId}/old`), undefined)
    await put(`${projectId}/new`, 86_400_002)
    assert.equal(await store.findTask(projectId, `${projectId}/old`), undefined)
  })
})
