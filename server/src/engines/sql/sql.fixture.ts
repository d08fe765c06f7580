// Fixtures of the tests of this engine: files that DuckDB wrote, as the tables of a session.

import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { createSqlEngine } from './engine.ts'
import type { SessionOptions, SqlEngine, SqlEngineSettings, SqlSession, SqlTable, SqlValue } from './sql-engine.ts'

export interface TestSql extends AsyncDisposable {
  readonly engine: SqlEngine
  readonly root: string
  /** Writes the rows of a query as a table that sessions find by its name: `table('in.c-main', 'orders', 'SELECT 1 AS id')`. */
  table(schema: string, name: string, select: string, show?: string): Promise<void>
  open(options?: Partial<SessionOptions>): Promise<SqlSession>
  readonly find: SessionOptions['findTable']
}

export async function startSql(settings: SqlEngineSettings = {}): Promise<TestSql> {
  const root = await mkdtemp(join(tmpdir(), 'millrace-sql-'))
  const objects = join(root, 'objects')
  await mkdir(objects)
  const engine = await createSqlEngine({
    openLocal: async (key) => ({ path: join(objects, key), release: async () => {} }),
    scratchDir: join(root, 'scratch'),
    settings,
  })
  const writer = await (await DuckDBInstance.create(':memory:')).connect()
  const tables = new Map<string, SqlTable>()
  let written = 0
  const find: SessionOptions['findTable'] = async (schema, name) => tables.get(`${schema}.${name}`)

  return {
    find,
    engine,
    root,
    table: async (schema, name, select, show = '*') => {
      const key = `segment-${++written}.parquet`
      await writer.run(`COPY (${select}) TO '${join(objects, key)}' (FORMAT parquet)`)
      tables.set(`${schema}.${name}`, {
        version: key,
        keys: [key],
        select: (local) => `SELECT ${show} FROM read_parquet('${local[key]}')`,
      })
    },
    open: (options = {}) => engine.open({ mode: 'read', findTable: find, ...options }),
    [Symbol.asyncDispose]: async () => {
      await engine.close()
      writer.closeSync()
      await rm(root, { recursive: true, force: true })
    },
  }
}

/** All rows of a small result. */
export async function rowsOf(session: SqlSession, sql: string, values: readonly SqlValue[] = []): Promise<SqlValue[][]> {
  const rows: SqlValue[][] = []
  for await (const batch of (await session.query(sql, { values })).batches) rows.push(...batch.map((row) => [...row]))
  return rows
}

export async function textOf(session: SqlSession, sql: string, format: 'csv' | 'json' = 'csv'): Promise<string> {
  const { bytes } = await session.copy(sql, format)
  return Buffer.concat(await Array.fromAsync(bytes)).toString()
}
