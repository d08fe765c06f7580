// The database extractor as a program: KBC_DATADIR names a data folder with config.json; a table and the state appear in its out/.
// Exit codes: 0 success, 1 the user can fix it, 2 anything else.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { createEgressGuard, refusalText } from '../../../contract/egress-guard.ts'
import { FAILURE_FILE } from '../../../contract/failure-causes.ts'
import { UserError } from '../../http-extractor/src/errors.ts'
import { readEgressPolicy } from '../../http-extractor/src/http/egress-policy.ts'
import { createLog } from '../../http-extractor/src/log.ts'
import { createRedactor } from '../../http-extractor/src/redaction.ts'
import { actionNamed } from './actions.ts'
import { type DatabaseSettings, readDatabase, readRow } from './configuration.ts'
import type { Database } from './databases/database.ts'
import { extract } from './extract.ts'
import { explained, type Folders, isLostConnection, openDatabase } from './open-database.ts'

const ATTEMPTS = 4
const dataDir = (process.env.KBC_DATADIR ?? '/data').replace(/\/+$/, '') || '/'
const redactor = createRedactor()
const print = (text: string) => void process.stdout.write(text)
let isAction = false
const log = createLog({ debug: false, redactor, write: (line) => isAction || print(line) }) // an action prints its answer alone

const guard = createEgressGuard({
  policy: readEgressPolicy(process.env.MILLRACE_EGRESS_POLICY),
  refusal: (host, port, why) => new UserError(refusalText(host, port, why)).withFacts({ kind: 'network.refusedHere' }),
  audit: (host, port, address) =>
    log.info(`Connecting to ${host}:${port} (${address}), which is open by MILLRACE_EGRESS_ALLOW only.`),
})

async function main(): Promise<void> {
  const config = JSON.parse(readFileSync(join(dataDir, 'config.json'), 'utf8')) as {
    readonly parameters?: Readonly<Record<string, unknown>>
    readonly action?: string
  } // written by the platform
  const parameters = config.parameters ?? {}
  hideSecrets(parameters)
  isAction = config.action !== undefined && config.action !== 'run'
  const settings = readDatabase(parameters)
  if (isAction) {
    const action = actionNamed(config.action ?? '')
    return print(`${redactor.redact(JSON.stringify(await withDatabase(settings, (database) => action(database, parameters))))}\n`)
  }
  const row = readRow(parameters)
  for (let attempt = 1; ; attempt++) {
    try {
      return await withDatabase(settings, (database) => extract(database, row, dataDir, log))
    } catch (error) {
      const cause = error instanceof UserError ? error.cause : error
      if (attempt === ATTEMPTS || !isLostConnection(cause)) throw error
      log.warning(`The connection was lost; the table is read again (attempt ${attempt + 1} of ${ATTEMPTS}).`)
      await wait(1000 * 2 ** attempt)
    }
  }
}

async function withDatabase<T>(settings: DatabaseSettings, work: (database: Database) => Promise<T>): Promise<T> {
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

function hideSecrets(value: unknown): void {
  if (typeof value !== 'object' || value === null) return
  for (const [name, inner] of Object.entries(value)) {
    if (name.startsWith('#') || name === 'password') redactor.add(inner)
    else hideSecrets(inner)
  }
}

function report(error: unknown): number {
  if (!(error instanceof UserError)) {
    log.error(`Unexpected error: ${error instanceof Error ? error.message : String(error)}`, {
      stack: error instanceof Error ? error.stack : null,
    })
    return 2
  }
  log.error(error.message, error.context)
  leaveFailure(error)
  process.stderr.write(`${redactor.redact(error.message)}\n`)
  return 1
}

/** For the program that shows the failure. A run that cannot write this down has failed all the same. */
function leaveFailure(error: UserError): void {
  const { kind } = error.facts
  if (isAction || kind === undefined) return
  try {
    mkdirSync(join(dataDir, 'out'), { recursive: true })
    writeFileSync(join(dataDir, FAILURE_FILE), JSON.stringify({ kind, pointer: '/parameters/db' }))
  } catch (cause) {
    log.warning(`The cause of the failure could not be written: ${cause instanceof Error ? cause.message : String(cause)}`)
  }
}

process.on('uncaughtException', (error) => process.exit(report(error)))
try {
  await main()
} catch (error) {
  process.exitCode = report(error)
}
