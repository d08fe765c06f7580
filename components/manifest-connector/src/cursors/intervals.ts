// What was read, as intervals. Intervals that touch become one; the state covers only the first, up to where nothing is missing.

/** The arithmetic of a cursor's values. */
export interface Scale<T> {
  compare(a: T, b: T): number
  /** The next value after this one: intervals that leave nothing between them touch. */
  after(value: T): T
}

export interface Interval<T> {
  readonly start: T
  readonly end: T
  /** The largest value of the records seen. */
  readonly seen: T | undefined
}

const larger = <T>(scale: Scale<T>, a: T | undefined, b: T | undefined): T | undefined =>
  a === undefined ? b : b === undefined ? a : scale.compare(a, b) >= 0 ? a : b

export function merged<T>(scale: Scale<T>, intervals: readonly Interval<T>[]): Interval<T>[] {
  const sorted = [...intervals].sort((a, b) => scale.compare(a.start, b.start) || scale.compare(a.end, b.end))
  const out: Interval<T>[] = []
  for (const each of sorted) {
    const last = out.at(-1)
    if (last && scale.compare(scale.after(last.end), each.start) >= 0)
      out[out.length - 1] = {
        start: last.start,
        end: larger(scale, last.end, each.end)!,
        seen: larger(scale, each.seen, last.seen),
      }
    else out.push(each)
  }
  return out
}
