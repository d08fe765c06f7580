// Statements of PostgreSQL that are several to DuckDB: columns that number themselves need a sequence, and a table with indexes is renamed
// without them.

import type { SqlSession } from '../../../engines/sql/sql-engine.ts'
import type { Statement } from '../../../engines/sql/statements.ts'
import { eachInTurns } from '../../../kit/in-turns.ts'
import { doubleQuoted } from '../../../kit/text/double-quoted.ts'
import { singleQuoted } from '../../../kit/text/single-quoted.ts'
import type { TextEdit } from './text-edits.ts'

export interface Ddl {
  readonly edits: readonly TextEdit[]
  /** What runs before the statement, in the same transaction. */
  before(session: SqlSession): Promise<void>
  /** What runs when the transaction was committed: DuckDB aborts when an index is dropped and created again in one transaction. */
  readonly indexes: readonly PendingIndex[]
  readonly renamed?: { readonly from: Named; readonly to: string } | undefined
}

/** An index that a table gets back. */
export interface PendingIndex {
  readonly table: Named
  readonly createOn: (table: string) => string
}

/** Indexes that wait for the end of a transaction follow the names of their tables. */
export function createPendingIndexes() {
  let pending: PendingIndex[] = []
  return {
    clear: () => {
      pending = []
    },
    add: ({ indexes, renamed }: Ddl): void => {
      const isRenamed = ({ schema, name }: Named) => schema === renamed?.from.schema && name === renamed.from.name
      const moved = pending.map((one) =>
        isRenamed(one.table) ? { ...one, table: { ...one.table, name: renamed?.to ?? '' } } : one,
      )
      pending = [...moved, ...indexes]
    },
    /**
     * Of tables that are there still. DuckDB cannot replay a log in which a table got an index, lost it and was renamed in one transaction,
     * so the log is written into the file first: a killed worker would leave a file that cannot be opened.
     */
    create: async (session: SqlSession): Promise<void> => {
      const waiting = pending
      pending = []
      if (waiting.length > 0) await session.checkpoint()
      for (const { table, createOn } of waiting) if (await hasTable(session, table)) await session.execute(createOn(table.name))
    },
    isEmpty: () => pending.length === 0,
  }
}

/** Undefined for a statement that is one to DuckDB as well. `schema`: of names without one. */
export async function ddlOf(statement: Statement, session: SqlSession, schema = 'main'): Promise<Ddl | undefined> {
  if (statement.keyword === 'create') return numberedColumns(statement, schema)
  if (statement.keyword !== 'alter') return undefined
  return (await alteredInSteps(statement, schema)) ?? renamedTable(statement, session, schema)
}

/** A name of up to three parts: the last two, and where it ends. */
function nameFrom(
  { tokens }: Statement,
  at: number,
  schema: string,
): { readonly schema: string; readonly name: string; readonly isBare: boolean; readonly end: number } | undefined {
  const parts: string[] = []
  let end = at
  for (; tokens.isName(end); end += 2) {
    parts.push(tokens.text(end))
    if (!tokens.isSymbol(end + 1, '.')) break
  }
  const name = parts.at(-1)
  return name === undefined ? undefined : { schema: parts.at(-2) ?? schema, name, isBare: parts.length === 1, end: end + 1 }
}

// ------------------------------------------------------------------------------------------------------------ SERIAL, IDENTITY

const SERIALS: Readonly<Record<string, string>> = {
  serial: 'INTEGER',
  serial4: 'INTEGER',
  bigserial: 'BIGINT',
  serial8: 'BIGINT',
  smallserial: 'SMALLINT',
  serial2: 'SMALLINT',
}

async function numberedColumns(statement: Statement, schema: string): Promise<Ddl | undefined> {
  const { tokens } = statement
  if (tokens.lower(1) !== 'table') return undefined
  const isConditional = tokens.lower(2) === 'if'
  const table = nameFrom(statement, isConditional ? 5 : 2, schema)
  if (!table || !tokens.isSymbol(table.end, '(')) return undefined
  const sequences: string[] = []
  const edits: TextEdit[] = []
  let depth = 0
  let column = -1
  await eachInTurns(tokens.length - table.end, (n) => {
    const i = table.end + n
    if (tokens.isSymbol(i, '(')) depth++
    else if (tokens.isSymbol(i, ')')) depth--
    if (depth === 1 && (tokens.isSymbol(i, '(') || tokens.isSymbol(i, ','))) column = i + 1
    const edit = depth === 1 && tokens.kind(i) === 'word' ? numberingAt(statement, i, column, table) : undefined
    if (!edit) return
    edits.push(edit)
    sequences.push(sequenceOf(table, tokens.text(column)))
  })
  if (edits.length === 0) return undefined
  return {
    edits,
    before: async (session) => {
      if (await hasTable(session, table)) return // CREATE reports it, or does nothing
      for (const sequence of sequences) await session.execute(`CREATE OR REPLACE SEQUENCE ${sequence}`)
    },
    indexes: [],
  }
}

export interface Named {
  readonly schema: string
  readonly name: string
}

const sequenceOf = ({ schema, name }: Named, column: string): string =>
  `${doubleQuoted(schema)}.${doubleQuoted(`${name}_${column}_seq`)}`

function numberingAt({ tokens, offset }: Statement, i: number, column: number, table: Named): TextEdit | undefined {
  const start = tokens.start(i) - offset
  const fallback = `DEFAULT nextval(${singleQuoted(sequenceOf(table, tokens.text(column)))})`
  const type = i === column + 1 ? SERIALS[tokens.lower(i)] : undefined
  if (type !== undefined) {
    const isNotNull = ['not', 'primary'].includes(tokens.lower(i + 1)) ? '' : ' NOT NULL'
    return { start, end: tokens.end(i) - offset, text: `${type} ${fallback}${isNotNull}` }
  }
  if (tokens.lower(i) !== 'generated') return undefined
  const identity = [i + 3, i + 4].find((at) => tokens.lower(at) === 'identity')
  if (identity === undefined) return undefined
  const isLong = tokens.isSymbol(identity + 1, '(')
  let last = identity
  if (isLong) while (last < tokens.length && !tokens.isSymbol(last, ')')) last++
  return { start, end: tokens.end(last) - offset, text: fallback }
}

async function hasTable(session: SqlSession, { schema, name }: Named): Promise<boolean> {
  const { batches } = await session.query(
    'SELECT 1 FROM duckdb_tables() WHERE lower(schema_name) = lower($1) AND lower(table_name) = lower($2)',
    { values: [schema, name] },
  )
  return (await Array.fromAsync(batches)).flat().length > 0
}

// ------------------------------------------------------------------------------------------------------------- several actions

/** `ALTER TABLE name DROP COLUMN a, ADD COLUMN b text`, as dbt sends it: DuckDB takes one action at a time. */
async function alteredInSteps(statement: Statement, schema: string): Promise<Ddl | undefined> {
  const { tokens, offset, text } = statement
  if (tokens.lower(1) !== 'table') return undefined
  const table = nameFrom(statement, tokens.lower(2) === 'if' ? 4 : 2, schema)
  if (!table) return undefined
  const commas: number[] = []
  let depth = 0
  await eachInTurns(tokens.length - table.end, (n) => {
    const i = table.end + n
    if (tokens.isSymbol(i, '(')) depth++
    else if (tokens.isSymbol(i, ')')) depth--
    else if (depth === 0 && tokens.isSymbol(i, ',')) commas.push(i)
  })
  const last = commas.at(-1)
  if (last === undefined) return undefined
  const starts = [table.end, ...commas.map((comma) => comma + 1)]
  const actions = commas.map((comma, n) =>
    text.slice(tokens.start(starts[n] ?? table.end) - offset, tokens.start(comma) - offset),
  )
  const name = (table.isBare ? [table.name] : [table.schema, table.name]).map(doubleQuoted).join('.')
  return {
    edits: [{ start: tokens.start(table.end) - offset, end: tokens.start(last + 1) - offset, text: '' }],
    before: async (session) => {
      for (const action of actions) await session.execute(`ALTER TABLE ${name} ${action}`)
    },
    indexes: [],
  }
}

// --------------------------------------------------------------------------------------------------------------------- indexes

/** `ALTER TABLE [IF EXISTS] [ONLY] name RENAME TO other` of a table that has indexes. */
async function renamedTable(statement: Statement, session: SqlSession, schema: string): Promise<Ddl | undefined> {
  const { tokens } = statement
  if (tokens.lower(1) !== 'table') return undefined
  const table = nameFrom(statement, tokens.lower(2) === 'if' ? 4 : 2, schema)
  if (!table || tokens.lower(table.end) !== 'rename' || tokens.lower(table.end + 1) !== 'to') return undefined
  const { batches } = await session.query(
    'SELECT schema_name, index_name, sql, table_name FROM duckdb_indexes() WHERE lower(schema_name) = lower($1) AND lower(table_name) = lower($2)',
    { values: [table.schema, table.name] },
  )
  const indexes = (await Array.fromAsync(batches)).flat().map((row) => row.map(String))
  const to = tokens.text(table.end + 2)
  const again = indexes.map(([schema = '', index = '', sql = '', name = '']) => indexOn(sql, { schema, index, name }))
  const known = again.filter((one) => one !== undefined)
  if (known.length < indexes.length) return undefined
  return {
    edits: [],
    before: async () => {
      for (const [schema = '', index = ''] of indexes)
        await session.execute(`DROP INDEX ${doubleQuoted(schema)}.${doubleQuoted(index)}`)
    },
    indexes: known.map((createOn) => ({ table: { schema: table.schema, name: to }, createOn })),
    renamed: { from: table, to },
  }
}

/** `CREATE UNIQUE INDEX i ON t(n);` as DuckDB writes it, on another table of the schema. */
function indexOn(
  sql: string,
  { schema, index, name }: { readonly schema: string; readonly index: string; readonly name: string },
): ((table: string) => string) | undefined {
  const found = [name, doubleQuoted(name)].map((table) => sql.indexOf(`${table}(`)).find((at) => at !== -1)
  if (found === undefined) return undefined
  const columns = sql.slice(sql.indexOf('(', found)).replace(/;\s*$/, '')
  const head = `CREATE ${/^CREATE UNIQUE/i.test(sql) ? 'UNIQUE ' : ''}INDEX ${doubleQuoted(index)} ON ${doubleQuoted(schema)}`
  return (table) => `${head}.${doubleQuoted(table)}${columns}`
}
