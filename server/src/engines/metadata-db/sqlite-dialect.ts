// Kysely over node:sqlite. What must stay true:
//  (1) one connection writes, and only inside its turn of the mutex; it never waits for another statement of this process;
//  (2) reads outside a transaction run on a connection of their own and never wait for the writer (WAL);
//  (3) a transaction reads through the writer, so it sees what it wrote;
//  (4) a commit that has returned is on disk (synchronous=full).

import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  type CompiledQuery,
  type DatabaseConnection,
  type DatabaseIntrospector,
  type Dialect,
  type Driver,
  type Kysely,
  type QueryCompiler,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely'
import { createFairMutex, type FairMutex } from './fair-mutex.ts'

const WRITER_PATIENCE_MS = 60_000
const BUSY_PATIENCE_MS = 10_000
const STATEMENTS_KEPT = 500

/** Both connections see LIKE as PostgreSQL does: with upper and lower case told apart. */
const SESSION = 'pragma busy_timeout = 10000; pragma case_sensitive_like = on;'
const WRITER_SESSION = `${SESSION} pragma journal_mode = wal; pragma synchronous = full; pragma foreign_keys = on; pragma cache_size = -32000; pragma busy_timeout = 0;`

export function openSqliteReader(path: string): DatabaseSync {
  const reader = new DatabaseSync(path, { readOnly: true })
  reader.exec(SESSION)
  return reader
}

export class MillraceSqliteAdapter extends SqliteAdapter {
  // Kysely would otherwise let one query run at a time, reads included. The driver below knows better.
  override get supportsMultipleConnections(): boolean {
    return true
  }

  override get supportsTransactionalDdl(): boolean {
    return true
  }
}

export function createSqliteDialect(path: string): Dialect {
  return {
    createAdapter: () => new MillraceSqliteAdapter(),
    createDriver: () => new NodeSqliteDriver(path),
    createIntrospector: (db: Kysely<unknown>): DatabaseIntrospector => new SqliteIntrospector(db),
    createQueryCompiler: (): QueryCompiler => new SqliteQueryCompiler(),
  }
}

class NodeSqliteDriver implements Driver {
  readonly #path: string
  readonly #idle: SqliteConnection[] = []
  #engine: Engine | undefined

  constructor(path: string) {
    this.#path = path
  }

  async init(): Promise<void> {
    const writer = new DatabaseSync(this.#path)
    writer.exec(WRITER_SESSION)
    const reader = openSqliteReader(this.#path)
    this.#engine = {
      path: this.#path,
      writer,
      reader,
      prepareWrite: statementCache(writer),
      prepareRead: statementCache(reader),
      mutex: createFairMutex(
        WRITER_PATIENCE_MS,
        () =>
          `Waited ${WRITER_PATIENCE_MS / 1000} s for the database writer. A transaction is held open that long, or code inside a transaction writes through the database instead of the transaction.`,
      ),
    }
  }

  async acquireConnection(): Promise<SqliteConnection> {
    return this.#idle.pop() ?? new SqliteConnection(this.#engine!) // Kysely calls init() first
  }

  async releaseConnection(connection: SqliteConnection): Promise<void> {
    connection.endTurn()
    this.#idle.push(connection)
  }

  async beginTransaction(connection: SqliteConnection): Promise<void> {
    await connection.takeTurn()
    await whenNotBusy(() => connection.control('begin immediate'))
  }

  async commitTransaction(connection: SqliteConnection): Promise<void> {
    connection.control('commit')
    connection.endTurn()
  }

  async rollbackTransaction(connection: SqliteConnection): Promise<void> {
    connection.rollback()
    connection.endTurn()
  }

  async savepoint(connection: SqliteConnection, name: string): Promise<void> {
    connection.control(`savepoint ${quoted(name)}`)
  }

  async rollbackToSavepoint(connection: SqliteConnection, name: string): Promise<void> {
    connection.control(`rollback to ${quoted(name)}`)
  }

  async releaseSavepoint(connection: SqliteConnection, name: string): Promise<void> {
    connection.control(`release ${quoted(name)}`)
  }

  async destroy(): Promise<void> {
    this.#engine?.reader.close()
    this.#engine?.writer.close()
    this.#engine = undefined
  }
}

interface Engine {
  readonly path: string
  readonly writer: DatabaseSync
  readonly reader: DatabaseSync
  readonly prepareWrite: (sql: string) => Prepared
  readonly prepareRead: (sql: string) => Prepared
  readonly mutex: FairMutex
}

interface Prepared {
  readonly statement: StatementSync
  readonly returnsRows: boolean
}

/** What Kysely calls a connection: no more than the right to use the reader, and from takeTurn() to endTurn() the writer. */
class SqliteConnection implements DatabaseConnection {
  readonly #engine: Engine
  #endTurn: (() => void) | undefined

  constructor(engine: Engine) {
    this.#engine = engine
  }

  async takeTurn(): Promise<void> {
    this.#endTurn = await this.#engine.mutex.acquire()
  }

  endTurn(): void {
    this.#endTurn?.()
    this.#endTurn = undefined
  }

  control(sql: string): void {
    this.#engine.prepareWrite(sql).statement.run()
  }

  /** SQLite ends a transaction by itself on some failures (disk full); a second rollback would hide the first error. */
  rollback(): void {
    if (this.#engine.writer.isTransaction) this.control('rollback')
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    if (this.#endTurn) return run<R>(this.#engine.prepareWrite(query.sql), query.parameters)
    if (isRead(query)) return run<R>(this.#engine.prepareRead(query.sql), query.parameters)
    const endTurn = await this.#engine.mutex.acquire()
    try {
      return await whenNotBusy(() => run<R>(this.#engine.prepareWrite(query.sql), query.parameters))
    } finally {
      endTurn()
    }
  }

  /** Outside a transaction a stream gets its own reader: an unfinished statement would pin the shared one to an old snapshot. */
  async *streamQuery<R>(query: CompiledQuery, chunkSize: number): AsyncIterableIterator<QueryResult<R>> {
    const own = this.#endTurn ? undefined : openSqliteReader(this.#engine.path)
    try {
      let rows: R[] = []
      for (const row of (own ?? this.#engine.writer).prepare(query.sql).iterate(...bindable(query.parameters))) {
        rows.push(row as R) // Kysely's own promise: R is what the compiled query returns
        if (rows.length >= chunkSize) {
          yield { rows }
          rows = []
        }
      }
      if (rows.length > 0) yield { rows }
    } finally {
      own?.close()
    }
  }
}

/** Another process (the command line, a second node by mistake) may hold the file: wait without blocking this one. */
async function whenNotBusy<T>(work: () => T): Promise<T> {
  for (let waitedMs = 0; ; waitedMs += 5) {
    try {
      return work()
    } catch (error) {
      if ((error as { errcode?: number }).errcode !== SQLITE_BUSY || waitedMs >= BUSY_PATIENCE_MS) throw error
      await sleep(5)
    }
  }
}

const SQLITE_BUSY = 5

function run<R>({ statement, returnsRows }: Prepared, parameters: readonly unknown[]): QueryResult<R> {
  if (returnsRows) return { rows: statement.all(...bindable(parameters)) as R[] }
  const { changes, lastInsertRowid } = statement.run(...bindable(parameters))
  return { rows: [], numAffectedRows: BigInt(changes), insertId: BigInt(lastInsertRowid) }
}

/** node:sqlite refuses what it cannot bind (undefined, Date, boolean) with a TypeError; stores bind numbers, texts, null and bytes. */
const bindable = (parameters: readonly unknown[]) => parameters as Parameters<StatementSync['run']>

const RAW_READ = /^\s*(select|explain)\b/i
const isRead = ({ query, sql }: CompiledQuery): boolean =>
  query.kind === 'SelectQueryNode' || (query.kind === 'RawNode' && RAW_READ.test(sql))

const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`

/** The last statements used, prepared. A statement is never held across an await, so sharing one is safe. */
function statementCache(db: DatabaseSync): (sql: string) => Prepared {
  const kept = new Map<string, Prepared>()
  return (sql) => {
    const found = kept.get(sql)
    if (found) return found
    const statement = db.prepare(sql)
    const prepared = { statement, returnsRows: statement.columns().length > 0 }
    if (kept.size >= STATEMENTS_KEPT) kept.delete(kept.keys().next().value!)
    kept.set(sql, prepared)
    return prepared
  }
}
