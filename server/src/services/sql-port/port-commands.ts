// Commands of PostgreSQL that are no queries: read from their tokens, as far as clients use them.

import type { CopyOptions } from '../../engines/pg-wire/rows.ts'
import { WireError } from '../../engines/pg-wire/wire-session.ts'
import type { Statement } from '../../engines/sql/statements.ts'

const syntax = (message: string) => new WireError('42601', message)

const wordsOf = ({ tokens }: Statement): string[] =>
  tokens.map(({ kind, text }) => (kind === 'word' ? text.toLowerCase() : kind === 'symbol' ? text : `"${text}`))

/** The text between two tokens. */
const between = ({ text, tokens, offset }: Statement, from: number, to: number): string => {
  const [first, last] = [tokens[from], tokens[to - 1]]
  return first && last ? text.slice(first.start - offset, last.end - offset) : ''
}

/** What a string token says. */
const stringOf = (statement: Statement, at: number): string => {
  const raw = between(statement, at, at + 1)
  const body = raw.replace(/^[eE]?'(.*)'$/s, '$1').replaceAll("''", "'")
  return /^[eE]'/.test(raw) ? body.replaceAll('\\t', '\t').replaceAll('\\\\', '\\') : body
}

// ------------------------------------------------------------------------------------------------------------------------ COPY

export interface CopyCommand {
  readonly query: string
  readonly options: CopyOptions
}

/** `COPY {(query) | table [(columns)]} TO STDOUT [[WITH] options]`. */
export function readCopy(statement: Statement): CopyCommand {
  const words = wordsOf(statement)
  let depth = 0
  const to = words.findIndex((word) => {
    depth += word === '(' ? 1 : word === ')' ? -1 : 0
    return depth === 0 && (word === 'to' || word === 'from')
  })
  if (words[to] === 'from')
    throw new WireError(
      '0A000',
      'COPY ... FROM is not supported: load tables through the Storage API. COPY (query) TO STDOUT reads.',
    )
  if (to === -1 || words[to + 1] !== 'stdout')
    throw new WireError('0A000', 'COPY writes to the client only: COPY (query) TO STDOUT.')
  return { query: copySource(statement, words, to), options: copyOptions(statement, words, to + 2) }
}

function copySource(statement: Statement, words: readonly string[], to: number): string {
  if (words[1] === '(') return between(statement, 2, to - 1)
  const list = words.indexOf('(', 1)
  const table = between(statement, 1, list === -1 || list > to ? to : list)
  const columns = list === -1 || list > to ? '*' : between(statement, list + 1, to - 1)
  return `SELECT ${columns} FROM ${table}`
}

function copyOptions(statement: Statement, words: readonly string[], from: number): CopyOptions {
  const given: { -readonly [K in keyof CopyOptions]?: CopyOptions[K] } = {}
  for (let at = from; at < words.length; at++) {
    const word = words[at] ?? ''
    const isValue = statement.tokens[at + 1]?.kind === 'string'
    if (['with', '(', ')', ',', 'as', 'format'].includes(word)) continue
    if (word === 'csv' || word === 'text' || word === 'binary') given.format = word
    else if (word === 'header') {
      given.header = !['false', 'off'].includes(words[at + 1] ?? '')
      if (['true', 'on', 'false', 'off', 'match'].includes(words[at + 1] ?? '')) at++
    } else if (isValue && ['delimiter', 'delimiters'].includes(word)) given.delimiter = stringOf(statement, ++at)
    else if (isValue && word === 'null') given.nullText = stringOf(statement, ++at)
    else if (isValue && word === 'quote') given.quote = stringOf(statement, ++at)
    else if (isValue && word === 'escape') given.escape = stringOf(statement, ++at)
    else if (isValue && word === 'encoding' && /^utf-?8$/i.test(stringOf(statement, at + 1))) at++
    else throw new WireError('0A000', `The option ${word.toUpperCase().slice(0, 40)} of COPY is not supported.`)
  }
  const isCsv = given.format === 'csv'
  const options = {
    format: 'text',
    header: false,
    delimiter: isCsv ? ',' : '\t',
    nullText: isCsv ? '' : '\\N',
    quote: '"',
    escape: given.quote ?? '"',
    ...given,
  } as const
  if ([options.delimiter, options.quote, options.escape].some((text) => Buffer.byteLength(text) !== 1))
    throw new WireError('22023', 'Delimiter, quote and escape of COPY are one byte each.')
  return options
}

// --------------------------------------------------------------------------------------------------------------------- cursors

export interface DeclareCommand {
  readonly name: string
  readonly query: string
  readonly isHeld: boolean
}

/** `DECLARE name [options] CURSOR [WITH HOLD] FOR query`. */
export function readDeclare(statement: Statement): DeclareCommand {
  const words = wordsOf(statement)
  const [cursor, start] = [words.indexOf('cursor'), words.indexOf('for')]
  const name = nameAt(statement, 1)
  if (cursor === -1 || start < cursor || start === words.length - 1)
    throw syntax('DECLARE has the form DECLARE name CURSOR FOR query.')
  if (words.slice(2, cursor).includes('binary'))
    throw new WireError('0A000', 'Binary cursors are not supported. Leave out BINARY.')
  if (words.slice(2, cursor).join(' ') === 'scroll')
    throw new WireError('0A000', 'A cursor only goes forward here. Leave out SCROLL.')
  return {
    name,
    query: between(statement, start + 1, words.length),
    isHeld: words.slice(cursor, start).join(' ').includes('with hold'),
  }
}

/** `FETCH [NEXT | ALL | n | FORWARD [n | ALL]] [FROM | IN] name`; MOVE is the same without rows. */
export function readFetch(statement: Statement): { readonly name: string; readonly rows: number } {
  const last = statement.tokens.length - 1
  const how = between(statement, 1, last).toLowerCase()
  const found = /^(?:(?:forward\s+)?(\d{1,9}|all)|next|forward)?(?:\s*\b(?:from|in))?$/.exec(how)
  if (!found)
    throw new WireError('0A000', 'A cursor only goes forward here: FETCH NEXT, FETCH n, FETCH ALL or FETCH FORWARD n FROM name.')
  const [, count = '1'] = found
  return { name: nameAt(statement, last), rows: count === 'all' ? Number.POSITIVE_INFINITY : Number(count) }
}

export function nameAt({ tokens }: Statement, at: number): string {
  const token = tokens[at]
  if (!token || (token.kind !== 'word' && token.kind !== 'quoted')) throw syntax('A name is missing.')
  return token.kind === 'word' ? token.text.toLowerCase() : token.text
}

// ------------------------------------------------------------------------------------------------------------------ parameters

/** The text with literals in the place of `$1`, `$2` ... */
export function withLiterals(statement: Statement, literal: (number: number, isList: boolean) => string): string {
  const { text, tokens, offset } = statement
  let out = ''
  let from = 0
  for (const { start, end, number, isList } of parametersIn(statement)) {
    out += `${text.slice(from, start - offset)} ${literal(number, isList)} `
    from = end - offset
  }
  return tokens.length > 0 ? out + text.slice(from) : text
}

export const parameterCount = (statement: Statement): number =>
  Math.max(0, ...parametersIn(statement).map(({ number }) => number))

interface Parameter {
  readonly start: number
  readonly end: number
  readonly number: number
  /** `= ANY ($1)` or `$1::INTEGER[]` */
  readonly isList: boolean
}

function parametersIn({ text, tokens, offset }: Statement): Parameter[] {
  const word = (at: number) => tokens[at]?.text.toLowerCase() ?? ''
  return tokens.flatMap((token, i) => {
    const next = tokens[i + 1]
    if (token.kind !== 'symbol' || token.text !== '$' || !next || next.start !== token.end || next.kind !== 'symbol') return []
    const number = Number(text.slice(next.start - offset, next.end - offset))
    const isList =
      (['any', 'all'].includes(word(i - 2)) && word(i - 1) === '(') ||
      (word(i + 2) === ':' && word(i + 3) === ':' && word(i + 5) === '[' && word(i + 6) === ']')
    return Number.isInteger(number) && number > 0 ? [{ start: token.start, end: next.end, number, isList }] : []
  })
}
