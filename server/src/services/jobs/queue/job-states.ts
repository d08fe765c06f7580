// The life of a job (spec platform 2.4). A job is created; it waits while its configuration runs, its project is full, or a
// container lets no more rows run; a worker starts it; the run ends well, with a warning or with an error. A kill before the start
// cancels it, a kill afterwards requests its end from the worker. A worker that was lost before any component started returns the job; one
// that was lost before anything was published does so when the component may be repeated.
// Nothing else writes a status.

import { PlatformError } from '../../../kit/errors.ts'

export const JOB_STATUSES = [
  'created',
  'waiting',
  'processing',
  'terminating',
  'success',
  'warning',
  'error',
  'cancelled',
  'terminated',
] as const
export type JobStatus = (typeof JOB_STATUSES)[number]

export type JobMove = 'wait' | 'start' | 'giveBack' | 'repeat' | 'succeed' | 'warn' | 'fail' | 'kill' | 'endKilled'

const MOVES: Readonly<Record<JobStatus, Partial<Record<JobMove, JobStatus>>>> = {
  created: { wait: 'waiting', start: 'processing', kill: 'cancelled', fail: 'error' },
  waiting: { start: 'processing', kill: 'cancelled', fail: 'error' },
  processing: {
    giveBack: 'created',
    repeat: 'waiting',
    succeed: 'success',
    warn: 'warning',
    fail: 'error',
    kill: 'terminating',
  },
  terminating: { endKilled: 'terminated' },
  success: {},
  warning: {},
  error: {},
  cancelled: {},
  terminated: {},
}

/** Not yet claimed by a worker. */
export const QUEUED = ['created', 'waiting'] as const satisfies readonly JobStatus[]
/** Held by a worker. */
export const RUNNING = ['processing', 'terminating'] as const satisfies readonly JobStatus[]

export const isFinished = (status: JobStatus): boolean => Object.keys(MOVES[status]).length === 0

export const isJobStatus = (text: string): text is JobStatus => (JOB_STATUSES as readonly string[]).includes(text)

/** The status after a move, or the error that names why there is none. */
export function moveJob(status: JobStatus, move: JobMove): JobStatus {
  const next = MOVES[status][move]
  if (next !== undefined) return next
  throw new PlatformError(isFinished(status) ? 'queue.statusTerminal' : 'queue.statusTransitionForbidden', { status, move })
}

/** The reason of a job that waits for its next attempt. */
export const REPEATED = 'The worker that ran this job was lost. The job starts again.'

/** The reason of a job whose configuration another one runs. */
export const waitingForJob = (holder: number): string => `Waiting for job ${holder}, which runs the same configuration.`
export const isWaitingForJob = (reason: string | null): boolean => /^Waiting for job \d+, which runs the same/.test(reason ?? '')
