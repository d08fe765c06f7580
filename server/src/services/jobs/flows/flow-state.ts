// The progress of a run of a flow: plain data, stored as one JSON value. Jobs of tasks are named by id; the queue has their results.

import type { StepJob, StepJobs } from '../../../model/flow-ports.ts'

export interface FlowState {
  readonly startedAt: number
  readonly variables: Readonly<Record<string, unknown>>
  /** Phases in the order they were started; a loop visits one several times. */
  readonly visits: readonly Visit[]
  /** What succeeded in the run that is run again, by task. */
  readonly kept: Readonly<Record<string, StepEnd>>
  /** The time limit of the flow has passed: its jobs are ended and nothing new starts. */
  readonly isOverTime: boolean
}

export type PhaseStatus = 'success' | 'warning' | 'error'

export interface Visit {
  readonly phaseId: string
  readonly startedAt: number
  readonly endedAt: number | null
  readonly status: PhaseStatus | null
  /** The phase that follows; null when none does. */
  readonly goto: string | null
  /** How often the phase itself was tried again. */
  readonly retries: number
  readonly tasks: readonly TaskRun[]
}

export interface TaskRun {
  readonly taskId: string
  /** Oldest first; more than one when the task was tried again. Empty: disabled. */
  readonly steps: readonly Step[]
}

/** A job in the queue, or something that ended without one. */
export type Step =
  | { readonly kind: 'job'; readonly jobId: number; readonly isOverTime?: boolean }
  | { readonly kind: 'done'; readonly end: StepEnd }

export type TaskStatus = 'success' | 'warning' | 'user_error' | 'application_error' | 'error'

export interface StepEnd {
  readonly status: TaskStatus
  readonly message: string
  readonly startedAt: number
  readonly endedAt: number
  /** Adopted from an earlier run, with the job it had there. */
  readonly isKept?: true
  readonly jobId?: number
}

/** A placeholder of a job that is about to be queued. */
export const NEW_JOB = 0

export const isFailure = (status: TaskStatus): boolean => status.endsWith('error')

/** How a step ended; undefined while it has not. */
export function endOfStep(step: Step, jobs: StepJobs, limitMs: number | null): StepEnd | undefined {
  if (step.kind === 'done') return step.end
  const job = jobs.get(step.jobId)
  if (!job?.isFinished) return undefined
  const endedAt = job.endedAt ?? 0
  const times = { startedAt: job.startedAt ?? endedAt, endedAt }
  if (step.isOverTime)
    return { ...times, status: 'user_error', message: `It ran longer than its limit of ${(limitMs ?? 0) / 1000} seconds.` }
  return { ...times, status: statusOf(job), message: messageOf(job) }
}

function statusOf({ status, result }: StepJob): TaskStatus {
  if (status === 'success' || status === 'warning') return status
  const { type } = (result.error ?? {}) as { type?: unknown } // written by the queue; a killed job has none
  if (status !== 'error') return 'error'
  return type === 'user' ? 'user_error' : type === 'application' ? 'application_error' : 'error'
}

const messageOf = ({ error, result, status }: StepJob): string =>
  error ?? (typeof result.message === 'string' ? result.message : `The job ended with ${status}.`)
