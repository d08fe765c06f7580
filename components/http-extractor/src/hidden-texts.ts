// Finds many texts in one: which of the known texts stands at a place is looked up by its first characters. Adding and forgetting a
// text costs the same whether there are ten or ten thousand, which a regular expression over all of them does not give.

/** Texts are looked up by this many characters; shorter ones cannot be held. */
export const START_LENGTH = 3

const SLOTS = 1 << 14
const slotOf = (text: string, at: number) =>
  (text.charCodeAt(at) * 961 + text.charCodeAt(at + 1) * 31 + text.charCodeAt(at + 2)) & (SLOTS - 1)

export interface HiddenTexts {
  /** A text may be held more than once; it is forgotten when each holder has let go. */
  add(text: string): void
  remove(text: string): void
  /** Every known text replaced: from left to right, the longest where several begin. */
  replaceIn(text: string, mask: string): string
}

/** Texts with one start, by their length: many share a start (`Bearer `), few differ in length. */
type Lengths = Map<number, Set<string>>

export function createHiddenTexts(): HiddenTexts {
  const byStart = new Map<string, Lengths>()
  const holders = new Map<string, number>()
  /** Whether any text starts like this; with false positives, never false negatives. */
  const starts = new Uint8Array(SLOTS)

  function add(text: string): void {
    const count = holders.get(text) ?? 0
    holders.set(text, count + 1)
    if (count > 0) return
    const start = text.slice(0, START_LENGTH)
    const lengths = byStart.get(start) ?? new Map<number, Set<string>>()
    byStart.set(start, withLength(lengths, text.length))
    byStart.get(start)!.get(text.length)!.add(text)
    starts[slotOf(text, 0)] = 1
  }

  function remove(text: string): void {
    const count = holders.get(text) ?? 0
    if (count > 1) {
      holders.set(text, count - 1)
      return
    }
    holders.delete(text)
    const start = text.slice(0, START_LENGTH)
    const lengths = byStart.get(start)
    const texts = lengths?.get(text.length)
    texts?.delete(text)
    if (texts?.size === 0) lengths?.delete(text.length)
    if (lengths?.size === 0) byStart.delete(start)
  }

  /** The length of the text that stands here, 0 when there is none. */
  function lengthAt(text: string, at: number): number {
    if (starts[slotOf(text, at)] === 0) return 0
    for (const [length, texts] of byStart.get(text.slice(at, at + START_LENGTH)) ?? [])
      if (texts.has(text.slice(at, at + length))) return length
    return 0
  }

  function replaceIn(text: string, mask: string): string {
    let out = ''
    let from = 0
    for (let at = 0; at <= text.length - START_LENGTH; at++) {
      const length = lengthAt(text, at)
      if (length === 0) continue
      out += text.slice(from, at) + mask
      from = at + length
      at = from - 1
    }
    return from === 0 ? text : out + text.slice(from)
  }

  return { add, remove, replaceIn }
}

/** With an entry for this length, the longest first. */
function withLength(lengths: Lengths, length: number): Lengths {
  if (lengths.has(length)) return lengths
  return new Map([...lengths, [length, new Set<string>()] as const].sort(([a], [b]) => b - a))
}
