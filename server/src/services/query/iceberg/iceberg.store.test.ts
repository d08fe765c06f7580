import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { onBothDatabases } from '../../../../../tests/support/on-both-databases.ts'
import { newProjectRow } from '../../../../../tests/support/project-row.ts'
import { createIcebergStore, type StoredManifest, type WrittenSnapshot } from './iceberg.store.ts'

const snapshot = (state: number): WrittenSnapshot => ({
  state,
  listKey: `list-${state}`,
  metadataKey: undefined,
  schemaId: 0,
  summary: { operation: 'overwrite' },
  outside: ['tables/1/new-1/'],
})
const manifest = (key: string): StoredManifest => ({
  key,
  path: `s3://b/${key}`,
  bytes: 5,
  content: 'data',
  sequence: 1,
  minSequence: 1,
  addedFiles: 1,
  addedRows: 10,
  existingFiles: 0,
  existingRows: 0,
  files: { a: 1 },
})
const all = (keys: AsyncIterable<string>): Promise<string[]> => Array.fromAsync(keys)

await onBothDatabases('iceberg store', ({ db, inTransaction }) => {
  const store = createIcebergStore(db)
  const newState = async (projectId: number, table: number): Promise<number> => {
    const { rows } = await sql<{ id: number }>`
      insert into table_state (project_id, data_table, value, created_at) values (${projectId}, ${table}, '{}', 0) returning id`.execute(
      db,
    )
    return Number(rows[0]?.id)
  }

  test('snapshots come back as they were written, share manifests, and go with their state', async () => {
    const table = { projectId: await newProjectRow(db), key: 7 }
    const [one, two, unfit] = [
      await newState(table.projectId, 7),
      await newState(table.projectId, 7),
      await newState(table.projectId, 7),
    ]
    const first = await inTransaction((trx) => store.insertSnapshot(trx, table, snapshot(one), [], [manifest('m1')]))
    await inTransaction((trx) => store.insertSnapshot(trx, table, snapshot(two), first, [manifest('m2')]))
    await inTransaction((trx) => store.insertUnfit(trx, table, unfit))
    await inTransaction((trx) => store.setMetadataKey(trx, table, two, 'json'))
    await inTransaction((trx) => store.setMetadataKey(trx, table, two, 'another'))
    const { written, seen } = await store.listSnapshots(table)
    assert.deepEqual(written, [snapshot(one), { ...snapshot(two), metadataKey: 'json' }])
    assert.deepEqual(seen, new Set([one, two, unfit]))
    assert.deepEqual(
      (await store.listManifests(table, two)).map(({ key, files, addedRows }) => [key, files, addedRows]),
      [
        ['m1', { a: 1 }, 10],
        ['m2', { a: 1 }, 10],
      ],
    )
    assert.deepEqual(
      (await all(store.everyKey(table.projectId))).sort(),
      [`list-${one}`, `list-${two}`, 'json', 'm1', 'm2'].sort(),
    )

    await sql`delete from table_state where id = ${two}`.execute(db)
    await inTransaction(store.removeUnused)
    assert.deepEqual((await all(store.everyKey(table.projectId))).sort(), [`list-${one}`, 'm1'])
    await sql`delete from table_state where id = ${one}`.execute(db)
    await inTransaction(store.removeUnused)
    assert.deepEqual(await all(store.everyKey(table.projectId)), [])
  })

  test('nothing of a table is shown to another project', async () => {
    const table = { projectId: await newProjectRow(db), key: 8 }
    const id = await newState(table.projectId, 8)
    await inTransaction((trx) => store.insertSnapshot(trx, table, snapshot(id), [], [manifest('m')]))
    await inTransaction((trx) => store.insertSchema(trx, table, { type: 'struct', 'schema-id': 0, fields: [] }))
    const stranger = { projectId: await newProjectRow(db), key: 8 }
    assert.deepEqual((await store.listSnapshots(stranger)).written, [])
    assert.deepEqual(await store.listManifests(stranger, id), [])
    assert.deepEqual(await store.listSchemas(stranger), [])
    assert.equal((await store.listSchemas(table)).length, 1)
  })
})
