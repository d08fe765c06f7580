// When rewriting is worth it. Two things pile up as loads come in: dead rows, which every scan reads in vain, and small segments,
// which every scan opens. A run of neighbours is rewritten as one segment, so that the order of rows stays.

import type { Segment, TableSnapshot } from './snapshot.ts'

/** A segment with more dead rows than this share is rewritten. */
const DEAD_SHARE = 0.3
const OVERDUE_SHARE = 0.45
const OVERDUE_RUN = 32
/** Segments below this are small ... */
const SMALL_BYTES = 32 << 20
/** ... and this many of them in a row are merged. */
const SMALL_RUN = 8

/** Runs of neighbouring segments, as [from, to), each to become one segment. Empty: nothing worth doing. */
export function planCompaction(snapshot: TableSnapshot, force = false): readonly (readonly [from: number, to: number])[] {
  const { segments } = snapshot
  if (force) {
    const dropped = new Set(snapshot.columns.map((c) => c.fieldId))
    const untidy = segments.length > 1 || segments.some((s) => s.deletes || s.fieldIds.some((id) => !dropped.has(id)))
    return untidy ? [[0, segments.length]] : []
  }
  const runs: (readonly [number, number])[] = []
  for (let from = 0; from < segments.length; ) {
    let to = from
    while (to < segments.length && isSmall(segments[to]!)) to++
    if (to - from >= SMALL_RUN) {
      runs.push([from, to])
      from = to
    } else if (isDecayed(segments[from]!)) {
      runs.push([from, from + 1])
      from++
    } else from++
  }
  return runs
}

/**
 * Far more than housekeeping leaves behind: loads come in so fast that each of its results is outdated when it is ready. Then a load, which
 * has the table for itself, does it first.
 */
export function isOverdue({ segments }: TableSnapshot): boolean {
  let run = 0
  for (const segment of segments) {
    run = isSmall(segment) ? run + 1 : 0
    if (run >= OVERDUE_RUN || (run === 0 && (segment.deletes?.rows ?? 0) > OVERDUE_SHARE * segment.rows)) return true
  }
  return false
}

const isSmall = (segment: Segment): boolean => segment.bytes < SMALL_BYTES
const isDecayed = (segment: Segment): boolean => (segment.deletes?.rows ?? 0) > DEAD_SHARE * segment.rows
