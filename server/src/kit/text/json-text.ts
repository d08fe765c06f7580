// JSON as the text that was sent. JavaScript objects reorder integer-like keys, lose integers beyond 2^53 and turn 1.10 into 1.1;
// a configuration must come back exactly as it came in (invariant 5 of ARCHITECTURE.md), so it is kept, cut and edited as text, by offsets.
//
// 1. Every function here expects text that JSON.parse accepts (`readJson` checks that); on other text the result is undefined, but
//    the function ends.
// 2. Nothing here recurses: depth is a counter, and deeper than MAX_DEPTH is refused by `readJson`.

/** As deep as the original API reads JSON. Real configurations are ten or twenty levels deep. */
export const MAX_DEPTH = 512
/** Names and values of one text. The largest configurations we have seen have a few thousand. */
export const MAX_VALUES = 100_000

export type JsonKind = 'object' | 'array' | 'string' | 'number' | 'boolean' | 'null'
export type JsonPath = readonly (string | number)[]

/** Half-open range of offsets in a text. */
export interface Span {
  readonly start: number
  readonly end: number
}

export interface Scalar extends Span {
  /** The position of the value. Computed on demand: a document has many scalars and few that matter. */
  path(): JsonPath
  /** Name of the member that holds the value; items of a list have the name of the list's member. */
  readonly name: string | undefined
}

export interface Edit extends Span {
  readonly text: string
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const COLON = 0x3a
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d
const OPEN_LIST = 0x5b
const CLOSE_LIST = 0x5d

const isSpace = (code: number): boolean => code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09

function skipSpace(text: string, at: number): number {
  while (at < text.length && isSpace(text.charCodeAt(at))) at++
  return at
}

/** `at` is an opening quote; the result is just behind the closing one. */
function skipString(text: string, at: number): number {
  for (let end = text.indexOf('"', at + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let slashes = 0
    while (text.charCodeAt(end - 1 - slashes) === BACKSLASH) slashes++
    if (slashes % 2 === 0) return end + 1
  }
  return text.length
}

function skipScalar(text: string, at: number): number {
  if (text.charCodeAt(at) === QUOTE) return skipString(text, at)
  let i = at + 1
  for (; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code === COMMA || code === CLOSE_OBJECT || code === CLOSE_LIST || isSpace(code)) break
  }
  return i
}

/** `at` is the first character of a value; the result is just behind it. */
function skipValue(text: string, at: number): number {
  let depth = 0
  for (let i = at; i < text.length; ) {
    const code = text.charCodeAt(i)
    if (code === OPEN_OBJECT || code === OPEN_LIST) {
      depth++
      i++
    } else if (code === CLOSE_OBJECT || code === CLOSE_LIST) {
      i++
      if (--depth === 0) return i
    } else if (code === COMMA || code === COLON || isSpace(code)) {
      i++
    } else {
      i = skipScalar(text, i)
      if (depth === 0) return i
    }
  }
  return text.length
}

const decodeName = (text: string, start: number, end: number): string => {
  const inner = text.slice(start + 1, end - 1)
  if (!inner.includes('\\')) return inner
  try {
    return JSON.parse(text.slice(start, end)) as string // a name is a string by the grammar
  } catch {
    return inner // no JSON: any result will do, as long as there is one
  }
}

export type ReadJson =
  | { readonly ok: true; readonly value: unknown; readonly kind: JsonKind }
  | { readonly ok: false; readonly reason: string }

/** Parses a text of unknown origin and describes its first error in a sentence. */
export function readJson(text: string): ReadJson {
  const reason = shapeProblem(text)
  if (reason !== undefined) return { ok: false, reason }
  try {
    return { ok: true, value: JSON.parse(text) as unknown, kind: kindOf(text) }
  } catch {
    // The engine's own message quotes the text, and the text may hold a secret.
    return { ok: false, reason: 'it is not valid JSON' }
  }
}

/**
 * Why a text is not worth parsing, as the end of a sentence; undefined when it is. Safe on text that is not JSON, and done after
 * MAX_VALUES values: what follows it (JSON.parse, the functions here) takes time by the value, and all of it in one go.
 */
export function shapeProblem(text: string, limits = { depth: MAX_DEPTH, values: MAX_VALUES }): string | undefined {
  let depth = 0
  let values = 1
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code === QUOTE) i = skipString(text, i) - 1
    else if (code === OPEN_OBJECT || code === OPEN_LIST) {
      values++
      if (++depth > limits.depth) return `it is nested deeper than ${limits.depth} levels`
    } else if (code === CLOSE_OBJECT || code === CLOSE_LIST) depth--
    else if (code === COMMA || code === COLON) values++
    if (values > limits.values) return `it has more than ${limits.values} names and values`
  }
  return undefined
}

export function kindOf(text: string): JsonKind {
  switch (text.charCodeAt(skipSpace(text, 0))) {
    case OPEN_OBJECT:
      return 'object'
    case OPEN_LIST:
      return 'array'
    case QUOTE:
      return 'string'
    case 0x74: // t
    case 0x66: // f
      return 'boolean'
    case 0x6e: // n
      return 'null'
    default:
      return 'number'
  }
}

/** Each member of an object with its value's own slice of the text. Of two members with one name the last wins, as in JSON.parse. */
export function membersOf(text: string): Map<string, string> {
  const members = new Map<string, string>()
  let at = skipSpace(text, 0)
  if (text.charCodeAt(at) !== OPEN_OBJECT) return members
  at = skipSpace(text, at + 1)
  while (text.charCodeAt(at) === QUOTE) {
    const nameEnd = skipString(text, at)
    const valueStart = skipSpace(text, skipSpace(text, nameEnd) + 1) // behind the colon
    const valueEnd = skipValue(text, valueStart)
    members.set(decodeName(text, at, nameEnd), text.slice(valueStart, valueEnd))
    at = skipSpace(text, valueEnd)
    if (text.charCodeAt(at) === COMMA) at = skipSpace(text, at + 1)
  }
  return members
}

/** The object with a member replaced, or added at its end; the others stay as they were written. */
export function withMember(text: string, name: string, value: string): string {
  const members = membersOf(text).set(name, value)
  return `{${[...members].map(([key, member]) => `${JSON.stringify(key)}:${member}`).join(',')}}`
}

/** The items of a list, each as its own slice of the text. */
export function itemsOf(text: string): string[] {
  const items: string[] = []
  let at = skipSpace(text, 0)
  if (text.charCodeAt(at) !== OPEN_LIST) return items
  at = skipSpace(text, at + 1)
  while (at < text.length && text.charCodeAt(at) !== CLOSE_LIST) {
    const end = skipValue(text, at)
    items.push(text.slice(at, end))
    at = skipSpace(text, end)
    if (text.charCodeAt(at) === COMMA) at = skipSpace(text, at + 1)
  }
  return items
}

interface Frame {
  readonly list: boolean
  index: number
  nameStart: number
  nameEnd: number
  /** Once it has been requested. */
  name: string | undefined
}

/** An object or a list that is the value of a member. */
export interface Container extends Omit<Scalar, 'end'> {
  /** Computed on demand. */
  end(): number
}

/**
 * Calls `visit` for each scalar of the document, in the order of the text, and `enter` for each object and list that is the value of a
 * member: when it returns an end, the scan continues there.
 */
export function visitScalars(
  text: string,
  visit: (scalar: Scalar) => unknown,
  enter: (container: Container) => number | undefined = () => undefined,
): void {
  const frames: Frame[] = []
  const nameOf = (frame: Frame): string => (frame.name ??= decodeName(text, frame.nameStart, frame.nameEnd))
  const path = (): JsonPath => frames.map((frame) => (frame.list ? frame.index : nameOf(frame)))
  const name = (): string | undefined => {
    const holder = frames.findLast((frame) => !frame.list)
    return holder && nameOf(holder)
  }
  let expectName = false
  for (let at = 0; at < text.length; ) {
    const code = text.charCodeAt(at)
    const top = frames.at(-1)
    if (isSpace(code)) at++
    else if (code === COLON) {
      expectName = false
      at++
    } else if (code === COMMA) {
      if (top?.list) top.index++
      else expectName = true
      at++
    } else if (code === OPEN_OBJECT || code === OPEN_LIST) {
      const start = at
      const skippedTo =
        top && !top.list ? enter({ start, end: () => skipValue(text, start), path, name: nameOf(top) }) : undefined
      if (skippedTo === undefined) {
        frames.push({ list: code === OPEN_LIST, index: 0, nameStart: 0, nameEnd: 0, name: undefined })
        expectName = code === OPEN_OBJECT
      }
      at = skippedTo ?? at + 1
    } else if (code === CLOSE_OBJECT || code === CLOSE_LIST) {
      frames.pop()
      expectName = false
      at++
    } else {
      const end = skipScalar(text, at)
      if (expectName && top) {
        top.nameStart = at
        top.nameEnd = end
        top.name = undefined
      } else {
        visit({
          start: at,
          end,
          path,
          get name() {
            return name()
          },
        })
      }
      at = end
    }
  }
}

/** Calls `visit` for each scalar below a member whose name starts with `#`, at any depth. */
export function visitScalarsBelowHash(text: string, visit: (literal: string, path: () => JsonPath) => void): void {
  visitScalars(
    text,
    ({ start, end, name, path }) => name?.startsWith('#') && visit(text.slice(start, end), path),
    ({ start, end: endOf, name, path: above }) => {
      if (!name?.startsWith('#')) return undefined
      const end = endOf()
      const inner = text.slice(start, end)
      visitScalars(inner, (scalar) => visit(inner.slice(scalar.start, scalar.end), () => [...above(), ...scalar.path()]))
      return end
    },
  )
}

/** Puts each edit in the place of its span. Edits are given in the order of the text and do not overlap. */
export function replaceSpans(text: string, edits: readonly Edit[]): string {
  if (edits.length === 0) return text
  const parts: string[] = []
  let from = 0
  for (const edit of edits) {
    parts.push(text.slice(from, edit.start), edit.text)
    from = edit.end
  }
  parts.push(text.slice(from))
  return parts.join('')
}

/** The text without the white space between its tokens: two texts with the same tokens have the same content. */
export function compact(text: string): string {
  const parts: string[] = []
  let from = 0
  for (let i = 0; i < text.length; ) {
    const code = text.charCodeAt(i)
    if (code === QUOTE) i = skipString(text, i)
    else if (isSpace(code)) {
      parts.push(text.slice(from, i))
      i = skipSpace(text, i)
      from = i
    } else i++
  }
  if (from === 0) return text
  parts.push(text.slice(from))
  return parts.join('')
}

export const sameJson = (a: string, b: string): boolean => a === b || compact(a) === compact(b)

const RAW = Symbol('raw JSON text')

/** A piece of JSON text that `stringifyWithRaw` puts into its result as it is. */
export interface RawJson {
  readonly [RAW]: string
}

export const rawJson = (text: string): RawJson => ({ [RAW]: text })

const isRaw = (value: object): value is RawJson => RAW in value

/** JSON.stringify for values with `rawJson` pieces inside. For answers we build ourselves, so it may recurse. */
export function stringifyWithRaw(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  if (isRaw(value)) return value[RAW]
  if (Array.isArray(value)) return `[${value.map(stringifyWithRaw).join(',')}]`
  if (value instanceof Date) return JSON.stringify(value)
  const members = Object.entries(value).filter(([, member]) => member !== undefined)
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${stringifyWithRaw(member)}`).join(',')}}`
}
