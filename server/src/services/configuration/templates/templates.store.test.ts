import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onBothDatabases } from '../../../../../tests/support/on-both-databases.ts'
import { newProjectRow } from '../../../../../tests/support/project-row.ts'
import { createTemplatesStore, type InstanceRecord } from './templates.store.ts'

const NOW = 1_800_000_000_000
const WEEK_MS = 7 * 86_400_000

await onBothDatabases('templates store', ({ db, inTransaction }) => {
  const store = createTemplatesStore(db)

  const instanceOf = (projectId: number, instanceId: string): InstanceRecord => ({
    projectId,
    branchId: 1,
    instanceId,
    name: 'Shop "one"',
    repository: 'millrace',
    templateId: 'shop',
    version: '1.0.0',
    steps: '[]',
    configurations: [{ id: 'a', componentId: 'c', configurationId: 'x', name: 'A' }],
    mainConfiguration: 'x',
    created: { at: NOW, tokenId: 7 },
    updated: { at: NOW, tokenId: 7 },
  })

  test('an instance is saved, changed, listed and removed in its project only', async () => {
    const [projectId, other] = [await newProjectRow(db), await newProjectRow(db)]
    const record = instanceOf(projectId, 'one')
    await inTransaction((trx) => store.save(trx, record))
    assert.deepEqual(await store.find(record), record)
    const changed = { ...record, name: 'Other', version: '2.0.0', updated: { at: NOW + 1, tokenId: 8 } }
    await inTransaction((trx) => store.save(trx, changed))
    assert.deepEqual(await store.find(record), changed)
    assert.equal(await store.find({ ...record, projectId: other }), undefined)
    assert.equal(await inTransaction((trx) => store.remove(trx, { ...record, projectId: other })), false)
    assert.equal(await inTransaction((trx) => store.remove(trx, record)), true)
    assert.equal(await store.find(record), undefined)
  })

  test('tasks of more than a week ago go when another is saved, those of other projects stay', async () => {
    const [projectId, other] = [await newProjectRow(db), await newProjectRow(db)]
    const save = (project: number, id: string, at: number) => inTransaction((trx) => store.saveTask(trx, project, id, { id }, at))
    await save(projectId, `old-${projectId}`, NOW - WEEK_MS - 1)
    await save(projectId, `week-${projectId}`, NOW - WEEK_MS)
    await save(other, `old-${other}`, NOW - WEEK_MS - 1)
    await save(projectId, `new-${projectId}`, NOW)
    assert.equal(await store.findTask(projectId, `old-${projectId}`), undefined)
    assert.deepEqual(await store.findTask(projectId, `week-${projectId}`), { id: `week-${projectId}` })
    assert.deepEqual(await store.findTask(projectId, `new-${projectId}`), { id: `new-${projectId}` })
    assert.deepEqual(await store.findTask(other, `old-${other}`), { id: `old-${other}` })
    assert.equal(await store.findTask(other, `new-${projectId}`), undefined)
  })
})
