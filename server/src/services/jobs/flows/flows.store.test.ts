import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onBothDatabases } from '../../../../../tests/support/on-both-databases.ts'
import { newProjectRow } from '../../../../../tests/support/project-row.ts'
import { startState } from './advance.ts'
import { createFlowsStore } from './flows.store.ts'
import { readFlow } from './read-flow.ts'

const { plan } = readFlow({ phases: [{ id: 'a' }] }, 'flow')

await onBothDatabases('flow store', ({ db, inTransaction }) => {
  const store = createFlowsStore(db)
  const newRun = async (jobId: number) => {
    const projectId = await newProjectRow(db)
    await inTransaction((trx) => store.insert(trx, { jobId, projectId, plan, state: startState(5, { a: 1 }) }))
    return (await store.find(db, projectId, jobId))!
  }

  test('a run comes back as it was written, for its own project only', async () => {
    const run = await newRun(101)
    assert.deepEqual([run.plan, run.state], [JSON.parse(JSON.stringify(plan)), startState(5, { a: 1 })])
    assert.equal(await store.find(db, run.projectId + 1, 101), undefined)
  })

  test('of two decisions made from the same revision one is written', async () => {
    const run = await newRun(102)
    const claims = await Promise.all([1, 2, 3].map(() => inTransaction((trx) => store.claim(trx, run))))
    assert.deepEqual(claims.filter(Boolean).length, 1)
  })

  test('a decision made before a job ended is void', async () => {
    const run = await newRun(103)
    await inTransaction((trx) => store.wake(trx, run.projectId, 103))
    assert.equal(await inTransaction((trx) => store.claim(trx, run)), false)
    const fresh = (await store.find(db, run.projectId, 103))!
    assert.equal(await inTransaction((trx) => store.claim(trx, fresh)), true)
  })

  test('a flow is due when it was woken or its time has come', async () => {
    const run = await newRun(104)
    const isDue = async (now: number) => (await store.listDue(now, 1_000)).some(({ job_id }) => job_id === 104)
    assert.equal(await isDue(1), true)
    await inTransaction((trx) => store.save(trx, run, run.state, null))
    assert.equal(await isDue(1e15), false)
    await inTransaction((trx) => store.save(trx, run, run.state, 500))
    assert.deepEqual([await isDue(499), await isDue(500)], [false, true])
    await store.rest(run.projectId, 104)
    assert.equal(await isDue(1e15), false)
    await inTransaction((trx) => store.wake(trx, run.projectId, 104))
    assert.equal(await isDue(1), true)
  })
})
