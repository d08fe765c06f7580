// What a statement of a reader does to temporary tables, read from its tokens: which of them it changes, and what DuckDB runs instead.
// The database behind them belongs to the connection alone, so that there a temporary table is a table like any other.

import { WireError } from '../../../engines/pg-wire/wire-session.ts'
import { namesOneOf, type Statement, singleStatement, type TableName } from '../../../engines/sql/statements.ts'
import { PlatformError } from '../../../kit/errors.ts'
import { eachInTurns } from '../../../kit/in-turns.ts'
import { nameAt } from './port-commands.ts'
import type { TextEdit } from './text-edits.ts'

/** The schema of temporary tables, in PostgreSQL and in the database behind them. */
export const TEMPORARY_SCHEMA = 'pg_temp'
/** Clients read the real name of the schema from the catalogue: `pg_temp_3`. */
const SCHEMA_NAME = /^pg_temp(_\d+)?$/i
export const isTemporarySchema = (schema: string): boolean => SCHEMA_NAME.test(schema)

export interface TemporaryChange {
  readonly edits: readonly TextEdit[]
  /** The name that is created. */
  readonly creates?: { readonly name: string; readonly isView: boolean } | undefined
  /** Names and columns may be others afterwards. */
  readonly definesTables: boolean
  /** What COMMIT does to the table. */
  readonly onCommit?: 'drop' | 'delete' | undefined
  /** Nothing has to run: what DROP ... IF EXISTS names does not exist. */
  readonly isNothing?: boolean
}

export interface KnownNames {
  /** In lower case. */
  readonly temporary: ReadonlySet<string>
  readonly isOfProject: (table: Partial<TableName>) => Promise<boolean>
}

export type Target = { readonly schema: string | undefined; readonly name: string; readonly from: number; readonly end: number }

/** Undefined for a statement that changes no temporary table. */
export async function temporaryChange(statement: Statement, known: KnownNames): Promise<TemporaryChange | undefined> {
  const { keyword } = statement
  if (keyword === 'create') return created(statement, known)
  if (keyword === 'drop') return dropped(statement, known)
  const at = AFTER[keyword]
  if (at === undefined) return undefined
  const targets = targetsAt(statement, skipWords(statement, 1, at))
  const temporary = targets.filter((target) => isTemporaryName(target, known))
  if (targets.length === 0) return undefined // DuckDB reports what is wrong with it
  if (temporary.length < targets.length) throw notAllowed(statement, keyword.toUpperCase())
  return { edits: [], definesTables: keyword === 'alter' }
}

/** Words between the first one and the name of the table. */
const AFTER: Readonly<Record<string, readonly string[]>> = {
  insert: ['or', 'replace', 'ignore', 'into'],
  update: ['only'],
  delete: ['from', 'only'],
  merge: ['into'],
  truncate: ['table', 'only'],
  alter: ['table', 'view', 'if', 'exists', 'only'],
  analyze: ['verbose'],
}

/** Whether a statement names a temporary table anywhere. */
export const namesTemporary = (statement: Statement, temporary: ReadonlySet<string>): Promise<boolean> =>
  temporary.size === 0 ? Promise.resolve(false) : namesOneOf(statement, temporary)

/** `pg_temp_3.name` as the database behind it has it. */
export async function schemaEdits({ tokens, offset }: Statement, schema = TEMPORARY_SCHEMA): Promise<TextEdit[]> {
  const edits: TextEdit[] = []
  await eachInTurns(tokens.length, (i) => {
    if (tokens.isSymbol(i + 1, '.') && tokens.isName(i) && SCHEMA_NAME.test(tokens.text(i)) && !tokens.isSymbol(i - 1, '.'))
      edits.push({ start: tokens.start(i) - offset, end: tokens.end(i) - offset, text: schema })
  })
  return edits
}

/** Names that the statement gives without a schema and that may be tables: none of them is read to be a column or an alias. */
export async function bareNames({ tokens }: Statement, wanted: ReadonlySet<string>): Promise<string[]> {
  const found = new Set<string>()
  await eachInTurns(tokens.length, (i) => {
    if (!tokens.isName(i) || tokens.isSymbol(i - 1, '.') || tokens.isSymbol(i + 1, '(')) return
    const [written, folded] = [tokens.text(i), tokens.lower(i)]
    if (wanted.has(written)) found.add(written)
    else if (!tokens.isQuoted(i) && wanted.has(folded)) found.add(folded)
  })
  return [...found]
}

/** `SELECT ... INTO TEMP TABLE name FROM ...` as CREATE TEMP TABLE AS; any other statement as it is. */
export async function withoutInto(statement: Statement): Promise<Statement> {
  const { keyword, text, tokens, offset } = statement
  if (!['select', 'with'].includes(keyword) || !/\binto\b/i.test(text)) return statement
  let depth = 0
  let into: number | undefined
  await eachInTurns(tokens.length, (i) => {
    if (tokens.isSymbol(i, '(')) depth++
    else if (tokens.isSymbol(i, ')')) depth--
    else if (depth === 0 && tokens.kind(i) === 'word' && tokens.lower(i) === 'into') into = i
    return into === undefined
  })
  if (into === undefined) return statement
  const temporary = skipWords(statement, into + 1, ['local', 'global'])
  if (!TEMPORARY_WORDS.has(tokens.lower(temporary))) return statement
  const target = targetAt(statement, skipWords(statement, temporary + 1, ['table']))
  if (!target) return statement
  const [head, name, rest] = [
    text.slice(0, tokens.start(into) - offset),
    text.slice(tokens.start(target.from) - offset, tokens.end(target.end - 1) - offset),
    text.slice(tokens.end(target.end - 1) - offset),
  ]
  return singleStatement(`CREATE TEMP TABLE ${name} AS ${head}${rest}`)
}

const TEMPORARY_WORDS = new Set(['temp', 'temporary'])

// ------------------------------------------------------------------------------------------------------------------- CREATE, DROP

/** `CREATE [OR REPLACE] [LOCAL | GLOBAL] [TEMP | TEMPORARY] kind [IF NOT EXISTS] name` */
export interface CreateHead {
  /** TEMP or TEMPORARY is written. */
  readonly isMarked: boolean
  readonly kind: string
  readonly target: Target | undefined
  /** Removes the words before the kind. */
  readonly unmarked: readonly TextEdit[]
}

export function createHead(statement: Statement): CreateHead {
  const { tokens, offset } = statement
  const start = skipWords(statement, 1, ['or', 'replace'])
  const kindAt = skipWords(statement, start, ['local', 'global', 'temp', 'temporary'])
  const isMarked = Array.from({ length: kindAt - start }, (_, i) => tokens.lower(start + i)).some((word) =>
    TEMPORARY_WORDS.has(word),
  )
  const words = { start: tokens.start(start) - offset, end: tokens.start(kindAt) - offset, text: '' }
  return {
    isMarked,
    kind: tokens.lower(kindAt),
    target: targetAt(statement, skipWords(statement, kindAt + 1, ['if', 'not', 'exists'])),
    unmarked: kindAt > start ? [words] : [],
  }
}

function created(statement: Statement, known: KnownNames): TemporaryChange | Promise<TemporaryChange> {
  const { isMarked, kind, target, unmarked } = createHead(statement)
  if (kind === 'index' || kind === 'unique') return createdIndex(statement, known)
  const isOurs = target && (target.schema === undefined ? isMarked : SCHEMA_NAME.test(target.schema))
  if (!isOurs || !['table', 'view'].includes(kind)) throw notAllowed(statement, 'CREATE')
  if (/^pg_/i.test(target.name))
    throw new WireError(
      '42939',
      `The name "${target.name.slice(0, 60)}" is reserved: pg_ is for tables of PostgreSQL's catalogue.`,
    )
  const ending = onCommitOf(statement, target.end)
  return {
    edits: [...unmarked, ...ending.edits],
    creates: { name: target.name, isView: kind === 'view' },
    definesTables: true,
    onCommit: ending.onCommit,
  }
}

/** `CREATE [UNIQUE] INDEX [name] ON table (...)` */
async function createdIndex(statement: Statement, known: KnownNames): Promise<TemporaryChange> {
  const { tokens } = statement
  const on = [3, 4, 5, 6, 7, 8].find((i) => tokens.kind(i) === 'word' && tokens.lower(i) === 'on') ?? tokens.length
  const target = targetAt(statement, skipWords(statement, on + 1, ['only']))
  if (!target || !isTemporaryName(target, known)) throw notAllowed(statement, 'CREATE INDEX')
  return { edits: [], definesTables: false }
}

/** `ON COMMIT ...` before AS or at the end. */
export function onCommitOf(statement: Statement, from: number): Pick<TemporaryChange, 'edits' | 'onCommit'> {
  const { tokens, offset } = statement
  let depth = 0
  for (let i = from; i < Math.min(tokens.length, from + MAX_DEFINITION_TOKENS); i++) {
    if (tokens.isSymbol(i, '(')) depth++
    else if (tokens.isSymbol(i, ')')) depth--
    else if (depth === 0 && tokens.lower(i) === 'as') break
    if (depth !== 0 || tokens.lower(i) !== 'on' || tokens.lower(i + 1) !== 'commit') continue
    const word = tokens.lower(i + 2)
    if (!['drop', 'delete', 'preserve'].includes(word)) break
    const last = word === 'drop' ? i + 2 : i + 3
    const edits = [{ start: tokens.start(i) - offset, end: tokens.end(last) - offset, text: '' }]
    return { edits, onCommit: word === 'preserve' ? undefined : (word as 'drop' | 'delete') } // one of three words
  }
  return { edits: [] }
}

/** More than a definition of 1,600 columns has. */
const MAX_DEFINITION_TOKENS = 20_000

async function dropped(statement: Statement, known: KnownNames): Promise<TemporaryChange | undefined> {
  const { tokens, offset } = statement
  if (!['table', 'view'].includes(tokens.lower(1))) throw notAllowed(statement, 'DROP')
  const isConditional = tokens.lower(2) === 'if'
  const from = skipWords(statement, 2, ['if', 'exists'])
  const targets = targetsAt(statement, from)
  const temporary = targets.filter((target) => isTemporaryName(target, known))
  for (const target of targets) {
    if (temporary.includes(target)) continue
    const { schema, name } = target
    const isOther = /^pg_/i.test(name) || (await known.isOfProject(schema === undefined ? { name } : { schema, name }))
    if (isOther) throw notAllowed(statement, 'DROP')
    if (!isConditional) throw new WireError('42P01', `The temporary table "${name.slice(0, 60)}" does not exist.`)
  }
  const [first, last] = [targets[0], targets.at(-1)]
  if (!first || !last) return undefined
  if (temporary.length === 0) return { edits: [], definesTables: false, isNothing: true }
  const list = temporary.map(({ from, end }) => statement.text.slice(tokens.start(from) - offset, tokens.end(end - 1) - offset))
  const edits = [{ start: tokens.start(first.from) - offset, end: tokens.end(last.end - 1) - offset, text: list.join(', ') }]
  if (list.length > 1) throw new WireError('0A000', 'Drop one temporary table per statement.')
  return { edits: temporary.length === targets.length ? [] : edits, definesTables: true }
}

// --------------------------------------------------------------------------------------------------------------------------- names

function isTemporaryName({ schema, name }: Target, { temporary }: KnownNames): boolean {
  return schema === undefined ? temporary.has(name.toLowerCase()) : SCHEMA_NAME.test(schema)
}

/** More of them, and more parts of a name, are no SQL: a text may be hostile. */
const [MAX_WORDS, MAX_PARTS] = [8, 4]

export function skipWords({ tokens }: Statement, from: number, words: readonly string[]): number {
  let at = from
  while (at - from < MAX_WORDS && tokens.kind(at) === 'word' && words.includes(tokens.lower(at))) at++
  return at
}

function targetsAt(statement: Statement, from: number): Target[] {
  const targets: Target[] = []
  for (let at = from; targets.length < MAX_TARGETS; ) {
    const target = targetAt(statement, at)
    if (!target) break
    targets.push(target)
    if (!statement.tokens.isSymbol(target.end, ',')) break
    at = target.end + 1
  }
  return targets
}

const MAX_TARGETS = 1000

/** A name of up to three parts: the last two. */
export function targetAt(statement: Statement, from: number): Target | undefined {
  const { tokens } = statement
  if (!tokens.isName(from)) return undefined
  const parts = [nameAt(statement, from)]
  let end = from + 1
  for (; parts.length < MAX_PARTS && tokens.isSymbol(end, '.') && tokens.isName(end + 1); end += 2)
    parts.push(nameAt(statement, end + 1))
  return { schema: parts.at(-2), name: parts.at(-1) ?? '', from, end }
}

const notAllowed = ({ offset }: Statement, what: string) =>
  new PlatformError('sql.notAllowed', {
    what,
    reason: 'a connection to the project changes nothing but its own temporary tables, which CREATE TEMP TABLE creates',
    position: offset + 1,
  })
