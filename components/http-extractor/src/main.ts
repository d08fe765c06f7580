#!/usr/bin/env node
// The HTTP extractor as a program: KBC_DATADIR names a data folder with config.json; tables and state appear in its out/.
// Exit codes: 0 success, 1 the user can fix it, 2 anything else.

import { setTimeout as wait } from 'node:timers/promises'
import { hideSecrets, loadConfiguration, readConfiguration } from './configuration/configuration.ts'
import { at, flagAt } from './configuration/read.ts'
import { ApplicationError, UserError } from './errors.ts'
import { createEgress } from './http/egress.ts'
import { readEgressPolicy } from './http/egress-policy.ts'
import { createLog } from './log.ts'
import { createRedactor } from './redaction.ts'
import { run } from './run.ts'
import { openWire } from './wire.ts'

async function main(): Promise<number> {
  const redactor = createRedactor()
  const write = (line: string) => void process.stdout.write(line)
  let log = createLog({ debug: false, redactor, write })
  try {
    const dataDir = (process.env.KBC_DATADIR ?? '/data').replace(/\/+$/, '') || '/'
    const file = loadConfiguration(dataDir)
    hideSecrets(file, redactor)
    const configuration = readConfiguration(file)
    const debug = configuration.runs.some((config) => flagAt(at(config, 'debug'), 'config.debug'))
    log = createLog({ debug, redactor, write })
    const egress = createEgress(readEgressPolicy(process.env.MILLRACE_EGRESS_POLICY))
    const now = () => Date.now()
    await run(configuration, {
      dataDir,
      log,
      redactor,
      now,
      sleep: (seconds) => wait(seconds * 1000),
      openWire: (plan) => openWire(configuration, plan.api, { egress, now, log }),
    })
    log.info('Extractor finished successfully.')
    return 0
  } catch (error) {
    if (error instanceof UserError) {
      log.error(error.message, error.context)
      return 1
    }
    if (error instanceof ApplicationError) log.error(error.message, error.context)
    else
      log.error(`Unexpected error: ${error instanceof Error ? error.message : String(error)}`, {
        stack: error instanceof Error ? error.stack : null,
      })
    return 2
  }
}

process.exitCode = await main()
