// Which answer of an API brought rows into a table: the recording of an extraction has every request with its answer, and the answer is
// the one with an item that has the most values of a row. Only JSON is read. Recordings are as large as what was extracted, so that lines
// and what they hold are bounded, and other work runs between two lines.

import { nextTurn } from '../../../kit/next-turn.ts'
import { type JsonPath, shapeProblem, visitScalars } from '../../../kit/text/json-text.ts'

export interface RecordedAnswer {
  /** From 1, in the file. */
  readonly line: number
  readonly method: string
  readonly url: string
  readonly status: number
  /** How many of the values of a row an item of the answer has, and how many the row has. */
  readonly matches: { readonly found: number; readonly of: number }
}

type Row = readonly (string | null)[]

const MAX_ROWS = 20
const MAX_LINE_BYTES = 32 << 20
const MAX_SHAPE = { depth: 64, values: 2_000_000 }
/** Fewer values of a row than this share may be those of another item. */
const MIN_SHARE = 0.5

/** Undefined if no answer has an item with half of the values of a row. Of several equal ones, the first. */
export async function findAnswer(
  recording: AsyncIterable<Uint8Array>,
  rows: readonly Row[],
): Promise<RecordedAnswer | undefined> {
  const wanted = wantedValues(rows.slice(0, MAX_ROWS))
  if (wanted.rows.length === 0) return undefined
  let best: RecordedAnswer | undefined
  for await (const { number, text } of boundedLines(recording)) {
    await nextTurn()
    const exchange = exchangeIn(text)
    if (!exchange) continue
    const matches = bestItem(exchange.body, wanted)
    if (!matches || (best && matches.found / matches.of <= best.matches.found / best.matches.of)) continue
    const { method, url, status } = exchange
    best = { line: number, method, url, status, matches }
  }
  return best
}

interface Wanted {
  readonly rows: readonly ReadonlySet<string>[]
  /** Rows by a value of theirs. */
  readonly byValue: ReadonlyMap<string, readonly number[]>
}

function wantedValues(rows: readonly Row[]): Wanted {
  const sets = rows.map((row) => new Set(row.filter(isValue))).filter(({ size }) => size > 0)
  const byValue = new Map<string, number[]>()
  for (const [i, row] of sets.entries()) for (const value of row) byValue.set(value, [...(byValue.get(value) ?? []), i])
  return { rows: sets, byValue }
}

const isValue = (value: string | null): value is string => value !== null && value !== ''

function bestItem(body: string, { rows, byValue }: Wanted): RecordedAnswer['matches'] | undefined {
  if (!/^\s*[[{]/.test(body) || shapeProblem(body, MAX_SHAPE) !== undefined) return undefined
  /** By item and row. */
  const found = new Map<string, Set<string>>()
  let best: RecordedAnswer['matches'] | undefined
  visitScalars(body, ({ start, end, path }) => {
    const value = textOf(body.slice(start, end))
    const among = byValue.get(value)
    if (!among) return
    const item = itemOf(path())
    for (const row of among) {
      const key = `${row} ${item}`
      const values = found.get(key) ?? new Set()
      found.set(key, values.add(value))
      const of = rows[row]!.size // of an index of the list
      if (values.size / of >= Math.max(MIN_SHARE, best ? best.found / best.of : 0)) best = { found: values.size, of }
    }
  })
  return best
}

/** As a cell of a table has it. */
function textOf(literal: string): string {
  if (!literal.startsWith('"')) return literal
  try {
    return String(JSON.parse(literal))
  } catch {
    return literal // no JSON: it equals nothing
  }
}

/** The innermost list item that a value belongs to; a value that is an item itself belongs to the one around its list. */
function itemOf(path: JsonPath): string {
  const at = path.findLastIndex((part, i) => typeof part === 'number' && i < path.length - 1)
  return path.slice(0, at + 1).join('/')
}

interface Exchange {
  readonly method: string
  readonly url: string
  readonly status: number
  readonly body: string
}

/** Undefined for a line that is no request with its answer: the file may be one of another kind. */
function exchangeIn(line: string): Exchange | undefined {
  if (shapeProblem(line, MAX_SHAPE) !== undefined) return undefined
  try {
    const { request, response } = JSON.parse(line) as Record<string, Record<string, unknown> | undefined> // looked at below
    const { method, url } = request ?? {}
    const { status, body, bodyBase64 } = response ?? {}
    if (typeof method !== 'string' || typeof url !== 'string' || typeof status !== 'number') return undefined
    if (body === undefined && typeof bodyBase64 !== 'string') return undefined
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    return { method, url: url.slice(0, MAX_URL), status, body: text ?? Buffer.from(String(bodyBase64), 'base64').toString() }
  } catch {
    return undefined
  }
}

const MAX_URL = 2000

/** A line that is longer is left out. */
async function* boundedLines(
  bytes: AsyncIterable<Uint8Array>,
): AsyncGenerator<{ readonly number: number; readonly text: string }> {
  let [parts, size, number]: [Uint8Array[], number, number] = [[], 0, 1]
  const add = (part: Uint8Array) => {
    size += part.length
    if (size <= MAX_LINE_BYTES) parts.push(part)
    else parts = []
  }
  for await (const chunk of bytes) {
    let from = 0
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, from)) {
      add(chunk.subarray(from, end))
      if (parts.length > 0) yield { number, text: Buffer.concat(parts).toString() }
      ;[parts, size, from] = [[], 0, end + 1]
      number++
    }
    add(chunk.subarray(from))
  }
  if (parts.length > 0) yield { number, text: Buffer.concat(parts).toString() }
}
