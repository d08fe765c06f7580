// What the cursor of partitions keeps: its limits, the state of parents while partitions fail, and runs without records.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Deps } from '../component.ts'
import { createInterpolator } from '../jinja/interpolate.ts'
import type { Router } from '../partitions/router.ts'
import { StreamSlice } from '../partitions/slice.ts'
import type { Dict } from '../python/values.ts'
import { parseIso } from '../time/formats.ts'
import { planCursor } from './datetime-cursor.ts'
import { createPartitionCursor } from './partition-cursor.ts'

const now = () => parseIso('2026-03-15T12:00:00Z').inUtc()
const plan = planCursor(
  { type: 'DatetimeBasedCursor', cursor_field: 'u', datetime_format: '%Y-%m-%d', start_datetime: '2026-03-01' },
  { config: {}, expressions: createInterpolator(now), clock: { now } } as unknown as Deps, // what a plan uses
)

/** Partitions 1 to `count`; after each the parents have another state. */
function routerOf(count: number): Router {
  let parents: Dict | undefined
  return {
    async *slices() {
      for (let id = 1; id <= count; id++) {
        parents = { parents: { at: id } }
        yield new StreamSlice({ id })
      }
    },
    options: () => ({}),
    parentState: () => parents,
  }
}
const cursorOf = (count: number, maxPartitions?: number, state?: Dict) =>
  createPartitionCursor({
    plan,
    router: routerOf(count),
    state,
    useGlobal: false,
    elapsed: () => 0,
    ...(maxPartitions !== undefined && { maxPartitions }),
  })

async function read(cursor: ReturnType<typeof cursorOf>, fails: (id: unknown) => boolean, isEmpty = false): Promise<Dict> {
  for await (const slice of cursor.slices()) {
    if (fails(slice.partition.id)) continue
    if (!isEmpty) cursor.observe({ u: '2026-03-10' }, slice)
    cursor.close(slice)
  }
  cursor.finish()
  return cursor.state()
}

test('one partition more than the limit is kept as the reference keeps it; with two more the state is global', async () => {
  const kept = await read(cursorOf(4, 3), () => false)
  assert.equal(kept.use_global_cursor, false)
  assert.equal((kept.states as unknown[]).length, 4)
  const global = await read(cursorOf(5, 3), () => false)
  assert.deepEqual(
    { ...global, lookback_window: 0 },
    { use_global_cursor: true, state: { u: '2026-03-10' }, lookback_window: 0, parent_state: { parents: { at: 5 } } },
  )
  const long = { use_global_cursor: false, states: kept.states, state: { u: '2026-03-10' } } as Dict
  assert.equal((await read(cursorOf(1, 3, long), () => false)).use_global_cursor, true)
})

test('a partition that fails holds back the state of the parents and the global one, also when its own was forgotten', async () => {
  for (const limit of [3, 1000]) {
    const state = await read(cursorOf(300, limit), (id) => id === 5)
    assert.deepEqual(state.parent_state, { parents: { at: 4 } })
    assert.equal(state.state, undefined)
  }
  const late = cursorOf(300, 3)
  const slices: StreamSlice[] = []
  for await (const slice of late.slices()) slices.push(slice)
  for (const slice of slices) late.close(slice)
  late.finish()
  assert.deepEqual(late.state().parent_state, { parents: { at: 300 } }, 'all were closed at last')
})

test('a run without records leaves the global value as it was', async () => {
  assert.equal((await read(cursorOf(2), () => false, true)).state, undefined)
  const state = { use_global_cursor: false, states: [], state: { u: '2026-03-05' }, lookback_window: 7 } as Dict
  const after = await read(cursorOf(2, 10, state), () => false, true)
  assert.deepEqual([after.state, after.lookback_window], [{ u: '2026-03-05' }, 7])
})
