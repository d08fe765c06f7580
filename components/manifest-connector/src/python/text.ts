// Python's texts where JavaScript's differ: white space, lines, cases and kinds of characters. Positions count code points.

// biome-ignore lint/suspicious/noControlCharactersInRegex: separators that Python counts as white space
const SPACE = /[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/
export const isSpace = (char: string): boolean => SPACE.test(char)

export function trimmed(text: string, strips: (char: string) => boolean = isSpace, start = true, end = true): string {
  const chars = [...text]
  let from = 0
  let to = chars.length
  while (start && from < to && strips(chars[from]!)) from++
  while (end && to > from && strips(chars[to - 1]!)) to--
  return from === 0 && to === chars.length ? text : chars.slice(from, to).join('')
}

/** The first `max` words, and the rest of the text as it is. */
export function words(text: string, max: number): string[] {
  const out: string[] = []
  let at = 0
  for (;;) {
    while (at < text.length && isSpace(text[at]!)) at++
    if (at >= text.length) return out
    if (max >= 0 && out.length >= max) return [...out, text.slice(at)]
    const from = at
    while (at < text.length && !isSpace(text[at]!)) at++
    out.push(text.slice(from, at))
  }
}

const reversed = (text: string) => [...text].reverse().join('')

/** The last `max` words. */
export const lastWords = (text: string, max: number): string[] => words(reversed(text), max).map(reversed).reverse()

// biome-ignore lint/suspicious/noControlCharactersInRegex: separators that end lines in Python
const LINE = /[^\n\r\v\f\x1c-\x1e\x85\u2028\u2029]*(\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]|$)/gy

export function lines(text: string, keepsEnds = false): string[] {
  const out: string[] = []
  for (const [line, end = ''] of text.matchAll(LINE)) {
    if (line === '') break
    out.push(keepsEnds ? line : line.slice(0, line.length - end.length))
  }
  return out
}

/** Letters that have a form of their own for the start of a word. */
const TITLE = new Map(
  ['ǅ', 'ǈ', 'ǋ', 'ǲ'].flatMap((title) => [title, title.toLowerCase(), title.toUpperCase()].map((each) => [each, title])),
)

const CASED = /\p{Cased}/u

function titleOf(char: string): string {
  const own = TITLE.get(char)
  if (own !== undefined) return own
  const upper = char.toUpperCase()
  const first = upper.search(CASED) + 1
  return upper.slice(0, first) + upper.slice(first).toLowerCase()
}

export function capitalized(text: string): string {
  const [first = ''] = text
  return titleOf(first) + text.slice(first.length).toLowerCase()
}

export function titled(text: string): string {
  let out = ''
  let isInside = false
  for (const char of text) {
    out += isInside ? char.toLowerCase() : titleOf(char)
    isInside = CASED.test(char)
  }
  return out
}

export const swapped = (text: string): string =>
  [...text]
    .map((char) => (/\p{Uppercase}/u.test(char) ? char.toLowerCase() : /\p{Lowercase}/u.test(char) ? char.toUpperCase() : char))
    .join('')

export const folded = (text: string): string =>
  [...text].map((char) => (char === 'ı' ? char : char.toUpperCase().toLowerCase())).join('')

export const isLower = (text: string): boolean => /\p{Lowercase}/u.test(text) && !/[\p{Uppercase}\p{Lt}]/u.test(text)
export const isUpper = (text: string): boolean => /\p{Uppercase}/u.test(text) && !/[\p{Lowercase}\p{Lt}]/u.test(text)

export function isTitle(text: string): boolean {
  let found = false
  let isInside = false
  for (const char of text) {
    if (/[\p{Uppercase}\p{Lt}]/u.test(char)) {
      if (isInside) return false
      found = isInside = true
    } else if (/\p{Lowercase}/u.test(char)) {
      if (!isInside) return false
      found = true
    } else isInside = false
  }
  return found
}

/** The methods that ask whether every character is of a kind. */
export const KINDS: Readonly<Record<string, RegExp>> = {
  isalnum: /^[\p{L}\p{N}]+$/u,
  isalpha: /^\p{L}+$/u,
  // biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII
  isascii: /^[\x00-\x7f]*$/,
  isdecimal: /^\p{Nd}+$/u,
  isdigit: /^[\p{Nd}²³¹⁰⁴-⁹₀-₉①-⑨⑴-⑼⒈-⒐⓪⓵-⓽⓿❶-❾➀-➈➊-➒]+$/u,
  isidentifier: /^[\p{XIDS}_]\p{XIDC}*$/u,
  isnumeric: /^[\p{N}〇一二三四五六七八九十百千万億]+$/u,
  isprintable: /^(?: |[^\p{C}\p{Z}])*$/u,
  isspace: new RegExp(`^(?:${SPACE.source})+$`),
}
