// Facts of a job: whether it is over, how long it took, how far it is, what it ended with.

import type { Job } from '../../../client/src/operations.ts'
import { duration, sinceSeconds } from '../format.ts'

/** A job that takes longer than usual is not over. */
const MAX_SHARE = 0.95

export const isOver = (status: string): boolean => ['success', 'warning', 'error', 'terminated', 'cancelled'].includes(status)

export const secondsOf = ({ startTime, endTime, durationSeconds }: Job): number | undefined =>
  startTime === null ? undefined : endTime === null ? sinceSeconds(startTime) : (durationSeconds ?? 0)

/** Of a run, whose seconds are whole: none means less than one. */
export const runTime = (seconds: number): string => duration(seconds || 0.5)

export interface JobProgress {
  readonly share: number
  /** Guessed from the time that it usually takes; undefined when that is not known. */
  readonly leftSeconds: number | undefined
  readonly text: string
}

const PHASES: Readonly<Record<string, string>> = { input: 'reading tables', program: 'running', load: 'loading' }

/** How far a running job is: by its rows and the progress of the present one, else by the time that it usually takes. */
export function progressOf(job: Job): JobProgress | undefined {
  const seconds = secondsOf(job)
  if (job.status !== 'processing' || seconds === undefined) return undefined
  const usual = job.usual ? job.usual.durationMs / 1000 : undefined
  const leftSeconds = usual === undefined ? undefined : Math.max(0, usual - seconds)
  const byTime = usual === undefined ? undefined : Math.min(seconds / Math.max(usual, 1), MAX_SHARE)
  if (!job.progress) return byTime === undefined ? undefined : { share: byTime, leftSeconds, text: '' }
  const { rowsDone, rowsTotal, phase, done, total } = job.progress
  const ofRow = done !== undefined && total ? done / total : 0
  const byRows = (rowsDone + ofRow) / Math.max(1, rowsTotal)
  const text = `${rowsTotal > 1 ? `${rowsDone} of ${rowsTotal} rows, ` : ''}${PHASES[phase] ?? phase}`
  return { share: Math.max(byRows, rowsTotal > 1 ? 0 : (byTime ?? 0)), leftSeconds, text }
}

/** ", 64 %"; nothing while nothing is known. */
export function progressText(job: Job, before = ''): string {
  const progress = progressOf(job)
  return progress ? `${before}about ${Math.round(progress.share * 100)} %` : ''
}

/** The sentence a job ended with. */
export const messageOf = (job: Job): string | undefined => (job.result as { message?: string }).message // described loosely
