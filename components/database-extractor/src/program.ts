// The database extractor as a program: a table and the state appear in out/ of the data folder.

import { setTimeout as wait } from 'node:timers/promises'
import { type DatabaseSettings, readDatabase } from '../../connector-kit/src/database/connection.ts'
import { explained, isLostConnection } from '../../connector-kit/src/database/explain.ts'
import type { Folders } from '../../connector-kit/src/database/files.ts'
import { type Program, runProgram } from '../../connector-kit/src/program.ts'
import { UserError } from '../../http-extractor/src/errors.ts'
import { actionNamed } from './actions.ts'
import { openHere } from './compare/here.ts'
import { type RowSettings, readRow } from './configuration.ts'
import type { Database } from './databases/database.ts'
import { extract } from './extract.ts'
import { openDatabase } from './open-database.ts'
import { verifiedTable, writtenTable } from './output-table-id.ts'

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
    const settings = readDatabase(parameters)
    const row = readRow(parameters)
    for (let attempt = 1; ; attempt++) {
      try {
        return await withDatabase(settings, program, (database) => runRow(database, row, program))
      } catch (error) {
        const cause = error instanceof UserError ? error.cause : error
        if (attempt === ATTEMPTS || !isLostConnection(cause)) throw error
        log.warning(`The connection was lost; the table is read again (attempt ${attempt + 1} of ${ATTEMPTS}).`)
        await wait(1000 * 2 ** attempt)
      }
    }
  },
  async act(name, program) {
    if (isCapture) {
      const { captureAction } = await import('./capture/run-capture.ts')
      const action = captureAction(name)
      if (action) return action(program)
    }
    const settings = readDatabase(program.parameters)
    const action = actionNamed(name)
    return withDatabase(settings, program, (database) => action(database, program.parameters))
  },
})

async function runRow(database: Database, row: RowSettings, { dataDir, log, file }: Program): Promise<void> {
  const openTable = () => ({ here: openHere(process.env), tableId: writtenTable(row, file, process.env) })
  if (row.mode === 'read') return extract({ database, row, dataDir, log, openTable })
  const { verifyAll } = await import('./compare/verify.ts')
  const tableId = verifiedTable(row, file, process.env)
  return verifyAll([{ database, row, here: openHere(process.env), tableId, dataDir, log }])
}

async function withDatabase<T>(
  settings: DatabaseSettings,
  { guard, dataDir }: Program,
  work: (database: Database) => Promise<T>,
): Promise<T> {
  const folders = JSON.parse(process.env.MILLRACE_FOLDERS ?? '{}') as Folders // written by the platform
  let database: Database | undefined
  try {
    database = await openDatabase(settings, { guard, folders, dataDir })
    return await work(database)
  } catch (error) {
    throw explained(error, settings)
  } finally {
    await database?.close()
  }
}
