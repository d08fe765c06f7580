// The real stack as a process, for tests that kill it: its own data folder, free ports, a known master token.
//
//     const stack = await startStack(t)
//     await stack.post('/v2/storage/tokens', { description: 'x' })
//     await stack.kill()                  // SIGKILL, no farewell
//     const { readyMs } = await stack.start()
//
// It ends with the test `t`, and with the test process however that ends (tests/support/leash.ts).

import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

const MAIN = fileURLToPath(new URL('../../server/src/main.ts', import.meta.url))
const LEASH = fileURLToPath(new URL('../support/leash.ts', import.meta.url))
const START_LIMIT_MS = 30_000

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
  /** What the stack printed since the last start, newest part. */
  output(): string
  /** Starts it again after kill() or stop(), on the same data folder. */
  start(): Promise<{ readonly readyMs: number }>
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
}

type Child = ChildProcessByStdio<Writable, Readable, Readable>

export async function startStack(t: Pick<TestContext, 'after'>, options: StackOptions = {}): Promise<Stack> {
  const dataDir = await mkdtemp(join(tmpdir(), 'millrace-stack-'))
  const masterToken = `1-1-${randomBytes(24).toString('hex')}`
  const env = {
    PATH: process.env.PATH,
    PORT: '0',
    MILLRACE_S3_PORT: '0',
    MILLRACE_DATA_DIR: dataDir,
    MILLRACE_MASTER_TOKEN: masterToken,
    ...options.env,
  }
  let child: Child | undefined
  let output = ''
  let addresses = { url: '', s3Url: '' }

  async function start(): Promise<{ readyMs: number }> {
    if (child?.exitCode === null) throw new Error('The stack is already running.')
    const begun = performance.now()
    output = ''
    child = spawn(process.execPath, [LEASH, process.execPath, MAIN], {
      env,
      cwd: dataDir,
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    child.stdin.on('error', () => {}) // the stack may be gone before we say goodbye
    child.stderr.setEncoding('utf8').on('data', keep)
    const ready = readyLine(child, keep)
    const ended = once(child, 'exit').then(([code]) =>
      Promise.reject(new Error(`The stack ended with ${code} instead of starting:\n${output}`)),
    )
    ended.catch(() => {}) // every stack ends some day; only one that never started is an error
    addresses = await Promise.race([ready, ended, tooSlow(START_LIMIT_MS, () => output)])
    await until(
      async () => (await request('GET', '/ready')).status === 200,
      START_LIMIT_MS,
      () => `/ready never said yes:\n${output}`,
    )
    return { readyMs: performance.now() - begun }
  }

  const keep = (text: string) => {
    output = (output + text).slice(-20_000)
  }

  async function end(order: 'kill' | 'term'): Promise<number> {
    if (!child || child.exitCode !== null) return child?.exitCode ?? 0
    const exited = once(child, 'exit')
    child.stdin.write(`${order}\n`)
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
    await rm(dataDir, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 })
  })
  await start()
  return {
    get url() {
      return addresses.url
    },
    get s3Url() {
      return addresses.s3Url
    },
    masterToken,
    dataDir,
    output: () => output,
    start,
    kill: async () => void (await end('kill')),
    stop: () => end('term'),
    request,
    get: (path, headers) => request('GET', path, undefined, headers),
    post: (path, body, headers) => request('POST', path, body, headers),
  }
}

/** The log line `ready` carries the addresses; everything else is kept for failures. */
function readyLine(child: Child, keep: (text: string) => void): Promise<{ url: string; s3Url: string }> {
  return new Promise((resolve) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      keep(`${line}\n`)
      if (!line.includes('"msg":"ready"')) return
      const { url, s3Url } = JSON.parse(line) as { url: string; s3Url: string } // main.ts wrote it
      resolve({ url, s3Url })
    })
  })
}

async function tooSlow(ms: number, output: () => string): Promise<never> {
  await sleep(ms, undefined, { ref: false })
  throw new Error(`The stack was not ready after ${ms} ms:\n${output()}`)
}

/** Asks until the answer is yes. A failed attempt counts as no. */
export async function until(
  condition: () => Promise<boolean>,
  limitMs = 10_000,
  complaint = () => 'It never happened.',
): Promise<void> {
  const giveUp = performance.now() + limitMs
  while (!(await condition().catch(() => false))) {
    if (performance.now() > giveUp) throw new Error(complaint())
    await sleep(10)
  }
}
