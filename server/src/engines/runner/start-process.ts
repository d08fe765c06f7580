// The process of a program: its own group, behind the gate, with its end known from the first moment.

import { type ChildProcess, spawn } from 'node:child_process'
import { constants } from 'node:os'
import type { Duplex, Readable } from 'node:stream'
import type { RunMark } from './process-tree.ts'

export interface StartedProcess {
  readonly child: ChildProcess
  readonly stdout: Readable
  readonly stderr: Readable
  /** Descriptor 3 of the process. */
  readonly gate: Duplex
  /** The exit code; 128 + n for a process ended by signal n. Rejects when it could not be started. */
  readonly ended: Promise<number>
  /** Its output is at its end, too. */
  readonly closed: Promise<void>
  readonly mark: RunMark
}

export interface ProcessPlace {
  readonly cwd: string
  readonly environment: Readonly<Record<string, string>>
  readonly mark: RunMark
}

export function startProcess([command, ...args]: readonly string[], { cwd, environment, mark }: ProcessPlace): StartedProcess {
  const child = spawn(command!, args, {
    cwd,
    env: environment,
    detached: true, // its own process group
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  })
  const ended = new Promise<number>((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code, signal) => resolve(code ?? 128 + constants.signals[signal!]))
  })
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()))
  const gate = child.stdio[3] as Duplex // a pipe, by the options above
  gate.on('error', () => {}) // the process was ended before it could read
  return { child, stdout: child.stdout!, stderr: child.stderr!, gate, ended, closed, mark }
}
