// Parameters of queries: `$city` in the SQL, replaced by a literal. The text is cut into tokens as DuckDB does it, so that nothing in a
// string, a comment or a quoted name is replaced, and a value is never more than one literal.

import { PlatformError } from '../../kit/errors.ts'
import { eachInTurns } from '../../kit/in-turns.ts'
import { singleQuoted } from '../../kit/text/single-quoted.ts'
import { failedAt, positionOf } from './error-place.ts'
import { singleStatement } from './statements.ts'

export const PARAMETER_TYPES = ['text', 'number', 'boolean', 'date', 'timestamp'] as const

export interface QueryParameter {
  readonly name: string
  readonly type: (typeof PARAMETER_TYPES)[number]
  /** Without one the caller has to send a value. */
  readonly default?: string
}

export type Values = Readonly<Record<string, unknown>>

const MAX_VALUE = 10_000

export interface FilledSql {
  readonly sql: string
  /** An error of the filled text, placed in the text as it was sent. */
  readonly placed: (error: unknown) => unknown
}

/** The SQL with all values in it. */
export async function withValues(sql: string, parameters: readonly QueryParameter[], values: Values): Promise<FilledSql> {
  const stranger = Object.keys(values).find((name) => !parameters.some((one) => one.name === name))
  if (stranger !== undefined) throw wrong(stranger.slice(0, 60), 'is not a parameter of this query')
  const literals = new Map(parameters.map((one) => [one.name, literalOf(one, values[one.name] ?? one.default)]))
  const { tokens, text, offset } = await singleStatement(sql)
  const pieces: string[] = []
  const edits: Edit[] = []
  let from = 0
  let length = 0
  await eachInTurns(tokens.length, (i) => {
    if (!isParameter(tokens, i)) return
    const literal = literals.get(tokens.raw(i + 1))
    if (literal === undefined) throw wrong(tokens.raw(i + 1).slice(0, 60), 'stands in the SQL and is not declared')
    const start = tokens.start(i) - offset
    pieces.push(text.slice(from, start), literal)
    length += start - from
    edits.push({ filled: length, literal: literal.length, start: tokens.start(i), end: tokens.end(i + 1) })
    length += literal.length
    from = tokens.end(i + 1) - offset
  })
  const placed = (error: unknown) => {
    const at = positionOf(error)
    return error instanceof PlatformError && at !== undefined ? failedAt(error, sql, originalPosition(at, edits, offset)) : error
  }
  return { sql: [...pieces, text.slice(from)].join(''), placed }
}

/** A value in the place of its name: where it is in the filled text, and where the name was in the whole text. */
interface Edit {
  readonly filled: number
  readonly literal: number
  readonly start: number
  readonly end: number
}

/** Of a place in a value it is the place of its name. */
function originalPosition(at: number, edits: readonly Edit[], offset: number): number {
  const last = edits.findLast(({ filled }) => filled <= at)
  if (!last) return offset + at
  const behind = at - last.filled - last.literal
  return behind < 0 ? last.start : last.end + behind
}

type Tokens = Awaited<ReturnType<typeof singleStatement>>['tokens']

const isParameter = (tokens: Tokens, i: number): boolean =>
  tokens.isSymbol(i, '$') && tokens.kind(i + 1) === 'word' && tokens.start(i + 1) === tokens.end(i)

function literalOf({ name, type }: QueryParameter, value: unknown): string {
  if (value === undefined || value === null) throw wrong(name, 'has no value and no default')
  const text = String(value)
  if (typeof value === 'object' || text.length > MAX_VALUE || text.includes('\0'))
    throw wrong(name, `must be a text, a number or a boolean of at most ${MAX_VALUE} characters`)
  switch (type) {
    case 'text':
      return singleQuoted(text)
    case 'number':
      if (/^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,3})?$/.test(text)) return `(${text})`
      throw wrong(name, `must be a number, not "${text.slice(0, 60)}"`)
    case 'boolean':
      if (/^(true|false)$/i.test(text)) return text.toLowerCase()
      throw wrong(name, `must be true or false, not "${text.slice(0, 60)}"`)
    default:
      if (/^\d{4}-\d{2}-\d{2}([ T]\d{2}:\d{2}(:\d{2}(\.\d{1,6})?)?)?$/.test(text) && !Number.isNaN(Date.parse(text)))
        return `${type === 'date' ? 'DATE' : 'TIMESTAMP'} ${singleQuoted(type === 'date' ? text.slice(0, 10) : text)}`
      throw wrong(name, `must be a ${type} such as 2026-01-31, not "${text.slice(0, 60)}"`)
  }
}

export const wrong = (name: string, reason: string) => new PlatformError('sql.savedQueries.parameter', { name, reason })
