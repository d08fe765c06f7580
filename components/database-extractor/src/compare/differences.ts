// Finds where two tables differ: checksums of key ranges on both sides, then of smaller ranges where they differ, then single rows.
// What is read grows with the differences: equal ranges cost one number each.

import type { KeyRange } from './dialect.ts'

export interface Checksum {
  readonly rows: number
  readonly sum: string
}

export interface RowSum {
  readonly key: readonly string[]
  readonly sum: string
  /** Changed in the source since the table was read. */
  readonly isNewer?: boolean
}

export interface Side {
  /** Of each part of a range, by its number; parts without rows may be missing. `bounds` divide the range. */
  checksums(range: KeyRange, bounds: readonly string[]): Promise<ReadonlyMap<number, Checksum>>
  rows(range: KeyRange): Promise<readonly RowSum[]>
}

export interface Difference {
  readonly range: KeyRange
  readonly sourceRows: number
  readonly hereRows: number
  /** Undefined: too many rows to list them. */
  readonly keys: DifferentKeys | undefined
}

export interface DifferentKeys {
  readonly missing: readonly (readonly string[])[]
  readonly extra: readonly (readonly string[])[]
  readonly changed: readonly (readonly string[])[]
  /** Rows that the source has changed since the table was read. They differ for now. */
  readonly newer: number
}

export interface Comparison {
  readonly sourceRows: number
  readonly hereRows: number
  readonly ranges: number
  readonly differences: readonly Difference[]
}

export interface Search {
  readonly source: Side
  readonly here: Side
  /** Values that divide a range into about so many parts of equal size; none when it cannot be divided. */
  bounds(range: KeyRange, parts: number): Promise<readonly string[]>
  readonly leafRows?: number
  readonly maxListed?: number
}

const WHOLE: KeyRange = { from: undefined, to: undefined }
/** Ranges with no more rows are compared row by row. */
const LEAF_ROWS = 5_000
const MAX_PARTS = 256
const NONE: Checksum = { rows: 0, sum: '0' }
/** With more differing rows than that, ranges are only counted. */
const MAX_LISTED = 200_000

export async function findDifferences(search: Search): Promise<Comparison> {
  const { source, here, bounds: divide, leafRows = LEAF_ROWS, maxListed = MAX_LISTED } = search
  const differences: Difference[] = []
  let listed = 0
  let ranges = 0

  const both = (range: KeyRange, bounds: readonly string[]) =>
    Promise.all([source.checksums(range, bounds), here.checksums(range, bounds)])

  async function look(range: KeyRange, sourceRows: number, hereRows: number): Promise<void> {
    const most = Math.max(sourceRows, hereRows)
    if (listed >= maxListed) return void differences.push({ range, sourceRows, hereRows, keys: undefined })
    if (most > leafRows && (await divided(range, most))) return
    // A range that cannot be divided, such as one key value with very many rows.
    if (most > leafRows * 20) return void differences.push({ range, sourceRows, hereRows, keys: undefined })
    const keys = differentKeys(...(await Promise.all([source.rows(range), here.rows(range)])))
    listed += keys.missing.length + keys.extra.length + keys.changed.length
    differences.push({ range, sourceRows, hereRows, keys })
  }

  /** False: every part that it could be divided into has all rows. */
  async function divided(range: KeyRange, rows: number): Promise<boolean> {
    const bounds = await divide(range, Math.min(MAX_PARTS, Math.ceil((rows / leafRows) * 2)))
    if (bounds.length === 0) return false
    const [there, own] = await both(range, bounds)
    const sums = partsOf(range, bounds).map((part, at) => [part, there.get(at) ?? NONE, own.get(at) ?? NONE] as const)
    if (sums.some(([, a, b]) => Math.max(a.rows, b.rows) === rows)) return false
    for (const [part, a, b] of sums) {
      ranges++
      if (!isSame(a, b)) await look(part, a.rows, b.rows)
    }
    return true
  }

  const top = await divide(WHOLE, MAX_PARTS)
  const [there, own] = await both(WHOLE, top)
  const total = (sums: ReadonlyMap<number, Checksum>) => sums.values().reduce((sum, { rows }) => sum + rows, 0)
  for (const [at, part] of partsOf(WHOLE, top).entries()) {
    const [a, b] = [there.get(at) ?? NONE, own.get(at) ?? NONE]
    ranges++
    if (!isSame(a, b)) await look(part, a.rows, b.rows)
  }
  return { sourceRows: total(there), hereRows: total(own), ranges, differences }
}

const isSame = (a: Checksum, b: Checksum): boolean => a.rows === b.rows && a.sum === b.sum

function partsOf({ from, to }: KeyRange, bounds: readonly string[]): readonly KeyRange[] {
  const starts = [from, ...bounds]
  return starts.map((start, at) => ({ from: start, to: at < bounds.length ? bounds[at] : to }))
}

function differentKeys(there: readonly RowSum[], own: readonly RowSum[]): DifferentKeys {
  const nameOf = ({ key }: RowSum) => JSON.stringify(key)
  const left = new Map(own.map((row) => [nameOf(row), row]))
  const missing: (readonly string[])[] = []
  const changed: (readonly string[])[] = []
  let newer = 0
  for (const row of there) {
    const name = nameOf(row)
    const match = left.get(name)
    left.delete(name)
    if (match?.sum === row.sum) continue
    if (row.isNewer) newer++
    else (match ? changed : missing).push(row.key)
  }
  return { missing, changed, newer, extra: [...left.values()].map(({ key }) => key) }
}
