// The real stack as a process: its own data folder, free ports, a known master token.
//
//     const stack = await startStackProcess(t)
//     await stack.post('/v2/storage/tokens', { description: 'x' })
//     await stack.kill()                  // SIGKILL, no farewell
//     const { readyMs } = await stack.start()
//
// It ends with the test `t`, and with the test process however that ends (tests/support/leash.mjs).

import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { bundleOf } from '../../server/src/engines/runner/bundle.ts'
import { METADATA_FILE } from '../../server/src/wiring/data-files.ts'
import { count } from './chance.ts'
import { childEnvironment } from './child-environment.ts'
import { placeMigratedSqlite } from './migrated-sqlite.ts'
import { until } from './until.ts'

/** What main.ts would load, without checking at every start whether the bundle is as new as the sources. */
const PROGRAM = fileURLToPath(bundleOf('serve') ?? new URL('../../server/src/main.ts', import.meta.url))
const LEASH = fileURLToPath(new URL('./leash.mjs', import.meta.url))

export interface Answer {
  readonly status: number
  readonly body: unknown
}

export interface Stack {
  /** Address of the API; another one after every start. */
  readonly url: string
  readonly s3Url: string
  readonly masterToken: string
  readonly dataDir: string
  /** How long its first start took, on an empty data folder. */
  readonly firstReadyMs: number
  /** What the stack printed since the last start, newest part. */
  output(): string
  /** Starts it again after kill() or stop(), on the same data folder; `env` holds for this start only. */
  start(env?: Readonly<Record<string, string>>): Promise<{ readonly readyMs: number }>
  /** SIGKILL to the server process; resolves when it is gone. */
  kill(): Promise<void>
  /** SIGTERM, and the exit code after the drain. */
  stop(): Promise<number>
  get(path: string, headers?: Readonly<Record<string, string>>): Promise<Answer>
  post(path: string, body: unknown, headers?: Readonly<Record<string, string>>): Promise<Answer>
  request(method: string, path: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<Answer>
}

export interface StackOptions {
  /** Variables besides the data folder, the ports and the master token. */
  readonly env?: Readonly<Record<string, string>>
  /** A data folder that is there already, with the master token of its stack. */
  readonly existing?: { readonly dataDir: string; readonly masterToken: string }
  /** Of another user than the test's, who must be able to read the data folder and this repository. */
  readonly uid?: number
  /** A command that starts the program given as its last arguments. */
  readonly wrapper?: (dataDir: string) => readonly string[]
  /** Called when it serves, after every start. */
  readonly onReady?: () => void
}

export async function startStackProcess(t: Pick<TestContext, 'after'>, options: StackOptions = {}): Promise<Stack> {
  const dataDir = options.existing?.dataDir ?? (await mkdtemp(join(tmpdir(), 'millrace-stack-')))
  if (!options.existing && !options.env?.MILLRACE_DATABASE_URL) await placeMigratedSqlite(join(dataDir, METADATA_FILE))
  const masterToken = options.existing?.masterToken ?? `1-1-${randomBytes(24).toString('hex')}`
  const env = {
    ...childEnvironment(),
    PORT: '0',
    MILLRACE_S3_PORT: '0',
    MILLRACE_DATA_DIR: dataDir,
    MILLRACE_MASTER_TOKEN: masterToken,
    MILLRACE_TABLE_WARM_WORKERS: '0',
    MILLRACE_DRAIN_SECONDS: '0', // no load balancer to wait for
    ...options.env,
  }
  // A file, not a pipe: whoever measures the stack must not be busy reading its log.
  const logFile = `${dataDir}.log`
  const output = () => readFileSync(logFile, 'utf8').slice(-20_000)
  let child: ChildProcess | undefined
  let addresses = { url: '', s3Url: '' }

  async function start(envNow: Readonly<Record<string, string>> = {}): Promise<{ readyMs: number }> {
    if (child?.exitCode === null) throw new Error('The stack is already running.')
    const begun = performance.now()
    const log = openSync(logFile, 'w')
    const started = spawn(process.execPath, [LEASH, ...(options.wrapper?.(dataDir) ?? []), process.execPath, PROGRAM], {
      env: { ...env, ...envNow },
      cwd: dataDir,
      detached: true,
      stdio: ['pipe', log, log],
      ...(options.uid === undefined ? {} : { uid: options.uid, gid: options.uid }),
    })
    closeSync(log)
    started.stdin?.on('error', () => {}) // the stack may be gone before the order is written
    // A test process whose tests have ended ends too, also when a hook failed before the one that stops the stack.
    for (const handle of [started, started.stdin]) (handle as Partial<{ unref(): void }>).unref?.()
    child = started
    const isReady = async () => {
      if (started.exitCode !== null) return true
      addresses = readyLine(readFileSync(logFile, 'utf8')) ?? addresses
      return addresses.url !== '' && (await request('GET', '/ready')).status === 200
    }
    addresses = { url: '', s3Url: '' }
    await until(() => `the stack is ready:\n${output()}`, isReady)
    if (started.exitCode !== null) throw new Error(`The stack ended with ${started.exitCode} instead of starting:\n${output()}`)
    options.onReady?.()
    return { readyMs: performance.now() - begun }
  }

  async function end(order: 'kill' | 'term'): Promise<number> {
    if (!child || child.exitCode !== null) return child?.exitCode ?? 0
    const exited = once(child, 'exit')
    child.ref()
    child.stdin?.write(`${order}\n`)
    const [code] = await exited
    return Number(code)
  }

  async function request(
    method: string,
    path: string,
    body?: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Answer> {
    const response = await fetch(addresses.url + path, {
      method,
      headers: {
        'x-storageapi-token': masterToken,
        'accept-encoding': 'identity',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    const isJson = response.headers.get('content-type')?.startsWith('application/json')
    return { status: response.status, body: isJson && text !== '' ? JSON.parse(text) : text }
  }

  t.after(async () => {
    await end('kill')
    for (const path of [dataDir, logFile]) await rm(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 })
  })
  const { readyMs: firstReadyMs } = await start()
  return {
    get url() {
      return addresses.url
    },
    get s3Url() {
      return addresses.s3Url
    },
    masterToken,
    dataDir,
    firstReadyMs,
    output,
    start,
    kill: async () => {
      count('kills')
      await end('kill')
    },
    stop: () => end('term'),
    request,
    get: (path, headers) => request('GET', path, undefined, headers),
    post: (path, body, headers) => request('POST', path, body, headers),
  }
}

/** The log line `ready` carries the addresses. */
function readyLine(log: string): { url: string; s3Url: string } | undefined {
  const line = log.split('\n').find((text) => text.includes('"msg":"ready"') && text.endsWith('}'))
  return line === undefined ? undefined : (JSON.parse(line) as { url: string; s3Url: string }) // main.ts wrote it
}
