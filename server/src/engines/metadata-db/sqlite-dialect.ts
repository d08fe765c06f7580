// Kysely over node:sqlite. What must stay true:
//  (1) one connection writes, and only inside a transaction of sqlite-writer.ts, which also syncs it to disk;
//  (2) reads outside a transaction run on a connection of their own and never wait for the writer (WAL);
//  (3) a transaction reads through the writer, so it sees what it wrote.

import { DatabaseSync } from 'node:sqlite'
import {
  type CompiledQuery,
  type ConnectionProvider,
  type DatabaseConnection,
  DefaultConnectionProvider,
  DefaultQueryExecutor,
  type Dialect,
  type DialectAdapter,
  type Driver,
  Kysely,
  type QueryCompiler,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  Transaction,
} from 'kysely'
import { nextTurn } from '../../kit/next-turn.ts'
import { bindable, changesSchema, createStatements, type Statements } from './sqlite-statements.ts'
import { openSqliteWriter, type SqliteWriter, type WriterTransaction } from './sqlite-writer.ts'

/** LIKE as PostgreSQL has it: case-sensitive. */
const READER_SESSION = 'pragma busy_timeout = 10000; pragma case_sensitive_like = on;'

export function openSqliteReader(path: string): DatabaseSync {
  const reader = new DatabaseSync(path, { readOnly: true })
  reader.exec(READER_SESSION)
  return reader
}

export class MillraceSqliteAdapter extends SqliteAdapter {
  // Kysely would otherwise run one query at a time, reads included; the driver below handles parallel reads itself.
  override get supportsMultipleConnections(): boolean {
    return true
  }

  override get supportsTransactionalDdl(): boolean {
    return true
  }
}

export interface Sqlite<Tables> {
  readonly db: Kysely<Tables>
  inTransaction<T>(work: (trx: Transaction<Tables>) => Promise<T>): Promise<T>
}

/** Throws when the file cannot be opened. */
export function openSqlite<Tables>(path: string): Sqlite<Tables> {
  const writer = openSqliteWriter(path)
  const reader = openSqliteReader(path)
  const engine = { path, writer, reader, writes: createStatements(writer.db), reads: createStatements(reader) }
  const driver = new NodeSqliteDriver(engine)
  const dialect: Dialect = {
    createAdapter: () => new MillraceSqliteAdapter(),
    createDriver: () => driver,
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  }
  const [compiler, adapter] = [dialect.createQueryCompiler(), dialect.createAdapter()]
  const propsOver = (connection: SqliteConnection, provider: ConnectionProvider) => {
    const executor = new DirectExecutor(compiler, adapter, provider, connection)
    return { config: { dialect }, driver, dialect, executor }
  }
  return {
    db: new Kysely<Tables>(propsOver(new SqliteConnection(engine), new DefaultConnectionProvider(driver))),
    async inTransaction(work) {
      const connection = new SqliteConnection(engine)
      const props = propsOver(connection, { provideConnection: (use) => use(connection) })
      await connection.begin()
      try {
        const result = await work(new Transaction<Tables>(props))
        props.executor.end()
        await connection.commit()
        return result
      } catch (error) {
        props.executor.end()
        connection.rollback(error) // after a commit that failed there is nothing left to undo
        throw error
      }
    },
  }
}

/**
 * SQLite answers at once, so a query needs no connection to be lent, waited for and given back: Kysely's own way there is some ten
 * promises long, which costs more than most of our queries.
 */
class DirectExecutor extends DefaultQueryExecutor {
  readonly #connection: SqliteConnection
  #ended = false

  constructor(compiler: QueryCompiler, adapter: DialectAdapter, provider: ConnectionProvider, connection: SqliteConnection) {
    super(compiler, adapter, provider)
    this.#connection = connection
  }

  override executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    if (this.#ended) return Promise.reject(new Error('The transaction has already ended.'))
    if (isTurnLong()) return nextTurn().then(() => this.executeQuery(query))
    return this.#connection.executeQuery<R>(query)
  }

  end(): void {
    this.#ended = true
  }
}

/** Queries in a row may hold the event loop for so long; then other work gets a turn, in the middle of a transaction too. */
const LONG_TURN_MS = 20
let turnBegan: number | undefined

/** SQLite answers at once, so work of a thousand queries would otherwise be one turn of the event loop, however it awaits them. */
function isTurnLong(): boolean {
  const now = performance.now()
  if (turnBegan === undefined) {
    turnBegan = now
    setImmediate(() => {
      turnBegan = undefined
    })
  }
  return now - turnBegan > LONG_TURN_MS
}

/** The usual way, for what is rare: streams, migrations. */
class NodeSqliteDriver implements Driver {
  readonly #engine: Engine
  readonly #idle: SqliteConnection[] = []

  constructor(engine: Engine) {
    this.#engine = engine
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<SqliteConnection> {
    return this.#idle.pop() ?? new SqliteConnection(this.#engine)
  }

  async releaseConnection(connection: SqliteConnection): Promise<void> {
    this.#idle.push(connection)
  }

  beginTransaction(connection: SqliteConnection): Promise<void> {
    return connection.begin()
  }

  commitTransaction(connection: SqliteConnection): Promise<void> {
    return connection.commit()
  }

  async rollbackTransaction(connection: SqliteConnection): Promise<void> {
    connection.rollback()
  }

  async destroy(): Promise<void> {
    this.#engine.reader.close()
    this.#engine.writer.close()
  }
}

interface Engine {
  readonly path: string
  readonly writer: SqliteWriter
  readonly reader: DatabaseSync
  readonly writes: Statements
  readonly reads: Statements
}

/** A connection in Kysely's sense: only the right to use the reader, and from begin() on the writer. */
class SqliteConnection implements DatabaseConnection {
  readonly #engine: Engine
  #transaction: WriterTransaction | undefined

  constructor(engine: Engine) {
    this.#engine = engine
  }

  async begin(): Promise<void> {
    this.#transaction = await this.#engine.writer.begin()
  }

  async commit(): Promise<void> {
    const transaction = this.#transaction
    this.#transaction = undefined
    await transaction?.commit()
  }

  rollback(cause?: unknown): void {
    this.#transaction?.rollback(cause)
    this.#transaction = undefined
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    const { reads, writer } = this.#engine
    if (this.#transaction) return this.#write<R>(query)
    if (isRead(query)) return reads.run<R>(query.sql, query.parameters)
    if (RAW_SETTING.test(query.sql)) return writer.outsideTransaction(() => this.#write<R>(query))
    const transaction = await writer.begin()
    let result: QueryResult<R>
    try {
      result = this.#write<R>(query)
    } catch (error) {
      transaction.rollback(error)
      throw error
    }
    await transaction.commit()
    return result
  }

  #write<R>({ sql, parameters }: CompiledQuery): QueryResult<R> {
    const { reads, writes } = this.#engine
    const result = writes.run<R>(sql, parameters)
    if (changesSchema(sql)) for (const statements of [reads, writes]) statements.clear()
    return result
  }

  /** Outside a transaction a stream gets its own reader: an unfinished statement would pin the shared one to an old snapshot. */
  async *streamQuery<R>(query: CompiledQuery, chunkSize: number): AsyncIterableIterator<QueryResult<R>> {
    const own = this.#transaction ? undefined : openSqliteReader(this.#engine.path)
    try {
      let rows: R[] = []
      for (const row of (own ?? this.#engine.writer.db).prepare(query.sql).iterate(...bindable(query.parameters))) {
        rows.push(row as R) // guaranteed by Kysely: R is what the compiled query returns
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

const RAW_READ = /^\s*(select|explain)\b/i
const RAW_SETTING = /^\s*(pragma|vacuum|attach|detach)\b/i
const isRead = ({ query, sql }: CompiledQuery): boolean =>
  query.kind === 'SelectQueryNode' || (query.kind === 'RawNode' && RAW_READ.test(sql))
