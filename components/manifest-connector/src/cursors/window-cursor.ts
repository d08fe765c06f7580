// A cursor over windows of a growing value: time, or a count. The intervals that were read are its state.

import { StreamSlice } from '../partitions/slice.ts'
import type { Dict } from '../python/values.ts'
import type { Cursor } from './cursor.ts'
import { type Interval, merged, type Scale } from './intervals.ts'

/** Texts of times whose values are kept. */
const MAX_KNOWN = 1000

export interface WindowValues<T> extends Scale<T> {
  /** Throws ValueError. */
  parse(value: unknown): T
  format(value: T): unknown
  /** The end of a window that starts here; undefined when windows have no limit. */
  readonly plusStep?: ((value: T) => T) | undefined
  readonly minusGranularity?: ((value: T) => T) | undefined
  readonly minusLookback?: ((value: T) => T) | undefined
  /** A boundary moved up to the next whole day, week or month. */
  readonly clamp?: ((value: T) => T) | undefined
  /** A window that starts where it ends is not requested. */
  readonly isStrict?: boolean
}

export interface WindowCursorOptions<T> {
  readonly field: string
  readonly startField: string
  readonly endField: string
  readonly start: T
  readonly end: () => T
  readonly values: WindowValues<T>
  readonly state: Dict | undefined
  /** Of a state that is not the cursor's own: how far before it the reading begins. */
  readonly moveBack?: ((value: T) => T) | undefined
}

const MAX_WINDOWS = 1_000_000

export interface WindowCursor extends Cursor {
  windows(): Iterable<Dict>
  /** The state's value of the cursor field. */
  position(): unknown
  /** The window from the largest value seen in it. `observed` is the slice that records are counted for. */
  rest(slice: StreamSlice, observed: StreamSlice): StreamSlice
}

export function createWindowCursor<T>({
  field,
  startField,
  endField,
  start,
  end,
  values,
  state,
  moveBack,
}: WindowCursorOptions<T>): WindowCursor {
  const { compare } = values
  const given = state && Object.hasOwn(state, field) && state[field] !== null ? values.parse(state[field]) : undefined
  const stored = given !== undefined && moveBack ? moveBack(given) : given
  const syncStart = stored !== undefined && compare(stored, start) >= 0 ? stored : start
  const laterOf = (a: T, b: T) => (compare(a, b) >= 0 ? a : b)
  /** Records that the lookback reads again are new, too. */
  const lowest = values.minusLookback ? laterOf(values.minusLookback(syncStart), start) : syncStart
  let intervals: Interval<T>[] = [{ start, end: syncStart, seen: syncStart }]
  const seen = new Map<string, T>()
  let lastSlice: StreamSlice | undefined
  let lastKey = ''
  const keyOf = (slice: StreamSlice): string => {
    if (slice === lastSlice) return lastKey // of one record after the other
    lastSlice = slice
    lastKey = `${String(slice.cursorSlice[startField])} ${String(slice.cursorSlice[endField])}`
    return lastKey
  }
  const earlierOf = (a: T, b: T) => (compare(a, b) <= 0 ? a : b)
  const clamp = values.clamp ?? ((value: T) => value)
  const window = (from: T, to: T): Dict => ({ [startField]: values.format(from), [endField]: values.format(to) })

  function* split(from: T, upper: T, upperIsEnd: boolean): Iterable<Dict> {
    const { plusStep, minusGranularity } = values
    const isAfter = (value: T) => compare(value, upper) > 0
    if (isAfter(from) || (compare(from, upper) === 0 && !minusGranularity) || compare(upper, start) < 0) return
    const lower = clamp(laterOf(from, start))
    // With a granularity the last window includes its end, so one that starts there is one unit to read.
    if (isAfter(lower) || (compare(lower, upper) === 0 && (values.isStrict || !upperIsEnd))) return
    if (!plusStep || compare(plusStep(lower), upper) >= 0) {
      const to = upperIsEnd && minusGranularity ? upper : clamp(upper)
      yield window(lower, minusGranularity && !upperIsEnd ? minusGranularity(to) : to)
      return
    }
    let at = lower
    for (let i = 0; i < MAX_WINDOWS; i++) {
      const next = earlierOf(plusStep(at), upper)
      const to = compare(next, upper) === 0 ? next : clamp(next)
      const isLast = compare(next, upper) >= 0 || compare(to, upper) === 0
      if (compare(to, at) <= 0) return // a step of nothing would never end
      yield window(at, minusGranularity && !(upperIsEnd && isLast) ? minusGranularity(to) : to)
      if (isLast) return
      at = to
    }
  }

  function* windows(): Iterable<Dict> {
    intervals = merged(values, intervals)
    const upper = end()
    for (const [i, interval] of intervals.entries()) {
      const next = intervals[i + 1]
      if (next) yield* split(values.after(interval.end), next.start, false)
      else yield* split(values.minusLookback ? values.minusLookback(interval.end) : interval.end, upper, true)
    }
  }

  const known = new Map<string, T | undefined>()
  const positionOf = (record: Dict): T | undefined => {
    const value = Object.hasOwn(record, field) ? record[field] : undefined
    if (value === undefined || value === null) return undefined
    if (typeof value !== 'string') return parsed(value)
    // Many records of a page have the same time.
    if (!known.has(value)) {
      if (known.size >= MAX_KNOWN) known.clear()
      known.set(value, parsed(value))
    }
    return known.get(value)
  }

  function parsed(value: unknown): T | undefined {
    try {
      return values.parse(value)
    } catch {
      return undefined // given, but not counted
    }
  }

  const position = () => {
    const [first] = intervals
    return values.format(first!.seen ?? first!.start)
  }

  return {
    windows,
    async *slices() {
      for (const each of windows()) yield new StreamSlice({}, each)
    },
    observe(record, slice) {
      const value = positionOf(record)
      if (value === undefined) return
      const key = keyOf(slice)
      const known = seen.get(key)
      if (known === undefined || compare(known, value) < 0) seen.set(key, value)
    },
    close(slice) {
      const key = keyOf(slice)
      intervals = merged(values, [
        ...intervals,
        {
          start: values.parse(slice.cursorSlice[startField]),
          end: values.parse(slice.cursorSlice[endField]),
          seen: seen.get(key),
        },
      ])
      seen.delete(key)
    },
    isNew(record) {
      const value = positionOf(record)
      return value === undefined || (compare(lowest, value) <= 0 && compare(value, end()) <= 0)
    },
    finish: () => {},
    position,
    rest(slice, observed) {
      const known = seen.get(keyOf(observed))
      if (known === undefined || compare(known, values.parse(slice.cursorSlice[startField])) < 0) return slice
      return new StreamSlice(slice.partition, { ...slice.cursorSlice, [startField]: values.format(known) }, slice.extraFields)
    },
    state: () => ({ ...state, [field]: position() }),
  }
}
