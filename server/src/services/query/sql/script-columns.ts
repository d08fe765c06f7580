// What the columns of the tables of a script are made of, followed from statement to statement. It only watches: columns that
// it cannot follow are unknown, and the script continues.

import type { SqlSession } from '../../../engines/sql/sql-engine.ts'
import { namesIn } from '../../../engines/sql/statement-names.ts'
import type { Statement } from '../../../engines/sql/statements.ts'
import { syntaxTreeOf } from '../../../engines/sql/syntax-tree.ts'
import type { Tokens } from '../../../engines/sql/tokens.ts'
import { eachInTurns } from '../../../kit/in-turns.ts'
import type { ColumnOrigin } from '../../../model/lineage.ts'
import { identifier } from '../../../model/sql-columns.ts'
import { type Columns, columnsOfQuery, joinedByPlace } from './query-columns.ts'

/** Longer statements are data rather than logic: a tree is some thirty times as long as its text, and is read in the main process. */
const MAX_CHARACTERS = 200_000
const MAX_TREE_BYTES = 2 << 20

export type ScriptColumns = ReturnType<typeof createScriptColumns>

export function createScriptColumns(session: Pick<SqlSession, 'query' | 'describe'>) {
  /** Tables and views of the script, by their names in lower case; undefined when nothing is known of their columns. */
  const known = new Map<string, Columns | undefined>()
  let isLost = false

  const namesOf = async (table: string): Promise<string[]> =>
    (await session.describe(`FROM ${table}`)).columns.map(({ name }) => name)

  /** `sourceOf` names the column of the table that a column of the input comes from. */
  async function addInput(name: string, tableId: string, sourceOf: (column: string) => string): Promise<void> {
    const columns = await namesOf(identifier(name))
    const traced = columns.map((column) => ({ name: column, from: [{ tableId, column: sourceOf(column) }] }))
    known.set(name.toLowerCase(), traced)
  }

  /** To be called when the statement has run. */
  async function follow(statement: Statement): Promise<void> {
    const change = await changeOf(statement)
    if (!change || isLost) return
    if (change.kind === 'everything') isLost = true
    else if (change.kind === 'drop') known.delete(change.table)
    else known.set(change.table, await columnsAfter(change).catch(() => undefined))
  }

  async function columnsAfter(change: Extract<Change, { readonly table: string }>): Promise<Columns | undefined> {
    if (change.kind === 'create') {
      const names = await namesOf(identifier(change.table))
      const traced = change.query === undefined ? names.map((name) => ({ name, from: [] })) : await trace(change.query)
      return traced?.length === names.length ? traced.map(({ from }, i) => ({ name: names[i] ?? '', from })) : undefined
    }
    const before = known.get(change.table)
    if (change.kind !== 'insert' || !before || change.query === undefined) return undefined
    const added = await trace(change.query)
    if (!added) return undefined
    const columns = change.columns ?? before.map(({ name }) => name.toLowerCase())
    if (columns.length !== added.length) return undefined
    const byName = new Map(columns.map((name, i) => [name, added[i]?.from ?? []]))
    return joinedByPlace([before, before.map(({ name }) => ({ name, from: byName.get(name.toLowerCase()) ?? [] }))])
  }

  const trace = (query: string): Promise<Columns | undefined> =>
    traceQuery(session, query, (schema, name) =>
      schema === '' || schema === OWN_SCHEMA ? { known: known.get(name.toLowerCase()) } : undefined,
    )

  return {
    addInput,
    follow,
    /** Undefined when it is not known. */
    of: (table: string): readonly ColumnOrigin[] | undefined =>
      isLost ? undefined : known.get(table.toLowerCase())?.map(({ name, from }) => ({ column: name, from })),
  }
}

/** What is known of a relation that is not a table of the project; undefined: it is one. */
type FindOwn = (schema: string, name: string) => { readonly known: Columns | undefined } | undefined

/** What the columns of a query are made of. Tables of the project are read under their bucket as the schema. */
async function traceQuery(
  session: Pick<SqlSession, 'query' | 'describe'>,
  query: string,
  findOwn: FindOwn,
): Promise<Columns | undefined> {
  if (query.length > MAX_CHARACTERS) return undefined
  const parsed = await syntaxTreeOf(session, query, MAX_TREE_BYTES)
  if (typeof parsed === 'string') return undefined
  const ofProject = new Map<string, Columns>()
  for (const { schema, name } of namesIn(parsed.tree).tables)
    if (!findOwn(schema, name)) ofProject.set(`${schema}.${name}`, await tableColumns(session, schema, name, `${schema}.${name}`))
  return columnsOfQuery(parsed.tree, (schema, name) => {
    const own = findOwn(schema, name)
    return own ? own.known : ofProject.get(`${schema}.${name}`)
  })
}

async function tableColumns(
  session: Pick<SqlSession, 'describe'>,
  schema: string,
  name: string,
  tableId: string,
): Promise<Columns> {
  const { columns } = await session.describe(`FROM ${identifier(schema)}.${identifier(name)}`)
  return columns.map((column) => ({ name: column.name, from: [{ tableId, column: column.name }] }))
}

/** A relation of a database and the query that it was made of. */
export interface TracedRelation {
  readonly schema: string
  readonly name: string
  /** Undefined: its rows come from elsewhere, such as a file. */
  readonly query: string | undefined
  /** The table of the project that it becomes: what reads the relation then reads this table. */
  readonly tableId: string | undefined
}

/** What the columns of relations are made of, those that others read first. By `schema.name`; what cannot be traced is left out. */
export async function traceRelations(
  session: Pick<SqlSession, 'query' | 'describe'>,
  relations: readonly TracedRelation[],
): Promise<ReadonlyMap<string, readonly ColumnOrigin[]>> {
  const seen = new Map<string, Columns | undefined>()
  const traced = new Map<string, readonly ColumnOrigin[]>()
  const keyOf = (schema: string, name: string) => `${schema}.${name}`.toLowerCase()
  for (const { schema, name, query, tableId } of relations) {
    const find: FindOwn = (...names) => (seen.has(keyOf(...names)) ? { known: seen.get(keyOf(...names)) } : undefined)
    const columns = query === undefined ? undefined : await traceQuery(session, query, find).catch(() => undefined)
    const own = tableId === undefined ? columns : await tableColumns(session, schema, name, tableId).catch(() => columns)
    seen.set(keyOf(schema, name), own)
    if (columns)
      traced.set(
        `${schema}.${name}`,
        columns.map(({ name: column, from }) => ({ column, from })),
      )
  }
  return traced
}

const OWN_SCHEMA = 'main'

type Change =
  /** `query`: what it is filled with. */
  | { readonly kind: 'create'; readonly table: string; readonly isTable: boolean; readonly query: string | undefined }
  | { readonly kind: 'insert'; readonly table: string; readonly columns: readonly string[] | undefined; readonly query: string }
  | { readonly kind: 'change'; readonly table: string }
  | { readonly kind: 'drop'; readonly table: string }
  /** The columns are unknown from here on. */
  | { readonly kind: 'everything' }

const UNKNOWN: Change = { kind: 'everything' }
const QUERY_WORDS = ['select', 'with', 'from', 'values', 'table', '(']

/** Which table a statement changes; undefined for none. */
export async function changeOf(statement: Statement): Promise<Change | undefined> {
  const { keyword, tokens } = statement
  const word = wordsOf(tokens)
  /** The position after one of the words, which are near the start; 0 when none is found. */
  const after = (...places: string[]): number => ([1, 2, 3, 4].find((i) => places.includes(word(i))) ?? -1) + 1
  if (keyword === 'create') {
    const at = after('table', 'view')
    if (at === 0) return undefined // a macro, a sequence, a type
    const target = targetAt(tokens, skip(word, at, ['if', 'not', 'exists']))
    if (!target) return UNKNOWN
    const rest = await skipBrackets(tokens, target.next)
    const query = word(rest) === 'as' ? textFrom(statement, rest + 1) : undefined
    return { kind: 'create', table: target.name, isTable: word(at - 1) === 'table', query }
  }
  if (keyword === 'insert') {
    const target = targetAt(tokens, after('into'))
    if (!target) return UNKNOWN
    const isList = word(target.next) === '(' && !QUERY_WORDS.includes(word(target.next + 1))
    const rest = isList ? await skipBrackets(tokens, target.next) : target.next
    const columns = isList ? await namesBetween(tokens, target.next, rest) : undefined
    if (!QUERY_WORDS.includes(word(rest))) return { kind: 'change', table: target.name }
    return { kind: 'insert', table: target.name, columns, query: textFrom(statement, rest) }
  }
  if (keyword === 'drop') {
    const target = targetAt(tokens, skip(word, 2, ['if', 'exists']))
    return target ? { kind: 'drop', table: target.name } : UNKNOWN
  }
  if (keyword === 'update' || keyword === 'merge' || keyword === 'alter') {
    const target = targetAt(tokens, skip(word, 1, ['or', 'replace', 'into', 'table', 'view', 'if', 'exists', 'only']))
    return target ? { kind: 'change', table: target.name } : UNKNOWN
  }
  return keyword === 'rollback' || keyword === 'abort' ? UNKNOWN : undefined
}

type WordAt = (i: number) => string

/** Nothing for quoted names: they are no keywords. */
const wordsOf =
  (tokens: Tokens): WordAt =>
  (i) =>
    tokens.isQuoted(i) ? '' : tokens.lower(i)

/** No statement has more of such words one after the other. */
const MAX_SKIPPED = 8

const skip = (word: WordAt, from: number, skipped: readonly string[]): number => {
  let at = from
  while (at < from + MAX_SKIPPED && skipped.includes(word(at))) at++
  return at
}

async function skipBrackets(tokens: Tokens, from: number): Promise<number> {
  if (!tokens.isSymbol(from, '(')) return from
  let open = 0
  let end = tokens.length
  await eachInTurns(tokens.length - from, (i) => {
    if (tokens.isSymbol(from + i, '(')) open++
    if (tokens.isSymbol(from + i, ')') && --open === 0) end = from + i + 1
    return end === tokens.length
  })
  return end
}

/** The last part of a name with dots, in lower case. */
function targetAt(tokens: Tokens, from: number): { readonly name: string; readonly next: number } | undefined {
  let at = from
  while (tokens.isSymbol(at + 1, '.')) at += 2
  return tokens.isName(at) ? { name: tokens.lower(at), next: at + 1 } : undefined
}

async function namesBetween(tokens: Tokens, from: number, to: number): Promise<string[]> {
  const names: string[] = []
  await eachInTurns(to - from, (i) => {
    if (tokens.isName(from + i)) names.push(tokens.lower(from + i))
  })
  return names
}

const textFrom = ({ text, offset, tokens }: Statement, at: number): string => text.slice(tokens.start(at) - offset)
