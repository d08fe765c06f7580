import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createDatabaseClock } from './database-clock.ts'

const MINUTE = 60_000

/** A node and a database whose clocks the test moves; `tripMs` passes before and after the database reads its own. */
function bench() {
  const time = { passedMs: 0, nodeAheadMs: 0, databaseAheadMs: 0, tripMs: 1 }
  const at = (aheadMs: number): number => Date.UTC(2026, 4, 1) + time.passedMs + aheadMs
  const warned: object[] = []
  const clock = createDatabaseClock({
    nodeClock: { now: () => new Date(at(time.nodeAheadMs)) },
    ask: async () => {
      time.passedMs += time.tripMs
      const answer = at(time.databaseAheadMs)
      time.passedMs += time.tripMs
      return answer
    },
    steady: () => time.passedMs + 777,
    log: { warn: (details) => void warned.push(details) },
  })
  const offBy = () => clock.now().getTime() - at(time.databaseAheadMs)
  return { time, clock, warned, offBy }
}

for (const seconds of [20, 120, -20, -120])
  test(`a node that is ${seconds} s off has the time of the database, and says so once`, async () => {
    const { time, clock, warned, offBy } = bench()
    time.nodeAheadMs = seconds * 1000
    assert.equal(offBy(), seconds * 1000, 'its own until the database was asked')
    await clock.measure()
    await clock.measure()
    assert.equal(offBy(), 0)
    assert.equal(clock.differenceMs(), seconds * 1000)
    assert.deepEqual(warned, [{ differenceMs: seconds * 1000 }])
    time.passedMs += MINUTE
    assert.equal(offBy(), 0)
  })

test('a clock of the machine that is set while the node runs changes nothing', async () => {
  const { time, clock, offBy } = bench()
  await clock.measure()
  time.nodeAheadMs = MINUTE
  assert.equal(offBy(), 0)
  assert.equal(clock.differenceMs(), MINUTE)
})

test('what a measurement cannot tell apart changes nothing; what it can is followed', async () => {
  const { time, clock, warned, offBy } = bench()
  await clock.measure()
  time.tripMs = 40
  time.databaseAheadMs = 30 // within the time that the answer took
  await clock.measure()
  assert.equal(offBy(), -30)
  time.databaseAheadMs = 300
  await clock.measure()
  assert.equal(offBy(), 0)
  assert.deepEqual(warned, [], 'a second is worth telling')
})

test('an answer that took too long is not used, unless there is none yet', async () => {
  const { time, clock, offBy } = bench()
  time.tripMs = 5_000
  time.nodeAheadMs = 2 * MINUTE
  await clock.measure()
  assert.equal(offBy(), 0)
  time.databaseAheadMs = MINUTE
  await clock.measure()
  assert.equal(offBy(), -MINUTE)
  time.tripMs = 1
  await clock.measure()
  assert.equal(offBy(), 0)
})
