// Kysely over pg, with numbers as the stores expect them: int8 and numeric arrive as Number, as they do from SQLite.

import { type CompiledQuery, type DatabaseConnection, type Dialect, type Driver, PostgresDialect, type QueryResult } from 'kysely'
import pg from 'pg'
import { retry } from '../../kit/retry.ts'
import { isDatabaseAway } from './dialects.ts'
import { cutClient } from './postgres-stop.ts'

const INT8 = 20
const NUMERIC = 1700

export function createPostgresPool(
  url: string,
  options: { readonly maxConnections: number; readonly onLost: (error: Error) => void },
): pg.Pool {
  const pool = new pg.Pool({
    connectionString: url,
    max: options.maxConnections,
    application_name: 'millrace',
    connectionTimeoutMillis: 10_000,
    types: {
      getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
        oid === INT8 || oid === NUMERIC
          ? Number
          : pg.types.getTypeParser(oid, format as 'text')) as typeof pg.types.getTypeParser,
    },
  })
  // A server that restarts closes every connection, idle or in a transaction; the pool replaces them. Without a listener on each, and
  // on the pool for the idle ones, the process would end.
  pool.on('connect', (client) => client.on('error', options.onLost))
  pool.on('error', () => {})
  return pool
}

/** Ends every connection that the pool has at the moment, whatever waits for it. */
export function cutConnections(pool: pg.Pool): () => void {
  const clients = new Set<pg.PoolClient>()
  pool.on('connect', (client) => clients.add(client))
  pool.on('remove', (client) => clients.delete(client))
  return () => clients.forEach(cutClient)
}

/** How long work waits for a server that is away: a restart takes a second. */
export const AWAY_MS = 3000

const whileAway = <T>(work: () => Promise<T>): Promise<T> => {
  const end = performance.now() + AWAY_MS
  return retry(work, {
    attempts: Number.POSITIVE_INFINITY,
    firstPauseMs: 50,
    longestPauseMs: 400,
    isWorthRetrying: (error) => isDatabaseAway(error) && performance.now() < end,
  })
}

/**
 * A connection is requested again while the server restarts, and a query outside of a transaction that the restart met is sent again when it
 * only reads. A server that does not answer at all is not waited for longer than before.
 */
export function createPostgresDialect(pool: pg.Pool): Dialect {
  const patient = { connect: () => whileAway(() => pool.connect()), end: () => pool.end(), options: pool.options }
  const dialect = new PostgresDialect({ pool: patient })
  return {
    createAdapter: () => dialect.createAdapter(),
    createIntrospector: (db) => dialect.createIntrospector(db),
    createQueryCompiler: () => dialect.createQueryCompiler(),
    createDriver: () => patientDriver(dialect.createDriver()),
  }
}

interface PatientConnection extends DatabaseConnection {
  readonly own: DatabaseConnection
  isInTransaction: boolean
}

function patientDriver(driver: Driver): Driver {
  const elsewhere = async <R>(query: CompiledQuery): Promise<QueryResult<R>> => {
    const other = await driver.acquireConnection()
    try {
      return await other.executeQuery<R>(query)
    } finally {
      await driver.releaseConnection(other)
    }
  }
  const wrapped = (own: DatabaseConnection): PatientConnection => ({
    own,
    isInTransaction: false,
    streamQuery: (query, chunkSize) => own.streamQuery(query, chunkSize),
    async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
      try {
        return await own.executeQuery<R>(query)
      } catch (error) {
        if (this.isInTransaction || query.query.kind !== 'SelectQueryNode' || !isDatabaseAway(error)) throw error
        return whileAway(() => elsewhere<R>(query))
      }
    },
  })
  const ownOf = (connection: DatabaseConnection): DatabaseConnection => (connection as PatientConnection).own // made above
  const ended = async (connection: DatabaseConnection, end: (own: DatabaseConnection) => Promise<void>): Promise<void> => {
    await end(ownOf(connection))
    ;(connection as PatientConnection).isInTransaction = false
  }
  return {
    init: () => driver.init(),
    acquireConnection: async () => wrapped(await driver.acquireConnection()),
    beginTransaction: async (connection, settings) => {
      ;(connection as PatientConnection).isInTransaction = true
      await driver.beginTransaction(ownOf(connection), settings)
    },
    commitTransaction: (connection) => ended(connection, (own) => driver.commitTransaction(own)),
    rollbackTransaction: (connection) => ended(connection, (own) => driver.rollbackTransaction(own)),
    releaseConnection: (connection) => driver.releaseConnection(ownOf(connection)),
    destroy: () => driver.destroy(),
  }
}
