// The tables of a run: the store on both databases, and metadata changed by the updates of the protocol.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { onBothDatabases } from '../../../../../tests/support/on-both-databases.ts'
import { newProjectRow } from '../../../../../tests/support/project-row.ts'
import type { RunTarget } from '../../../model/run-ports.ts'
import { applyUpdates, checkRunRequirements, newMetadata, targetSchema } from './run-metadata.ts'
import { createRunTablesStore, type RunTableRow } from './run-tables.store.ts'

const row = (name: string, more: Partial<RunTableRow> = {}): RunTableRow => ({
  name,
  folder: `tables/1/${name}/`,
  target: undefined,
  metadata: undefined,
  ...more,
})

await onBothDatabases('tables of runs', ({ db, inTransaction }) => {
  const store = createRunTablesStore(db)

  async function newOwner() {
    const projectId = await newProjectRow(db)
    const { rows } = await sql<{
      id: number
    }>`insert into token (project_id, hash, description, permissions, created_at, refreshed_at)
      values (${projectId}, ${crypto.randomUUID()}, '', '{}', 0, 0) returning id`.execute(db)
    return { projectId, tokenId: Number(rows[0]?.id) }
  }

  test('a table is changed only over what was read, seen by its token only, and goes with it', async () => {
    const [owner, other] = [await newOwner(), await newOwner()]
    const target: RunTarget = { typed: false, columns: [], nextFieldId: 2, folder: 'tables/1/x/' }
    await inTransaction((trx) => store.insert(trx, owner, [row(''), row('result-0', { target })], new Date(5)))
    assert.deepEqual(await store.find(owner, 'result-0'), row('result-0', { target }))
    assert.equal(await store.find(other, 'result-0'), undefined)
    assert.equal(await store.find({ ...owner, projectId: other.projectId }, 'result-0'), undefined)

    const replace = (before: RunTableRow, text: string) => inTransaction((trx) => store.replace(trx, owner, before, text))
    assert.equal(await replace(row('result-0'), '{"a":1}'), true)
    assert.equal(await replace(row('result-0'), '{"a":2}'), false, 'it was made meanwhile')
    assert.equal(await replace(row('result-0', { metadata: '{"a":1}' }), '{"a":3}'), true)
    assert.equal((await store.find(owner, 'result-0'))?.metadata, '{"a":3}')

    await inTransaction((trx) => store.insert(trx, other, [row('', {}), row('t')], new Date(50)))
    await inTransaction((trx) => store.removeBefore(trx, new Date(50)))
    assert.deepEqual([(await store.list(owner)).length, (await store.list(other)).length], [0, 2])
    await inTransaction((trx) => store.remove(trx, other, 't'))
    assert.deepEqual(await store.list(other), [row('')])
    await sql`delete from token where id = ${other.tokenId}`.execute(db)
    assert.deepEqual(await store.list(other), [])
  })
})

test('a result gets the ids and types of the table that takes it, and new columns the next ids', () => {
  const target: RunTarget = {
    typed: true,
    columns: [
      { fieldId: 2, name: 'id', type: 'INTEGER', nullable: true },
      { fieldId: 5, name: 'The_City', type: 'STRING', nullable: true },
    ],
    nextFieldId: 9,
    folder: 'f/',
  }
  const fields = (...names: string[]) => ({ fields: names.map((name) => ({ name })) })
  assert.deepEqual(targetSchema(target, fields('note', 'the city', 'ID')), {
    type: 'struct',
    fields: [
      { id: 9, name: 'note', required: false, type: 'string' },
      { id: 5, name: 'the city', required: false, type: 'string' },
      { id: 2, name: 'ID', required: false, type: 'long' },
    ],
  })
  assert.throws(() => targetSchema(target, fields('id', 'Id')), /two columns would both be stored as "id"/)
  assert.throws(() => targetSchema(target, {}), /no fields/)
})

test('commits change the metadata as the protocol says, with 63-bit ids; what does not hold is 409, what is not known 400', () => {
  const schema = { type: 'struct', fields: [{ id: 1, name: 'a', type: 'string', required: false }] }
  const made = newMetadata('u', 's3://b/f', schema, new Date(7))
  assert.deepEqual([made['current-schema-id'], made['last-column-id'], made['table-uuid']], [0, 1, 'u'])
  const id = 8317624359874612345n
  const snapshot = { 'snapshot-id': id, 'sequence-number': 1, 'timestamp-ms': 9, 'manifest-list': 'l' }
  const ref = { action: 'set-snapshot-ref', 'ref-name': 'main', type: 'branch', 'snapshot-id': id }
  const filled = applyUpdates(made, [{ action: 'add-snapshot', snapshot }, ref])
  assert.deepEqual(
    [filled['current-snapshot-id'], filled['last-sequence-number'], filled.refs],
    [id, 1, { main: { type: 'branch', 'snapshot-id': id } }],
  )
  const wider = { ...schema, 'schema-id': 1, fields: [...schema.fields, { id: 2, name: 'b', type: 'int', required: false }] }
  const widened = applyUpdates(filled, [
    { action: 'add-schema', schema: wider, 'last-column-id': 2 },
    { action: 'set-current-schema', 'schema-id': -1 },
    { action: 'set-properties', updates: { p: '1', q: '2' } },
    { action: 'remove-properties', removals: ['q'] },
    { action: 'remove-snapshot-ref', 'ref-name': 'main' },
    { action: 'remove-snapshots', 'snapshot-ids': [id] },
  ])
  assert.deepEqual([widened['current-schema-id'], widened['last-column-id'], widened.snapshots, widened.refs], [1, 2, [], {}])
  assert.equal('current-snapshot-id' in widened, false)
  assert.equal((widened.properties as Record<string, string>).p, '1')

  const checks = (requirement: object, current: typeof made | undefined = filled) =>
    checkRunRequirements([{ ...requirement }], current)
  checks({ type: 'assert-ref-snapshot-id', ref: 'main', 'snapshot-id': id })
  checks({ type: 'assert-ref-snapshot-id', ref: 'main', 'snapshot-id': null }, made)
  assert.throws(() => checks({ type: 'assert-ref-snapshot-id', ref: 'main', 'snapshot-id': id - 1n }), {
    code: 'iceberg.commitFailed',
  })
  assert.throws(() => checks({ type: 'assert-create' }), { code: 'iceberg.commitFailed' })
  assert.throws(() => checkRunRequirements([{ type: 'assert-table-uuid', uuid: 'u' }], undefined), {
    code: 'iceberg.commitFailed',
  })
  assert.throws(() => checks({ type: 'assert-nothing' }), { code: 'iceberg.commitRefused' })
  for (const update of [
    { action: 'set-location', location: 's3://elsewhere' },
    { action: 'upgrade-format-version', 'format-version': 3 },
    { action: 'set-current-schema', 'schema-id': 4 },
    { action: 'invented' },
  ])
    assert.throws(() => applyUpdates(filled, [update]), { code: 'iceberg.commitRefused' }, update.action)
})
