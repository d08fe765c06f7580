// Suggests the known name for a misspelled one.

/** Letters changed, left out, added or swapped, whatever their case. */
function distance(a: string, b: string): number {
  const [left, right] = [a.toLowerCase(), b.toLowerCase()]
  let before: number[] = []
  let last = Array.from({ length: right.length + 1 }, (_, i) => i)
  for (let i = 1; i <= left.length; i++) {
    const line = [i]
    for (let j = 1; j <= right.length; j++) {
      const isSame = left[i - 1] === right[j - 1]
      line[j] = Math.min(last[j]! + 1, line[j - 1]! + 1, last[j - 1]! + (isSame ? 0 : 1))
      const isSwapped = i > 1 && j > 1 && left[i - 1] === right[j - 2] && left[i - 2] === right[j - 1]
      if (isSwapped) line[j] = Math.min(line[j]!, before[j - 2]! + 1)
    }
    before = last
    last = line
  }
  return last[right.length]!
}

/** Undefined when none of them is near: more than a third of its letters would have to change. */
export function nearest(name: string, known: readonly string[]): string | undefined {
  const ranked = known.map((candidate) => ({ candidate, far: distance(name, candidate) })).sort((a, b) => a.far - b.far)
  const best = ranked[0]
  return best !== undefined && best.far <= Math.max(1, Math.floor(best.candidate.length / 3)) ? best.candidate : undefined
}
