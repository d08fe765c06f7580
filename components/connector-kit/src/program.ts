// A component as a program: KBC_DATADIR names a data folder with config.json. Exit codes: 0 success, 1 the user can fix it, 2 anything else.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createEgressGuard, type EgressGuard, refusalText } from '../../../contract/egress-guard.ts'
import { FAILURE_FILE } from '../../../contract/failure-causes.ts'
import { UserError } from '../../http-extractor/src/errors.ts'
import { readEgressPolicy } from '../../http-extractor/src/http/egress-policy.ts'
import { createLog, type Log } from '../../http-extractor/src/log.ts'
import { createRedactor, type Redactor } from '../../http-extractor/src/redaction.ts'
import { logUncheckedKeys } from './host-key.ts'
import type { Fields } from './settings.ts'

export interface Program {
  readonly dataDir: string
  readonly parameters: Fields
  /** The whole of config.json. */
  readonly file: Fields
  readonly redactor: Redactor
  readonly log: Log
  readonly guard: EgressGuard
}

interface Work {
  /** Reads or writes the data folder. */
  run(program: Program): Promise<void>
  /** A sync action; its answer is printed as JSON. */
  act(action: string, program: Program): Promise<unknown>
  /** Where a failure with a known cause points to, in the configuration. */
  readonly pointer: string
}

export async function runProgram({ run, act, pointer }: Work): Promise<void> {
  const dataDir = (process.env.KBC_DATADIR ?? '/data').replace(/\/+$/, '') || '/'
  const redactor = createRedactor()
  const print = (text: string) => void process.stdout.write(text)
  let isAction = false
  const log = createLog({ debug: false, redactor, write: (line) => isAction || print(line) }) // an action prints its answer alone

  logUncheckedKeys((line) => log.warning(line))
  const guard = createEgressGuard({
    policy: readEgressPolicy(process.env.MILLRACE_EGRESS_POLICY),
    refusal: (host, port, why) => new UserError(refusalText(host, port, why)).withFacts({ kind: 'network.refusedHere' }),
    audit: (host, port, address) =>
      log.info(`Connecting to ${host}:${port} (${address}), which is open by MILLRACE_EGRESS_ALLOW only.`),
  })

  async function main(): Promise<void> {
    const config = JSON.parse(readFileSync(join(dataDir, 'config.json'), 'utf8')) as Fields & {
      readonly parameters?: Fields
      readonly action?: string
    } // written by the platform
    const parameters = config.parameters ?? {}
    hideSecrets(parameters)
    isAction = config.action !== undefined && config.action !== 'run'
    const program = { dataDir, parameters, file: config, redactor, log, guard }
    if (!isAction) return run(program)
    print(`${redactor.redact(JSON.stringify(await act(config.action ?? '', program)))}\n`)
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
      writeFileSync(join(dataDir, FAILURE_FILE), JSON.stringify({ kind, pointer }))
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
}
