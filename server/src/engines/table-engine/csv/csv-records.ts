// Records of a CSV text, read leniently: for guesses and previews, never for loads.

const LF = 10

export interface CsvRecord {
  readonly values: readonly string[]
  /** Values that stood in enclosures from their first character to their last. */
  readonly enclosed: number
  /** Values with an enclosure in the middle, where RFC 4180 allows none. */
  readonly clumsy: number
}

export function* splitRecords(
  text: string,
  { delimiter, enclosure }: { readonly delimiter: string; readonly enclosure: string },
): Generator<CsvRecord> {
  let at = 0
  while (at < text.length) {
    const values: string[] = []
    let enclosed = 0
    let clumsy = 0
    for (;;) {
      const field = enclosure !== '' && text[at] === enclosure ? enclosedValue(text, at, enclosure) : undefined
      const end = valueEnd(text, field?.end ?? at, delimiter)
      const tail = text.slice(field?.end ?? at, end)
      values.push((field?.value ?? '') + (text[end] === '\n' || end === text.length ? tail.replace(/\r$/, '') : tail))
      if (field) enclosed++
      if (enclosure !== '' && tail.includes(enclosure)) clumsy++
      at = end + 1
      if (end >= text.length || text[end] === '\n') break
    }
    yield { values, enclosed, clumsy }
  }
}

/** The value behind an opening enclosure, and where its closing one ends; an enclosure that is never closed reaches to the end. */
function enclosedValue(text: string, start: number, enclosure: string): { value: string; end: number } {
  let value = ''
  for (let from = start + 1; ; ) {
    const quote = text.indexOf(enclosure, from)
    if (quote === -1) return { value: value + text.slice(from), end: text.length }
    value += text.slice(from, quote)
    if (text[quote + 1] !== enclosure) return { value, end: quote + 1 }
    value += enclosure
    from = quote + 2
  }
}

function valueEnd(text: string, from: number, delimiter: string): number {
  const code = delimiter.charCodeAt(0)
  for (let at = from; at < text.length; at++) {
    const found = text.charCodeAt(at)
    if (found === code || found === LF) return at
  }
  return text.length
}
