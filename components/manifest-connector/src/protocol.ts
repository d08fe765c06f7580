// The program: speaks the Airbyte protocol on standard output.
//
//   main.ts spec|check|discover|read [--manifest FILE] [--config FILE] [--catalog FILE] [--state FILE]
//
// CONNECTOR_DATADIR names a folder with manifest.yaml, config.json, catalog.json and state.json instead. Exit codes: 0 success, 1 failure.

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { createEgress } from '../../http-extractor/src/http/egress.ts'
import { readEgressPolicy } from '../../http-extractor/src/http/egress-policy.ts'
import { createRedactor } from '../../http-extractor/src/redaction.ts'
import { createClock } from './clock.ts'
import { check, discover, read, specOf } from './commands.ts'
import { ConnectorError, messageOf } from './errors.ts'
import { createTransport } from './http/transport.ts'
import { loadManifest } from './manifest/load.ts'
import { createMessages } from './messages.ts'
import { parseJson } from './python/json.ts'
import { type Dict, isDict } from './python/values.ts'
import { createSource } from './source.ts'
import { readStates } from './state.ts'

const COMMANDS = ['spec', 'check', 'discover', 'read'] as const
const redactor = createRedactor()
const messages = createMessages(process.stdout, (text) => redactor.redact(text))

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      manifest: { type: 'string' },
      'manifest-path': { type: 'string' },
      config: { type: 'string' },
      catalog: { type: 'string' },
      state: { type: 'string' },
    },
  })
  const command = COMMANDS.find((each) => each === positionals[0])
  if (!command) throw new ConnectorError(`Unknown command '${positionals[0] ?? ''}'. Known: ${COMMANDS.join(', ')}.`)
  const folder = process.env.CONNECTOR_DATADIR
  const place = (given: string | undefined, name: string) => given ?? (folder === undefined ? undefined : join(folder, name))
  const config = command === 'spec' ? {} : jsonFile(place(values.config, 'config.json'), 'configuration')
  if (!isDict(config)) throw new ConnectorError('The configuration is not an object.')
  const manifest = readManifest(place(values.manifest ?? values['manifest-path'], 'manifest.yaml'), config)
  if (command === 'spec') return say({ type: 'SPEC', spec: specOf(manifest) })

  const clock = createClock({
    now: process.env.CONNECTOR_NOW,
    virtual: process.env.CONNECTOR_WAITS === 'virtual',
    ...(folder !== undefined && { folder }),
  })
  const transport = createTransport(createEgress(readEgressPolicy(process.env.MILLRACE_EGRESS_POLICY)))
  try {
    const source = createSource(manifest, config, {
      clock,
      send: transport.send,
      hide: (secret) => redactor.addPassing(secret),
      warn: (message) => messages.write({ type: 'LOG', log: { level: 'WARN', message } }),
      saveConfig: (next) =>
        messages.write({
          type: 'CONTROL',
          control: { type: 'CONNECTOR_CONFIG', emitted_at: Date.now(), connectorConfig: { config: next } },
        }),
    })
    if (command === 'check') {
      const problem = await check(manifest, source)
      return say({
        type: 'CONNECTION_STATUS',
        connectionStatus: problem === undefined ? { status: 'SUCCEEDED' } : { status: 'FAILED', message: problem },
      })
    }
    if (command === 'discover') return say({ type: 'CATALOG', catalog: await discover(source) })
    const statePath = place(values.state, 'state.json')
    const states =
      statePath !== undefined && existsSync(statePath) ? readStates(jsonFile(statePath, 'state')) : new Map<string, Dict>()
    return (await read(source, jsonFile(place(values.catalog, 'catalog.json'), 'catalog'), states, messages)) ? 0 : 1
  } finally {
    await messages.flush()
    await transport.close()
  }
}

async function say(message: Dict): Promise<number> {
  messages.write(message)
  await messages.flush()
  return 0
}

function textFile(path: string | undefined, what: string): string {
  if (path === undefined) throw new ConnectorError(`No ${what} was given. Set CONNECTOR_DATADIR or pass the option.`)
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    throw new ConnectorError(`The ${what} '${path}' cannot be read.`, cause)
  }
}

function jsonFile(path: string | undefined, what: string): unknown {
  const text = textFile(path, what)
  try {
    return parseJson(text)
  } catch (cause) {
    throw new ConnectorError(`The ${what} '${path}' is not valid JSON: ${messageOf(cause)}`, cause)
  }
}

function readManifest(path: string | undefined, config: Dict): Dict {
  const inside = config.__injected_declarative_manifest
  return loadManifest(isDict(inside) ? inside : textFile(path, 'manifest'))
}

try {
  process.exitCode = await main()
} catch (error) {
  const message = messageOf(error)
  messages.write({
    type: 'TRACE',
    trace: {
      type: 'ERROR',
      emitted_at: Date.now(),
      error: { message, failure_type: error instanceof ConnectorError ? 'config_error' : 'system_error' },
    },
  })
  await messages.flush()
  if (!(error instanceof ConnectorError) && error instanceof Error)
    process.stderr.write(`${redactor.redact(error.stack ?? message)}\n`)
  process.exitCode = 1
}
