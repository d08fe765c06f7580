// The database extractor as a program: a table and the state appear in out/ of the data folder.

import { randomBytes } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { untilJob } from '../../../contract/started-ahead.ts'
import { type DatabaseSettings, FILES_AND_SERVERS, readDatabase } from '../../connector-kit/src/database/connection.ts'
import { explained, isLostConnection, isRefusedConnection } from '../../connector-kit/src/database/explain.ts'
import type { Folders } from '../../connector-kit/src/database/files.ts'
import { type Program, runProgram } from '../../connector-kit/src/program.ts'
import { UserError } from '../../http-extractor/src/errors.ts'
import { actionNamed } from './actions.ts'
import { openHere } from './compare/here.ts'
import { type RowSettings, readRow } from './configuration.ts'
import type { Database } from './databases/database.ts'
import { extract } from './extract.ts'
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
    const settings = readDatabase(parameters, FILES_AND_SERVERS)
    const row = readRow(parameters)
    const progress = newProgress(`\\N${randomBytes(3).toString('hex')}`)
    let wasConnected = false
    for (let attempt = 1; ; attempt++) {
      const before = progress.done
      try {
        return await withDatabase(settings, program, (database) => {
          wasConnected = true
          return runRow({ database, settings, row, program, progress })
        })
      } catch (error) {
        const cause = error instanceof UserError ? error.cause : error
        if (progress.done > before) attempt = 0 // a connection that is lost again and again still reads the table
        const isLost = isLostConnection(cause) || (wasConnected && isRefusedConnection(cause))
        if (attempt === ATTEMPTS || !isLost) throw error
        const what = progress.done > 0 ? 'reading continues with the next part' : 'the table is read again'
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
    const settings = readDatabase(program.parameters, FILES_AND_SERVERS)
    const action = actionNamed(name)
    return withDatabase(settings, program, (database) => action(database, program.parameters, program.file))
  },
})

interface RowRun {
  readonly database: Database
  readonly settings: DatabaseSettings
  readonly row: RowSettings
  readonly program: Program
  readonly progress: Progress
}

async function runRow({ database, settings, row, program, progress }: RowRun): Promise<void> {
  const { dataDir, log, guard } = program
  const openTable = () => {
    const tableId = outputTableId(row, program.file, process.env)
    return tableId === undefined || !process.env.KBC_TOKEN ? undefined : { here: openHere(process.env), tableId }
  }
  if (row.mode === 'read') {
    const context = {
      settings,
      database,
      row,
      guard,
      log,
      dataDir,
      extensions: process.env.MILLRACE_EXTENSIONS,
      folders: foldersHere(),
    }
    return withReader(context, (reading) => extract({ database: reading, row, dataDir, log, openTable, progress }))
  }
  const { verifyAll } = await import('./compare/verify.ts')
  const tableId = verifiedTable(row, program.file, process.env)
  return verifyAll([{ database, row, here: openHere(process.env), tableId, dataDir, log }])
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
