// DuckDB's own readers. They read rows; everything else is queried by the driver. What they cannot read exactly, and what fails in them, is read by
// the driver, so the result is the same with either.
//  (1) Statements of users run in the source only, never in DuckDB.
//  (2) No password is in a statement of DuckDB: a failed one would be shown with it.
//  (3) Native sockets do not pass the egress guard: they get the address that the guard has looked up and permitted.

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { DuckDBInstance, version } from '@duckdb/node-api'
import { type ExtensionName, extensionPath } from '../../../../contract/duckdb-extensions.ts'
import { isLostConnection } from '../../../connector-kit/src/database/explain.ts'
import { textLiteral } from '../../../connector-kit/src/database/quoting.ts'
import { UserError } from '../../../http-extractor/src/errors.ts'
import type { Database, ReadRequest } from '../databases/database.ts'
import { mysqlReader } from './mysql.ts'
import { postgresqlReader } from './postgresql.ts'
import { type DuckDB, missing, type Reader, type ReaderContext } from './reader.ts'
import { sqliteReader } from './sqlite.ts'

const CREATE: Readonly<Record<ExtensionName, (context: ReaderContext) => Reader>> = {
  postgres: postgresqlReader,
  mysql: mysqlReader,
  sqlite: sqliteReader,
}

/** `say` logs why the driver reads. */
export async function openReaders(
  context: ReaderContext,
  extensions: string,
  extension: ExtensionName,
  say: (why: string) => void,
): Promise<{ readonly database: Database; close(): void }> {
  const { database, dataDir, log } = context
  const duckdb = await openInstance(dataDir)
  const path = join(extensions, extensionPath(extension, version(), duckdb.platform))
  const reader = CREATE[extension](context)
  let isOpen = false
  let isDriver = false
  const leaveToDriver = (why: string) => {
    if (!isDriver) say(why)
    isDriver = true
  }
  if (!existsSync(path)) leaveToDriver(missing(extension))

  async function read(request: ReadRequest): Promise<number> {
    const unfit = isDriver ? undefined : reader.unfit(request)
    if (unfit !== undefined) leaveToDriver(unfit)
    if (isDriver) return database.read(request)
    try {
      if (!isOpen) {
        await duckdb.run(`load ${textLiteral(path)}`) // checks the signature
        await reader.open?.(duckdb)
        log.info(`DuckDB reads the rows, by its extension ${extension}.`)
      }
      isOpen = true
      return await reader.read(request, duckdb)
    } catch (error) {
      if (error instanceof UserError || isLostConnection(error)) throw error
      leaveToDriver(`the extension ${extension} of DuckDB failed: ${reasonOf(error)}`)
      return database.read(request)
    }
  }
  return { database: { ...database, read }, close: duckdb.close }
}

/** The first line, which the statement follows. */
const reasonOf = (error: unknown): string => {
  const [line = ''] = (error instanceof Error ? error.message : String(error)).split('\n', 1)
  return line.replace(/[.\s]+$/, '').slice(0, 300)
}

const MEMORY = '256MiB'

async function openInstance(dataDir: string): Promise<DuckDB & { readonly platform: string; close(): void }> {
  const instance = await DuckDBInstance.create(':memory:', {
    ...{ memory_limit: MEMORY, threads: '2', temp_directory: join(dataDir, 'duckdb-tmp'), preserve_insertion_order: 'false' },
    ...{ autoinstall_known_extensions: 'false', autoload_known_extensions: 'false' },
  })
  const connection = await instance.connect()
  const ask = async (sql: string) => (await connection.runAndReadAll(sql)).getRows()
  await ask("set timezone = 'UTC'")
  const [[platform] = []] = await ask('pragma platform')
  return {
    platform: String(platform),
    run: async (sql) => void (await ask(sql)),
    ask,
    copy: async (sql) => Number((await ask(sql))[0]?.[0] ?? 0),
    close() {
      connection.closeSync()
      instance.closeSync()
    },
  }
}
