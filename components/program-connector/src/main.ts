#!/usr/bin/env node
// Runs programs of others as components: Singer taps (platform.singer), programs that speak the Airbyte protocol (platform.airbyte-source)
// and Singer targets (platform.singer-target). KBC_DATADIR names the data folder, KBC_COMPONENTID which of them this is.
// Exit codes: 0 success, 1 the user can fix it, 2 anything else. Tables and state are published whole or not at all.

import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { createLog } from '../../http-extractor/src/log.ts'
import { createRedactor } from '../../http-extractor/src/redaction.ts'
import { ConnectorError } from '../../manifest-connector/src/errors.ts'
import { parseManifest } from '../../manifest-connector/src/manifest/load.ts'
import { secretsIn } from '../../manifest-connector/src/platform/parameters.ts'
import { jsonText, parseJson } from '../../manifest-connector/src/python/json.ts'
import { type Dict, isDict } from '../../manifest-connector/src/python/values.ts'
import { createSourceProgram } from './airbyte.ts'
import { runChild } from './child.ts'
import { lockedBefore, openEnvironment } from './environment.ts'
import { readSettings, type Settings } from './parameters.ts'
import { runMain } from './run-main.ts'
import type { Runtime } from './runtime.ts'
import * as singer from './singer.ts'
import { writeToTarget } from './target.ts'

const redactor = createRedactor()
const print = (text: string) => void process.stdout.write(text)

async function main(): Promise<void> {
  const folder = process.env.KBC_DATADIR ?? '/data'
  const file = parseJson(readFileSync(join(folder, 'config.json'), 'utf8'))
  if (!isDict(file)) throw new ConnectorError('config.json is not an object.')
  for (const secret of secretsIn(file.parameters)) redactor.add(secret)
  const action = String(file.action ?? 'run')
  // The answer of an action is alone on standard output.
  const log = createLog({ debug: false, redactor, write: action === 'run' ? print : (text) => void process.stderr.write(text) })
  const kind =
    { 'platform.airbyte-source': 'source', 'platform.singer-target': 'target' }[process.env.KBC_COMPONENTID ?? ''] ?? 'tap'
  const settings = readSettings(file.parameters ?? {}, kind as 'tap' | 'source' | 'target')
  const stored = storedState(folder)
  const work = join(process.env.TMPDIR ?? folder, 'program-connector-files')
  mkdirSync(work, { recursive: true, mode: 0o700 })
  const environment =
    settings.packages.length === 0
      ? undefined
      : await openEnvironment(
          process.env.MILLRACE_ENVIRONMENTS_DIR ?? join(work, 'environments'),
          settings.packages,
          lockedBefore(stored.environment, settings.packages),
          (message) => log.info(message),
        )
  const runtime: Runtime = {
    folder,
    work,
    log,
    run: (command, handlers) =>
      runChild({
        ...handlers,
        command,
        cwd: work,
        silenceMs: settings.silenceMs,
        environment: {
          ...process.env,
          PATH: [environment?.bin, process.env.PATH].filter(Boolean).join(delimiter),
          ...(settings.componentsPy !== undefined && { AIRBYTE_ENABLE_UNSAFE_CODE: 'true' }),
        },
      }),
  }
  try {
    if (action !== 'run') return print(`${redactor.redact(JSON.stringify(await answerOf(action, kind, settings, runtime)))}\n`)
    const state = await run(kind, { ...settings, config: configOf(settings, stored) }, runtime, stored)
    if (!state) return
    mkdirSync(join(folder, 'out'), { recursive: true })
    writeFileSync(
      join(folder, 'out', 'state.json'),
      jsonText({ ...state, ...(environment && { environment: { packages: settings.packages, locked: environment.locked } }) }),
    )
  } finally {
    rmSync(work, { recursive: true, force: true })
    rmSync(join(folder, 'program-connector'), { recursive: true, force: true })
  }
}

/** A source may change its configuration, such as a refresh token that can be used once. */
const configOf = ({ config }: Settings, stored: Dict): Dict =>
  isDict(stored['#config']) ? { ...config, ...stored['#config'] } : config

async function run(kind: string, settings: Settings, runtime: Runtime, stored: Dict): Promise<Dict | undefined> {
  if (kind === 'source') return createSourceProgram(settings, runtime, parseManifest).read(stored)
  if (kind === 'target') return writeToTarget(settings, runtime, stored)
  return singer.read(settings, runtime, stored)
}

async function answerOf(action: string, kind: string, settings: Settings, runtime: Runtime): Promise<Dict> {
  const source = kind === 'source' ? createSourceProgram(settings, runtime, parseManifest) : undefined
  if (kind === 'target') throw new ConnectorError(`The action '${action}' is unknown.`)
  if (action === 'testConnection') {
    await (source ? source.check() : singer.discover(settings, runtime))
    return { status: 'success' }
  }
  if (action === 'streams') {
    if (source)
      return {
        streams: (await source.discover()).map(({ name, keys, isIncremental }) => ({
          name,
          primaryKey: keys,
          incremental: isIncremental,
        })),
      }
    const streams = await singer.discover(settings, runtime)
    return {
      streams: streams.map(({ name, keys, replicationKeys }) => ({
        name,
        primaryKey: keys,
        incremental: replicationKeys.length > 0,
        replicationKeys,
      })),
    }
  }
  if (action === 'spec' && source) return source.spec()
  throw new ConnectorError(`The action '${action}' is unknown. Known: testConnection, streams${source ? ', spec' : ''}.`)
}

function storedState(folder: string): Dict {
  const path = join(folder, 'in', 'state.json')
  const state = existsSync(path) ? parseJson(readFileSync(path, 'utf8')) : {}
  return isDict(state) ? state : {}
}

await runMain(main, redactor)
