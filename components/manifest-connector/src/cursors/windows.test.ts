// Windows and states against a simple model: whole seconds on a line.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { StreamSlice } from '../partitions/slice.ts'
import { createWindowCursor, type WindowValues } from './window-cursor.ts'

const values = (step: number | undefined, granularity: number | undefined, lookback: number): WindowValues<number> => ({
  compare: (a, b) => a - b,
  after: (value) => value + (granularity ?? 1),
  parse: Number,
  format: (value) => value,
  plusStep: step === undefined ? undefined : (value) => value + step,
  minusGranularity: granularity === undefined ? undefined : (value) => value - granularity,
  minusLookback: lookback === 0 ? undefined : (value) => value - lookback,
})

const line = fc.record({
  start: fc.integer({ min: 0, max: 100 }),
  length: fc.integer({ min: 1, max: 200 }),
  step: fc.option(fc.integer({ min: 2, max: 40 }), { nil: undefined }),
  stored: fc.option(fc.integer({ min: -50, max: 250 }), { nil: undefined }),
  lookback: fc.integer({ min: 0, max: 30 }),
  seed: fc.array(fc.nat(), { minLength: 1, maxLength: 20 }),
})

const cursorOf = ({
  start,
  length,
  step,
  stored,
  lookback,
}: {
  start: number
  length: number
  step: number | undefined
  stored: number | undefined
  lookback: number
}) =>
  createWindowCursor({
    field: 't',
    startField: 'from',
    endField: 'to',
    start,
    end: () => start + length,
    values: values(step, step === undefined ? undefined : 1, lookback),
    state: stored === undefined ? undefined : { t: stored },
  })

test('windows cover every second from the start to the end once, and no other', () => {
  fc.assert(
    fc.property(line, (given) => {
      const windows = [...cursorOf(given).windows()].map(({ from, to }) => [Number(from), Number(to)] as const)
      const end = given.start + given.length
      const begin = Math.max(given.start, Math.max(given.start, given.stored ?? given.start) - given.lookback)
      // With a granularity the end itself is one unit to read.
      if (begin > end || (begin === end && given.step === undefined)) return assert.deepEqual(windows, [])
      const seconds = windows.flatMap(([from, to]) => Array.from({ length: to - from + 1 }, (_, i) => from + i))
      assert.deepEqual(
        seconds,
        Array.from({ length: end - begin + 1 }, (_, i) => begin + i),
      )
    }),
  )
})

test('the state never passes a window that is not closed, in whatever order the others are', () => {
  fc.assert(
    fc.property(line, fc.nat(), (given, skipped) => {
      const cursor = cursorOf({ ...given, stored: undefined, lookback: 0 })
      const windows = [...cursor.windows()]
      const open = windows[skipped % windows.length]
      const order = windows.map((window, i) => [given.seed[i % given.seed.length]!, window] as const).sort(([a], [b]) => a - b)
      for (const [, window] of order) {
        const slice = new StreamSlice({}, window)
        cursor.observe({ t: window.to }, slice)
        if (window !== open) cursor.close(slice)
      }
      assert.ok(
        Number(cursor.state().t) < Math.max(Number(open!.from), given.start + 1),
        `${cursor.state().t} is past ${open!.from}`,
      )
    }),
  )
})

test('a run that goes on from the state of a run that was cut off reads what is missing, and nothing below the state', () => {
  fc.assert(
    fc.property(line, fc.nat(), (given, cut) => {
      const first = cursorOf({ ...given, stored: undefined, lookback: 0 })
      const windows = [...first.windows()]
      for (const window of windows.slice(0, cut % (windows.length + 1))) {
        const slice = new StreamSlice({}, window)
        first.observe({ t: window.to }, slice)
        first.close(slice)
      }
      const state = Number(first.state().t)
      const next = [...cursorOf({ ...given, stored: state, lookback: 0 }).windows()]
      const end = given.start + given.length
      if (state > end || (state === end && given.step === undefined)) assert.deepEqual(next, [])
      else assert.equal(next[0]?.from, state)
    }),
  )
})

test('whole units: windows begin and end at boundaries, touch each other, and leave out the unit that is not over', () => {
  const UNIT = 7
  fc.assert(
    fc.property(line, ({ start, length, step }) => {
      const end = start + length
      const up = (value: number) => Math.ceil(value / UNIT) * UNIT
      const cursor = createWindowCursor({
        field: 't',
        startField: 'from',
        endField: 'to',
        start,
        end: () => Math.floor(end / UNIT) * UNIT - 1,
        values: { ...values(step === undefined ? undefined : Math.max(step, UNIT), 1, 0), clamp: up },
        state: undefined,
      })
      const windows = [...cursor.windows()].map(({ from, to }) => [Number(from), Number(to)] as const)
      for (const [from, to] of windows) {
        assert.equal(from % UNIT, 0)
        assert.ok(from >= start && to < end && from <= to)
      }
      for (const [i, [from]] of windows.entries()) if (i > 0) assert.equal(from, windows[i - 1]![1] + 1)
      if (windows.length > 0) assert.equal(windows[0]![0], up(start))
    }),
  )
})
