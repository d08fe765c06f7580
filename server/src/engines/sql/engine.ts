// The SQL engine: sessions at once are limited, each has a process of its own, and a process that ended a session in
// order serves another one, with a new DuckDB unless the same reader comes back.

import { randomUUID } from 'node:crypto'
import { mkdir, rm } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { DEFAULT_LIMITS } from '../../kit/default-limits.ts'
import { PlatformError } from '../../kit/errors.ts'
import { type Kept, openSession, RETIRE_SHARE } from './session.ts'
import type { SessionOptions, SessionOwner, SqlEngine, SqlEngineDeps, SqlLimits, SqlSession } from './sql-engine.ts'
import { WorkerProcess } from './worker-process.ts'

const DEFAULTS = { ...DEFAULT_LIMITS.sql, waitMs: 10_000 }
const IDLE_MS = 60_000

interface Idle {
  readonly worker: WorkerProcess
  readonly kept: Kept | undefined
  readonly timer: NodeJS.Timeout
}

interface Waiting {
  readonly owner: SessionOwner | undefined
  readonly start: () => void
  readonly refuse: () => void
}

export async function createSqlEngine({ openLocal, scratchDir, settings = {} }: SqlEngineDeps): Promise<SqlEngine> {
  const { sessions, waitMs, memoryMb, diskMb, timeoutMs } = { ...DEFAULTS, ...settings }
  const limits: SqlLimits = { memoryMb, diskMb, timeoutMs, threads: settings.threads ?? availableParallelism() }
  const all = new Set<WorkerProcess>()
  /** The one that has rested for the shortest time comes last. */
  const idle: Idle[] = []
  const waiting: Waiting[] = []
  const shares = createShares({
    project: settings.projectSessions ?? Math.max(1, sessions - 1),
    token: settings.tokenSessions ?? Math.max(1, Math.ceil(sessions / 2)),
  })
  let open = 0
  let isClosed = false

  await rm(scratchDir, { recursive: true, force: true })
  await mkdir(scratchDir, { recursive: true })

  /** A place among the sessions, sooner or later. */
  function place(owner: SessionOwner | undefined, signal: AbortSignal | undefined): Promise<void> {
    if (isClosed || signal?.aborted) return Promise.reject(new PlatformError('sql.cancelled'))
    if (open < sessions && !shares.usedUp(owner)) {
      open++
      shares.add(owner, 1)
      return Promise.resolve()
    }
    return new Promise((resolve, reject) => {
      const leave = (error: PlatformError) => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', cancelled)
        const at = waiting.indexOf(entry)
        if (at !== -1) waiting.splice(at, 1)
        reject(error)
      }
      const cancelled = () => leave(new PlatformError('sql.cancelled'))
      const timer = setTimeout(() => leave(busy(owner)), waitMs)
      const start = () => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', cancelled)
        resolve()
      }
      const entry: Waiting = { owner, start, refuse: cancelled }
      signal?.addEventListener('abort', cancelled, { once: true })
      waiting.push(entry)
    })
  }

  function busy(owner: SessionOwner | undefined): PlatformError {
    const share = shares.usedUp(owner)
    return share
      ? new PlatformError('sql.shareInUse', { ...share, seconds: waitMs / 1000 })
      : new PlatformError('sql.busy', { sessions, seconds: waitMs / 1000 })
  }

  /** The place goes to the waiter that has waited longest and has not used up its share. */
  function leave(owner: SessionOwner | undefined): void {
    open--
    shares.add(owner, -1)
    const at = waiting.findIndex((one) => !shares.usedUp(one.owner))
    const [next] = at === -1 ? [] : waiting.splice(at, 1)
    if (!next) return
    open++
    shares.add(next.owner, 1)
    next.start()
  }

  /** Best one that kept the DuckDB of this reader, else one that kept none, else the one that has rested longest. */
  function takeIdle(key: string | undefined): Idle | undefined {
    const same = idle.findLastIndex(({ kept }) => key !== undefined && kept?.key === key)
    const bare = idle.findLastIndex(({ kept }) => kept === undefined)
    return idle.splice(Math.max(same === -1 ? bare : same, 0), 1)[0]
  }

  /** `wasIdle`: it may have been killed a moment ago, which was not noticed yet. */
  async function takeWorker(key: string | undefined) {
    for (let rested = takeIdle(key); rested; rested = takeIdle(key)) {
      const { worker, kept, timer } = rested
      clearTimeout(timer)
      worker.rest(false)
      if (worker.pid !== undefined) return { worker, kept, wasIdle: true }
    }
    const worker = await WorkerProcess.start(join(scratchDir, randomUUID()), memoryMb)
    all.add(worker)
    void worker.gone.then(() => all.delete(worker))
    return { worker, kept: undefined, wasIdle: false }
  }

  /** A database file is open in one process. The one that rests with it is ended, unless it serves the session that comes. */
  async function closeOthersOf(database: string, key: string | undefined): Promise<void> {
    const others = idle.filter(({ kept }) => kept?.database === database && kept.key !== key)
    for (const one of others) {
      idle.splice(idle.indexOf(one), 1)
      clearTimeout(one.timer)
    }
    await Promise.all(others.map(({ worker }) => worker.kill()))
  }

  async function giveBack(worker: WorkerProcess, rssMb: number | undefined, kept: Kept | undefined): Promise<void> {
    const isFit = rssMb !== undefined && rssMb < RETIRE_SHARE * memoryMb && !isClosed && worker.pid !== undefined
    if (isFit) {
      worker.rest(true)
      idle.push({ worker, kept, timer: setTimeout(() => void worker.kill(), IDLE_MS).unref() })
    } else await worker.kill()
  }

  async function openInWorker(options: SessionOptions): Promise<SqlSession> {
    const { reader, database, schema, mode, limits: asked } = options
    const threads = Math.min(limits.threads, asked?.threads ?? limits.threads)
    const bounds: SqlLimits = { ...limits, ...asked, threads }
    const key = reader === undefined ? undefined : JSON.stringify([reader, mode, bounds, database, schema])
    if (database !== undefined) await closeOthersOf(database, key)
    for (;;) {
      const { worker, kept, wasIdle } = await takeWorker(key)
      const openedAt = performance.now()
      const release = async (rssMb: number | undefined, left?: Kept) => {
        await giveBack(worker, rssMb, left)
        leave(options.owner)
        options.onClosed?.(performance.now() - openedAt)
      }
      try {
        return await openSession({ worker, openLocal, limits: bounds, key, left: kept, release }, options)
      } catch (error) {
        await worker.kill()
        if (!wasIdle || !isDeath(error)) throw error
      }
    }
  }

  return {
    async open(options) {
      await place(options.owner, options.signal)
      try {
        return await openInWorker(options)
      } catch (error) {
        leave(options.owner)
        throw error
      }
    },
    workerPids: () => [...all].flatMap(({ pid }) => pid ?? []),
    async close() {
      isClosed = true
      for (const { refuse } of [...waiting]) refuse()
      await Promise.all([...all].map((worker) => worker.kill()))
    },
  }
}

/** Sessions of each project and token. */
function createShares(limits: { readonly project: number; readonly token: number }) {
  const used = new Map<string, number>()
  const keysOf = ({ projectId, tokenId }: SessionOwner) => ({
    project: `project ${projectId}`,
    token: `token ${projectId} ${tokenId}`,
  })
  const of = (key: string): number => used.get(key) ?? 0
  return {
    /** Whose share has no session left; undefined when there is one. */
    usedUp: (owner: SessionOwner | undefined): { readonly owner: 'project' | 'token'; readonly limit: number } | undefined => {
      if (!owner) return undefined
      const keys = keysOf(owner)
      const found = (['token', 'project'] as const).find((kind) => of(keys[kind]) >= limits[kind])
      return found && { owner: found, limit: limits[found] }
    },
    add: (owner: SessionOwner | undefined, count: 1 | -1): void => {
      for (const key of owner ? Object.values(keysOf(owner)) : []) {
        const now = of(key) + count
        if (now > 0) used.set(key, now)
        else used.delete(key)
      }
    },
  }
}

const isDeath = (error: unknown): boolean => error instanceof PlatformError && error.code === 'sql.workerDied'
