// The known name that a misspelt one is nearest to.

/** The number of single changes between two texts, up to a limit. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++)
      next.push(
        Math.min(next[j - 1]! + 1, row[j]! + 1, row[j - 1]! + (a[i - 1]!.toLowerCase() === b[j - 1]!.toLowerCase() ? 0 : 1)),
      )
    row = next
  }
  return row[b.length]!
}

export function nearestOf(name: string, known: readonly string[]): string | undefined {
  if (name.length > 100) return undefined
  let best: string | undefined
  let least = Math.max(2, Math.floor(name.length / 3)) + 1
  for (const candidate of known) {
    const steps = Math.abs(candidate.length - name.length) < least ? distance(name, candidate) : least
    if (steps < least) [best, least] = [candidate, steps]
  }
  return best
}
