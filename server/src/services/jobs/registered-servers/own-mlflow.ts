// MLflow servers of the stack itself, for projects of a node on which no other one is registered: started on request, with a store in
// the data folder that belongs to the project, and stopped when idle for a while.
//  (1) A server is a program as those of components are: it ends with the stack, however that ends, with everything that it started.
//  (2) Where the kernel allows it, it sees the store of its project and its Python, and has no network.

import { join } from 'node:path'
import { type Dial, forward } from '../../../engines/reverse-proxy/program-proxy.ts'
import { createReverseProxy, type ReverseProxy } from '../../../engines/reverse-proxy/reverse-proxy.ts'
import { removeWritable } from '../../../engines/runner/data-folder.ts'
import { homeOf } from '../../../engines/runner/program.ts'
import type { Runner, RunOutcome } from '../../../engines/runner/runner.ts'
import { PlatformError } from '../../../kit/errors.ts'

export interface OwnMlflowDeps {
  readonly runner: Pick<Runner, 'newFolder' | 'removeFolder' | 'run'>
  /** A Python that may have mlflow; undefined: the stack runs no servers. */
  readonly python: string | undefined
  /** Holds a folder for each project. */
  readonly folder: string
  readonly idleMs?: number
}

export interface OwnMlflow {
  /** The server of the project; resolves when it answers. */
  use(projectId: number): Promise<ReverseProxy>
  /** With everything that was logged there. */
  removeProject(projectId: number): Promise<void>
  close(): Promise<void>
}

interface Running {
  readonly ready: Promise<ReverseProxy>
  readonly ended: Promise<void>
  readonly stop: () => void
  usedAt: number
}

const IDLE_MS = 30 * 60_000
/** The first start makes the tables of the store. */
const START_MS = 300_000
const PROBE_MS = 200
/** After a failed start the reason is given again for so long, instead of another try with every request. */
const PAUSE_MS = 30_000
const LIMITS = { timeoutMs: 86_400_000, memoryBytes: 2 ** 31, diskBytes: 2 ** 36 }
const NOT_FOUND = [126, 127]

export function createOwnMlflow({ runner, python, folder, idleMs = IDLE_MS }: OwnMlflowDeps): OwnMlflow {
  const servers = new Map<number, Running>()
  const failures = new Map<number, { readonly error: unknown; readonly until: number }>()
  const storeOf = (projectId: number): string => join(folder, String(projectId))
  let timer: NodeJS.Timeout | undefined
  let isClosed = false

  async function use(projectId: number): Promise<ReverseProxy> {
    if (python === undefined) throw new PlatformError('mlflow.notRegistered')
    if (isClosed) throw new PlatformError('unavailable', { what: 'The node' })
    const failure = failures.get(projectId)
    if (failure && failure.until > performance.now()) throw failure.error
    const server = servers.get(projectId) ?? start(projectId, python)
    servers.set(projectId, server)
    server.usedAt = performance.now()
    timer ??= setInterval(stopIdle, Math.min(60_000, idleMs)).unref()
    return server.ready
  }

  function start(projectId: number, program: string): Running {
    const abort = new AbortController()
    const { promise: opened, resolve: onOpen } = Promise.withResolvers<Dial>()
    const outcome = run(projectId, program, abort.signal, onOpen)
    const ready = readyOf(opened, outcome, program).catch((error: unknown) => {
      failures.set(projectId, { error, until: performance.now() + PAUSE_MS })
      abort.abort()
      throw error
    })
    const ended = outcome.then(
      () => {},
      () => {},
    )
    const server = { ready, ended, stop: () => abort.abort(), usedAt: performance.now() }
    void ended.then(() => servers.get(projectId) === server && servers.delete(projectId))
    return server
  }

  async function run(projectId: number, program: string, signal: AbortSignal, onOpen: (dial: Dial) => void): Promise<RunOutcome> {
    const data = await runner.newFolder()
    const store = storeOf(projectId)
    try {
      return await runner.run({
        program: {
          kind: 'command',
          command: [program, '-m', 'mlflow', 'server'],
          folder: data.data,
          readable: homeOf(program),
          writable: [store],
        },
        folder: data,
        environment: {
          MLFLOW_BACKEND_STORE_URI: `sqlite:///${join(store, 'mlflow.db')}`,
          MLFLOW_ARTIFACTS_DESTINATION: join(store, 'artifacts'),
          MLFLOW_WORKERS: '1',
          MLFLOW_SERVER_ENABLE_JOB_EXECUTION: 'false',
          MLFLOW_DISABLE_TELEMETRY: 'true',
        },
        limits: LIMITS,
        mask: (text) => text,
        onEvent: () => {},
        serving: { environment: (port) => ({ MLFLOW_HOST: '127.0.0.1', MLFLOW_PORT: String(port) }), onOpen },
        signal,
      })
    } finally {
      await runner.removeFolder(data)
    }
  }

  /** Waits until it answers, or has ended, or takes too long. */
  async function readyOf(opened: Promise<Dial>, outcome: Promise<RunOutcome>, program: string): Promise<ReverseProxy> {
    const failed = outcome.then((end) => Promise.reject(failureOf(end, program)))
    failed.catch(() => {}) // also when it ends later, in good order
    const dial = await Promise.race([opened, failed])
    const until = performance.now() + START_MS
    while (!(await Promise.race([answers(dial), failed]))) {
      if (performance.now() > until)
        throw new PlatformError('mlflow.notStarted', { reason: `it did not answer in ${START_MS / 1000} seconds` })
      await new Promise((resolve) => setTimeout(resolve, PROBE_MS))
    }
    return createReverseProxy('http://127.0.0.1', { dial })
  }

  function stopIdle(): void {
    for (const server of servers.values()) if (performance.now() - server.usedAt > idleMs) server.stop()
  }

  async function stop(projectId: number): Promise<void> {
    const server = servers.get(projectId)
    server?.stop()
    await server?.ended
  }

  return {
    use,
    async removeProject(projectId) {
      await stop(projectId)
      await removeWritable(storeOf(projectId))
    },
    async close() {
      isClosed = true
      clearInterval(timer)
      await Promise.all([...servers.keys()].map(stop))
    },
  }
}

async function answers(dial: Dial): Promise<boolean> {
  const question = { method: 'GET', path: '/health', headers: { host: '127.0.0.1' } }
  try {
    const { status, body } = await forward(dial, question, undefined, AbortSignal.timeout(5_000))
    body.resume()
    return status === 200
  } catch {
    return false
  }
}

function failureOf({ reason, exitCode, words }: RunOutcome, python: string): PlatformError {
  const isMissing = NOT_FOUND.includes(exitCode) || /No module named '?mlflow/.test(words)
  if (reason === 'ended' && isMissing) return new PlatformError('mlflow.notRegistered')
  const said = words.split('\n').slice(-3).join(' ').slice(0, 500)
  return new PlatformError('mlflow.notStarted', { reason: `${python} ended with exit code ${exitCode} (${reason}): ${said}` })
}
