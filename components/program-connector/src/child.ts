// A program of someone else: its lines on standard output one by one, its last words, and its end, whatever it does.

import { spawn } from 'node:child_process'
import { ConnectorError } from '../../manifest-connector/src/errors.ts'
import { lineReader } from './lines.ts'

const WORDS = 4000
const KILL_MS = 5000

export interface ChildOptions {
  readonly command: readonly string[]
  readonly cwd: string
  readonly environment: NodeJS.ProcessEnv
  /** A program without output for so long is killed. */
  readonly silenceMs: number
  /** Throws to end the program. */
  onLine(line: string): void
  onError(line: string): void
  /** What it reads, for targets. */
  readonly input?: AsyncIterable<string> | undefined
}

/** Resolves when the program has ended with success; otherwise the error names the reason. */
export async function runChild({ command, cwd, environment, silenceMs, onLine, onError, input }: ChildOptions): Promise<void> {
  const [program = '', ...args] = command
  const child = spawn(program, args, {
    cwd,
    env: environment,
    stdio: [input ? 'pipe' : 'ignore', 'pipe', 'pipe'],
    detached: true,
  })
  let failure: unknown
  let words = ''
  let killing: NodeJS.Timeout | undefined

  /** The program and all that it started. */
  const signal = (name: NodeJS.Signals) => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, name)
    } catch {
      // it has ended
    }
  }
  const end = (reason: unknown) => {
    if (failure !== undefined) return
    failure = reason
    signal('SIGTERM')
    killing = setTimeout(() => signal('SIGKILL'), KILL_MS)
  }
  const silent = () =>
    end(
      new ConnectorError(
        `${program} said nothing for ${Math.round(silenceMs / 1000)} seconds and was ended. Set 'silenceSeconds' to wait longer.`,
      ),
    )
  let timer = setTimeout(silent, silenceMs)
  const alive = () => {
    clearTimeout(timer)
    if (failure === undefined) timer = setTimeout(silent, silenceMs)
  }

  const closed = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve, reject) => {
    child.on('error', (error: NodeJS.ErrnoException) =>
      reject(
        error.code === 'ENOENT'
          ? new ConnectorError(
              `The program '${program}' does not exist. Set 'package' to what installs it, or 'command' to another name.`,
              error,
            )
          : new ConnectorError(`The program '${program}' could not be started: ${error.message}`, error),
      ),
    )
    child.on('close', (code, name) => resolve({ code, signal: name }))
  })
  const lines = (deliver: (line: string) => void) => lineReader((line) => failure === undefined && deliver(line), end)
  const out = lines(onLine)
  child.stdout!.on('data', (chunk: Buffer) => {
    alive()
    out.push(chunk)
  })
  child.stdout!.on('end', () => out.end())
  const err = lines((line) => {
    words = `${words}${line}\n`.slice(-WORDS)
    onError(line)
  })
  child.stderr!.on('data', (chunk: Buffer) => {
    alive()
    err.push(chunk)
  })
  child.stderr!.on('end', () => err.end())
  if (input) void feed(child.stdin!, input, alive).catch(end)

  try {
    const { code, signal: name } = await closed
    if (failure !== undefined) throw failure
    if (code !== 0)
      throw new ConnectorError(
        `${program} ended with ${name ?? `exit code ${code}`}${words.trim() === '' ? '.' : `: ${words.trim()}`}`,
      )
  } finally {
    clearTimeout(timer)
    clearTimeout(killing)
    signal('SIGKILL') // what it left running
  }
}

async function feed(stdin: NodeJS.WritableStream, input: AsyncIterable<string>, alive: () => void): Promise<void> {
  let broken = false
  stdin.on('error', () => {
    broken = true // the program ended: its exit code has the reason
  })
  for await (const text of input) {
    if (broken) return
    alive()
    if (!stdin.write(text))
      await new Promise<void>((resolve) => {
        stdin.once('drain', resolve)
        stdin.once('close', resolve)
      })
  }
  stdin.end()
}
