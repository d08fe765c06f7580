// Kysely over pg, with numbers as the stores expect them: int8 and numeric arrive as Number, as they do from SQLite.

import { type Dialect, PostgresDialect } from 'kysely'
import pg from 'pg'
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

export const createPostgresDialect = (pool: pg.Pool): Dialect => new PostgresDialect({ pool })
