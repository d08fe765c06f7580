// The HTTP extractor as a program: KBC_DATADIR names a data folder with config.json; tables and state appear in its out/.
// Exit codes: 0 success, 1 the user can fix it, 2 anything else.
//
//   main.ts                     run (or the action that config.json names)
//   main.ts --replay archive    run against recorded exchanges, without a network (also MILLRACE_REPLAY_FILE, of a rehearsal)
//   main.ts --schema            print the JSON Schema of the configuration

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import type { Audit } from '../../../contract/egress-guard.ts'
import { FAILURE_FILE } from '../../../contract/failure-causes.ts'
import { untilJob } from '../../../contract/started-ahead.ts'
import { runAction } from './actions/actions.ts'
import { parseArchive } from './archive/archive.ts'
import { createRecorder, type Recorder } from './archive/record.ts'
import { createReplay } from './archive/replay.ts'
import {
  actionOf,
  type Configuration,
  hideSecrets,
  loadConfiguration,
  parametersOf,
  readConfiguration,
} from './configuration/configuration.ts'
import { at, flagAt } from './configuration/read.ts'
import { configurationSchema } from './configuration/schema.ts'
import { ApplicationError, UserError } from './errors.ts'
import { failureFacts } from './failure.ts'
import { createEgress } from './http/egress.ts'
import { readEgressPolicy } from './http/egress-policy.ts'
import type { JsonObject } from './json/json.ts'
import { exactJson } from './json/text.ts'
import { createLog, type Log } from './log.ts'
import { createRedactor, type Redactor } from './redaction.ts'
import { type RunDeps, run } from './run.ts'
import { checkWire, openWire } from './wire.ts'

untilJob()

const now = () => Date.now()
const sleep = (seconds: number) => wait(seconds * 1000)
const redactor = createRedactor()
const print = (text: string) => void process.stdout.write(text)

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { replay: { type: 'string' }, schema: { type: 'boolean' } } })
  if (values.schema) {
    return print(`${JSON.stringify(configurationSchema(), null, 2)}\n`)
  }
  const folder = (process.env.KBC_DATADIR ?? '/data').replace(/\/+$/, '') || '/'
  const file = loadConfiguration(folder)
  hideSecrets(file, redactor)
  if (actionOf(file) !== 'run') return runActionOf(file, folder)
  dataDir = folder

  const configuration = checkedConfiguration(file)
  log = createLog({ debug: anyRun(configuration, 'debug'), redactor, write: print })
  const archive = values.replay ?? (process.env.MILLRACE_REPLAY_FILE || undefined)
  if (archive !== undefined) await run(configuration, replayed(readArchive(archive), archive, folder))
  else await runLive(configuration, folder)
  log.info('Extractor finished successfully.')
}

async function runLive(configuration: Configuration, dataDir: string): Promise<void> {
  const recorder = anyRun(configuration, 'record') ? createRecorder(dataDir, redactor, now()) : undefined
  try {
    await run(
      configuration,
      live(() => configuration, dataDir, recorder),
    )
  } finally {
    recorder?.finish()
  }
}

function checkedConfiguration(file: JsonObject): Configuration {
  const configuration = readConfiguration(file)
  checkWire(configuration)
  return configuration
}

const anyRun = (configuration: Configuration, key: string) =>
  configuration.runs.some((config) => flagAt(at(config, key), `config.${key}`))

function live(configuration: () => Configuration, dataDir: string, recorder?: Recorder): RunDeps {
  const egress = createEgress(readEgressPolicy(process.env.MILLRACE_EGRESS_POLICY), undefined, exempted())
  const tap = recorder ? { tap: recorder.tap } : {}
  return {
    dataDir,
    checkpointDir: process.env.MILLRACE_CHECKPOINT_DIR || undefined,
    log,
    redactor,
    now,
    sleep: (seconds, signal) => wait(seconds * 1000, undefined, signal ? { signal } : {}),
    openWire: (plan) => openWire(configuration(), plan, { dataDir, egress, now, sleep, log, ...tap }),
  }
}

/** Each use of an exemption is on record, once per run. */
function exempted(): Audit {
  const said = new Set<string>()
  return (hostname, port, address) => {
    const place = `${hostname}:${port} (${address})`
    if (!said.has(place)) log.info(`Connecting to ${place}, which is open by MILLRACE_EGRESS_ALLOW only.`)
    said.add(place)
  }
}

/** No network, and no waiting between retries: what would be waited for has been recorded. */
function replayed(archive: string, name: string, dataDir: string): RunDeps {
  const exchanges = parseArchive(archive, name)
  const replay = createReplay(exchanges, redactor)
  // Requests that name the time are those of the recorded run.
  const offsetMs = (exchanges[0]?.began ?? now()) - now()
  return {
    dataDir,
    log,
    redactor,
    now: () => now() + offsetMs,
    sleep: async () => {},
    openWire: async () => ({ send: replay.send, close: async () => {} }),
  }
}

function readArchive(archive: string): string {
  try {
    return readFileSync(archive, 'utf8')
  } catch (cause) {
    throw new UserError(`The archive '${archive}' cannot be read.`, {}, cause)
  }
}

/** The answer is the only thing on standard output, so an action logs nothing. */
async function runActionOf(file: JsonObject, dataDir: string): Promise<void> {
  log = createLog({ debug: false, redactor, write: () => {} })
  const configuration = () => checkedConfiguration(file)
  const recording = at(parametersOf(file), 'replay')
  const deps =
    typeof recording === 'string'
      ? { ...replayed(recording, 'the recording', dataDir), sleep: live(configuration, dataDir).sleep }
      : live(configuration, dataDir)
  const answer = await runAction(actionOf(file), { ...deps, file, configuration })
  print(`${redactor.redact(exactJson(answer))}\n`)
}

/** Of a run: where it leaves the details of its failure. */
let dataDir: string | undefined
let log: Log = createLog({ debug: false, redactor, write: print })
// Whatever escapes is our mistake, and must not look like the user's.
process.on('uncaughtException', (error) => process.exit(report(error, redactor)))
try {
  await main()
} catch (error) {
  process.exitCode = report(error, redactor)
}

/** The line in the log, and the bare message on standard error, which the platform shows to the user. */
function report(error: unknown, { redact }: Redactor): number {
  if (error instanceof UserError) {
    const text = error.message + whereOf(error)
    log.error(text, error.context)
    leaveFailure(error, redact)
    process.stderr.write(`${redact(text)}\n`)
    return 1
  }
  if (error instanceof ApplicationError) log.error(error.message, error.context)
  else
    log.error(`Unexpected error: ${error instanceof Error ? error.message : String(error)}`, {
      stack: error instanceof Error ? error.stack : null,
    })
  return 2
}

/** For the program that shows the failure. A run that cannot write this down has failed all the same. */
function leaveFailure(error: UserError, redact: Redactor['redact']): void {
  if (dataDir === undefined) return
  try {
    mkdirSync(join(dataDir, 'out'), { recursive: true })
    writeFileSync(join(dataDir, FAILURE_FILE), redact(JSON.stringify(failureFacts(error))))
  } catch (cause) {
    log.warning(`What is known of the failure could not be written: ${cause instanceof Error ? cause.message : String(cause)}`)
  }
}

/** Which job, and which page if it had come to one, for those who see nothing but the message. */
function whereOf({ context }: UserError): string {
  if (context.endpoint === undefined) return ''
  return ` (job '${String(context.endpoint)}'${context.page === undefined ? '' : `, page ${String(context.page)}`})`
}
