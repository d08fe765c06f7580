// One cursor per partition, and a global one for partitions that are new.

import type { Router } from '../partitions/router.ts'
import { StreamSlice } from '../partitions/slice.ts'
import { copied, jsonText } from '../python/json.ts'
import { asNumber, compare, type Dict, isDict, isNumber } from '../python/values.ts'
import type { Cursor } from './cursor.ts'
import type { CursorPlan } from './datetime-cursor.ts'
import type { WindowCursor } from './window-cursor.ts'

/** More partitions than this are read with the global cursor only; the state would grow without bound. */
const MAX_PARTITIONS = 10_000

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
  /** Windows handed out and not closed yet. */
  open: number
  /** All windows were handed out. */
  planned: boolean
}

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
  let lookback: number | undefined
  let parentState = isDict(state?.parent_state) ? state.parent_state : undefined
  let global: Dict | undefined
  /** Becomes the global one when every partition is closed. */
  let nextGlobal: unknown
  let started: number | undefined
  /** Partitions in the order they were planned, with the state of the parents at that moment. */
  const planned: { readonly entry: Entry; readonly parents: Dict | undefined }[] = []

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
      if (isDict(each) && isDict(each.partition) && isDict(each.cursor))
        entries.set(keyOf(each.partition), {
          partition: each.partition,
          cursor: plan.create(each.cursor, 0),
          begun: false,
          open: 0,
          planned: true,
        })
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
    const known = entries.get(key)
    if (known) return known
    const entry = { partition, cursor: plan.create(global, global ? (lookback ?? 0) : 0), begun: false, open: 0, planned: false }
    if (entries.size >= maxPartitions) {
      isGlobal = true
      forgetOldest()
    }
    entries.set(key, entry)
    return entry
  }

  function forgetOldest(): void {
    for (const [key, entry] of entries)
      if (entry.planned && entry.open === 0) {
        entries.delete(key)
        return
      }
  }

  async function* slices(): AsyncIterable<StreamSlice> {
    started = elapsed()
    for await (const slice of router.slices()) {
      const entry = entryOf(slice.partition)
      if (entry.begun) continue // a parent that comes twice is read once
      entry.begun = true
      entry.planned = false
      planned.push({ entry, parents: router.parentState() })
      const windows = [...entry.cursor.windows()]
      entry.open += windows.length
      entry.planned = true
      for (const window of windows) yield new StreamSlice(slice.partition, window, slice.extraFields)
      if (windows.length === 0) settle(entry)
    }
  }

  function settle(entry: Entry): void {
    if (entry.planned && entry.open === 0) raiseGlobal(entry.cursor.position())
    // The parents' state moves on as far as every partition before is closed.
    while (planned[0]?.entry.planned && planned[0].entry.open === 0) {
      const { parents } = planned.shift()!
      if (parents) parentState = parents
    }
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
      entryOf(slice.partition).cursor.observe(record, slice)
    },
    close(slice) {
      const entry = entryOf(slice.partition)
      entry.cursor.close(slice)
      entry.open--
      settle(entry)
    },
    isNew: (record, slice) => entryOf(slice.partition).cursor.isNew(record, slice),
    finish() {
      if (planned.length > 0) return
      if (nextGlobal !== undefined) global = { [plan.field]: nextGlobal }
      if (started !== undefined) lookback = Math.ceil(elapsed() - started) || 1
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
