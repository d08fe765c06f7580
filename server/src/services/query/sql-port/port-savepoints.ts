// Savepoints, which DuckDB does not have. A reader changes nothing, so that its savepoints are names only. In a workspace what was changed
// before a savepoint is run again after a rollback, which is the same only for statements that give the same result twice.

import { WireError } from '../../../engines/pg-wire/wire-session.ts'
import type { SqlSession } from '../../../engines/sql/sql-engine.ts'
import { namesOneOf, type Statement, singleStatement } from '../../../engines/sql/statements.ts'

const [MAX_STATEMENTS, MAX_BYTES, MAX_SAVEPOINTS] = [10_000, 8 << 20, 1000]

interface Savepoint {
  readonly name: string
  /** How many changes came before it. */
  readonly changes: number
}

export type Savepoints = ReturnType<typeof createSavepoints>

export function createSavepoints() {
  let points: Savepoint[] = []
  let changes: string[] = []
  let bytes = 0
  /** Why the changes cannot be run again. */
  let obstacle: { readonly change: number; readonly reason: string } | undefined

  function indexOf(name: string): number {
    const at = points.findLastIndex((point) => point.name === name)
    if (at === -1) throw new WireError('3B001', `The savepoint "${name.slice(0, 60)}" does not exist.`)
    return at
  }

  const block = (reason: string) => {
    obstacle ??= { change: changes.length, reason }
  }

  return {
    clear: (): void => {
      points = []
      changes = []
      bytes = 0
      obstacle = undefined
    },
    set: (name: string): void => {
      if (points.length >= MAX_SAVEPOINTS) throw new WireError('53400', `A transaction has at most ${MAX_SAVEPOINTS} savepoints.`)
      points.push({ name, changes: changes.length })
    },
    release: (name: string): void => {
      points = points.slice(0, indexOf(name))
    },
    /** A statement has changed something. `sql` is what was run; without it the change cannot be run again, for the reason given. */
    changed: async (sql: string | undefined, reason = ''): Promise<void> => {
      if (sql === undefined) block(reason)
      else if (changes.length >= MAX_STATEMENTS || bytes + sql.length > MAX_BYTES)
        block(`it has changed more than ${MAX_STATEMENTS} statements or ${MAX_BYTES} characters can be repeated`)
      else if (await isVolatile(sql)) block('a statement before it uses the time, random numbers or a sequence')
      changes.push(obstacle ? '' : (sql ?? ''))
      bytes += sql?.length ?? 0
    },
    /** Undoes what was changed since the savepoint, which stays. */
    rollBackTo: async (name: string, session: () => Promise<SqlSession>, isReadOnly: boolean): Promise<void> => {
      const at = indexOf(name)
      const kept = points[at]?.changes ?? 0
      if (!isReadOnly)
        await undo(await session(), changes.slice(0, kept), changes.length === kept, obstacle).catch((error: unknown) => {
          obstacle = { change: -1, reason: 'an attempt to do so has failed' } // what came before may be undone by now
          throw error
        })
      points = points.slice(0, at + 1)
      changes = changes.slice(0, kept)
      if (obstacle && obstacle.change >= kept) obstacle = undefined
    },
  }
}

async function undo(
  session: SqlSession,
  changes: readonly string[],
  isUnchanged: boolean,
  obstacle: { readonly change: number; readonly reason: string } | undefined,
): Promise<void> {
  if (obstacle && obstacle.change < 0) throw cannotRepeat(obstacle.reason)
  // Some errors end a transaction of DuckDB, others do not.
  const isAlive = await session.execute('SELECT 1').then(
    () => true,
    () => false,
  )
  if (isUnchanged && isAlive) return
  if (obstacle && obstacle.change < changes.length) throw cannotRepeat(obstacle.reason)
  await session.execute('ROLLBACK')
  await session.execute('BEGIN')
  if (changes.length === 0) return
  const unsteady = await unsteadyNames(session)
  for (const sql of changes)
    if (await isUnsteady(await singleStatement(sql), unsteady))
      throw cannotRepeat('a statement before it uses a view, a macro or a column whose default may give another value')
  for (const sql of changes) await session.execute(sql)
}

const cannotRepeat = (reason: string) =>
  new WireError('0A000', `The transaction cannot return to the savepoint: ${reason}. ROLLBACK undoes the transaction as a whole.`)

const VOLATILE = new Set(
  `clock_timestamp current_date current_time current_timestamp currval gen_random_uuid get_current_time get_current_timestamp localtime
  localtimestamp nextval now random sample setseed statement_timestamp tablesample today transaction_timestamp txid_current uuid uuidv4 uuidv7`.split(
    /\s+/,
  ),
)

const isVolatile = async (sql: string): Promise<boolean> => namesOneOf(await singleStatement(sql), VOLATILE)

interface Unsteady {
  /** Views and macros: what they give may differ the next time. */
  readonly names: ReadonlySet<string>
  /** Columns with a default that is no constant, by their table. */
  readonly defaults: ReadonlyMap<string, readonly string[]>
}

async function unsteadyNames(session: SqlSession): Promise<Unsteady> {
  const { batches } =
    await session.query(`SELECT lower(table_name), CASE WHEN column_default LIKE '%(%' THEN lower(column_name) END AS fallback
      FROM duckdb_columns() c WHERE NOT internal AND database_name IN ('workspace', 'temp')
      AND (fallback IS NOT NULL OR table_oid NOT IN (SELECT table_oid FROM duckdb_tables() t WHERE t.database_name = c.database_name))
    UNION SELECT lower(function_name), NULL FROM duckdb_functions() WHERE NOT internal AND database_name IN ('workspace', 'temp')`)
  const rows = (await Array.fromAsync(batches)).flat()
  const defaults = Map.groupBy(
    rows.filter(([, column]) => column !== null),
    ([table]) => String(table),
  )
  return {
    names: new Set(rows.filter(([, column]) => column === null).map(([name]) => String(name))),
    defaults: new Map([...defaults].map(([table, columns]) => [table, columns.map(([, column]) => String(column))])),
  }
}

/** An INSERT that gives each such column a value does not use its default. */
async function isUnsteady(statement: Statement, { names, defaults }: Unsteady): Promise<boolean> {
  if (await namesOneOf(statement, names)) return true
  if (!(await namesOneOf(statement, INSERTING))) return false
  for (const [table, columns] of defaults) {
    if (!(await namesOneOf(statement, new Set([table])))) continue
    for (const column of columns) if (!(await namesOneOf(statement, new Set([column])))) return true
  }
  return namesOneOf(statement, USING_DEFAULTS)
}

const INSERTING = new Set(['insert', 'merge', 'update'])
const USING_DEFAULTS = new Set(['default'])

/** Whether a statement may have changed something. */
export const mayChange = async (statement: Statement): Promise<boolean> =>
  ['with', '('].includes(statement.keyword) ? namesOneOf(statement, CHANGING) : CHANGING.has(statement.keyword)

/** First words of statements that change tables. */
export const CHANGING = new Set(['insert', 'update', 'delete', 'merge', 'create', 'drop', 'alter', 'truncate', 'comment'])
