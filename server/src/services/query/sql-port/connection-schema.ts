// Temporary tables of one connection to a workspace. They are tables of a schema of the connection in the database of the workspace: they
// count as part of its size, follow its transactions, and an idle connection holds nothing. The schema is dropped with the connection.

import type { CatalogTable } from '../../../engines/pg-wire/catalogs.ts'
import { WireError } from '../../../engines/pg-wire/wire-session.ts'
import { connectionSchema, isConnectionSchema } from '../../../engines/sql/connection-schemas.ts'
import type { SqlSession } from '../../../engines/sql/sql-engine.ts'
import { type Statement, singleStatement } from '../../../engines/sql/statements.ts'
import { eachInTurns } from '../../../kit/in-turns.ts'
import { doubleQuoted } from '../../../kit/text/double-quoted.ts'
import {
  createHead,
  isTemporarySchema,
  onCommitOf,
  schemaEdits,
  skipWords,
  TEMPORARY_SCHEMA,
  type TemporaryChange,
  targetAt,
} from './temporary-statements.ts'
import type { TemporaryUse } from './temporary-use.ts'
import { applyEdits, type TextEdit } from './text-edits.ts'

/** What a connection creates with TEMP in front. Indexes are in the schema of their table. */
const KINDS = new Set(['table', 'view', 'sequence', 'macro', 'function', 'type'])
/** Where a workspace has its tables. */
const LASTING = 'main'

interface Created {
  readonly name: string
  readonly onCommit: TemporaryChange['onCommit']
}

export interface SchemaUse extends TemporaryUse {
  /** What is created in the schema. */
  readonly creates: Created | undefined
}

export type ConnectionSchema = ReturnType<typeof createConnectionSchema>

export function createConnectionSchema(connection: number) {
  const name = connectionSchema(connection)
  const quoted = doubleQuoted(name)
  let isUsed = false
  /** What COMMIT does to tables, by name in lower case, now and before the transaction. */
  let onCommit: ReadonlyMap<string, 'drop' | 'delete'> = new Map()
  let onCommitBefore = onCommit

  /** `isPlaced`: the schema may become the first for names without one, and what lasts is not created in it. */
  function created(statement: Statement, isPlaced: boolean): { readonly edits: readonly TextEdit[]; readonly creates?: Created } {
    const { tokens, offset } = statement
    const { isMarked, kind, target, unmarked } = createHead(statement)
    if (!target || !KINDS.has(kind)) return { edits: [] }
    const isOurs = target.schema === undefined ? isMarked : isTemporarySchema(target.schema)
    if (isMarked && !isOurs)
      throw new WireError(
        '42P16',
        `A temporary ${kind} belongs to its connection, not to the schema "${target.schema?.slice(0, 60)}". Leave out the schema, or TEMPORARY.`,
      )
    const at = tokens.start(target.from) - offset
    if (!isOurs) return { edits: isPlaced && target.schema === undefined ? [{ start: at, end: at, text: `${LASTING}.` }] : [] }
    const ending = onCommitOf(statement, target.end)
    const named = { start: at, end: tokens.end(target.end - 1) - offset, text: `${quoted}.${doubleQuoted(target.name)}` }
    return {
      edits: [...unmarked, named, ...ending.edits],
      creates: { name: target.name.toLowerCase(), onCommit: ending.onCommit },
    }
  }

  /** Undefined for a statement that runs as it is. */
  async function useOf(statement: Statement, inTransaction: boolean): Promise<SchemaUse | undefined> {
    await refuseOthers(statement, name)
    const made = statement.keyword === 'create' ? created(statement, isUsed || inTransaction) : { edits: [] }
    const names = await schemaEdits(statement, quoted)
    isUsed ||= made.creates !== undefined || names.length > 0
    const edits = [...made.edits, ...names]
    if (edits.length === 0) return undefined
    const { text, originalPosition } = await applyEdits(statement.text, edits)
    return { statement: await singleStatement(text), originalPosition, change: undefined, creates: made.creates }
  }

  const has = async (session: SqlSession, table: string): Promise<boolean> =>
    (await tablesIn(session, name)).has(table.toLowerCase())

  /** ON COMMIT DROP and ON COMMIT DELETE ROWS. */
  async function runOnCommit(session: SqlSession): Promise<void> {
    const there = await tablesIn(session, name)
    for (const [table, what] of onCommit) {
      const full = `${quoted}.${doubleQuoted(table)}`
      if (there.has(table)) await session.execute(what === 'drop' ? `DROP TABLE ${full}` : `DELETE FROM ${full}`)
    }
    onCommit = new Map([...onCommit].filter(([table, what]) => what === 'delete' && there.has(table)))
  }

  return {
    name,
    /** Makes the schema again, in a transaction that was rolled back to a savepoint. */
    create: `CREATE SCHEMA IF NOT EXISTS ${quoted}`,
    drop: `DROP SCHEMA IF EXISTS ${quoted} CASCADE`,
    isUsed: (): boolean => isUsed,
    /** Outside of a transaction. */
    dropped: (): void => {
      isUsed = false
      onCommit = new Map()
    },
    useOf,
    /** The parts of a name as the database has them. */
    partsOf: (parts: readonly string[]): readonly string[] => {
      const [schema, table] = parts.length === 2 ? parts : []
      if (schema === undefined || table === undefined || !isTemporarySchema(schema)) return parts
      isUsed = true
      return [name, table]
    },
    /** The schema of the table that `ALTER TABLE name` means without a schema. */
    schemaOfAltered: async (statement: Statement, session: SqlSession): Promise<string | undefined> => {
      if (!isUsed || statement.keyword !== 'alter') return undefined
      const target = targetAt(statement, skipWords(statement, 1, ['table', 'view', 'if', 'exists', 'only']))
      return target && target.schema === undefined && (await has(session, target.name)) ? name : undefined
    },
    /** What follows a statement that was run; undefined for nothing. */
    after: (use: SchemaUse | undefined, session: SqlSession, isAlone: () => boolean): (() => Promise<void>) | undefined => {
      const { creates } = use ?? {}
      if (!creates && onCommit.size === 0) return undefined
      return async () => {
        if (creates) {
          const others = [...onCommit].filter(([table]) => table !== creates.name)
          onCommit = new Map(creates.onCommit ? [...others, [creates.name, creates.onCommit]] : others)
        }
        if (isAlone() && onCommit.size > 0) await runOnCommit(session)
      }
    },
    begin: (): void => {
      onCommitBefore = onCommit
    },
    /** In the transaction that is committed next. */
    commit: async (session: () => Promise<SqlSession>): Promise<void> => {
      if (onCommit.size > 0) await runOnCommit(await session())
    },
    rollback: (): void => {
      onCommit = onCommitBefore
    },
    /** Tables of the workspace as the connection sees them. */
    visible: (tables: readonly CatalogTable[]): CatalogTable[] =>
      tables.flatMap((table) => {
        if (table.schema === name) return [{ ...table, schema: TEMPORARY_SCHEMA, temporaryOf: connection }]
        return isConnectionSchema(table.schema) ? [] : [table]
      }),
  }
}

async function tablesIn(session: SqlSession, schema: string): Promise<Set<string>> {
  const { batches } = await session.query('SELECT lower(table_name) FROM duckdb_tables() WHERE schema_name = $1', {
    values: [schema],
  })
  return new Set((await Array.fromAsync(batches)).flat().map(([table]) => String(table)))
}

/** The schema of another connection. */
async function refuseOthers({ tokens, text }: Statement, own: string): Promise<void> {
  if (!/pg_temp of/i.test(text)) return
  await eachInTurns(tokens.length, (i) => {
    if (tokens.isQuoted(i) && tokens.isSymbol(i + 1, '.') && isConnectionSchema(tokens.text(i)) && tokens.lower(i) !== own)
      throw new WireError('42501', 'Temporary tables of another connection cannot be used.')
  })
}
