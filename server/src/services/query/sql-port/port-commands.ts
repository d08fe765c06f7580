// Commands of PostgreSQL that are no queries: read from their tokens, as far as clients use them.

import type { CopyOptions } from '../../../engines/pg-wire/rows.ts'
import { WireError } from '../../../engines/pg-wire/wire-session.ts'
import type { Statement } from '../../../engines/sql/statements.ts'
import { eachInTurns } from '../../../kit/in-turns.ts'
import type { CursorMove } from './scroll-cursor.ts'

const syntax = (message: string) => new WireError('42601', message)

/** A word or symbol in lower case; names in quotes and strings begin with a quote. */
const wordAt =
  ({ tokens }: Statement) =>
  (i: number): string => {
    const kind = tokens.kind(i)
    if (kind === undefined) return ''
    return kind === 'word' || kind === 'symbol' ? tokens.lower(i) : `"${tokens.text(i)}`
  }

/** The text between two tokens. */
export const between = ({ text, tokens, offset }: Statement, from: number, to: number): string =>
  to > from && from < tokens.length ? text.slice(tokens.start(from) - offset, tokens.end(to - 1) - offset) : ''

/** The content of a string token. */
export const stringOf = (statement: Statement, at: number): string => {
  const raw = between(statement, at, at + 1)
  const body = raw.replace(/^[eE]?'(.*)'$/s, '$1').replaceAll("''", "'")
  return /^[eE]'/.test(raw) ? body.replaceAll('\\t', '\t').replaceAll('\\\\', '\\') : body
}

// ------------------------------------------------------------------------------------------------------------------------ COPY

export interface CopyCommand {
  readonly query: string
  readonly options: CopyOptions
}

export interface CopyInCommand {
  /** Parts of the name, the last is the table's. */
  readonly table: readonly string[]
  /** None: all of the table. */
  readonly columns: readonly string[]
  readonly options: CopyOptions
}

/** `COPY table [(columns)] FROM STDIN [[WITH] options]`; undefined for a COPY that writes. */
export async function readCopyIn(statement: Statement): Promise<CopyInCommand | undefined> {
  const { tokens } = statement
  const from = await directionOf(statement)
  if (from === undefined || tokens.lower(from) !== 'from') return undefined
  if (tokens.lower(from + 1) !== 'stdin') throw new WireError('0A000', 'COPY reads from the client only: COPY table FROM STDIN.')
  const table = [nameAt(statement, 1)]
  let at = 2
  for (; tokens.isSymbol(at, '.'); at += 2) table.push(nameAt(statement, at + 1))
  const columns: string[] = []
  if (tokens.isSymbol(at, '(')) {
    do {
      columns.push(nameAt(statement, at + 1))
      at += 2
    } while (tokens.isSymbol(at, ','))
    if (!tokens.isSymbol(at++, ')')) throw syntax('COPY names columns as (a, b).')
  }
  if (at !== from) throw syntax('COPY has the form COPY table (columns) FROM STDIN.')
  return { table, columns, options: copyOptions(statement, from + 2) }
}

/** `COPY {(query) | table [(columns)]} TO STDOUT [[WITH] options]`. */
export async function readCopy(statement: Statement): Promise<CopyCommand> {
  const word = wordAt(statement)
  const to = await directionOf(statement)
  if (to === undefined || word(to + 1) !== 'stdout')
    throw new WireError('0A000', 'COPY writes to the client only: COPY (query) TO STDOUT.')
  return { query: copySource(statement, to), options: copyOptions(statement, to + 2) }
}

/** The place of TO or FROM, outside of brackets. */
async function directionOf({ tokens }: Statement): Promise<number | undefined> {
  let depth = 0
  let found: number | undefined
  await eachInTurns(tokens.length, (i) => {
    if (tokens.isSymbol(i, '(')) depth++
    else if (tokens.isSymbol(i, ')')) depth--
    else if (depth === 0 && tokens.kind(i) === 'word' && /^(to|from)$/i.test(tokens.text(i))) found = i
    return found === undefined
  })
  return found
}

function copySource(statement: Statement, to: number): string {
  const { tokens } = statement
  if (tokens.isSymbol(1, '(')) return between(statement, 2, to - 1)
  let list = 1
  while (list < to && !tokens.isSymbol(list, '(')) list++
  const columns = list === to ? '*' : between(statement, list + 1, to - 1)
  return `SELECT ${columns} FROM ${between(statement, 1, list)}`
}

/** The place before the value of an option: psycopg2 writes DELIMITER AS ';'. */
const beforeValue = ({ tokens }: Statement, at: number): number =>
  tokens.kind(at + 1) === 'word' && tokens.lower(at + 1) === 'as' ? at + 1 : at

/** All of them, with their values and commas, are fewer than fifty. */
const MAX_OPTION_TOKENS = 100

function copyOptions(statement: Statement, from: number): CopyOptions {
  const { tokens } = statement
  if (tokens.length - from > MAX_OPTION_TOKENS) throw syntax('COPY has too many options.')
  // Some clients quote the words: FORMAT "binary", FORMAT 'csv'.
  const wordOf = (i: number) => {
    if (tokens.kind(i) === 'string') return stringOf(statement, i).toLowerCase()
    return tokens.isQuoted(i) ? tokens.lower(i) : wordAt(statement)(i)
  }
  const given: { -readonly [K in keyof CopyOptions]?: CopyOptions[K] } = {}
  for (let at = from; at < tokens.length; at++) {
    const word = wordOf(at)
    at = beforeValue(statement, at)
    const isValue = tokens.kind(at + 1) === 'string'
    if (['with', '(', ')', ',', 'as', 'format'].includes(word)) continue
    if (word === 'csv' || word === 'text' || word === 'binary') given.format = word
    else if (word === 'header') {
      given.header = !['false', 'off', '0'].includes(wordOf(at + 1))
      if (['true', 'on', 'false', 'off', 'match', '1', '0'].includes(wordOf(at + 1))) at++
    } else if (isValue && ['delimiter', 'delimiters'].includes(word)) given.delimiter = stringOf(statement, ++at)
    else if (isValue && word === 'null') given.nullText = stringOf(statement, ++at)
    else if (isValue && word === 'quote') given.quote = stringOf(statement, ++at)
    else if (isValue && word === 'escape') given.escape = stringOf(statement, ++at)
    else if (word === 'encoding' && /^(utf-?8|unicode)$/i.test(wordOf(at + 1))) at++
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
  readonly isScroll: boolean
}

/** `DECLARE name BINARY INSENSITIVE NO SCROLL CURSOR WITHOUT HOLD FOR` has ten. */
const MAX_DECLARE_WORDS = 20

/** `DECLARE name [options] CURSOR [WITH HOLD] FOR query`. */
export function readDeclare(statement: Statement): DeclareCommand {
  const { tokens } = statement
  // The head of the command; the query may be long.
  const words = Array.from({ length: Math.min(tokens.length, MAX_DECLARE_WORDS) }, (_, i) => wordAt(statement)(i))
  const [cursor, start] = [words.indexOf('cursor'), words.indexOf('for')]
  const name = nameAt(statement, 1)
  if (cursor === -1 || start < cursor || start === tokens.length - 1)
    throw syntax('DECLARE has the form DECLARE name CURSOR FOR query.')
  if (words.slice(2, cursor).includes('binary')) throw new WireError('0A000', 'Binary cursors are not supported. Remove BINARY.')
  return {
    name,
    query: between(statement, start + 1, tokens.length),
    isHeld: words.slice(cursor, start).join(' ').includes('with hold'),
    isScroll: words.slice(2, cursor).includes('scroll') && !words.slice(2, cursor).includes('no'),
  }
}

/** `FETCH [NEXT | PRIOR | FIRST | LAST | ABSOLUTE n | RELATIVE n | n | ALL | FORWARD [n | ALL] | BACKWARD [n | ALL]] [FROM | IN] name`. */
export function readFetch(statement: Statement): { readonly name: string; readonly move: CursorMove } {
  const last = statement.tokens.length - 1
  const how = between(statement, 1, last)
    .toLowerCase()
    .replace(/\s*\b(?:from|in)$/, '')
  const move = FIXED_MOVES[how] ?? countedMove(how)
  if (!move)
    throw syntax(
      'FETCH has the form FETCH [NEXT | PRIOR | FIRST | LAST | n | ALL | FORWARD n | BACKWARD n | ABSOLUTE n | RELATIVE n] FROM name.',
    )
  return { name: nameAt(statement, last), move }
}

const ALL = Number.POSITIVE_INFINITY
const FIXED_MOVES: Readonly<Record<string, CursorMove>> = {
  '': { how: 'forward', count: 1 },
  next: { how: 'forward', count: 1 },
  forward: { how: 'forward', count: 1 },
  all: { how: 'forward', count: ALL },
  'forward all': { how: 'forward', count: ALL },
  prior: { how: 'backward', count: 1 },
  backward: { how: 'backward', count: 1 },
  'backward all': { how: 'backward', count: ALL },
  first: { how: 'absolute', count: 1 },
  last: { how: 'absolute', count: -1 },
}

function countedMove(text: string): CursorMove | undefined {
  const [, word = 'forward', sign = '', digits] =
    /^(?:(forward|backward|absolute|relative)\s+)?(-?)\s*(\d{1,9})$/.exec(text) ?? []
  if (digits === undefined) return undefined
  const count = Number(digits) * (sign ? -1 : 1)
  if (word === 'absolute' || word === 'relative') return { how: word, count }
  if (count === 0) return { how: 'relative', count: 0 }
  const isForward = (word === 'forward') === count > 0
  return { how: isForward ? 'forward' : 'backward', count: Math.abs(count) }
}

// -------------------------------------------------------------------------------------------------------------------- PREPARE

export interface PrepareCommand {
  readonly name: string
  readonly types: readonly string[]
  readonly query: string
}

/** `PREPARE name [(types)] AS query`. */
export async function readPrepare(statement: Statement): Promise<PrepareCommand> {
  const { tokens } = statement
  const list = tokens.isSymbol(2, '(') ? await listAt(statement, 2) : undefined
  const at = list?.end ?? 2
  if (tokens.lower(at) !== 'as' || at === tokens.length - 1) throw syntax('PREPARE has the form PREPARE name (types) AS query.')
  return { name: nameAt(statement, 1), types: list?.items ?? [], query: between(statement, at + 1, tokens.length) }
}

/** `EXECUTE name [(values)]`. */
export async function readExecute(statement: Statement): Promise<{ readonly name: string; readonly values: readonly string[] }> {
  const list = statement.tokens.isSymbol(2, '(') ? await listAt(statement, 2) : undefined
  if ((list?.end ?? 2) !== statement.tokens.length) throw syntax('EXECUTE has the form EXECUTE name (values).')
  return { name: nameAt(statement, 1), values: list?.items ?? [] }
}

/** The items of a list in brackets, as they are written, and the token behind it. */
async function listAt(statement: Statement, open: number): Promise<{ readonly items: readonly string[]; readonly end: number }> {
  const { tokens } = statement
  const items: string[] = []
  let [depth, from, end] = [0, open + 1, -1]
  await eachInTurns(tokens.length - open, (n) => {
    const i = open + n
    if (tokens.isSymbol(i, '(') || tokens.isSymbol(i, '[')) depth++
    else if (tokens.isSymbol(i, ')') || tokens.isSymbol(i, ']')) depth--
    if (depth > 1 || (depth === 1 && !tokens.isSymbol(i, ','))) return true
    if (i > from) items.push(between(statement, from, i))
    from = i + 1
    if (depth === 0) end = i + 1
    return depth > 0
  })
  if (end === -1) throw syntax('A bracket is opened and not closed.')
  return { items, end }
}

export function nameAt({ tokens }: Statement, at: number): string {
  if (!tokens.isName(at)) throw syntax('A name is missing.')
  return tokens.isQuoted(at) ? tokens.text(at) : tokens.lower(at)
}
