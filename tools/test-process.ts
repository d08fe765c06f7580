// A process that runs test files (tools/test-worker.ts), seen from the runner.

import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { WorkerMessage } from './test-worker.ts'

const WORKER = fileURLToPath(new URL('./test-worker.ts', import.meta.url))
const KEPT_OUTPUT = 8000

export interface Failure {
  readonly name: string
  readonly error: string
}
export interface Outcome {
  readonly failures: readonly Failure[]
  readonly skipped: readonly string[]
  readonly passed: number
  /** The last part of what the file printed. */
  readonly output: string
}

export interface TestProcess {
  /** How many files it was given. */
  readonly files: number
  /** False after its end, also when a file ended it. */
  readonly isAlive: boolean
  /** CPU time of the process and of the children that have ended; 0 where the system does not have /proc. */
  readonly cpuSeconds: number
  /** Runs one file. The process is ended when the signal comes, and the file counts as failed for its reason. */
  run(path: string, signal: AbortSignal): Promise<Outcome>
  /** For a module that `preload` names. */
  send(message: object): void
  end(): Promise<void>
}

export interface TestProcessOptions {
  readonly env?: NodeJS.ProcessEnv
  /** A module that is loaded before everything else. */
  readonly preload?: string
}

export function startTestProcess({ env = process.env, preload }: TestProcessOptions = {}): TestProcess {
  const execArgv = ['--test-reporter', WORKER, ...(preload === undefined ? [] : ['--import', preload])]
  const child = fork(WORKER, { env, execArgv, stdio: ['ignore', 'pipe', 'pipe', 'ipc'] })
  const exited = once(child, 'exit')
  let files = 0
  let output = ''
  for (const stream of [child.stdout!, child.stderr!])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output = (output + text).slice(-KEPT_OUTPUT)
    })

  async function run(path: string, signal: AbortSignal): Promise<Outcome> {
    files++
    output = ''
    const failures: Failure[] = []
    const skipped: string[] = []
    let passed = 0
    let last = ''
    const stop = () => child.kill('SIGTERM')
    const fileFailed = (error: string) => failures.push({ name: 'the file as a whole', error })
    const ended = Promise.withResolvers<void>()
    const hear = (message: WorkerMessage) => {
      if (message.type === 'begun') last = message.name
      else if (message.type === 'passed') passed++
      else if (message.type === 'skipped') skipped.push(message.name)
      else if (message.type === 'failed') failures.push(message)
      else {
        if (message.error !== null) fileFailed(message.error)
        else if (passed + skipped.length + failures.length === 0) fileFailed('No test ran in it.')
        ended.resolve()
      }
    }
    const lose = () => {
      const reason = signal.aborted ? String(signal.reason) : `its process ended with ${child.exitCode ?? child.signalCode}`
      fileFailed(last === '' ? reason : `${reason}; the last test that began was "${last}"`)
      ended.resolve()
    }
    child.on('message', hear).once('exit', lose)
    signal.addEventListener('abort', stop)
    if (signal.aborted) stop()
    else child.send(path)
    await ended.promise
    child.off('message', hear).off('exit', lose)
    signal.removeEventListener('abort', stop)
    return { failures, skipped, passed, output }
  }

  return {
    get files() {
      return files
    },
    get isAlive() {
      return child.exitCode === null && child.signalCode === null
    },
    get cpuSeconds() {
      return cpuSecondsOf(child.pid)
    },
    run,
    send: (message) => child.send(message),
    end: async () => {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL') // everything is reported
      await exited
    },
  }
}

/** Linux counts CPU time in hundredths of a second. */
const TICKS_PER_SECOND = 100

function cpuSecondsOf(pid: number | undefined): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ') // the name before it can contain spaces
    const [user, system, childrenUser, childrenSystem] = fields.slice(11, 15).map(Number)
    return (user! + system! + childrenUser! + childrenSystem!) / TICKS_PER_SECOND
  } catch {
    return 0 // no /proc, or the process has ended
  }
}

export interface SharedTestProcess {
  /** The process for the next file. */
  next(): Promise<TestProcess>
  end(): Promise<void>
}

/** Enough files to load the server seldom, few enough to keep the process small: tests leave memory behind. */
const FILES_PER_PROCESS = 40

/** One process for many files; another one when a file has ended it, and after some of them. */
export function shareTestProcess(options: TestProcessOptions = {}): SharedTestProcess {
  let current: TestProcess | undefined
  return {
    next: async () => {
      if (current?.isAlive && current.files < FILES_PER_PROCESS) return current
      await current?.end()
      current = startTestProcess(options)
      return current
    },
    end: async () => current?.end(),
  }
}
