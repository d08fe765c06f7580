// Temporary tables of one connection of a reader. They are in a database file of the connection's own, which a process of the SQL engine
// opens for one statement at a time: between statements they cost disk and nothing else, and a process that ends takes none of them along.
// A transaction does not hold a process either. Before its first change the file is copied, and ROLLBACK returns to the copy.

import type { CatalogTable } from '../../../engines/pg-wire/catalogs.ts'
import { WireError } from '../../../engines/pg-wire/wire-session.ts'
import type { DatabaseFiles } from '../../../engines/sql/database-files.ts'
import type { SessionOwner, SqlEngine, SqlSession } from '../../../engines/sql/sql-engine.ts'
import type { TableName } from '../../../engines/sql/statements.ts'
import { doubleQuoted } from '../../../kit/text/double-quoted.ts'
import type { FindTable, Taken } from './port-runners.ts'
import { pgType } from './port-types.ts'
import { TEMPORARY_SCHEMA, type TemporaryChange } from './temporary-statements.ts'

/** Files of all connections, and how much of the disk they may take. */
export interface TemporaryStoreDeps {
  readonly files: DatabaseFiles
  /** Of all connections together, and of one. */
  readonly maxMb: number
  readonly connectionMb: number
}

export type TemporaryStore = ReturnType<typeof createTemporaryStore>

export function createTemporaryStore({ files, maxMb, connectionMb }: TemporaryStoreDeps) {
  let [last, connections] = [0, 0]
  const sizes = new Map<number, number>()
  return {
    newId: (): number => ++last,
    newConnection: (): number => ++connections,
    open: files.open,
    exists: async (id: number): Promise<boolean> => (await files.sizeMb(id)) > 0,
    copy: async (from: number, to: number): Promise<void> => {
      await files.copy(from, to)
      sizes.set(to, await files.sizeMb(to))
    },
    remove: async (id: number): Promise<void> => {
      sizes.delete(id)
      await files.remove(id)
    },
    /** Why nothing may be added to a file of these; undefined while there is room. */
    problem: async (id: number, own: Iterable<number>): Promise<string | undefined> => {
      sizes.set(id, await files.sizeMb(id))
      const mine = [...own].reduce((sum, one) => sum + (sizes.get(one) ?? 0), 0)
      if (mine > connectionMb) return `those of this connection use more than ${connectionMb} MB`
      const all = [...sizes.values()].reduce((sum, size) => sum + size, 0)
      return all > maxMb ? `those of all connections use more than ${maxMb} MB` : undefined
    },
  }
}

export interface TemporaryTablesDeps {
  readonly store: TemporaryStore
  readonly engine: Pick<SqlEngine, 'open'>
  readonly reader: string
  readonly owner: SessionOwner
  readonly findTable: FindTable
  readonly onClosed: (ms: number) => void
  /** The client has not sent the rest of its rows for so long. */
  readonly onIdle: () => void
  readonly idleMs: number
}

const WATCH_MS = 250
const MAX_TABLES = 200

/** What the connection has at one moment. */
interface State {
  /** Of the file; undefined before the first table. */
  readonly id: number | undefined
  /** By name in lower case. */
  readonly tables: ReadonlyMap<string, CatalogTable>
  /** Tables of the project that views name without a schema. */
  readonly viewed: Readonly<Record<string, TableName>>
  readonly onCommit: ReadonlyMap<string, 'drop' | 'delete'>
}

/** Where a transaction may return to: its begin, and each savepoint. */
interface Mark {
  readonly name: string | undefined
  /** The state at the mark, when something has changed since. */
  kept?: State
}

const NOTHING: State = { id: undefined, tables: new Map(), viewed: {}, onCommit: new Map() }

export interface TakenTemporary extends Taken {
  /** Aborted when the files have become too large. */
  readonly stop: AbortSignal
  /** After a statement that was run. */
  changed(change: TemporaryChange, shortNames: Readonly<Record<string, TableName>>): Promise<void>
}

export type TemporaryTables = ReturnType<typeof createTemporaryTables>

export function createTemporaryTables(deps: TemporaryTablesDeps) {
  const { store, engine } = deps
  const connection = store.newConnection()
  let state = NOTHING
  let marks: Mark[] = []
  const own = new Set<number>()
  let isBusy = false
  let idle: NodeJS.Timeout | undefined

  const newFile = (): number => {
    const id = store.newId()
    own.add(id)
    return id
  }

  /** Removes files that nothing returns to. */
  async function prune(): Promise<void> {
    if (state.tables.size === 0) state = { ...NOTHING, onCommit: state.onCommit }
    const used = new Set([state, ...marks.map(({ kept }) => kept)].map((one) => one?.id))
    for (const id of own) {
      if (used.has(id)) continue
      own.delete(id)
      await store.remove(id)
    }
  }

  /** Keeps the state for the marks that have been set since the last change. */
  async function keep(): Promise<void> {
    const without = marks.filter(({ kept }) => !kept)
    if (without.length === 0) return
    let kept = state
    if (state.id !== undefined) {
      kept = { ...state, id: newFile() }
      await store.copy(state.id, kept.id ?? 0)
    }
    for (const mark of without) mark.kept = kept
  }

  async function returnTo(mark: Mark | undefined, later: readonly Mark[]): Promise<void> {
    const kept = [mark, ...later].find((one) => one?.kept)?.kept
    if (!kept) return
    state = kept
    // The copy is the file now: what changes next is copied again.
    marks = marks.map((one) => (one.kept === kept ? { name: one.name } : one))
    await prune()
  }

  const indexOf = (name: string): number => marks.findLastIndex((mark) => mark.name === name)

  async function refuseLost(): Promise<void> {
    if (state.id === undefined || state.tables.size === 0 || (await store.exists(state.id))) return
    const names = [...state.tables.values()].slice(0, 3).map(({ name }) => name)
    state = NOTHING
    marks = marks.map(({ name }) => ({ name }))
    throw new WireError('58P01', `The temporary tables of this connection were lost (${names.join(', ')}). Create them again.`)
  }

  async function take(signal: AbortSignal, isChange: boolean): Promise<TakenTemporary> {
    if (isBusy)
      throw new WireError(
        '55006',
        'Another result over the temporary tables of this connection is open. Read it to its end, or close it first.',
      )
    isBusy = true
    try {
      await refuseLost()
      if (isChange) await keep()
      const id = state.id ?? newFile()
      state = { ...state, id }
      return await openFile(id, signal, isChange)
    } catch (error) {
      isBusy = false
      throw error
    }
  }

  async function openFile(id: number, signal: AbortSignal, isChange: boolean): Promise<TakenTemporary> {
    let full: string | undefined
    const stop = new AbortController()
    const check = async () => {
      full ??= await store.problem(id, own)
      if (full !== undefined) stop.abort()
    }
    const refused = () => new WireError('53100', `Temporary tables: ${full}. Drop some of them.`)
    const session = await engine.open({
      mode: 'write',
      database: await store.open(id),
      schema: TEMPORARY_SCHEMA,
      findTable: deps.findTable,
      reader: deps.reader,
      owner: deps.owner,
      signal: AbortSignal.any([signal, stop.signal]),
      onClosed: deps.onClosed,
    })
    const watch = isChange ? setInterval(() => void check(), WATCH_MS) : undefined
    let released: Promise<void> | undefined
    const release = () => {
      released ??= (async () => {
        clearInterval(watch)
        clearTimeout(idle)
        try {
          await session.close()
          await prune()
        } finally {
          isBusy = false
        }
      })()
      return released
    }
    return {
      session,
      stop: stop.signal,
      release,
      explain: (error) => (full === undefined ? error : refused()),
      changed: async (change, shortNames) => {
        await note(session, change, shortNames)
      },
    }
  }

  async function note(
    session: SqlSession,
    { definesTables, creates, onCommit }: TemporaryChange,
    shortNames: Readonly<Record<string, TableName>>,
  ): Promise<void> {
    if (!definesTables) return
    const defined = (await definitionsIn(session)).map((table) => ({ ...table, temporaryOf: connection }))
    const tables = new Map(defined.map((table) => [table.name.toLowerCase(), table]))
    const viewed = creates?.isView ? { ...state.viewed, ...shortNames } : state.viewed
    const commits = new Map([...state.onCommit].filter(([name]) => tables.has(name)))
    const created = creates?.name.toLowerCase()
    if (created !== undefined) commits.delete(created)
    if (created !== undefined && onCommit) commits.set(created, onCommit)
    state = { ...state, tables, viewed, onCommit: commits }
  }

  return {
    take,
    names: (): ReadonlySet<string> => new Set(state.tables.keys()),
    /** As the catalogue shows them. */
    tables: (): readonly CatalogTable[] => [...state.tables.values()],
    viewed: (): Readonly<Record<string, TableName>> => state.viewed,
    refuseTooMany: (): void => {
      if (state.tables.size >= MAX_TABLES)
        throw new WireError('54000', `A connection has at most ${MAX_TABLES} temporary tables and views. Drop some of them.`)
    },
    /** Rows of a COPY are awaited from the client, as long as for the next statement of a transaction. */
    waitForClient: (): void => {
      clearTimeout(idle)
      if (isBusy) idle = setTimeout(deps.onIdle, deps.idleMs).unref()
    },
    begin: (): void => {
      marks = [{ name: undefined }]
    },
    mark: (name: string): void => {
      marks.push({ name })
    },
    release: async (name: string): Promise<void> => {
      const at = indexOf(name)
      if (at === -1) return
      // Its copy serves the marks before it that have none.
      marks = marks.slice(0, at)
      await prune()
    },
    rollBackTo: async (name: string): Promise<void> => {
      const at = indexOf(name)
      if (at === -1) return
      const later = marks.slice(at + 1)
      marks = marks.slice(0, at + 1)
      await returnTo(marks[at], later)
    },
    commit: async (): Promise<void> => {
      marks = []
      await endOfTransaction()
      await prune()
    },
    rollback: async (): Promise<void> => {
      const [first, ...later] = marks
      marks = []
      await returnTo(first, later)
      await prune()
    },
    dropAll: async (): Promise<void> => {
      await keep()
      state = NOTHING
      await prune()
    },
    close: async (): Promise<void> => {
      clearTimeout(idle)
      marks = []
      state = NOTHING
      await prune()
    },
  }

  /** ON COMMIT DROP and ON COMMIT DELETE ROWS. */
  async function endOfTransaction(): Promise<void> {
    const due = [...state.onCommit]
    if (due.length === 0) return
    const taken = await take(new AbortController().signal, true)
    try {
      for (const [name, what] of due) {
        const table = `${TEMPORARY_SCHEMA}.${doubleQuoted(name)}`
        await taken.session.execute(what === 'drop' ? `DROP TABLE ${table}` : `DELETE FROM ${table}`)
      }
      await taken.changed({ edits: [], definesTables: true }, {})
    } finally {
      await taken.release()
    }
  }
}

/** Tables and views of the database that a session has. `temp`: those of DuckDB's own, which last as long as a transaction. */
export async function definitionsIn(session: SqlSession): Promise<CatalogTable[]> {
  const { batches } = await session.query(
    `SELECT CASE database_name WHEN 'temp' THEN 'temp' ELSE schema_name END, table_name, column_name, data_type, is_nullable,
       table_oid NOT IN (SELECT table_oid FROM duckdb_tables() t WHERE t.database_name = c.database_name) AS is_view
     FROM duckdb_columns() c WHERE database_name IN ('workspace', 'temp') AND NOT internal ORDER BY 1, table_name, column_index`,
  )
  const rows = (await Array.fromAsync(batches)).flat()
  return [...Map.groupBy(rows, ([schema, name]) => JSON.stringify([schema, name])).values()].map((columns) => {
    const [schema, name, , , , isView] = columns[0] ?? []
    const typed = columns.map(([, , column, type, isNullable]) => ({
      name: String(column),
      type: pgType(String(type)).name,
      nullable: isNullable === true,
    }))
    return {
      schema: String(schema),
      name: String(name),
      isView: isView === true,
      columns: typed,
      primaryKey: [],
      version: JSON.stringify([typed, isView]),
    }
  })
}
