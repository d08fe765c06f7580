import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openConfigurationRules } from '../../../../../tests/support/configuration-rules.ts'
import { masterActor } from '../../../../../tests/support/master-actor.ts'
import { onBothDatabases } from '../../../../../tests/support/on-both-databases.ts'
import { systemClock } from '../../../kit/clock.ts'
import type { PlatformError } from '../../../kit/errors.ts'
import { NO_ORIGIN } from '../../../model/event.ts'
import { createBranches } from './branches.ts'

await onBothDatabases('names of branches', ({ db, inTransaction, ...metadata }) => {
  test('of many branches that take one name at once, one gets it; a description changes beside it', async () => {
    const { newBranch } = await openConfigurationRules({ db, inTransaction, ...metadata })
    const nothing = async () => {}
    const deps = {
      db,
      inTransaction,
      clock: systemClock,
      recordEvent: nothing,
      onCreate: nothing,
      onDelete: nothing,
      isMerging: async () => false,
    }
    const branches = createBranches(deps)
    const ids: number[] = []
    for (let i = 0; i < 8; i++) ids.push((await newBranch(`b${i}`)).id)
    const rename = (id: number) => branches.update(masterActor(1), String(id), { name: 'same' }, NO_ORIGIN)
    const describe = (id: number) => branches.update(masterActor(1), String(id), { description: 'd' }, NO_ORIGIN)
    const [renamed, described] = await Promise.all([Promise.allSettled(ids.map(rename)), Promise.all(ids.map(describe))])
    const codes = renamed.flatMap((one) => (one.status === 'fulfilled' ? [] : [(one.reason as PlatformError).code]))
    assert.deepEqual(codes, Array(7).fill('devBranch.duplicateName'))
    assert.equal(described.length, 8)
    const all = await branches.list(1)
    assert.equal(all.filter(({ name }) => name === 'same').length, 1)
    assert.equal(all.filter(({ description }) => description === 'd').length, 8, 'nobody is overwritten')
  })
})
