import assert from 'node:assert/strict'
import { test } from 'node:test'
import { masterActor } from '../../../../../tests/support/master-actor.ts'
import { onBothDatabases } from '../../../../../tests/support/on-both-databases.ts'
import { newProjectRow } from '../../../../../tests/support/project-row.ts'
import { listRuns, replaceRuns, setDue } from './runs.store.ts'
import { createStartRuns } from './runs.ts'

await onBothDatabases('runs of proposals', ({ db, inTransaction }) => {
  test('a run that fails for an internal reason delays no other, and is tried again', async () => {
    const projectId = await newProjectRow(db)
    const names = Array.from({ length: 120 }, (_, at) => (at === 119 ? 'last' : 'broken'))
    for (const [at, configurationId] of names.entries())
      await inTransaction(async (trx) => {
        await replaceRuns(trx, projectId, at, [{ componentId: 'test.noop', configurationId }])
        await setDue(trx, projectId, at, 1)
      })
    let errors = 0
    let isRepaired = false
    const startRuns = createStartRuns({
      db,
      inTransaction,
      findActor: async () => masterActor(projectId),
      jobs: {
        prepare: async (_, { config }) => {
          if (config === 'broken' && !isRepaired) throw new TypeError('not expected')
          return { insert: async () => ({ id: `job of ${config}` }) }
        },
        wake: () => {},
      },
      onError: () => errors++,
    })
    const jobOf = async (proposal: number) => (await listRuns(db, projectId, proposal))[0]!.jobId
    await startRuns()
    assert.equal(errors, 119)
    assert.equal(await jobOf(119), 'job of last')
    isRepaired = true
    await startRuns()
    assert.equal(await jobOf(0), 'job of broken')
    assert.equal(await jobOf(118), 'job of broken')
  })
})
