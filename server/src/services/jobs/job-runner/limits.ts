// How much a component may use (spec platform 1.16), and what a run that ended means (spec platform 1.14).

import type { CauseKind, FailureFacts } from '../../../../../contract/failure-causes.ts'
import type { Limits, RunOutcome } from '../../../engines/runner/runner.ts'
import { PlatformError } from '../../../kit/errors.ts'
import type { RunnableComponent } from '../../../model/run-ports.ts'
import { invalid, type RuntimeSettings } from './mapping/mapping.ts'

const SIZES: Readonly<Record<string, { readonly memory: number; readonly cpus: number }>> = {
  xsmall: { memory: 0.5, cpus: 1 },
  small: { memory: 1, cpus: 2 },
  medium: { memory: 2, cpus: 4 },
  large: { memory: 7.1, cpus: 14 },
}
const DEFAULT_SIZE = 'small'
const MAX_SECONDS = 86_400

export interface ComponentLimits extends Limits {
  readonly cpus: number
  readonly size: string
}

/** `backend` is the size requested with the job, else by the configuration. */
export function sizeOf({ backend: own }: RuntimeSettings, backend: string | undefined): string {
  const size = backend || (Array.isArray(own) ? undefined : own?.type) || DEFAULT_SIZE
  if (!Object.hasOwn(SIZES, size))
    throw invalid(`runtime.backend.type: there is no size "${size.slice(0, 60)}". Choose ${Object.keys(SIZES).join(', ')}.`)
  return size
}

/** The longer time is for the main component only. */
export function limitsOf(
  component: RunnableComponent,
  runtime: RuntimeSettings,
  backend: string | undefined,
  isMain: boolean,
  diskBytes: number,
): ComponentLimits {
  const size = sizeOf(runtime, backend)
  const seconds = Math.min((isMain ? runtime.process_timeout : undefined) ?? component.processTimeoutSeconds, MAX_SECONDS)
  return {
    size,
    cpus: SIZES[size]!.cpus,
    memoryBytes: Math.round(bytesOf(component.memory) * SIZES[size]!.memory),
    timeoutMs: seconds * 1000,
    diskBytes,
  }
}

/** `256m`, `2g`, decimal. */
function bytesOf(memory: string): number {
  const match = /^(\d+)([mg])$/i.exec(memory)
  return match ? Number(match[1]) * (match[2]!.toLowerCase() === 'g' ? 1e9 : 1e6) : 256e6
}

export const IN_EVENTS = 'What it printed is in the events of the job.'

export interface Failure {
  readonly type: 'user' | 'application'
  readonly message: string
  readonly kind?: CauseKind
}

/** Undefined when the component succeeded. */
export function failureOf(component: RunnableComponent, outcome: RunOutcome, limits: Limits): Failure | undefined {
  const user = (message: string, kind?: CauseKind): Failure => ({ type: 'user', message, ...(kind && { kind }) })
  const { id } = component
  switch (outcome.reason) {
    case 'timeout':
      return user(
        `The component ${id} exceeded the timeout of ${limits.timeoutMs / 1000} seconds and was stopped.`,
        'run.timeout',
      )
    case 'memory':
      return user(
        `The component ${id} ran out of memory: more than ${Math.round(limits.memoryBytes / 1e6)} MB. Let it read less at a time, or choose a larger backend.`,
        'run.outOfMemory',
      )
    case 'disk':
      return user(
        `The component ${id} wrote more than ${Math.round(limits.diskBytes / 1e6)} MB, or more than the disk has left, and was stopped.`,
        'run.diskFull',
      )
    case 'processes':
      return user(`The component ${id} started more processes than it may, and was stopped.`)
    case 'log-message-too-long':
      return { type: 'application', message: `The component ${id} sent a log message of more than 200 KB, and was stopped.` }
    case 'killed':
      return user('The job was terminated.')
    case 'ended':
      return outcome.exitCode === 0 ? undefined : failureOfExit(component, outcome)
  }
}

function failureOfExit(component: RunnableComponent, { exitCode, words }: RunOutcome): Failure {
  if (exitCode === 1) return { type: 'user', message: words || `The component ${component.id} failed and gave no message.` }
  if (component.logging.noApplicationErrors)
    return { type: 'user', message: `The component ${component.id} ended with exit code ${exitCode}: ${words || 'no message'}` }
  return {
    type: 'application',
    message: `The component ${component.id} ended with exit code ${exitCode}, an internal error. ${IN_EVENTS}`,
  }
}

/** A failure of a component as the error that ends the run; its last output goes to the log, since it is stored nowhere else. */
export const thrown = (failure: Failure, words?: string, facts: FailureFacts = {}): PlatformError =>
  new PlatformError(
    failure.type === 'user' ? 'jobRunner.componentFailed' : 'jobRunner.componentBroken',
    { message: failure.message },
    { facts: { ...facts, ...(failure.kind && { kind: failure.kind }) }, ...(words && { cause: new Error(words) }) },
  )
