// A worker process as the engine sees it: messages in, messages out, and a FIFO for text. It is never trusted to live.

import { type ChildProcess, execFile, fork } from 'node:child_process'
import { constants, open, rmSync } from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import { Socket } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { compileCacheVariable } from '../../kit/compile-cache.ts'
import { PlatformError } from '../../kit/errors.ts'
import { whileLoading } from '../../kit/machine/native-code.ts'
import type { FromWorker, ToWorker } from './protocol.ts'

/** A FIFO holds no more. */
const READ_BYTES = 64 * 1024
const WORKER_FILE = fileURLToPath(new URL('./worker.ts', import.meta.url))

export class WorkerProcess {
  readonly dir: string
  readonly fifo: string
  readonly #child: ChildProcess
  readonly #text: Socket
  /** Filled by the FIFO, one read after the other. */
  readonly #buffer: Buffer = Buffer.allocUnsafe(READ_BYTES)
  #filled = 0
  #onFilled = () => {}
  /** Resolves with the reason when the process is gone. */
  readonly gone: Promise<string>
  #reason: string | undefined
  /** It loads DuckDB before it sends anything. */
  #hasLoaded = false
  readonly #failures = new Set<() => void>()
  #listener: (message: FromWorker) => void = () => {}
  /** The request that has no answer yet. Answers do not name their request, so that there is one at a time. */
  #asked: ToWorker['type'] | undefined

  static async start(dir: string, memoryMb: number): Promise<WorkerProcess> {
    await mkdir(dir, { recursive: true })
    const fifo = join(dir, 'text')
    await promisify(execFile)('mkfifo', [fifo])
    // Opened for both directions: the reader then never sees an end of file between two statements, and opening does not block.
    const fd = await promisify(open)(fifo, constants.O_RDWR | constants.O_NONBLOCK)
    return new WorkerProcess(dir, fifo, fd, memoryMb)
  }

  private constructor(dir: string, fifo: string, fd: number, memoryMb: number) {
    this.dir = dir
    this.fifo = fifo
    const callback = (bytes: number) => {
      this.#filled = bytes
      this.#onFilled()
      return false // pauses until the buffer may be filled again
    }
    this.#text = new Socket({ fd, readable: true, writable: false, onread: { buffer: this.#buffer, callback } })
    this.#text.pause()
    this.#child = fork(WORKER_FILE, {
      detached: true, // a process group of its own: a signal to the server's group must not end a statement half way
      serialization: 'advanced',
      execArgv: [`--max-old-space-size=${Math.max(128, Math.floor(memoryMb / 4))}`],
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      // Nothing of the server's environment, which may hold secrets.
      env: {
        UV_THREADPOOL_SIZE: '4',
        MALLOC_ARENA_MAX: '2',
        MALLOC_TRIM_THRESHOLD_: '1048576',
        TZ: 'UTC',
        ...compileCacheVariable(),
      },
    })
    this.#child.on('message', (message: FromWorker) => {
      this.#hasLoaded = true
      this.#listener(message)
    })
    this.gone = new Promise((resolve) => {
      this.#child.on('error', (error) => this.#child.pid === undefined && resolve(error.message))
      this.#child.on('exit', (code, signal) => resolve(signal ?? `exit code ${code}`))
    })
    this.gone.then((reason) => {
      this.#reason = this.#hasLoaded ? reason : whileLoading(reason)
      for (const fail of this.#failures) fail()
      this.#text.destroy()
      rmSync(dir, { recursive: true, force: true })
    })
  }

  get pid(): number | undefined {
    return this.#reason === undefined ? this.#child.pid : undefined
  }

  send(message: ToWorker): void {
    this.#child.send(message, () => {}) // a closed channel is followed by the exit
  }

  /**
   * Sends a message and passes every response to `onMessage` until `done` or `failed`, which it resolves with. A second request before
   * that is a mistake of the caller and is refused: it would take the answers of the first.
   */
  async ask(
    message: ToWorker,
    onMessage: (message: FromWorker) => void = () => {},
  ): Promise<Extract<FromWorker, { type: 'done' | 'failed' }>> {
    if (this.#asked !== undefined)
      throw new Error(`The process of a SQL session got "${message.type}" before it had answered "${this.#asked}".`)
    this.#asked = message.type
    try {
      return await this.#whileAlive((resolve) => {
        this.#listener = (answer) => {
          if (answer.type === 'done' || answer.type === 'failed') resolve(answer)
          else onMessage(answer)
        }
        this.send(message)
      })
    } finally {
      this.#asked = undefined
    }
  }

  /** The bytes that were written to the FIFO before `marker`, each piece valid until the next is requested. */
  async *readUntil(marker: string): AsyncGenerator<Buffer> {
    const end = Buffer.from(marker)
    let held: Buffer = Buffer.alloc(0)
    for (;;) {
      await this.#whileAlive<void>((resolve) => {
        this.#onFilled = resolve
        this.#text.resume()
      })
      const chunk = this.#buffer.subarray(0, this.#filled)
      const all = held.length > 0 ? Buffer.concat([held, chunk]) : chunk
      const isEnd = all.subarray(-end.length).equals(end) // nothing is written behind a marker until the next statement
      const ready = all.subarray(0, all.length - (isEnd ? end.length : startOf(end, all)))
      if (ready.length > 0) yield ready
      if (isEnd) return
      held = Buffer.from(all.subarray(ready.length))
    }
  }

  /** An idle process does not keep the server alive. */
  rest(isIdle: boolean): void {
    for (const held of [this.#child, this.#child.channel, this.#text]) isIdle ? held?.unref() : held?.ref()
  }

  async kill(): Promise<void> {
    this.#child.ref()
    this.#child.kill('SIGKILL')
    await this.gone
    await rm(this.dir, { recursive: true, force: true }) // a session may have made its folder while the process was ending
  }

  /** Waits for `start` to resolve; fails when the process ends first. */
  #whileAlive<T>(start: (resolve: (value: T) => void) => void): Promise<T> {
    return new Promise((resolve, reject) => {
      const fail = () => reject(new PlatformError('sql.workerDied', { reason: this.#reason ?? '' }))
      if (this.#reason !== undefined) return fail()
      this.#failures.add(fail)
      start((value) => {
        this.#failures.delete(fail)
        resolve(value)
      })
    })
  }
}

/** How many of the last bytes may be the first of the marker: mostly none, and the bytes pass without a copy. */
function startOf(marker: Buffer, bytes: Buffer): number {
  for (let length = Math.min(marker.length - 1, bytes.length); length > 0; length--)
    if (bytes.subarray(-length).equals(marker.subarray(0, length))) return length
  return 0
}
