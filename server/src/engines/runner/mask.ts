// Removes secrets from all output of a component. A value is found in the forms programs write it in: raw, each of its lines,
// escaped as JSON, in a string literal, in a URL or in HTML, hexadecimal, and base64 also when it is a part of what was encoded
// (`user:password`).

/** Replaces every known secret in a text by `[hidden]`. */
export type Mask = (text: string) => string

const HIDDEN = '[hidden]'
/** One or two characters are in every line of a log: hiding them would hide the log and reveal the value. */
const SHORTEST = 3
/** An encoded form loses characters at its edges; shorter leftovers than this match by accident. */
const SHORTEST_ENCODED = 6
/** Longer texts are looked for as they are, in the forms that are most likely. */
const LONG = 1_000
const LONGEST_EXPRESSION = 50_000
/** A secret of more lines is a document. Its lines are hidden where they are whole lines: searching for each of them everywhere takes minutes. */
const MAX_LINES = 2_000

export function createMask(secrets: Iterable<string>): Mask {
  const forms = new Map<string, Form>()
  const documentLines = new Set<string>()
  for (const secret of secrets) {
    const lines = linesOf(secret)
    if (lines.length > MAX_LINES) for (const line of lines) documentLines.add(line.trim())
    for (const form of formsOf(secret, lines.length > MAX_LINES ? [] : lines)) forms.set(form.pattern ?? form.text, form)
  }
  const hideLines = (text: string) => text.replace(/[^\r\n]+/g, (line) => (documentLines.has(line.trim()) ? HIDDEN : line))
  // Longest first: a secret that contains another one is hidden whole.
  const sorted = [...forms.values()].sort((a, b) => b.text.length - a.text.length)
  const literals = sorted.filter(({ pattern }) => pattern === undefined)
  const patterns = inGroups(sorted.flatMap(({ pattern }) => (pattern === undefined ? [] : [pattern])))
  return (text) => {
    const withoutLong = literals.reduce((rest, form) => rest.replaceAll(form.text, HIDDEN), text)
    const hidden = patterns.reduce((rest, pattern) => rest.replace(pattern, HIDDEN), withoutLong)
    return documentLines.size > 0 ? hideLines(hidden) : hidden
  }
}

/** Nearly always one expression; the engine refuses those that are too long. */
function inGroups(patterns: readonly string[]): RegExp[] {
  const groups: string[] = []
  for (const pattern of patterns) {
    const last = groups.at(-1)
    if (last !== undefined && last.length + pattern.length < LONGEST_EXPRESSION) groups[groups.length - 1] = `${last}|${pattern}`
    else groups.push(pattern)
  }
  return groups.map((group) => new RegExp(group, 'g'))
}

/** The same for a value of any shape, names and numbers included: a secret may be all digits. */
export function maskValue(value: unknown, mask: Mask): unknown {
  if (typeof value === 'string') return mask(value)
  if (typeof value === 'number') return mask(String(value)) === String(value) ? value : HIDDEN
  if (Array.isArray(value)) return value.map((item) => maskValue(item, mask))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [mask(name), maskValue(member, mask)]))
}

/** A text to be hidden; with a pattern, however its characters are escaped. */
interface Form {
  readonly text: string
  readonly pattern?: string
}

const linesOf = (secret: string): string[] => secret.split(/\r?\n/).filter((line) => line.trim().length >= SHORTEST_ENCODED)

function formsOf(secret: string, lines: readonly string[]): Form[] {
  if (secret.length < SHORTEST) return []
  const bytes = Buffer.from(secret, 'utf8')
  const encoded = [...base64Forms(bytes), bytes.toString('hex'), bytes.toString('hex').toUpperCase()].filter(
    (form) => form.length >= SHORTEST_ENCODED,
  )
  return [
    ...[secret, ...lines].flatMap((text) => (text.length > LONG ? longForms(text) : [{ text, pattern: written(text) }])),
    ...encoded.map((text) => (text.length > LONG ? { text } : { text, pattern: escapeRegExp(text) })),
  ]
}

function longForms(text: string): Form[] {
  const json = JSON.stringify(text).slice(1, -1)
  const ascii = json.replace(/[\u007f-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
  return [text, json, ascii, ...(text.isWellFormed() ? [encodeURIComponent(text)] : [])].map((form) => ({ text: form }))
}

/**
 * A text however its characters are escaped, each by itself: libraries do not agree on which of them need it (`/` in a URL, `é` in JSON).
 * The backslashes of the text go with the character behind them and are counted there, so that there is one way only to match, and
 * never a slow one.
 */
function written(text: string): string {
  return text.replace(/(\\*)([^\\]|$)/gsu, (_, before: string, character: string) => {
    const backslashes = before.length
    if (backslashes === 0 && (character === '' || /[\w.~-]/.test(character))) return character.replace('.', '\\.')
    const some = (min: number) => `\\\\{${min},${4 * backslashes + 4}}`
    const slashes = backslashes === 0 ? some(0) : `(?:${some(backslashes)}|(?:%5[Cc]){${backslashes}})`
    if (character === '') return slashes
    const plain = [escapeRegExp(character), percentEncoded(character), ...htmlForms(character)].join('|')
    return `(?:${slashes}(?:${plain})|${some(backslashes + 1)}(?:${escapes(character).join('|')}))`
  })
}

/** What follows the backslash in JSON and in the literals of most languages. */
function escapes(character: string): string[] {
  const units = Array.from({ length: character.length }, (_, at) => character.charCodeAt(at).toString(16).padStart(4, '0'))
  const named = { '\n': 'n', '\r': 'r', '\t': 't', '\b': 'b', '\f': 'f' }[character]
  return [`u${units.map(anyCase).join('\\\\{1,4}u')}`, ...(named === undefined ? [] : [named])]
}

/** In bytes of UTF-8. A lone surrogate has none, and cannot be in such a text. */
function percentEncoded(character: string): string {
  const codes = [...Buffer.from(character)].map((byte) => `%${anyCase(byte.toString(16).padStart(2, '0'))}`)
  return character === ' ' ? '(?:%20|\\+)' : codes.join('')
}

const anyCase = (hex: string): string => hex.replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`)

function htmlForms(character: string): string[] {
  const name = { '&': 'amp', '<': 'lt', '>': 'gt', '"': 'quot', "'": '(?:apos|#0?39)' }[character]
  return name === undefined ? [] : [`&${name};`]
}

/** Base64 works on groups of three bytes, so a text inside a longer one takes one of three shapes, less its edge characters. */
function base64Forms(bytes: Buffer): string[] {
  return [0, 1, 2].flatMap((shift) => {
    const shifted = Buffer.concat([Buffer.alloc(shift), bytes])
      .toString('base64')
      .replaceAll('=', '')
    const start = Math.ceil((shift * 4) / 3)
    const end = Math.floor(((shift + bytes.length) * 8) / 6)
    const form = shifted.slice(start, end)
    return [form, form.replaceAll('+', '-').replaceAll('/', '_')]
  })
}

const escapeRegExp = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
