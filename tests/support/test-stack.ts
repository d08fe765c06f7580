// A whole stack in this process, on its own data folder and its own port, for tests that speak HTTP.

import { mkdir, mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import { fileURLToPath } from 'node:url'
import { defined } from '../../server/src/kit/defined.ts'
import { createLog, type LogLevel } from '../../server/src/kit/log.ts'
import { createSecrets } from '../../server/src/kit/secrets.ts'
import { METADATA_FILE } from '../../server/src/wiring/data-files.ts'
import { createPlatform, type Platform, type PlatformOptions } from '../../server/src/wiring/platform.ts'
import { placeMigratedSqlite } from './migrated-sqlite.ts'
import { TEST_PASSWORD_COST } from './password-cost.ts'

const PROGRAMS = fileURLToPath(new URL('../../.cache/programs', import.meta.url))

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** The body as JSON; fails the test when it is none. */
  readonly json: <T = Record<string, unknown>>() => T
}

export interface RequestOptions {
  /** Default: the master token of the first project; null sends none. */
  readonly token?: string | null
  readonly json?: unknown
  readonly form?: Readonly<Record<string, string>>
  readonly body?: string | FormData | URLSearchParams | Uint8Array<ArrayBuffer>
  readonly headers?: Readonly<Record<string, string>>
}

/** A test, or a file of tests: whatever has a hook for clean-up. */
export interface TestScope {
  after(end: () => unknown): unknown
}

export interface TestStack {
  readonly url: string
  readonly dataDir: string
  readonly platform: Platform
  readonly masterToken: string
  readonly projectId: number
  request(method: string, path: string, options?: RequestOptions): Promise<Answer>
  /** Another project of the same stack: its id and its master token. */
  newProject(name?: string): Promise<{ readonly projectId: number; readonly masterToken: string }>
}

/**
 * One stack for all tests of a file: starting one costs more than most tests do. Each call of the answer makes a project of its own on it.
 *
 *     const startProject = shareTestStack()
 *     test('...', async () => { const stack = await startProject() ... })
 */
export function shareTestStack(options: Partial<PlatformOptions> = {}): () => Promise<TestStack> {
  const ends: (() => unknown)[] = []
  let shared: Promise<TestStack> | undefined
  after(async () => {
    for (const end of ends) await end()
  })
  return async () => {
    shared ??= startTestStack({ after: (end) => ends.push(end) }, options)
    const stack = await shared
    const { projectId, masterToken } = await stack.newProject('Test')
    const request: TestStack['request'] = (method, path, more = {}) =>
      send(stack.url, method, path, { token: masterToken, ...more })
    return { ...stack, projectId, masterToken, request }
  }
}

export async function startTestStack(t: TestScope, options: Partial<PlatformOptions> = {}): Promise<TestStack> {
  const dataDir = options.dataDir ?? (await mkdtemp(join(tmpdir(), 'millrace-test-')))
  if (options.dataDir === undefined && options.databaseUrl === undefined) await placeMigratedSqlite(join(dataDir, METADATA_FILE))
  if (options.dataDir === undefined) await shareCompiledPrograms(dataDir)
  const platform = await createPlatform({
    version: '0.0.0-test',
    region: 'us-east-1',
    bucket: 'millrace',
    bodyLimitBytes: 8 << 20,
    corsOrigins: [],
    log: createLog({
      level: (process.env.MILLRACE_TEST_LOG ?? 'fatal') as LogLevel, // set by hand, to look into a test
      secrets: createSecrets(),
      write: (line) => process.stdout.write(line),
    }),
    passwordCost: TEST_PASSWORD_COST,
    keepsNodeClock: options.clock !== undefined, // a test that brings a clock moves it
    ...options,
    // Most tests touch no table: the process for it is started by the first that does.
    tables: { warmWorkers: 0, ...options.tables },
    dataDir,
  })
  const { project, master } = await platform.tokens.createProject('Test')
  await platform.start()
  const url = await platform.app.listen({ port: 0, host: '127.0.0.1' })
  await platform.objects.listen(0, '127.0.0.1')
  t.after(async () => {
    await platform.close()
    if (options.dataDir === undefined) await rm(dataDir, { recursive: true, force: true })
  })
  return {
    url,
    dataDir,
    platform,
    masterToken: master.value,
    projectId: project.id,
    request: (method, path, request = {}) => send(url, method, path, { token: master.value, ...request }),
    newProject: async (name = 'Other') => {
      const other = await platform.tokens.createProject(name)
      return { projectId: other.project.id, masterToken: other.master.value }
    },
  }
}

/** The compiled code of built-in components, which each stack would compile again. */
async function shareCompiledPrograms(dataDir: string): Promise<void> {
  await Promise.all([mkdir(join(dataDir, 'cache')), mkdir(PROGRAMS, { recursive: true })])
  await symlink(PROGRAMS, join(dataDir, 'cache', 'programs'))
}

/** One request; `path` is relative to `url` unless it is a whole address. */
export async function send(url: string, method: string, path: string, options: RequestOptions): Promise<Answer> {
  const headers = new Headers(options.headers)
  if (options.token) headers.set('X-StorageApi-Token', options.token)
  if (!headers.has('accept-encoding')) headers.set('accept-encoding', 'identity') // tests of compression set it
  let body = options.body
  if (options.json !== undefined) {
    body = JSON.stringify(options.json)
    if (!headers.has('content-type')) headers.set('content-type', 'application/json')
  }
  if (options.form) body = new URLSearchParams(options.form)
  const response = await fetch(new URL(path, url), { method, headers, redirect: 'manual', ...defined({ body }) })
  const text = await response.text()
  return { status: response.status, headers: response.headers, text, json: <T>() => JSON.parse(text) as T }
}
