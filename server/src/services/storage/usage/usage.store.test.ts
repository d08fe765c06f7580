import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onBothDatabases } from '../../../../../tests/support/on-both-databases.ts'
import { newProjectRow } from '../../../../../tests/support/project-row.ts'
import { createUsageStore } from './usage.store.ts'
import { createUsage } from './usage.ts'

await onBothDatabases('usage store', ({ db, inTransaction }) => {
  const store = createUsageStore(db)

  test('counters add up by day and owner, and projects do not see each other', async () => {
    const [one, other] = [await newProjectRow(db), await newProjectRow(db)]
    const owner = { projectId: one, componentId: 'c', configurationId: '' }
    await inTransaction(async (trx) => {
      await store.add(trx, owner, '2026-01-01', { jobs: 1, job_ms: 1500.4 })
      await store.add(trx, owner, '2026-01-01', { jobs: 1, rows_in: 5, byte_seconds: 4e15 })
      await store.add(trx, owner, '2026-01-02', { jobs: 1 })
      await store.add(trx, { ...owner, projectId: other }, '2026-01-01', { jobs: 7 })
    })
    const days = await store.list(one, { from: '2026-01-01', to: '2026-01-01' })
    assert.deepEqual(
      days.map(({ jobs, job_ms, rows_in, byte_seconds }) => ({ jobs, job_ms, rows_in, byte_seconds })),
      [{ jobs: 2, job_ms: 1500, rows_in: 5, byte_seconds: 4e15 }],
    )
    assert.equal(await inTransaction((trx) => store.rowsOfDay(trx, other, '2026-01-01')), 0)
    const totals = await store.totals()
    assert.equal(totals.find(({ projectId }) => projectId === one)!.jobs, 3)
  })

  test('limits are set, replaced and taken away', async () => {
    const project = await newProjectRow(db)
    await inTransaction(async (trx) => {
      await store.setLimit(trx, project, 'storage.maxFiles', 3)
      await store.setLimit(trx, project, 'storage.maxFiles', 4)
      await store.setLimit(trx, project, 'components.jobsParallelism', 2)
    })
    assert.deepEqual(
      [...(await store.limits(db, project))],
      [
        ['components.jobsParallelism', 2],
        ['storage.maxFiles', 4],
      ],
    )
    assert.equal((await store.limitsNamed(db, 'components.jobsParallelism')).get(project), 2)
    await inTransaction((trx) => store.setLimit(trx, project, 'storage.maxFiles', undefined))
    assert.deepEqual([...(await store.limits(db, project)).keys()], ['components.jobsParallelism'])
  })

  test('the time of many queries is stored in one transaction, and kept when that fails', async () => {
    const project = await newProjectRow(db)
    let transactions = 0
    let isBroken = true
    const usage = createUsage({
      db,
      inTransaction: (work) => {
        transactions++
        return isBroken ? Promise.reject(new Error('the disk is full')) : inTransaction(work)
      },
      clock: { now: () => new Date('2026-01-01T12:00:00Z') },
      recordEvent: async () => {},
      storedBy: async () => ({ bytes: 0, files: 0 }),
      listProjectIds: async () => [],
      findJob: async () => undefined,
    })
    for (let i = 0; i < 50; i++) usage.queryEnded(project, null, 2)
    await assert.rejects(usage.storeQueries(), /disk is full/)
    isBroken = false
    usage.queryEnded(project, null, 1)
    await usage.storeQueries()
    await usage.storeQueries()
    assert.equal(transactions, 2)
    const [day] = await store.list(project, { from: '2026-01-01', to: '2026-01-01' })
    assert.equal(day!.sql_ms, 101)
  })
})
