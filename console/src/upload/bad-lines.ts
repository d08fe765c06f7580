// Lines of a CSV file that no load would take, cut out of it. Pure.

const LF = 10

export interface Split {
  readonly good: Uint8Array<ArrayBuffer>
  readonly bad: Uint8Array<ArrayBuffer>
  readonly lines: number
}

/** `offsets`: a byte of each bad line, from the start of the file. */
export function withoutLines(bytes: Uint8Array<ArrayBuffer>, offsets: readonly number[]): Split {
  const ranges: (readonly [from: number, to: number])[] = []
  for (const offset of [...offsets].sort((a, b) => a - b)) {
    const from = offset === 0 ? 0 : bytes.lastIndexOf(LF, offset - 1) + 1
    const end = bytes.indexOf(LF, from)
    const to = end === -1 ? bytes.length : end + 1
    if (from < to && ranges.at(-1)?.[0] !== from) ranges.push([from, to])
  }
  const kept: Uint8Array<ArrayBuffer>[] = []
  let at = 0
  for (const [from, to] of ranges) {
    kept.push(bytes.subarray(at, from))
    at = to
  }
  kept.push(bytes.subarray(at))
  return { good: joined(kept), bad: joined(ranges.map(([from, to]) => bytes.subarray(from, to))), lines: ranges.length }
}

function joined(parts: readonly Uint8Array<ArrayBuffer>[]): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    all.set(part, at)
    at += part.length
  }
  return all
}
