import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { onBothDatabases } from '../../../../../tests/support/on-both-databases.ts'
import { emptySnapshot, type TableSnapshot } from '../../../engines/table-engine/snapshot.ts'
import { createTablesStore } from './tables.store.ts'

const NOW = new Date(Date.UTC(2026, 0, 31))
const later = (days: number) => new Date(NOW.getTime() + days * 86_400_000)

/** A state with so many rows in a file of this name. */
const state = (key: string, rows: number): TableSnapshot => ({
  ...emptySnapshot([{ name: 'id' }], { primaryKey: ['id'] }),
  segments: [{ key, rows, bytes: 10, fieldIds: [2], minLoadedAt: 0, maxLoadedAt: 0, deletes: null }],
})

await onBothDatabases('tables store', (metadata) => {
  const { db, inTransaction } = metadata
  const store = createTablesStore(db)
  let buckets = 0

  async function newTable() {
    const one = <T>(rows: readonly T[]): T => rows[0] ?? assert.fail('no row')
    const project = one(
      (await sql<{ id: number }>`insert into project (name, features, created_at) values ('p', '[]', 0) returning id`.execute(db))
        .rows,
    )
    const name = `c-${++buckets}`
    const bucket = one(
      (
        await sql<{
          id: number
        }>`insert into bucket (project_id, branch_id, bucket_id, name, stage, display_name, description, created_at)
          values (${project.id}, 1, ${`in.${name}`}, ${name}, 'in', ${name}, '', 0) returning id`.execute(db)
      ).rows,
    )
    const fields = { projectId: project.id, bucketKey: bucket.id, name: 't', displayName: 't', alias: undefined, createdAt: NOW }
    return inTransaction((trx) => store.insert(trx, fields, state('first', 1)))
  }

  test('a record says of columns, key, rows and bytes what its current state says', async () => {
    const made = await newTable()
    assert.deepEqual([made.columns, made.primaryKey, made.rowsCount, made.sizeBytes], [['id'], ['id'], 1, 10])
    const changed = await inTransaction((trx) =>
      store.publish(trx, made, state('second', 5), later(1), { imported: true, changed: true }),
    )
    assert.deepEqual([changed?.rowsCount, changed?.lastImportAt, changed?.lastChangeAt], [5, later(1), later(1)])
    assert.equal((await store.findState(changed?.snapshotId ?? 0))?.snapshot.segments[0]?.key, 'second')
    assert.equal((await store.findStateAt(made.key, later(0.5)))?.snapshot.segments[0]?.key, 'first')
    assert.equal(await store.findStateAt(made.key, later(-1)), undefined)
  })

  test('a state that another program committed is known by its request, and keeps its 63-bit number', async () => {
    const made = await newTable()
    const commit = { snapshotId: '8317624359874612345', digest: 'abc' }
    assert.equal(await store.hasCommit(made.key, 'abc'), false)
    const what = { onlyOver: made.snapshotId ?? 0, commit }
    const published = await inTransaction((trx) => store.publish(trx, made, state('theirs', 2), later(1), what))
    assert.ok(published)
    assert.equal(await store.hasCommit(made.key, 'abc'), true)
    assert.equal(await store.hasCommit(made.key + 1, 'abc'), false)
    const states = await store.listStates(made.projectId, made.key)
    assert.deepEqual(
      states.map(({ snapshotId }) => snapshotId),
      [null, '8317624359874612345'],
    )
    assert.equal(await inTransaction((trx) => store.publish(trx, made, state('late', 3), later(2), what)), undefined)
  })

  test('a compaction of an older state changes nothing and leaves nothing behind', async () => {
    const made = await newTable()
    await inTransaction((trx) => store.publish(trx, made, state('load', 2), later(1), { changed: true }))
    const late = await inTransaction((trx) =>
      store.publish(trx, made, state('compacted', 1), later(2), { onlyOver: made.snapshotId ?? 0 }),
    )
    assert.equal(late, undefined)
    assert.equal((await store.findByKey(made.key))?.rowsCount, 2)
    assert.equal((await store.findStateAt(made.key, later(9)))?.snapshot.segments[0]?.key, 'load')
  })

  test('rows are the same only if every state in between is there and rewrote files alone', async () => {
    const made = await newTable()
    const publish = (name: string, day: number, what: object) =>
      inTransaction((trx) => store.publish(trx, made, state(name, 1), later(day), what))
    const first = made.snapshotId!
    const tidied = (await publish('tidied', 1, { isTidying: true }))!.snapshotId!
    const loaded = (await publish('loaded', 2, { changed: true }))!.snapshotId!
    const last = (await publish('tidied again', 3, { isTidying: true }))!.snapshotId!
    const isTidied = (from: number, to: number) => store.isTidied(made, from, to)
    const asked = async () => [await isTidied(first, tidied), await isTidied(loaded, last), await isTidied(first, last)]
    assert.deepEqual(await asked(), [true, true, false])
    await inTransaction((trx) => store.forgetSnapshotsBefore(trx, later(99)))
    assert.equal(await isTidied(first, last), false)
  })

  test('publishing to a table that was dropped finds nothing', async () => {
    const made = await newTable()
    await inTransaction((trx) => store.remove(trx, [made.key]))
    assert.equal(await inTransaction((trx) => store.publish(trx, made, state('x', 1), later(1), {})), undefined)
    assert.equal(await store.findStateAt(made.key, later(9)), undefined)
  })

  test('old states are forgotten, but not the current one nor the last before the limit', async () => {
    const made = await newTable()
    for (const day of [1, 2, 3])
      await inTransaction((trx) => store.publish(trx, made, state(`day ${day}`, day), later(day), { changed: true }))
    await inTransaction((trx) => store.forgetSnapshotsBefore(trx, later(2.5)))
    const at = async (day: number) => (await store.findStateAt(made.key, later(day)))?.snapshot.segments[0]?.key
    assert.deepEqual([await at(0.5), await at(1.5), await at(2.2), await at(3)], [undefined, undefined, 'day 2', 'day 3'])
    await inTransaction((trx) => store.forgetSnapshotsBefore(trx, later(99)))
    assert.equal(await at(3), 'day 3')
  })

  test('two tables of a bucket exchange names and keep what they hold', async () => {
    const a = await newTable()
    const b = await inTransaction((trx) => store.insert(trx, { ...a, name: 'u', displayName: 'U' }, state('other', 7)))
    await inTransaction((trx) => store.swap(trx, a, b))
    const [t, u] = [await store.find(a.bucketKey, 't'), await store.find(a.bucketKey, 'u')]
    assert.deepEqual([t?.key, t?.rowsCount, u?.key, u?.displayName], [b.key, 7, a.key, 'U'])
  })
})
