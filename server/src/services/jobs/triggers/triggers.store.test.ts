import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onBothDatabases } from '../../../../../tests/support/on-both-databases.ts'
import { newProjectRow } from '../../../../../tests/support/project-row.ts'
import { createTriggersStore } from './triggers.store.ts'

await onBothDatabases('triggers store', ({ db, inTransaction }) => {
  const store = createTriggersStore(db)

  test('a trigger is found, changed and removed in its own project only', async () => {
    const [projectId, other] = [await newProjectRow(db), await newProjectRow(db)]
    const trigger = await inTransaction((trx) =>
      store.insert(trx, {
        projectId,
        tokenId: 7,
        component: 'keboola.ex-generic-v2',
        configurationId: 'shop',
        coolDownMinutes: 5,
        seen: [],
        creatorToken: { id: 7, description: 'creator' },
        lastRunAt: new Date(1_800_000_000_000),
      }),
    )
    const later = { ...trigger, lastRunAt: new Date(1_800_000_060_000) }
    assert.equal(await store.findOfToken(other, 7), undefined)
    assert.equal(await inTransaction((trx) => store.replace(trx, { ...trigger, projectId: other }, later)), false)
    assert.equal(await inTransaction((trx) => store.remove(trx, other, trigger.id)), false)

    assert.deepEqual(await store.findOfToken(projectId, 7), trigger)
    assert.equal(await inTransaction((trx) => store.replace(trx, trigger, later)), true)
    assert.equal(await inTransaction((trx) => store.replace(trx, trigger, later)), false, 'it has run since it was read')
    assert.equal(await inTransaction((trx) => store.remove(trx, projectId, trigger.id)), true)
  })
})
