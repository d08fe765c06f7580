// How often a table is usually loaded, and whether it is late: the median of the intervals between its last loads. A few runs by hand in a
// row are no habit: loads must have come that often for half an hour. A table is late once per lateness: it is reported in one event, and cleared by
// the next load.

import type { Trx } from '../../../engines/metadata-db/dialects.ts'
import { type Clock, formatTimestamp } from '../../../kit/clock.ts'
import { medianOf } from '../../../kit/median.ts'
import { type EventSource, eventOf, type NewEvent, type RecordEvent } from '../../../model/event.ts'
import type { TablePlace } from '../../../model/lineage.ts'
import type { FreshnessRow, LineageStore } from './lineage.store.ts'

const LOADS = 12
/** Fewer intervals are too few for an estimate. */
const INTERVALS = 3
/** Where they come so often that twelve are no proof of a habit. */
const LOADS_AT_MOST = 60
const MIN_SPAN_MS = 30 * 60_000
/** A pause of so many intervals is none of them: four runs by hand a day are no habit of seconds. */
const FAR = 10
const MIN_GRACE_MS = 60_000
const AT_ONCE = 200

export interface FreshnessDeps {
  readonly store: LineageStore
  readonly clock: Clock
  readonly recordEvent: RecordEvent
  readonly inTransaction: <T>(work: (trx: Trx) => Promise<T>) => Promise<T>
}

/** Of any table; the caller has checked that it may be read. */
export const createFreshnessReader =
  (store: LineageStore, now: () => Date) =>
  async ({ projectId, branchId, tableId }: TablePlace) => {
    const row = await store.findFreshness(projectId, branchId, tableId)
    if (row) return freshnessView(row, now())
    return { tableId, state: 'unknown', lastLoadTime: null, usualIntervalMs: null, expectedTime: null, lateByMs: 0 }
  }

/** In the transaction of the event: loads are recorded, deleted tables are removed. */
export const createLoadListener =
  ({ store, clock }: Pick<FreshnessDeps, 'store' | 'clock'>) =>
  async (trx: Trx, source: EventSource, { event, objectId, branchId, isOfLink }: NewEvent): Promise<void> => {
    if (objectId === undefined || branchId == null || isOfLink) return
    const at = { project_id: source.projectId, branch_id: branchId, table_id: objectId }
    if (event === 'storage.tableDeleted') await store.remove(trx, at)
    if (event !== 'storage.tableImportDone') return
    const known = await store.findForUpdate(trx, at)
    const now = clock.now().getTime()
    const loads = keptLoads([...(known ? (JSON.parse(known.loads) as number[]) : []), now]) // written below
    const usual = usualInterval(loads)
    await store.save(trx, {
      ...at,
      loads: JSON.stringify(loads),
      last_at: now,
      usual_ms: usual,
      due_at: usual === null ? null : now + usual + Math.max(Math.ceil(usual / 2), MIN_GRACE_MS),
      late_since: null,
      token_id: source.tokenId,
      token_description: source.tokenDescription,
    })
  }

/** More where the last ones reach over too little to be a habit. */
export function keptLoads(loads: readonly number[]): readonly number[] {
  const last = loads.slice(-LOADS)
  return habitOf(last).spanMs >= MIN_SPAN_MS ? last : loads.slice(-LOADS_AT_MOST)
}

/** The median of the intervals, and the time over which loads came about that often. */
function habitOf(loads: readonly number[]): { readonly intervalMs: number; readonly spanMs: number } {
  const intervals = loads.slice(1).map((at, i) => at - loads[i]!)
  if (intervals.length < INTERVALS) return { intervalMs: 0, spanMs: 0 }
  const intervalMs = medianOf(intervals) ?? 0
  const usual = intervals.filter((one) => one <= FAR * intervalMs)
  return { intervalMs, spanMs: usual.reduce((sum, one) => sum + one, 0) }
}

export function usualInterval(loads: readonly number[]): number | null {
  const { intervalMs, spanMs } = habitOf(loads)
  return spanMs < MIN_SPAN_MS ? null : intervalMs
}

/** Reports tables that became late; returns how many. */
export async function tellLate({ store, recordEvent, inTransaction }: FreshnessDeps, now: Date): Promise<number> {
  return inTransaction(async (trx) => {
    const late = await store.takeLate(trx, now.getTime(), AT_ONCE)
    for (const row of late) {
      const source = { projectId: row.project_id, tokenId: row.token_id, tokenDescription: row.token_description }
      const params = {
        lastLoad: formatTimestamp(new Date(row.last_at)),
        usualIntervalSeconds: Math.round((row.usual_ms ?? 0) / 1000),
      }
      const more = { objectId: row.table_id, objectName: row.table_id, branchId: row.branch_id }
      await recordEvent(trx, source, eventOf('storage.tableLate', params, more))
    }
    return late.length
  })
}

export function freshnessView(row: FreshnessRow, now: Date) {
  const isLate = row.due_at !== null && now.getTime() > row.due_at
  const expected = row.usual_ms === null ? null : row.last_at + row.usual_ms
  return {
    tableId: row.table_id,
    state: row.due_at === null ? 'unknown' : isLate ? 'late' : 'fresh',
    lastLoadTime: formatTimestamp(new Date(row.last_at)),
    usualIntervalMs: row.usual_ms,
    expectedTime: expected === null ? null : formatTimestamp(new Date(expected)),
    lateByMs: isLate && expected !== null ? now.getTime() - expected : 0,
  }
}
