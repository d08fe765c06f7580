// DuckDB as a worker sees it: one instance per process, one connection per job. The only file that uses the driver.

import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'

export interface Database {
  /**
   * For statements that pass on the rows of one scan: a single thread keeps their order anyway. With its setting for order, DuckDB
   * collects whole batches in memory first, which tables of 4,000 columns do not survive.
   */
  inFileOrder<T>(work: () => Promise<T>): Promise<T>
  /** Runs a statement; for COPY and INSERT the number of rows. */
  run(sql: string): Promise<number>
  /** All rows of a small result: texts, numbers (BIGINT as number, up to 2^53), booleans and nulls. */
  rows(sql: string): Promise<readonly (readonly SqlValue[])[]>
  /** Makes the running statement fail soon. */
  interrupt(): void
  close(): void
}

export type SqlValue = string | number | boolean | null | readonly SqlValue[] | { readonly [name: string]: SqlValue }

export interface DatabaseSettings {
  readonly memoryMb: number
  readonly threads: number
  readonly spillDir: string
}

export async function openInstance({ memoryMb, threads, spillDir }: DatabaseSettings): Promise<DuckDBInstance> {
  return DuckDBInstance.create(':memory:', {
    threads: String(threads),
    memory_limit: `${memoryMb}MiB`,
    temp_directory: spillDir,
    preserve_insertion_order: 'true',
    // The order of rows is the order of loading only while the table probes and the other side is built; queries here put it first.
    disabled_optimizers: 'build_side_probe_side',
    // The engine is complete as shipped: nothing may be fetched from anywhere because a file seems to need an extension.
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
  })
}

export async function connect(instance: DuckDBInstance, { threads }: Pick<DatabaseSettings, 'threads'>): Promise<Database> {
  const connection: DuckDBConnection = await instance.connect()
  const keepOrder = (isKept: boolean) => connection.run(`SET preserve_insertion_order = ${isKept}`)
  return {
    inFileOrder: async (work) => {
      if (threads > 1) return work()
      await keepOrder(false)
      return work().finally(() => keepOrder(true)) // the instance serves the next job too
    },
    run: async (sql) => {
      const result = await connection.run(sql)
      const first = (await result.getRows())[0]?.[0]
      return typeof first === 'bigint' ? Number(first) : 0
    },
    rows: async (sql) => {
      const reader = await connection.runAndReadAll(sql)
      return reader.getRowsJS().map((row) => row.map(plain))
    },
    interrupt: () => connection.interrupt(),
    close: () => connection.closeSync(),
  }
}

function plain(value: unknown): SqlValue {
  if (typeof value === 'bigint') return Number(value)
  if (value === null || value === undefined) return null
  if (Array.isArray(value)) return value.map(plain)
  if (typeof value === 'object') return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, plain(inner)]))
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value
  return String(value)
}
