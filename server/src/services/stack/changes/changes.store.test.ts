import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onBothDatabases } from '../../../../../tests/support/on-both-databases.ts'
import { until } from '../../../../../tests/support/until.ts'
import type { NewChange } from '../../../model/change.ts'
import { type Change, createChangesStore, type Position } from './changes.store.ts'

const change = (objectId: string): NewChange => ({
  projectId: 1,
  kind: 'table',
  objectId,
  state: 'changed',
  version: 7,
  branchId: 2,
  componentId: null,
  tokenId: 3,
})

await onBothDatabases('changes store', ({ db, inTransaction }) => {
  const store = createChangesStore(db)
  const write = (objectId: string, at = 5) => inTransaction((trx) => store.insert(trx, [change(objectId)], at))
  const idsAfter = async (position: Position) => (await store.listAfter(position, 100)).map(({ objectId }) => objectId)
  const visible = (position: Position, ids: readonly string[]) =>
    until(`${ids} are visible`, async () => (await idsAfter(position)).join() === ids.join())

  test('changes come back whole and in order, after any of them and after the end of the log', async () => {
    const before = await store.end()
    for (const id of ['a', 'b', 'c']) await write(id)
    await visible(before, ['a', 'b', 'c'])
    const [first] = await store.listAfter(before, 1)
    const { id, tx, createdAt, ...whole } = first as Change
    assert.deepEqual([whole, createdAt], [change('a'), 5])
    assert.deepEqual(await idsAfter({ id, tx }), ['b', 'c'])
    const end = await store.end()
    assert.deepEqual(await idsAfter(end), [])
    await write('d')
    await visible(end, ['d'])
  })

  test('a reader misses nothing of transactions that overlap, whichever commits first', async () => {
    const begin = await store.end()
    const { promise: released, resolve: release } = Promise.withResolvers<void>()
    const { promise: isOpen, resolve: opened } = Promise.withResolvers<void>()
    const slow = inTransaction(async (trx) => {
      await store.insert(trx, [change('slow')], 5)
      opened()
      await released
    })
    await isOpen
    const quick = write('quick') // SQLite has one writer: it waits there
    const seen: string[] = []
    let position = begin
    const read = async () => {
      for (const one of await store.listAfter(position, 100)) {
        seen.push(one.objectId)
        position = one
      }
    }
    for (let i = 0; i < 20; i++) await read()
    release()
    await Promise.all([slow, quick])
    await until('both were read', async () => {
      await read()
      return seen.length >= 2
    })
    assert.deepEqual(seen.toSorted(), ['quick', 'slow'])
  })

  test('old changes are swept, and the numbers of later ones still follow', async () => {
    await write('old', 100)
    await write('newest', 100)
    // A transaction of another test on the same server may be open, and the end of the log lies before it.
    await until('newest is visible', async () => (await idsAfter({ tx: 0, id: 0 })).at(-1) === 'newest')
    const end = await store.end()
    await store.sweep(1000)
    assert.deepEqual(await idsAfter({ tx: 0, id: 0 }), ['newest'])
    await write('later', 2000)
    await visible(end, ['later'])
    await store.sweep(1000)
    assert.deepEqual(await idsAfter({ tx: 0, id: 0 }), ['later'])
  })

  test('thousands of changes of one transaction come back in their order', async () => {
    const before = await store.end()
    const ids = Array.from({ length: 4_000 }, (_, at) => `many-${at}`)
    await inTransaction((trx) => store.insert(trx, ids.map(change), 6))
    await until('they are visible', async () => (await store.listAfter(before, 1)).length === 1)
    assert.deepEqual(
      (await store.listAfter(before, 5_000)).map(({ objectId }) => objectId),
      ids,
    )
    await inTransaction((trx) => store.insert(trx, [], 6))
    assert.equal((await store.listAfter(before, 5_000)).length, ids.length)
  })
})
