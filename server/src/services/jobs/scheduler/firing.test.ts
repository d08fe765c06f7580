// Firing on both databases, with a virtual clock. The queue and the configurations are the smallest implementations of the interfaces the module needs
// for; the whole road over HTTP is tests/conformance/scheduler.test.ts.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onBothDatabases } from '../../../../../tests/support/on-both-databases.ts'
import type { Trx } from '../../../engines/metadata-db/dialects.ts'
import { PlatformError } from '../../../kit/errors.ts'
import type { Actor } from '../../../model/actor.ts'
import { NO_ORIGIN } from '../../../model/event.ts'
import { createTokens } from '../../access/tokens/tokens.ts'
import { createEvents } from '../../stack/events/events.ts'
import { createFiring } from './firing.ts'
import { createScheduler, type StoredConfiguration } from './scheduler.ts'

const SCHEDULER = 'platform.scheduler'
const ROUNDS = process.env.MILLRACE_LONG ? 300 : 30

await onBothDatabases('firing', ({ db, inTransaction }) => {
  /** A project with one schedule on a virtual clock; `crash` makes a transaction fail at its end. */
  async function setUp(cronTab: string, extra: Record<string, unknown> = {}, timezone = 'UTC') {
    let now = new Date('2026-05-01T12:00:30Z')
    const clock = { now: () => now }
    const jobs: string[] = []
    let crashNext = false
    let unfinished = false
    let isBroken = false
    let beforeTransaction = async () => {}
    const configurations = new Map<string, StoredConfiguration>()
    const events = createEvents({ db, inTransaction, clock })
    const tokens = createTokens({
      db,
      inTransaction,
      clock,
      recordEvent: events.record,
      bucketIds: async () => [],
      findTriggerOf: async () => undefined,
      onProjectCreated: async () => {},
    })
    const { project, master } = await tokens.createProject('P')
    const actor = (await tokens.findActor(project.id, master.token.id)) as Actor
    const findConfiguration = async (_project: number, component: string, id: string) => configurations.get(`${component}/${id}`)
    const put = (component: string, id: string, configuration: unknown, version = 1) =>
      configurations.set(`${component}/${id}`, { version, isDisabled: false, configuration, rowIds: ['r1'] })
    put('ex', '7', {})
    put(SCHEDULER, '1', {
      schedule: { cronTab, timezone, state: 'enabled' },
      target: { componentId: 'ex', configurationId: '7', mode: 'run' },
      ...extra,
    })
    const scheduler = createScheduler({
      db,
      inTransaction: async (work) => {
        await beforeTransaction()
        return inTransaction(work)
      },
      clock,
      recordEvent: events.record,
      schedulerComponentId: SCHEDULER,
      canonicalComponentId: (id) => id,
      findConfiguration,
      configurationExists: async (project, component, id) => (await findConfiguration(project, component, id)) !== undefined,
      findVersion: async () => undefined,
      tokens: { issue: tokens.issueInternal, refresh: tokens.refreshInternal, revoke: tokens.revokeInternal },
    })
    /** A commit that fails takes the jobs of its transaction with it, as the real queue's rows would go. */
    async function crashing<T>(work: (trx: Trx) => Promise<T>): Promise<T> {
      const before = jobs.length
      try {
        return await inTransaction(async (trx) => {
          const result = await work(trx)
          if (crashNext) {
            crashNext = false
            throw new Error('crash before the commit')
          }
          return result
        })
      } catch (error) {
        jobs.length = before
        throw error
      }
    }
    const makeFiring = () =>
      createFiring({
        scheduler,
        inTransaction: crashing,
        recordEvent: events.record,
        recordChange: async () => {},
        notifications: { scheduleMissed: async () => {} },
        schedulerComponentId: SCHEDULER,
        configurationExists: async (owner, component, id) =>
          owner !== project.id || (await findConfiguration(owner, component, id)) !== undefined,
        actorOfToken: tokens.findActor,
        queue: {
          prepare: async (owner, target) => {
            if (owner.projectId === project.id && !configurations.has(`${target.componentId}/${target.configurationId}`))
              throw new PlatformError('storage.configuration.notFound')
            return {
              insert: async () => {
                if (owner.projectId !== project.id) return { id: 'of another test' } // they share the database
                jobs.push(now.toISOString())
                return { id: String(jobs.length) }
              },
            }
          },
          hasUnfinished: async () => {
            if (isBroken) throw new Error('the database is away')
            return unfinished
          },
          wake: () => {},
        },
        onError: () => {},
      })
    const activate = () => scheduler.activate(actor, { configurationId: '1' }, NO_ORIGIN)
    const firing = makeFiring()
    return {
      scheduler,
      tokens,
      actor,
      jobs,
      configurations,
      put,
      activate,
      makeFiring,
      setTime: (text: string) => {
        now = new Date(text)
      },
      advance: (ms: number) => {
        now = new Date(now.getTime() + ms)
      },
      now: () => now,
      tick: () => firing.fireDue(now),
      crash: () => {
        crashNext = true
      },
      setUnfinished: (value: boolean) => {
        unfinished = value
      },
      break: () => {
        isBroken = true
      },
      first: async () => (await scheduler.list(actor, {}))[0]!,
      /** Something that happens after the next use case has read and before it writes. */
      meanwhile: (work: () => Promise<unknown>) => {
        beforeTransaction = async () => {
          beforeTransaction = async () => {}
          await work()
        }
      },
    }
  }

  test('accepted schedules are activated by a token that may change everything; a changed one only if it was active', async () => {
    const { scheduler, actor, put, configurations } = await setUp('0 6 * * *')
    put(SCHEDULER, 'wrong', { schedule: {}, target: {} })
    put(SCHEDULER, '2', configurations.get(`${SCHEDULER}/1`)?.configuration)
    const accepted = [
      { configurationId: 'wrong', isNew: true },
      { configurationId: '1', isNew: true },
      { configurationId: '2', isNew: false },
    ]
    const active = async () => (await scheduler.list(actor, {})).map(({ record }) => record.configurationId)
    await scheduler.follow({ ...actor, isMasterToken: false }, accepted)
    assert.deepEqual(await active(), [])
    await scheduler.follow(actor, accepted)
    assert.deepEqual(await active(), ['1'])
  })

  test('a schedule fires in its due minute, once, and says so', async () => {
    const s = await setUp('*/5 * * * *')
    await s.activate()
    await s.tick()
    assert.equal(s.jobs.length, 0)
    s.setTime('2026-05-01T12:05:00Z')
    await s.tick()
    await s.tick()
    assert.equal(s.jobs.length, 1)
    const { executions, record } = await s.first()
    assert.deepEqual(
      executions.map(({ status, jobId, dueAt }) => [status, jobId, dueAt.toISOString()]),
      [['started', '1', '2026-05-01T12:05:00.000Z']],
    )
    assert.equal(record.nextRunAt?.toISOString(), '2026-05-01T12:10:00.000Z')
  })

  test('several nodes that look at once start one run', async () => {
    const s = await setUp('* * * * *')
    await s.activate()
    const nodes = Array.from({ length: 4 }, () => s.makeFiring())
    for (let i = 0; i < 5; i++) {
      s.advance(60_000)
      await Promise.all(nodes.map((node) => node.fireDue(s.now())))
    }
    assert.equal(s.jobs.length, 5)
  })

  test('setting the clock back repeats nothing, setting it forward runs at most once', async () => {
    const s = await setUp('* * * * *')
    await s.activate()
    s.setTime('2026-05-01T12:02:00Z')
    await s.tick()
    assert.equal(s.jobs.length, 1)
    s.setTime('2026-05-01T11:00:00Z')
    for (let i = 0; i < 62; i++) {
      await s.tick()
      s.advance(60_000)
    }
    assert.equal(s.now().toISOString(), '2026-05-01T12:02:00.000Z')
    assert.equal(s.jobs.length, 1)
    await s.activate() // planned again while the clock is before what has already run
    await s.tick()
    assert.equal(s.jobs.length, 1)
    s.setTime('2026-05-01T12:09:00Z')
    await s.tick()
    assert.equal(s.jobs.length, 2)
  })

  test('after downtime the newest missed run inside the grace window runs, the rest is recorded as skipped', async () => {
    const s = await setUp('*/5 * * * *')
    await s.activate()
    s.setTime('2026-05-01T15:02:00Z')
    await s.tick()
    assert.equal(s.jobs.length, 1)
    const { executions } = await s.first()
    assert.deepEqual(
      executions.map(({ status, dueAt }) => [status, dueAt.toISOString().slice(11, 16)]),
      [
        ['started', '15:00'],
        ['skipped', '12:05'],
      ],
    )
    assert.match(executions[1]?.reason ?? '', /^35 runs/)
  })

  test('outside the grace window, or with missed: skip, nothing is made up for', async () => {
    for (const extra of [{ policy: { graceMinutes: 1 } }, { policy: { missed: 'skip' } }]) {
      const s = await setUp('0 13 * * *', extra)
      await s.activate()
      s.setTime('2026-05-01T13:10:00Z')
      await s.tick()
      assert.equal(s.jobs.length, 0)
      const { executions, record } = await s.first()
      assert.deepEqual(
        executions.map(({ status }) => status),
        ['skipped'],
      )
      assert.equal(record.nextRunAt?.toISOString(), '2026-05-02T13:00:00.000Z')
    }
  })

  test('400 days of downtime of a minute schedule are one catch-up and one line', async () => {
    const s = await setUp('* * * * *')
    await s.activate()
    s.advance(400 * 86_400_000)
    await s.tick()
    assert.equal(s.jobs.length, 1)
    const { executions } = await s.first()
    assert.match(executions[1]?.reason ?? '', /^more than 1000 runs/)
  })

  test('old executions are forgotten, except the ones that are listed', async () => {
    const s = await setUp('* * * * *')
    const { record } = await s.activate()
    const tick = async (times: number) => {
      for (let i = 0; i < times; i++) {
        s.advance(60_000)
        await s.tick()
      }
    }
    await tick(25)
    s.advance(40 * 86_400_000)
    await tick(1)
    const all = (await s.scheduler.store.executions(s.actor.projectId, [record.id], 100)).get(record.id) ?? []
    assert.equal(all.length, 20)
    assert.deepEqual(
      all.slice(0, 3).map(({ status }) => status),
      ['started', 'skipped', 'started'],
    )
  })

  test('a run is not started while the one before it runs, when the policy says so', async () => {
    const s = await setUp('* * * * *', { policy: { overlap: 'skip' } })
    await s.activate()
    s.setUnfinished(true)
    s.advance(60_000)
    await s.tick()
    assert.equal(s.jobs.length, 0)
    s.setUnfinished(false)
    s.advance(60_000)
    await s.tick()
    assert.equal(s.jobs.length, 1)
  })

  test('a deleted target, configuration or token stops the schedule with a visible reason', async () => {
    for (const [lose, reason] of [
      [(s: Awaited<ReturnType<typeof setUp>>) => s.configurations.delete('ex/7'), /target, configuration 7 of ex/],
      [(s: Awaited<ReturnType<typeof setUp>>) => s.configurations.delete(`${SCHEDULER}/1`), /configuration 1 was deleted/],
      [
        async (s: Awaited<ReturnType<typeof setUp>>) => s.tokens.remove(s.actor, (await s.first()).record.tokenId, NO_ORIGIN),
        /token/,
      ],
    ] as const) {
      const s = await setUp('* * * * *')
      await s.activate()
      await lose(s)
      s.advance(60_000)
      await s.tick()
      assert.equal(s.jobs.length, 0)
      const { record } = await s.first()
      assert.match(record.stoppedReason ?? '', reason)
      assert.equal(record.nextRunAt, undefined)
    }
  })

  test('disabling keeps the record without a next run; enabling plans it again', async () => {
    const s = await setUp('* * * * *')
    const { record } = await s.activate()
    s.put(
      SCHEDULER,
      '1',
      {
        schedule: { cronTab: '* * * * *', timezone: 'UTC', state: 'disabled' },
        target: { componentId: 'ex', configurationId: '7' },
      },
      2,
    )
    const disabled = await s.activate()
    assert.equal(disabled.record.id, record.id)
    assert.equal(disabled.record.configurationVersion, 2)
    s.advance(120_000)
    await s.tick()
    assert.equal(s.jobs.length, 0)
    s.put(
      SCHEDULER,
      '1',
      {
        schedule: { cronTab: '* * * * *', timezone: 'UTC', state: 'enabled' },
        target: { componentId: 'ex', configurationId: '7' },
      },
      3,
    )
    await s.activate()
    s.advance(60_000)
    await s.tick()
    assert.equal(s.jobs.length, 1)
  })

  test('activations at the same moment make one schedule', async () => {
    const s = await setUp('* * * * *')
    const all = await Promise.all(Array.from({ length: 8 }, s.activate))
    assert.equal(new Set(all.map(({ record }) => record.id)).size, 1)
    assert.equal((await s.scheduler.list(s.actor, {})).length, 1)
  })

  test('a new token for a schedule leaves a run that happens meanwhile as it is', async () => {
    const s = await setUp('* * * * *')
    const { record } = await s.activate()
    s.advance(60_000)
    s.meanwhile(s.tick)
    const refreshed = await s.scheduler.refreshToken(s.actor, record.id, NO_ORIGIN)
    assert.equal(refreshed.record.nextRunAt?.toISOString(), '2026-05-01T12:02:00.000Z')
    assert.equal(await s.tick(), 0)
    assert.equal(s.jobs.length, 1)
  })

  test('a due minute that was acted on before is passed over and holds up nothing', async () => {
    const s = await setUp('* * * * *')
    const { record } = await s.activate()
    s.advance(60_000)
    await s.tick()
    await inTransaction((trx) => s.scheduler.store.setNextRun(trx, record.id, record.nextRunAt))
    assert.equal(await s.tick(), 1)
    assert.equal(s.jobs.length, 1)
    assert.equal((await s.first()).record.nextRunAt?.toISOString(), '2026-05-01T12:02:00.000Z')
  })

  test('removing a schedule ends its token', async () => {
    const s = await setUp('* * * * *')
    const { record } = await s.activate()
    await s.scheduler.remove(s.actor, record.id, NO_ORIGIN)
    assert.equal(await s.tokens.findActor(s.actor.projectId, record.tokenId), undefined)
    await assert.rejects(s.scheduler.get(s.actor, record.id), { code: 'scheduler.notFound' })
  })

  test('runs that could not be started after a downtime are counted, not forgotten', async () => {
    const s = await setUp('* * * * *', { policy: { overlap: 'skip' } })
    await s.activate()
    s.setTime('2026-05-01T12:30:10Z')
    s.break()
    await s.tick()
    const { executions } = await s.first()
    assert.deepEqual(
      executions.map(({ status }) => status),
      ['failed'],
    )
    assert.match(executions[0]?.reason ?? '', /^30 runs from 2026-05-01T12:01:00.000Z on could not be started by our fault/)
  })

  test('whatever crashes when and however the clock steps, no due minute runs twice and none on time is lost', async () => {
    const s = await setUp('*/2 * * * *')
    await s.activate()
    let random = 12345
    const dice = (sides: number) => {
      random = (random * 1103515245 + 12345) & 0x7fffffff
      return random % sides
    }
    for (let i = 0; i < ROUNDS; i++) {
      if (dice(4) === 0) s.crash()
      await s.tick().catch(() => {})
      if (dice(10) === 0) s.advance(-dice(300_000))
      if (dice(15) === 0) s.advance(dice(1_800_000))
      s.advance(20_000)
    }
    await s.tick()
    const { executions } = await s.first()
    const due = executions.filter(({ status }) => status === 'started').map(({ dueAt }) => dueAt.getTime())
    assert.equal(new Set(due).size, due.length)
    assert.ok(s.jobs.length >= due.length && due.length > 2)
  })
})
