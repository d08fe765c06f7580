// Lines that differ between two texts, with a little of what is around them.

const CONTEXT = 3
/** Beyond this the table of the comparison would need more memory than a diff is worth. */
const MAX_CELLS = 25_000_000

type Line = readonly [mark: ' ' | '-' | '+', text: string]

export function lineDiff(before: string, after: string): string {
  const lines = compare(before.split('\n'), after.split('\n'))
  const near = lines.map((_, i) => lines.slice(Math.max(0, i - CONTEXT), i + CONTEXT + 1).some(([mark]) => mark !== ' '))
  const shown: string[] = []
  lines.forEach(([mark, text], i) => {
    if (near[i]) shown.push(`${mark} ${text}`)
    else if (shown.length > 0 && shown.at(-1) !== '...') shown.push('...')
  })
  return (shown.at(-1) === '...' ? shown.slice(0, -1) : shown).join('\n')
}

/** Longest common subsequence of the part between the common beginning and the common end. */
function compare(a: readonly string[], b: readonly string[]): Line[] {
  let start = 0
  while (start < a.length && start < b.length && a[start] === b[start]) start++
  let end = 0
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++
  const same = (lines: readonly string[]): Line[] => lines.map((text) => [' ', text])
  return [
    ...same(a.slice(0, start)),
    ...middle(a.slice(start, a.length - end), b.slice(start, b.length - end)),
    ...same(a.slice(a.length - end)),
  ]
}

function middle(a: readonly string[], b: readonly string[]): Line[] {
  const replaced: Line[] = [...a.map((text): Line => ['-', text]), ...b.map((text): Line => ['+', text])]
  if (a.length * b.length > MAX_CELLS || a.length === 0 || b.length === 0) return replaced
  const width = b.length + 1
  const lengths = new Uint32Array((a.length + 1) * width)
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      lengths[i * width + j] =
        a[i] === b[j]
          ? lengths[(i + 1) * width + j + 1]! + 1
          : Math.max(lengths[(i + 1) * width + j]!, lengths[i * width + j + 1]!)
    }
  }
  const lines: Line[] = []
  let i = 0
  let j = 0
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      lines.push([' ', a[i]!])
      i++
      j++
    } else if (j >= b.length || (i < a.length && lengths[(i + 1) * width + j]! >= lengths[i * width + j + 1]!))
      lines.push(['-', a[i++]!])
    else lines.push(['+', b[j++]!])
  }
  return lines
}
