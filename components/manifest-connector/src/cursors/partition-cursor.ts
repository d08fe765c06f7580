// One cursor per partition, and a global one for partitions that are new.

import type { Router } from '../partitions/router.ts'
import { StreamSlice } from '../partitions/slice.ts'
import { copied, jsonText } from '../python/json.ts'
import { asNumber, compare, type Dict, isDict, isNumber } from '../python/values.ts'
import type { Cursor } from './cursor.ts'
import type { CursorPlan } from './datetime-cursor.ts'
import type { WindowCursor } from './window-cursor.ts'

/** A state of more partitions than this would grow without bound: it keeps the global cursor only, from the next partition on. */
const MAX_PARTITIONS = 10_000

/** Partitions with open windows that are passed over to find one without. */
const MAX_TRIED = 100

export interface PartitionCursorOptions {
  readonly plan: CursorPlan
  readonly router: Router
  readonly state: Dict | undefined
  readonly useGlobal: boolean
  readonly elapsed: () => number
  readonly maxPartitions?: number
}

interface Entry {
  readonly partition: Dict
  readonly cursor: WindowCursor
  /** Of this run. */
  begun: boolean
  /** In the order in which partitions begin. */
  number: number
  /** Windows handed out and not closed yet. */
  open: number
}

const sameStates = (a: Dict | undefined, b: Dict): boolean =>
  a !== undefined && Object.keys(a).length === Object.keys(b).length && Object.keys(b).every((name) => a[name] === b[name])

/** Keys in any order are the same partition. */
const keyOf = (partition: Dict): string => jsonText(sorted(partition))

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (!isDict(value)) return value
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((key) => [key, sorted(value[key])]),
  )
}

export function createPartitionCursor({
  plan,
  router,
  state,
  useGlobal,
  elapsed,
  maxPartitions = MAX_PARTITIONS,
}: PartitionCursorOptions): Cursor {
  const entries = new Map<string, Entry>()
  let isGlobal = useGlobal
  /** Of the state and of this run, also those that were forgotten. */
  let count = 0
  let lookback: number | undefined
  let parentState = isDict(state?.parent_state) ? state.parent_state : undefined
  let global: Dict | undefined
  /** Becomes the global one when every partition is closed. */
  let nextGlobal: unknown
  let started: number | undefined
  let sawRecords = false
  /** Begun partitions with open windows, the earliest first. */
  const running = new Map<string, Entry>()
  /** From which partition on the parents had which state. */
  const marks: { readonly number: number; readonly parents: Dict }[] = []
  let lastParents: Dict | undefined

  readState()

  function readState(): void {
    if (!state || Object.keys(state).length === 0) return
    if (!Object.hasOwn(state, 'states') && !Object.hasOwn(state, 'state')) {
      readGlobal(state)
      return
    }
    if (state.use_global_cursor === true) isGlobal = true
    lookback = isNumber(state.lookback_window) ? asNumber(state.lookback_window) : 0
    for (const each of Array.isArray(state.states) ? state.states : [])
      if (isDict(each) && isDict(each.partition) && isDict(each.cursor)) {
        count++
        entries.set(keyOf(each.partition), {
          partition: each.partition,
          cursor: plan.create(each.cursor, 0),
          begun: false,
          number: 0,
          open: 0,
        })
      }
    if (isDict(state.state)) readGlobal(state.state)
  }

  function readGlobal(from: Dict): void {
    if (!Object.hasOwn(from, plan.field)) return
    nextGlobal = plan.normal(from[plan.field])
    global = { [plan.field]: nextGlobal }
  }

  /** States are compared as they are written. */
  function raiseGlobal(value: unknown): void {
    if (nextGlobal === undefined || (compare(nextGlobal, value) ?? 0) < 0) nextGlobal = value
  }

  function entryOf(partition: Dict): Entry {
    const key = keyOf(partition)
    const known = running.get(key) ?? entries.get(key)
    if (known) return known
    const entry: Entry = {
      partition,
      cursor: plan.create(global, global ? (lookback ?? 0) : 0),
      begun: false,
      number: 0,
      open: 0,
    }
    count++
    if (entries.size > maxPartitions) forgetOne()
    entries.set(key, entry)
    return entry
  }

  /** The oldest that is not being read; of those that failed, the oldest. */
  function forgetOne(): void {
    let tried = 0
    for (const [key, entry] of entries) {
      if (entry.open > 0 && ++tried < MAX_TRIED) continue
      entries.delete(key)
      return
    }
  }

  async function* slices(): AsyncIterable<StreamSlice> {
    started = elapsed()
    let number = 0
    for await (const slice of router.slices()) {
      if (count > maxPartitions) isGlobal = true
      const entry = entryOf(slice.partition)
      if (entry.begun) continue // a parent that comes twice is read once
      entry.begun = true
      entry.number = ++number
      const parents = router.parentState()
      if (parents && !sameStates(lastParents, parents)) marks.push({ number, parents })
      lastParents = parents
      const windows = [...entry.cursor.windows()]
      entry.open = windows.length
      if (windows.length === 0) settleParents()
      else running.set(keyOf(slice.partition), entry)
      for (const window of windows) yield new StreamSlice(slice.partition, window, slice.extraFields)
    }
  }

  /** The parents' state moves on as far as every partition before is closed. */
  function settleParents(): void {
    const [earliest] = running.values()
    while (marks[0] && (!earliest || marks[0].number < earliest.number)) parentState = marks.shift()!.parents
  }

  return {
    slices,
    observe(record, slice) {
      const value = Object.hasOwn(record, plan.field) ? record[plan.field] : undefined
      if (value === undefined || value === null) return
      try {
        raiseGlobal(plan.normal(value))
      } catch {
        return
      }
      sawRecords = true
      entryOf(slice.partition).cursor.observe(record, slice)
    },
    close(slice) {
      const entry = entryOf(slice.partition)
      entry.cursor.close(slice)
      if (--entry.open > 0) return
      if (!isGlobal) raiseGlobal(entry.cursor.position())
      running.delete(keyOf(slice.partition))
      settleParents()
    },
    isNew: (record, slice) => entryOf(slice.partition).cursor.isNew(record, slice),
    finish() {
      if (running.size > 0) return
      if (sawRecords) {
        global = { [plan.field]: nextGlobal }
        if (started !== undefined) lookback = Math.ceil(elapsed() - started) || 1
      }
      parentState = router.parentState() ?? {}
    },
    state() {
      const out: Dict = { use_global_cursor: isGlobal }
      if (!isGlobal)
        out.states = [...entries.values()].map(({ partition, cursor }) => ({
          partition: copied(partition),
          cursor: cursor.state(),
        }))
      if (global) out.state = { ...global }
      if (lookback !== undefined) out.lookback_window = lookback
      if (parentState) out.parent_state = parentState
      return out
    },
  }
}
