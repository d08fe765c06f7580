// The database extractor as a program: a table and the state appear in out/ of the data folder.

import { randomBytes } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { untilJob } from '../../../contract/started-ahead.ts'
import { ALL_TYPES, type DatabaseSettings, readDatabase } from '../../connector-kit/src/database/connection.ts'
import { explained, isLostConnection, isRefusedConnection } from '../../connector-kit/src/database/explain.ts'
import type { Folders } from '../../connector-kit/src/database/files.ts'
import { type Program, runProgram } from '../../connector-kit/src/program.ts'
import { UserError } from '../../http-extractor/src/errors.ts'
import { actionNamed } from './actions.ts'
import { openHere } from './compare/here.ts'
import { type RowSettings, readRow, readTables } from './configuration.ts'
import type { Database } from './databases/database.ts'
import { extract, readState, type State, writeState } from './extract.ts'
import { openDatabase } from './open-database.ts'
import { outputTableId, verifiedTable } from './output-table-id.ts'
import { newProgress, type Progress } from './parts.ts'
import { withReader } from './readers/with-reader.ts'

untilJob()

const ATTEMPTS = 4

/** Two components, one program: they share the connection, the types and the actions. */
const isCapture = process.env.KBC_COMPONENTID === 'platform.ex-database-changes'

await runProgram({
  pointer: '/parameters/db',
  async run(program) {
    const { parameters, log } = program
    if (isCapture) {
      const { runCapture } = await import('./capture/run-capture.ts')
      return runCapture(program)
    }
    const settings = readDatabase(parameters, ALL_TYPES)
    const tables = readTables(parameters)
    const rows = tables ?? [readRow(parameters)]
    const progress = rows.map(() => newProgress(`\\N${randomBytes(3).toString('hex')}`))
    const partsDone = () => progress.reduce((sum, { done }) => sum + done, 0)
    let wasConnected = false
    for (let attempt = 1; ; attempt++) {
      const before = partsDone()
      try {
        return await withDatabase(settings, program, (database) => {
          wasConnected = true
          return runRows({ database, settings, rows, hasTables: tables !== undefined, program, progress })
        })
      } catch (error) {
        const cause = error instanceof UserError ? error.cause : error
        if (partsDone() > before) attempt = 0 // a connection that is lost again and again still reads the table
        const isLost = isLostConnection(cause) || (wasConnected && isRefusedConnection(cause))
        if (attempt === ATTEMPTS || !isLost) throw error
        const what = partsDone() > 0 ? 'reading continues with the next part' : 'the table is read again'
        if (tables && partsDone() > 0)
          log.warning('Tables that are read from now on show a later state of the source than those that were read before.')
        log.warning(`The connection was lost; ${what} (attempt ${attempt + 1} of ${ATTEMPTS}).`)
        await wait(attempt === 0 ? 250 : 1000 * 2 ** attempt)
      }
    }
  },
  async act(name, program) {
    if (isCapture) {
      const { captureAction } = await import('./capture/run-capture.ts')
      const action = captureAction(name)
      if (action) return action(program)
    }
    const settings = readDatabase(program.parameters, ALL_TYPES)
    const action = actionNamed(name)
    return withDatabase(settings, program, (database) => action(database, program.parameters, program.file))
  },
})

interface RowRun {
  readonly database: Database
  readonly settings: DatabaseSettings
  /** Of all tables that are read in one state of the database. */
  readonly rows: readonly RowSettings[]
  /** The configuration has a list of them, which may have one. */
  readonly hasTables: boolean
  readonly program: Program
  readonly progress: readonly Progress[]
}

async function runRows({ database, settings, rows, hasTables, program, progress }: RowRun): Promise<void> {
  const { dataDir, log, guard, file } = program
  const [first] = rows
  if (first && first.mode !== 'read') {
    const { verifyAll } = await import('./compare/verify.ts')
    const runs = rows.map((row) => ({ row, tableId: verifiedTable(row, file, process.env) }))
    return verifyAll(runs.map((run) => ({ ...run, database, here: openHere(process.env), dataDir, log })))
  }
  const extensions = process.env.MILLRACE_EXTENSIONS
  const before = readState(dataDir)
  const after: Record<string, State> = {}
  for (const [at, row] of rows.entries()) {
    const openTable = () => {
      const tableId = outputTableId(row, file, process.env)
      return tableId === undefined || !process.env.KBC_TOKEN ? undefined : { here: openHere(process.env), tableId }
    }
    // Other files and servers than PostgreSQL are opened by DuckDB itself, which would show each table in a state of its own.
    const reader = hasTables && settings.type !== 'postgresql' ? 'driver' : row.reader
    if (database.isReadWhole && at === 1) log.warning('ClickHouse has no transactions: each table is read in a state of its own.')
    if (reader !== row.reader && row.reader === 'duckdb' && at === 0)
      log.warning('The driver reads the rows: DuckDB would not read all tables in one state of the database.')
    const folders = foldersHere()
    const context = { settings, database, row: { ...row, reader }, guard, log, dataDir, extensions, folders }
    const own = hasTables ? (before.tables?.[row.outputTable] ?? {}) : before
    after[row.outputTable] = await withReader(context, (reading) =>
      extract({ database: reading, row, dataDir, log, openTable, before: own, progress: progress[at] ?? newProgress('') }),
    )
  }
  writeState(dataDir, hasTables || !first ? { tables: after } : (after[first.outputTable] ?? {}))
}

function foldersHere(): Folders {
  return JSON.parse(process.env.MILLRACE_FOLDERS ?? '{}') as Folders // written by the platform
}

async function withDatabase<T>(
  settings: DatabaseSettings,
  { guard, dataDir }: Program,
  work: (database: Database) => Promise<T>,
): Promise<T> {
  let database: Database | undefined
  try {
    database = await openDatabase(settings, { guard, folders: foldersHere(), dataDir })
    return await work(database)
  } catch (error) {
    throw explained(error, settings)
  } finally {
    await database?.close()
  }
}
