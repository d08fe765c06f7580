// Python's textwrap.wrap of one line, as the filter wordwrap uses it.

import { ConnectorError, ValueError } from '../errors.ts'

const MAX_LENGTH = 100_000
const SPACES = /([\t\n\v\f\r ]+)/
/** White space, dashes between words, and words, also in parts that end with a hyphen. */
const PARTS =
  /([\t\n\v\f\r ]+|(?<=[\p{L}\p{N}_!"'&.,?])-{2,}(?=[\p{L}\p{N}_])|[^\t\n\v\f\r ]+?(?:-(?:(?<=[\p{L}_]{2}-)|(?<=[\p{L}_]-[\p{L}\p{N}_!"'&.,?]-))(?=[\p{L}_]-?[\p{L}_])|(?=[\t\n\v\f\r ]|$)|(?<=[\p{L}\p{N}_!"'&.,?])(?=-{2,}[\p{L}\p{N}_])))/u

const isBlank = (text: string | undefined) => text !== undefined && text.trim() === ''

export function wrapped(line: string, width: number, breaksWords: boolean, breaksHyphens: boolean): string[] {
  if (width <= 0) throw new ValueError(`invalid width ${width} (must be > 0)`)
  if (line.length > MAX_LENGTH) throw new ConnectorError(`wordwrap takes lines of at most ${MAX_LENGTH} characters.`)
  const chunks = line
    .split(breaksHyphens && line.includes('-') ? PARTS : SPACES)
    .filter((part) => part !== '' && part !== undefined)
  chunks.reverse()
  const sizeOf = (text: string) => [...text].length
  const out: string[] = []
  while (chunks.length > 0) {
    const current: string[] = []
    let length = 0
    if (out.length > 0 && isBlank(chunks.at(-1))) chunks.pop()
    while (chunks.length > 0 && length + sizeOf(chunks.at(-1)!) <= width) {
      const chunk = chunks.pop()!
      current.push(chunk)
      length += sizeOf(chunk)
    }
    const next = chunks.at(-1)
    if (next !== undefined && sizeOf(next) > width) {
      const room = width - length
      if (breaksWords) {
        const at = breakAt([...next], room, breaksHyphens)
        current.push([...next].slice(0, at).join(''))
        chunks[chunks.length - 1] = [...next].slice(at).join('')
      } else if (current.length === 0) current.push(chunks.pop()!)
      length = sizeOf(current.join(''))
    }
    if (isBlank(current.at(-1))) current.pop()
    if (current.length > 0) out.push(current.join(''))
  }
  return out
}

/** After the last hyphen that fits, when there is one between characters. */
function breakAt(chars: readonly string[], room: number, breaksHyphens: boolean): number {
  if (!breaksHyphens || chars.length <= room) return room
  const hyphen = chars.slice(0, room).lastIndexOf('-')
  return hyphen > 0 && chars.slice(0, hyphen).some((char) => char !== '-') ? hyphen + 1 : room
}
