// What PostgreSQL writes in another way than DuckDB, as edits of the text: casts to bytea and jsonb, names with the database in front,
// functions with another name. Each token is looked at once, in parts of some milliseconds.

import { elementsOf } from '../../../engines/pg-wire/values.ts'
import { BUCKET_ID, type Statement } from '../../../engines/sql/statements.ts'
import { eachInTurns } from '../../../kit/in-turns.ts'
import { doubleQuoted } from '../../../kit/text/double-quoted.ts'
import { singleQuoted } from '../../../kit/text/single-quoted.ts'
import { formatFrom } from './pg-formats.ts'
import { stringOf } from './port-commands.ts'
import { membershipBefore } from './port-parameters.ts'
import { byteaLiteral } from './port-types.ts'
import type { TextEdit } from './text-edits.ts'

/** The edits of a place that begins with token `i`; none when nothing has to change there. */
type Rule = (statement: Statement, i: number) => readonly TextEdit[]

/** `database`: the name that the client has for it, which is the catalogue in full names of tables. */
async function dialectEdits(statement: Statement, database: string): Promise<TextEdit[]> {
  const { tokens } = statement
  const edits: TextEdit[] = []
  await eachInTurns(tokens.length, (i) => {
    const kind = tokens.kind(i)
    if (kind === 'string') edits.push(...byteaEdit(statement, i), ...arrayEdit(statement, i))
    else if (kind !== 'symbol' && tokens.isSymbol(i + 1, '.')) edits.push(...nameEdit(statement, i, database))
    else if (kind === 'word') edits.push(...wordEdit(statement, i))
  })
  return edits
}

/** Readers may lock nothing, as in a transaction of PostgreSQL that is read only: their locks stay, and are refused. */
export const portEdits = async (statement: Statement, database: string, isReadOnly: boolean): Promise<TextEdit[]> => [
  ...(await dialectEdits(statement, database)),
  ...(isReadOnly ? [] : await lockEdits(statement)),
]

/**
 * `FOR UPDATE`, `FOR NO KEY UPDATE OF t SKIP LOCKED`: DuckDB has no locks of rows. A workspace needs none: it runs one transaction at a
 * time, so that no other can change what this one has read.
 */
async function lockEdits(statement: Statement): Promise<TextEdit[]> {
  const { tokens } = statement
  const edits: TextEdit[] = []
  await eachInTurns(tokens.length, (i) => {
    const end = tokens.kind(i) === 'word' && tokens.lower(i) === 'for' ? endOfLock(statement, i) : undefined
    if (end !== undefined) edits.push(replaced(statement, i, end, ''))
  })
  return edits
}

/** Of names in a clause, which is read in one piece. */
const MAX_LOCKED = 100
const LOCKS: readonly (readonly string[])[] = [['update'], ['share'], ['no', 'key', 'update'], ['key', 'share']]

/** The last token of a locking clause that begins at `i`. */
function endOfLock({ tokens }: Statement, i: number): number | undefined {
  const has = (at: number, words: readonly string[]) => words.every((word, n) => tokens.lower(at + n) === word)
  const strength = LOCKS.find((words) => has(i + 1, words))
  if (!strength) return undefined
  let end = i + strength.length
  if (tokens.lower(end + 1) === 'in') return undefined // `[update for update in list]`
  if (tokens.lower(end + 1) === 'of' && tokens.isName(end + 2)) {
    end += 2
    const last = end + 2 * MAX_LOCKED
    while (end < last && (tokens.isSymbol(end + 1, ',') || tokens.isSymbol(end + 1, '.')) && tokens.isName(end + 2)) end += 2
  }
  if (has(end + 1, ['nowait'])) return end + 1
  return has(end + 1, ['skip', 'locked']) ? end + 2 : end
}

/** The text from one token to the end of another. */
const replaced = ({ tokens, offset }: Statement, from: number, to: number, text: string): TextEdit => ({
  start: tokens.start(from) - offset,
  end: tokens.end(to) - offset,
  text,
})

/** `'...'::bytea`, which clients write into a text, as DuckDB has such values. */
function byteaEdit(statement: Statement, i: number): readonly TextEdit[] {
  const { tokens } = statement
  if (!tokens.isSymbol(i + 1, ':') || !tokens.isSymbol(i + 2, ':')) return []
  if (tokens.lower(i + 3) !== 'bytea' || tokens.isSymbol(i + 4, '[')) return []
  return [replaced(statement, i, i + 3, byteaLiteral(stringOf(statement, i)))]
}

/** `= ANY ('{1,2}')` and `'{1,2}'::int[]`, which clients write that put values into the text themselves. */
function arrayEdit(statement: Statement, i: number): readonly TextEdit[] {
  const { tokens } = statement
  const isCast = tokens.isSymbol(i + 1, ':') && tokens.isSymbol(i + 4, '[') && tokens.isSymbol(i + 5, ']')
  const isQuantified = tokens.isSymbol(i - 1, '(') && ['any', 'all'].includes(tokens.lower(i - 2))
  if (!isCast && !(isQuantified && tokens.isSymbol(i + 1, ')'))) return []
  const elements = elementsOf(stringOf(statement, i))
  if (!elements) return []
  const list = elements.map((one) => (one === null ? 'NULL' : singleQuoted(one))).join(', ')
  const membership = isQuantified && elements.length > 0 ? membershipBefore(statement, i - 2) : undefined
  if (isCast || !membership) return [replaced(statement, i, i, `[${list}]`)]
  return [replaced(statement, membership.from, i + 1, ` ${membership.operator} (${list}) `)]
}

// ----------------------------------------------------------------------------------------------------------------------- names

const STAGES = new Set(['in', 'out', 'sys'])
/** The catalogue that the engine has for a workspace. */
const WORKSPACE = 'workspace'

/** `"default"."in.c-main".t` without the database, and `"in"."c-main".t` as the bucket it is. */
function nameEdit(statement: Statement, i: number, database: string): readonly TextEdit[] {
  const { tokens, offset } = statement
  if (!tokens.isName(i + 2) || !tokens.isSymbol(i + 3, '.') || !tokens.isName(i + 4)) return []
  const isFirst = !tokens.isSymbol(i - 1, '.')
  const isBucketNext = BUCKET_ID.test(tokens.text(i + 2)) || STAGES.has(tokens.text(i + 2))
  if (isFirst && tokens.text(i) === database && (database !== WORKSPACE || isBucketNext))
    return [{ start: tokens.start(i) - offset, end: tokens.start(i + 2) - offset, text: '' }]
  const isBucket = STAGES.has(tokens.text(i)) && tokens.isQuoted(i + 2) && /^c-[^.]*$/.test(tokens.text(i + 2))
  return isBucket ? [replaced(statement, i, i + 2, doubleQuoted(`${tokens.text(i)}.${tokens.text(i + 2)}`))] : []
}

// ----------------------------------------------------------------------------------------------------------- functions, types

const named =
  (name: string): Rule =>
  (statement, i) =>
    statement.tokens.isSymbol(i + 1, '(') && !statement.tokens.isSymbol(i - 1, '.') ? [replaced(statement, i, i, name)] : []

/** `::jsonb`, `AS jsonb)` of a cast, and columns of a new table. */
const jsonb: Rule = (statement, i) => {
  const { tokens, keyword } = statement
  const isCast = tokens.isSymbol(i - 1, ':') || (tokens.lower(i - 1) === 'as' && tokens.isSymbol(i + 1, ')'))
  const isColumn = (keyword === 'create' || keyword === 'alter') && tokens.isName(i - 1) && !tokens.isSymbol(i + 1, '(')
  return isCast || isColumn ? [replaced(statement, i, i, 'JSON')] : []
}

/** `to_char(moment, 'YYYY-MM-DD')`: the format has to be a literal, since DuckDB writes formats in another way. */
const formatted =
  (name: string, type?: string): Rule =>
  (statement, i) => {
    const { tokens } = statement
    const call = tokens.isSymbol(i + 1, '(') ? callAt(statement, i + 1) : undefined
    if (call?.commas.length !== 1 || call.commas[0] !== call.end - 2 || tokens.kind(call.end - 1) !== 'string') return []
    const format = formatFrom(stringOf(statement, call.end - 1))
    if (format === undefined) return []
    return [
      replaced(statement, i, i, type ? `CAST(${name}` : name),
      replaced(statement, call.end - 1, call.end, `${singleQuoted(format)})${type ? ` AS ${type})` : ''}`),
    ]
  }

/** Maximum tokens of a call that is read to its end: calls may be nested. */
const MAX_CALL_TOKENS = 200

function callAt({ tokens }: Statement, open: number): { readonly end: number; readonly commas: readonly number[] } | undefined {
  const commas: number[] = []
  let depth = 0
  for (let i = open; i < Math.min(tokens.length, open + MAX_CALL_TOKENS); i++) {
    if (tokens.isSymbol(i, '(')) depth++
    else if (tokens.isSymbol(i, ')') && --depth === 0) return { end: i, commas }
    else if (depth === 1 && tokens.isSymbol(i, ',')) commas.push(i)
  }
  return undefined
}

/** `ctid BETWEEN '(0,0)'::tid AND '(4294967295,0)'::tid`: all pages of a table, as DuckDB's extension for PostgreSQL reads one. */
function ctid(statement: Statement, i: number): readonly TextEdit[] {
  const { tokens } = statement
  const isTid = (at: number, text: string) =>
    tokens.kind(at) === 'string' &&
    stringOf(statement, at) === text &&
    tokens.isSymbol(at + 1, ':') &&
    tokens.isSymbol(at + 2, ':') &&
    tokens.lower(at + 3) === 'tid'
  const isAll = tokens.lower(i + 1) === 'between' && isTid(i + 2, '(0,0)') && isTid(i + 7, '(4294967295,0)')
  return isAll ? [replaced(statement, i, i + 10, 'TRUE')] : []
}

const WORDS: Readonly<Record<string, Rule>> = {
  ctid,
  jsonb,
  json_agg: named('json_group_array'),
  jsonb_agg: named('json_group_array'),
  json_object_agg: named('json_group_object'),
  jsonb_object_agg: named('json_group_object'),
  json_build_object: named('json_object'),
  jsonb_build_object: named('json_object'),
  json_build_array: named('json_array'),
  jsonb_build_array: named('json_array'),
  jsonb_array_length: named('json_array_length'),
  jsonb_typeof: named('json_type'),
  to_jsonb: named('to_json'),
  to_char: formatted('strftime'),
  to_date: formatted('strptime', 'DATE'),
  to_timestamp: formatted('strptime', 'TIMESTAMPTZ'),
}
const [SHORTEST_WORD, LONGEST_WORD] = [4, 18]

function wordEdit(statement: Statement, i: number): readonly TextEdit[] {
  const { tokens } = statement
  const length = tokens.end(i) - tokens.start(i)
  if (length < SHORTEST_WORD || length > LONGEST_WORD) return []
  const word = tokens.lower(i)
  return Object.hasOwn(WORDS, word) ? (WORDS[word]?.(statement, i) ?? []) : []
}
