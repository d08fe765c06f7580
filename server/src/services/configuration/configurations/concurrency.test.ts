// What many do at once to one configuration, on both databases: SQLite has one writer, PostgreSQL needs explicit locks.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openConfigurationRules } from '../../../../../tests/support/configuration-rules.ts'
import { onBothDatabases } from '../../../../../tests/support/on-both-databases.ts'
import { PlatformError } from '../../../kit/errors.ts'

const COMPONENT = 'c'
const CLIENTS = 16
const json = (value: unknown) => ({ configuration: { text: JSON.stringify(value), value } })
const times = <T>(count: number, work: (i: number) => Promise<T>) =>
  Promise.allSettled(Array.from({ length: count }, (_, i) => work(i)))
const codes = (outcomes: readonly PromiseSettledResult<unknown>[]) =>
  outcomes.flatMap((one) =>
    one.status === 'fulfilled' ? [] : [one.reason instanceof PlatformError ? one.reason.code : String(one.reason)],
  )

await onBothDatabases('many at once', (metadata) => {
  const opened = openConfigurationRules(metadata)

  test('of many who create one id, one makes it and the others are told that it exists', async () => {
    const { caller, configurations, versions, rows } = await opened
    for (const round of [1, 2, 3]) {
      const configurationId = `same${round}`
      const made = await times(CLIENTS, (i) => configurations.create(caller, COMPONENT, { name: `n${i}`, configurationId }))
      assert.deepEqual(codes(made), Array(CLIENTS - 1).fill('configurationAlreadyExists'))
      const added = await times(CLIENTS, () => rows.create(caller, COMPONENT, configurationId, { rowId: 'r' }))
      assert.deepEqual(codes(added), Array(CLIENTS - 1).fill('configurationRowAlreadyExists'))
      const list = await versions.list(caller, COMPONENT, configurationId, { limit: 100, offset: 0 })
      assert.deepEqual(
        list.map(({ version }) => version),
        [2, 1],
      )
    }
  })

  test('more resets and rebases at once than there are connections wait for each other and end', async () => {
    const { caller, callerIn, configurations, versions, copies, newBranch } = await opened
    const configurationId = 'reset'
    await configurations.create(caller, COMPONENT, { name: 'n', configurationId })
    const inBranch = callerIn((await newBranch('resets')).id)
    const outcomes = await times(2 * CLIENTS, async (i) => {
      if (i % 2 === 0) await copies.resetToDefault(inBranch, COMPONENT, configurationId)
      else await copies.rebase(inBranch, COMPONENT, configurationId, { version: 1, ...json({ i }) })
    })
    assert.deepEqual(codes(outcomes), [])
    const list = await versions.list(inBranch, COMPONENT, configurationId, { limit: 100, offset: 0 })
    assert.ok(list.length <= 1 + CLIENTS, 'a reset begins with version 1 again')
    assert.deepEqual(
      list.map(({ version }) => version),
      list.map((_, index) => list.length - index),
    )
  })

  test('a merge while both sides are being changed loses nothing: it is refused, or everything before it is in it', async () => {
    const { caller, callerIn, configurations, versions, copies, main, newBranch, newReader } = await opened
    for (let round = 0; round < 8; round++) {
      const configurationId = `merged${round}`
      await configurations.create(caller, COMPONENT, { name: 'n', configurationId, ...json({ start: round }) })
      const branch = await newBranch(`b${round}`)
      const inBranch = callerIn(branch.id)
      await configurations.update(inBranch, COMPONENT, configurationId, json({ branch: 'first' }))
      const [merged, ...updates] = await Promise.allSettled([
        metadata.inTransaction((trx) => copies.merge(trx, 1, { from: branch, into: main }, caller.actor)),
        ...Array.from({ length: 6 }, (_, i) => configurations.update(inBranch, COMPONENT, configurationId, json({ branch: i }))),
        ...Array.from({ length: round % 3 }, (_, i) =>
          configurations.update(caller, COMPONENT, configurationId, json({ main: i })),
        ),
      ])
      assert.deepEqual(codes(updates), [])
      const refused = codes([merged!])
      assert.ok(refused.length === 0 || refused[0] === 'devBranch.mergeConflict', refused[0])
      for (const [who, changes] of [
        [inBranch, 8],
        [caller, 1 + (round % 3) + (refused.length === 0 ? 1 : 0)],
      ] as const) {
        const list = await versions.list(who, COMPONENT, configurationId, { limit: 100, offset: 0 })
        assert.deepEqual(
          list.map(({ version }) => version),
          Array.from({ length: changes }, (_, i) => changes - i),
        )
        const head = JSON.parse((await newReader().get(who, COMPONENT, configurationId)).bytes().toString())
        assert.equal(head.version, changes, 'the head is the newest version')
      }
      const inMain = await versions.list(caller, COMPONENT, configurationId, { limit: 100, offset: 0 })
      const at = inMain.findIndex(({ changeDescription }) => changeDescription.startsWith('Merged'))
      if (at >= 0) assert.equal(inMain[at + 1]?.version, 1, 'a change of the default branch before the merge is a conflict')
    }
  })
})
