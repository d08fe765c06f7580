// Earlier states of tables in SQL. `"in.c-main"."orders" AS OF '2026-01-31'`, `table_as_of('in.c-main.orders', '2026-01-31')` and
// `table_changes('in.c-main.orders', '2026-01-30', '2026-01-31')` and `table_history('in.c-main.orders')` are relations; DuckDB has none of them. Each is replaced by a name in a schema that no
// bucket has, which the session binds like a table: the caller, which finds tables, resolves the name.

import { PlatformError } from '../../kit/errors.ts'
import { eachInTurns } from '../../kit/in-turns.ts'
import { doubleQuoted } from '../../kit/text/double-quoted.ts'
import { BUCKET_ID, type Statement, singleStatement } from './statements.ts'
import type { Tokens } from './tokens.ts'

export const HISTORY_SCHEMA = 'sys.history'

/** A table at one moment, or what changed between two; without `to` up to now. Times as they were written. */
export type HistoryName =
  | { readonly kind: 'asOf'; readonly tableId: string; readonly at: string }
  | { readonly kind: 'changes'; readonly tableId: string; readonly from: string; readonly to?: string }
  /** Versions of its rows, from the history that is kept of the table. */
  | { readonly kind: 'versions'; readonly tableId: string }

/** Undefined for a name that was not written here, but by the author of the SQL. */
export function readHistoryName(name: string): HistoryName | undefined {
  const [kind, tableId = '', first = '', second] = name.split('|')
  if (kind === 'asOf') return { kind, tableId, at: first }
  if (kind === 'versions') return { kind, tableId }
  if (kind !== 'changes') return undefined
  return { kind, tableId, from: first, ...(second !== undefined && { to: second }) }
}

export interface Rewritten {
  readonly statement: Statement
  /** A place in the rewritten text as a place in the one before. */
  readonly originalPosition: (at: number) => number
}

interface Edit {
  readonly start: number
  readonly end: number
  readonly text: string
}

export async function withHistory(statement: Statement): Promise<Rewritten> {
  const { tokens, text, offset } = statement
  const edits: Edit[] = []
  let next = 0
  await eachInTurns(tokens.length, (i) => {
    if (i < next) return
    const found = functionAt(tokens, i) ?? asOfAt(tokens, i)
    if (!found) return
    next = found.end
    const start = tokens.start(i) - offset
    edits.push({ start, end: tokens.end(found.end - 1) - offset, text: nameOf(found.name) })
  })
  if (edits.length === 0) return { statement, originalPosition: (at) => at }
  const pieces: string[] = []
  let from = 0
  for (const edit of edits) {
    pieces.push(text.slice(from, edit.start), edit.text)
    from = edit.end
  }
  pieces.push(text.slice(from))
  return { statement: await singleStatement(pieces.join('')), originalPosition: (at) => originalPosition(edits, at) }
}

function nameOf(name: HistoryName): string {
  const parts = partsOf(name)
  // Neither an id nor a time has a bar; one that is given anyway is no time any more.
  return `${doubleQuoted(HISTORY_SCHEMA)}.${doubleQuoted([name.kind, name.tableId, ...parts].join('|'))}`
}

function partsOf(name: HistoryName): readonly string[] {
  if (name.kind === 'versions') return []
  return name.kind === 'asOf' ? [name.at] : [name.from, ...(name.to === undefined ? [] : [name.to])]
}

function originalPosition(edits: readonly Edit[], at: number): number {
  let shift = 0
  for (const { start, end, text } of edits) {
    if (at < start + shift) break
    if (at < start + shift + text.length) return start
    shift += text.length - (end - start)
  }
  return at - shift
}

interface Found {
  readonly name: HistoryName
  /** The token behind it. */
  readonly end: number
}

const FUNCTIONS = new Set(['table_as_of', 'table_changes', 'table_history'])

function functionAt(tokens: Tokens, i: number): Found | undefined {
  if (tokens.kind(i) !== 'word' || !tokens.isSymbol(i + 1, '(') || tokens.end(i) - tokens.start(i) > 13) return undefined
  const called = tokens.lower(i)
  if (!FUNCTIONS.has(called) || tokens.isSymbol(i - 1, '.')) return undefined
  const values: string[] = []
  let at = i + 2
  for (; values.length < 4; at += 2) {
    const value = textAt(tokens, at)
    if (value === undefined) throw wrongCall(called, tokens.start(at))
    values.push(value)
    if (!tokens.isSymbol(at + 1, ',')) break
  }
  const [tableId = '', first = '', second] = values
  const isRight = (ARGUMENTS[called] ?? []).includes(values.length)
  if (!isRight || !tokens.isSymbol(at + 1, ')')) throw wrongCall(called, tokens.start(i))
  if (called === 'table_history') return { name: { kind: 'versions', tableId }, end: at + 2 }
  const name: HistoryName =
    called === 'table_as_of'
      ? { kind: 'asOf', tableId, at: first }
      : { kind: 'changes', tableId, from: first, ...(second !== undefined && { to: second }) }
  return { name, end: at + 2 }
}

/** `"in.c-main"."orders" AS OF '...'`, or `AS OF TIMESTAMP '...'`. */
function asOfAt(tokens: Tokens, i: number): Found | undefined {
  if (!tokens.isQuoted(i) || !tokens.isSymbol(i + 1, '.') || tokens.kind(i + 3) !== 'word') return undefined
  if (tokens.lower(i + 3) !== 'as' || tokens.lower(i + 4) !== 'of' || tokens.isSymbol(i - 1, '.')) return undefined
  const schema = tokens.text(i)
  if (!BUCKET_ID.test(schema) || !tokens.isName(i + 2)) return undefined
  const place = tokens.lower(i + 5) === 'timestamp' ? i + 6 : i + 5
  const at = textAt(tokens, place)
  if (at === undefined) return undefined // an alias named "of"
  return { name: { kind: 'asOf', tableId: `${schema}.${tokens.text(i + 2)}`, at }, end: place + 1 }
}

/** A plain literal. */
function textAt(tokens: Tokens, i: number): string | undefined {
  if (tokens.kind(i) !== 'string') return undefined
  const raw = tokens.raw(i)
  return raw.startsWith("'") ? raw.slice(1, -1).replaceAll("''", "'") : undefined
}

/** How many arguments each takes. */
const ARGUMENTS: Readonly<Record<string, readonly number[]>> = { table_as_of: [2], table_changes: [2, 3], table_history: [1] }
const TIMES: Readonly<Record<string, string>> = {
  table_as_of: 'the id of a table and a time',
  table_changes: 'the id of a table and one or two times',
  table_history: 'the id of a table',
}

const wrongCall = (name: string, position: number) =>
  new PlatformError('sql.invalid', {
    reason: `${name} takes ${TIMES[name] ?? ''}, each as a text in single quotes`,
    position: position + 1,
  })
