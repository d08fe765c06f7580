// Table worker processes: started when needed, kept warm, one job each, never trusted to live.
//  (1) Short work (previews, counts) has its own places: it never waits for loads.
//  (2) A worker that crashes fails its own job only, with a named error; the next job gets a new process.
//  (3) Cancelling and timing out mean killing: nothing in a worker is worth saving, its files are in the job's scratch folder.
//  (4) A worker whose memory has grown is retired after its job, so that one huge load does not stay in memory for ever; one that
//      outgrows its limit fails its job and is ended.

import { type ChildProcess, fork } from 'node:child_process'
import { rm } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { compileCacheVariable } from '../../kit/compile-cache.ts'
import { PlatformError } from '../../kit/errors.ts'
import { whileLoading } from '../../kit/machine/native-code.ts'
import type { RunOptions } from './table-engine.ts'
import type { FromWorker, JobKind, Jobs, ToWorker, WorkerError, WorkerJob } from './worker-protocol.ts'

export type Lane = 'long' | 'short'

export interface PoolSettings {
  readonly lanes: Readonly<Record<Lane, number>>
  readonly warmWorkers: number
  /** How long one that is more than warm waits for work; a warm one waits half as long again. */
  readonly idleMs?: number
  readonly workerMemoryMb: number
  readonly workerThreads: number
  readonly spillDir: string
  /** A worker ended by itself before DuckDB was loaded. */
  readonly onNotLoaded?: ((reason: string) => void) | undefined
}

interface Task {
  readonly job: WorkerJob
  readonly lane: Lane
  readonly options: RunOptions
  readonly resolve: (result: unknown) => void
  readonly reject: (error: unknown) => void
}

type Answer =
  | Extract<FromWorker, { type: 'done' | 'failed' }>
  | { readonly type: 'died'; readonly reason: string; readonly started: boolean }

interface Worker {
  readonly child: ChildProcess
  /** DuckDB is loaded, or we ended it ourselves. */
  isKnown: boolean
  settle: ((message: FromWorker | { readonly type: 'died'; readonly reason: string }) => void) | undefined
  idleTimer: NodeJS.Timeout | undefined
}

const WORKER_FILE = fileURLToPath(new URL('./worker.ts', import.meta.url))
const IDLE_MS = 30_000
/** The scanner, buffers outside of DuckDB's accounting and the runtime itself; DuckDB gets the rest, and in small workers a third. */
const BESIDE_DUCKDB_MB = 460
/** Above this share of its memory an idle worker is worth replacing. */
const RETIRE_SHARE = 0.5

export class WorkerPool {
  readonly #settings: PoolSettings
  readonly #idle: Worker[] = []
  readonly #all = new Set<Worker>()
  readonly #waiting: Record<Lane, Task[]> = { long: [], short: [] }
  readonly #running: Record<Lane, number> = { long: 0, short: 0 }
  #started = 0
  #closed = false

  constructor(settings: PoolSettings) {
    this.#settings = settings
    for (let i = 0; i < settings.warmWorkers; i++) this.#rest(this.#spawn())
  }

  run<Kind extends JobKind>(
    job: Jobs[Kind]['job'] & { readonly kind: Kind },
    lane: Lane,
    options: RunOptions = {},
  ): Promise<Jobs[Kind]['result']> {
    const { signal } = options
    let forget = () => {}
    const work = new Promise<Jobs[Kind]['result']>((resolve, reject) => {
      if (this.#closed || signal?.aborted) return reject(new PlatformError('tableEngine.cancelled'))
      // The worker answers a job with the result of its kind (worker.ts, HANDLERS).
      const task: Task = { job, lane, options, reject, resolve: resolve as (result: unknown) => void }
      forget = () => this.#forget(task)
      signal?.addEventListener('abort', forget)
      this.#waiting[lane].push(task)
      this.#pump(lane)
    })
    // A signal may outlive thousands of jobs: it must not collect their listeners.
    return work.finally(() => signal?.removeEventListener('abort', forget))
  }

  /** Process ids, for tests and for the operator's eyes. */
  pids(): readonly number[] {
    return [...this.#all].flatMap((worker) => worker.child.pid ?? [])
  }

  /** How much waits for a worker and how much is being worked on, by lane. */
  load(): Readonly<Record<Lane, { readonly waiting: number; readonly running: number }>> {
    const of = (lane: Lane) => ({ waiting: this.#waiting[lane].length, running: this.#running[lane] })
    return { long: of('long'), short: of('short') }
  }

  async close(): Promise<void> {
    this.#closed = true
    for (const lane of ['long', 'short'] as const)
      for (const task of this.#waiting[lane].splice(0)) task.reject(new PlatformError('tableEngine.cancelled'))
    const ends = [...this.#all].map((worker) => new Promise((resolve) => worker.child.once('exit', resolve)))
    for (const worker of this.#all) {
      worker.child.ref() // wait for it even if nothing else keeps this process alive
      this.#kill(worker)
    }
    await Promise.all(ends)
  }

  #forget(task: Task): void {
    const at = this.#waiting[task.lane].indexOf(task)
    if (at === -1) return // it runs (and is killed by its own listener) or is over
    this.#waiting[task.lane].splice(at, 1)
    task.reject(new PlatformError('tableEngine.cancelled'))
  }

  #pump(lane: Lane): void {
    while (this.#running[lane] < this.#settings.lanes[lane]) {
      const task = this.#waiting[lane].shift()
      if (!task) return
      this.#running[lane]++
      this.#execute(task).finally(() => {
        this.#running[lane]--
        this.#pump(lane)
      })
    }
  }

  async #execute(task: Task): Promise<void> {
    let answer = await this.#attempt(task)
    // An idle worker may have died a moment ago, unnoticed; a job that never began is simply given to another.
    if (answer.message.type === 'died' && !answer.message.started && !answer.ended && !this.#closed)
      answer = await this.#attempt(task)
    const { message, ended } = answer
    if (message.type === 'done') task.resolve(message.result)
    else if (message.type === 'failed') task.reject(named(message.error))
    else if (this.#closed) task.reject(new PlatformError('tableEngine.cancelled'))
    else task.reject(ended ?? new PlatformError('tableEngine.workerDied', { reason: message.reason }))
  }

  /** One job in one worker, until it responds, crashes, is cancelled or runs out of time (`ended`). */
  async #attempt({ job, options: { signal, timeoutMs } }: Task): Promise<{ message: Answer; ended: PlatformError | undefined }> {
    let worker: Worker
    try {
      worker = this.#idle.pop() ?? this.#spawn()
    } catch (error) {
      // Some refusals of the system (no memory, a program that is just being replaced) are thrown, others come as an event.
      const reason = error instanceof Error ? error.message : String(error)
      return { message: { type: 'died', reason, started: false }, ended: undefined }
    }
    clearTimeout(worker.idleTimer)
    worker.child.ref()
    worker.child.channel?.ref()
    let ended: PlatformError | undefined
    const stop = (error: PlatformError) => {
      ended = error
      this.#kill(worker)
    }
    const cancel = () => stop(new PlatformError('tableEngine.cancelled'))
    signal?.addEventListener('abort', cancel, { once: true })
    const outOfTime = () => stop(new PlatformError('tableEngine.timeout', { seconds: Math.round((timeoutMs ?? 0) / 100) / 10 }))
    const timer = timeoutMs === undefined ? undefined : setTimeout(outOfTime, timeoutMs)

    const message = await this.#ask(worker, job)
    clearTimeout(timer)
    signal?.removeEventListener('abort', cancel)
    if (message.type !== 'died') {
      if (message.rssMb > RETIRE_SHARE * this.#settings.workerMemoryMb) this.#kill(worker)
      else this.#rest(worker)
    }
    return { message, ended }
  }

  #ask(worker: Worker, job: WorkerJob): Promise<Answer> {
    return new Promise((resolve) => {
      let started = false
      worker.settle = (message) => {
        if (message.type === 'started') started = true
        if (message.type === 'ready' || message.type === 'started') return
        worker.settle = undefined
        resolve(message.type === 'died' ? { ...message, started } : message)
      }
      if (worker.child.exitCode !== null || worker.child.signalCode !== null)
        worker.settle({ type: 'died', reason: 'it was gone before it started' })
      else this.#send(worker, { type: 'job', job })
    })
  }

  #spawn(): Worker {
    const { workerMemoryMb, workerThreads, spillDir } = this.#settings
    const ownSpill = join(spillDir, `worker-${++this.#started}`)
    const child = fork(WORKER_FILE, {
      detached: true, // a process group of its own: a signal to the server's group must not end a load half way
      serialization: 'advanced',
      execArgv: ['--max-old-space-size=256'],
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      // Nothing of the server's environment, which may hold secrets. Few malloc arenas: memory returns to the system sooner.
      env: {
        UV_THREADPOOL_SIZE: '8',
        MALLOC_ARENA_MAX: '2',
        MALLOC_TRIM_THRESHOLD_: '1048576',
        TZ: 'UTC',
        ...compileCacheVariable(),
      },
    })
    const worker: Worker = { child, isKnown: false, settle: undefined, idleTimer: undefined }
    this.#all.add(worker)
    child.on('message', (message: FromWorker) => {
      worker.isKnown = true
      worker.settle?.(message)
    })
    child.on('error', (error) => {
      if (child.pid === undefined) this.#gone(worker, error.message) // never started: no exit event will follow
    })
    child.on('exit', (code, signal) => {
      rm(ownSpill, { recursive: true, force: true }, () => {}) // a killed worker cannot tidy up; what stays is swept at the next start
      const reason = signal ?? `exit code ${code}`
      if (!worker.isKnown) this.#settings.onNotLoaded?.(reason)
      this.#gone(worker, worker.isKnown ? reason : whileLoading(reason))
    })
    this.#send(worker, {
      type: 'start',
      settings: {
        limitMb: workerMemoryMb,
        memoryMb: Math.floor(Math.max(workerMemoryMb - BESIDE_DUCKDB_MB, workerMemoryMb / 3)),
        threads: workerThreads,
        spillDir: ownSpill,
      },
    })
    return worker
  }

  #send(worker: Worker, message: ToWorker): void {
    worker.child.send(message, () => {}) // a closed channel is followed by the exit event, which answers
  }

  /**
   * Ready for the next job; idle workers do not keep the server alive. Those that are more than warm end after a while, and when nothing
   * comes the others, too: an idle stack gives its memory back, and the next job starts a process.
   */
  #rest(worker: Worker): void {
    worker.child.unref()
    worker.child.channel?.unref()
    this.#idle.push(worker)
    const { idleMs = IDLE_MS, warmWorkers } = this.#settings
    worker.idleTimer = setTimeout(() => {
      if (this.#idle.length > warmWorkers) return this.#kill(worker)
      worker.idleTimer = setTimeout(() => this.#kill(worker), idleMs / 2).unref()
    }, idleMs).unref()
  }

  #kill(worker: Worker): void {
    worker.isKnown = true
    this.#drop(worker)
    worker.child.kill('SIGKILL')
  }

  #gone(worker: Worker, reason: string): void {
    this.#drop(worker)
    this.#all.delete(worker)
    worker.settle?.({ type: 'died', reason })
  }

  #drop(worker: Worker): void {
    clearTimeout(worker.idleTimer)
    const at = this.#idle.indexOf(worker)
    if (at !== -1) this.#idle.splice(at, 1)
  }
}

function named({ code, details, params, cause }: WorkerError): PlatformError {
  return new PlatformError(code, details, { cause, ...(params ? { params } : {}) })
}
