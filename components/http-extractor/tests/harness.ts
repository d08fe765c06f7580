// Runs the extractor inside the test's process: the real configuration reader, client, jobs and tables, against a real server or
// a recorded archive. What comes back is what a user would see: the error, the log, the tables, the state.

import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import type { Resolve } from '../../../contract/egress-guard.ts'
import type { EgressPolicy } from '../../../contract/egress-rules.ts'
import { parseArchive } from '../src/archive/archive.ts'
import { createRecorder } from '../src/archive/record.ts'
import { createReplay } from '../src/archive/replay.ts'
import { hideSecrets, loadConfiguration, readConfiguration } from '../src/configuration/configuration.ts'
import { at, flagAt } from '../src/configuration/read.ts'
import { createEgress } from '../src/http/egress.ts'
import { OPEN } from '../src/http/egress-policy.ts'
import { createLog } from '../src/log.ts'
import { createRedactor } from '../src/redaction.ts'
import { run } from '../src/run.ts'
import { checkWire, openWire } from '../src/wire.ts'

export interface Outcome {
  readonly error: Error | undefined
  /** Every line of the log. */
  readonly log: string
  /** Content of out/tables by file name. */
  readonly tables: Readonly<Record<string, string>>
  readonly manifests: Readonly<Record<string, unknown>>
  readonly files: Readonly<Record<string, string>>
  /** out/state.json; undefined when there is none. */
  readonly state: Readonly<Record<string, unknown>> | undefined
  /** Seconds the extractor would have waited between retries. */
  readonly waits: readonly number[]
  /** Entries of the data folder that are left over besides in, out and config.json. */
  readonly leftovers: readonly string[]
}

export interface Options {
  readonly state?: unknown
  readonly policy?: EgressPolicy
  readonly resolve?: Resolve
  /** Answers from this archive instead of the network. */
  readonly archive?: string
  /** What config.resume may use; lives longer than the run. */
  readonly checkpointDir?: string
  readonly now?: () => number
}

/** `config` is the whole of config.json, as a value or as text. */
export async function extract(config: unknown, options: Options = {}): Promise<Outcome> {
  const dataDir = mkdtempSync(join(tmpdir(), 'extractor-test-'))
  try {
    writeFileSync(join(dataDir, 'config.json'), typeof config === 'string' ? config : JSON.stringify(config))
    mkdirSync(join(dataDir, 'in'))
    if (options.state !== undefined) writeFileSync(join(dataDir, 'in', 'state.json'), JSON.stringify(options.state))
    return await runIn(dataDir, options)
  } finally {
    rmSync(dataDir, { recursive: true, force: true })
  }
}

async function runIn(dataDir: string, options: Options): Promise<Outcome> {
  const redactor = createRedactor()
  const lines: string[] = []
  const waits: number[] = []
  const now = options.now ?? (() => Date.now())
  const sleep = async (seconds: number) => void waits.push(seconds)
  let error: Error | undefined
  try {
    const file = loadConfiguration(dataDir)
    hideSecrets(file, redactor)
    const configuration = readConfiguration(file)
    checkWire(configuration)
    const flag = (key: string) => configuration.runs.some((one) => flagAt(at(one, key), key))
    const log = createLog({ debug: flag('debug'), redactor, write: (line) => lines.push(line) })
    const egress = createEgress(options.policy ?? OPEN, options.resolve)
    const recorder = flag('record') ? createRecorder(dataDir, redactor, now()) : undefined
    const replay = options.archive === undefined ? undefined : createReplay(parseArchive(options.archive, 'archive'), redactor)
    try {
      await run(configuration, {
        dataDir,
        checkpointDir: options.checkpointDir,
        hashCost: { N: 2 ** 10 },
        log,
        redactor,
        now,
        sleep,
        openWire: async (plan) =>
          replay
            ? { send: replay.send, close: async () => {} }
            : openWire(configuration, plan, { dataDir, egress, now, sleep, log, ...(recorder ? { tap: recorder.tap } : {}) }),
      })
    } finally {
      recorder?.finish()
    }
    const unused = replay?.unused() ?? []
    if (unused.length > 0)
      error = new Error(`${unused.length} recorded exchanges were not asked for, first ${unused[0]!.request.url}`)
  } catch (thrown) {
    error = thrown as Error // everything thrown in the extractor is an Error
    lines.push(`ERROR: ${redactor.redact(error.message)}\n`)
  }
  const tables = filesIn(join(dataDir, 'out', 'tables'))
  const manifests = Object.entries(tables).filter(([name]) => name.endsWith('.manifest'))
  return {
    error,
    log: lines.join(''),
    tables: Object.fromEntries(Object.entries(tables).filter(([name]) => !name.endsWith('.manifest'))),
    manifests: Object.fromEntries(manifests.map(([name, text]) => [name, JSON.parse(text)])),
    files: filesIn(join(dataDir, 'out', 'files')),
    state: stateIn(dataDir),
    waits,
    leftovers: readdirSync(dataDir).filter((name) => !['in', 'out', 'config.json', 'cache'].includes(name)),
  }
}

function filesIn(dir: string): Record<string, string> {
  try {
    return Object.fromEntries(readdirSync(dir).map((name) => [name, readFileSync(join(dir, name), 'utf8')]))
  } catch {
    return {} // the folder is made with the first file
  }
}

function stateIn(dataDir: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(readFileSync(join(dataDir, 'out', 'state.json'), 'utf8'))
  } catch {
    return undefined
  }
}

export interface TestServer {
  readonly url: string
  readonly port: number
  /** `METHOD target` of every request, in order. */
  readonly seen: readonly string[]
  readonly requests: readonly { readonly line: string; readonly headers: IncomingMessage['headers']; readonly body: string }[]
}

export type Handler = (request: IncomingMessage & { readonly text: string }, response: ServerResponse, socket: Socket) => void

/** A server on a port of its own that ends with the test. */
export async function serve(t: TestContext, handler: Handler): Promise<TestServer> {
  const requests: { line: string; headers: IncomingMessage['headers']; body: string }[] = []
  const seen: string[] = []
  const listener: RequestListener = (request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString()
      seen.push(`${request.method} ${request.url}`)
      requests.push({ line: `${request.method} ${request.url}`, headers: request.headers, body: text })
      handler(Object.assign(request, { text }), response, request.socket)
    })
    request.on('error', () => {})
  }
  const server = createServer(listener)
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo // a TCP server has one
  return { url: `http://127.0.0.1:${port}/`, port, requests, seen }
}

export const json = (response: ServerResponse, value: unknown, status = 200, headers: Record<string, string> = {}) => {
  response.writeHead(status, { 'content-type': 'application/json', ...headers })
  response.end(typeof value === 'string' ? value : JSON.stringify(value))
}
