// The payload of an event (spec platform 6.7). Names of projects, components and configurations are added when the message is sent.

import { formatExpiration } from '../../../kit/clock.ts'
import type { NewEvent } from '../../../model/event.ts'
import type { JobEndFacts } from '../../../model/job-end.ts'
import type { PhaseEnd, RunningWork, ScheduleMissed } from '../../../model/notification-port.ts'

/** The events this stack emits itself. Others are emitted by callers of `POST /events/{event}`. */
export const OWN_EVENTS = [
  'job-failed',
  'job-succeeded',
  'job-succeeded-with-warning',
  'phase-job-failed',
  'phase-job-succeeded',
  'phase-job-succeeded-with-warning',
  'job-processing-long',
  'phase-job-processing-long',
  'schedule-missed',
  'table-not-updated',
  'storage-nearly-full',
  'dashboard-alert',
  'data-tests-failed',
] as const
export type OwnEvent = (typeof OWN_EVENTS)[number]

export type Payload = Readonly<Record<string, unknown>> & { readonly eventType: string }

const JOB_EVENT: Readonly<Record<string, OwnEvent>> = {
  success: 'job-succeeded',
  warning: 'job-succeeded-with-warning',
  error: 'job-failed',
}

/** Undefined for jobs that send no message: those of development branches, parts of others, and terminated jobs. */
export function payloadOfJob(job: JobEndFacts): Payload | undefined {
  const eventType = JOB_EVENT[job.status]
  if (eventType === undefined || !job.isDefaultBranch || job.isPart) return undefined
  return {
    eventType,
    job: {
      id: String(job.jobId),
      url: `${job.baseUrl}/queue/jobs/${job.jobId}`,
      tasks: job.tasks,
      startTime: timeOf(job.startedAt ?? job.endedAt),
      endTime: timeOf(job.endedAt),
      component: { id: job.componentId },
      configuration: { id: job.configurationId },
    },
    project: { id: String(job.projectId) },
    branch: { id: String(job.branchId) },
    ...(eventType === 'job-failed' && { errorMessage: job.errorMessage ?? '' }),
  }
}

export function payloadOfPhase(phase: PhaseEnd, baseUrl: string): Payload | undefined {
  if (!phase.isDefaultBranch) return undefined
  const eventType = `phase-${JOB_EVENT[phase.status]!}` // PhaseEnd has no other status
  return {
    eventType,
    phase: phase.phase,
    job: {
      id: String(phase.jobId),
      url: `${baseUrl}/queue/jobs/${phase.jobId}`,
      tasks: [],
      startTime: timeOf(phase.startedAt),
      endTime: timeOf(phase.endedAt),
      component: { id: phase.componentId },
      configuration: { id: phase.configurationId },
    },
    project: { id: String(phase.projectId) },
    branch: { id: String(phase.branchId) },
    ...(phase.status === 'error' && { errorMessage: phase.errorMessage }),
  }
}

/** A job that is over its average by less sends no message: short jobs vary. */
const MIN_OVERTIME_MS = 10_000

/** Undefined while the work is not over its average. */
export function payloadOfLongRun(work: RunningWork, now: number): Payload | undefined {
  const currentMs = now - work.startedAt
  if (currentMs - work.averageMs < MIN_OVERTIME_MS) return undefined
  return {
    eventType: work.phase ? 'phase-job-processing-long' : 'job-processing-long',
    ...(work.phase && { phase: work.phase }),
    uniqueId: uniqueIdOf(work),
    averageDuration: Math.round(work.averageMs / 1000),
    currentDuration: Math.round(currentMs / 1000),
    durationOvertimePercentage: Math.floor(((currentMs - work.averageMs) / Math.max(work.averageMs, 1)) * 100),
    job: {
      id: String(work.jobId),
      url: `${work.baseUrl}/queue/jobs/${work.jobId}`,
      tasks: [],
      startTime: timeOf(work.startedAt),
      component: { id: work.componentId },
      configuration: { id: work.configurationId },
    },
    project: { id: String(work.projectId) },
    branch: { id: String(work.branchId) },
  }
}

/** A phase that is visited again is other work. */
const uniqueIdOf = ({ jobId, phase, startedAt }: RunningWork): string =>
  phase === undefined ? `job-${jobId}` : `job-${jobId}-phase-${phase.id}-${startedAt}`

export const payloadOfMissed = ({ projectId, scheduleId, configurationId, target, dueAt, reason }: ScheduleMissed): Payload => ({
  eventType: 'schedule-missed',
  schedule: { id: String(scheduleId), configurationId, dueTime: formatExpiration(dueAt) },
  job: { component: { id: target.componentId }, configuration: { id: target.configurationId } },
  reason,
  project: { id: String(projectId) },
})

/** A table and when it was last written. */
export interface UnchangedTable {
  readonly id: string
  readonly bucketId: string
  readonly updatedAt: number
}

export const payloadOfTable = (projectId: number, table: UnchangedTable, now: number): Payload => ({
  eventType: 'table-not-updated',
  table: { id: table.id, lastUpdate: timeOf(table.updatedAt) },
  bucket: { id: table.bucketId },
  hoursSinceUpdate: Math.floor((now - table.updatedAt) / 3_600_000),
  project: { id: String(projectId) },
})

/** Undefined for events about something else. Tests of severity warn have the status `warning`. */
export function payloadOfTests(projectId: number, { event, objectId = '', branchId, params }: NewEvent): Payload | undefined {
  if (event !== 'storage.dataTestsFailed' && event !== 'storage.dataTestsWarned') return undefined
  const { runId, isLoad, failed } = params ?? {}
  const names = Array.isArray(failed) ? failed.map(String) : []
  const more = names.length > NAMED_TESTS ? ` and ${names.length - NAMED_TESTS} more` : ''
  return {
    eventType: 'data-tests-failed',
    table: { id: objectId },
    bucket: { id: objectId.slice(0, objectId.lastIndexOf('.')) },
    tests: {
      status: event === 'storage.dataTestsFailed' ? 'failed' : 'warning',
      runId: String(runId),
      isLoad: isLoad === true,
      failed: names,
    },
    errorMessage: `Data tests failed: ${names.slice(0, NAMED_TESTS).join(', ')}${more}.`,
    project: { id: String(projectId) },
    branch: { id: String(branchId) },
  }
}

const NAMED_TESTS = 20

export interface DiskSpace {
  readonly totalBytes: number
  readonly freeBytes: number
}

export const payloadOfDisk = (projectId: number, { totalBytes, freeBytes }: DiskSpace): Payload => ({
  eventType: 'storage-nearly-full',
  usedPercentage: Math.floor((1 - freeBytes / Math.max(totalBytes, 1)) * 100),
  freeBytes,
  totalBytes,
  project: { id: String(projectId) },
})

/** A figure of a dashboard beyond its bound. */
export interface FigureAlert {
  readonly projectId: number
  readonly dashboard: { readonly id: string; readonly name: string }
  readonly tile: { readonly id: string; readonly title: string }
  readonly value: number
  readonly operator: 'above' | 'below'
  readonly bound: number
}

export const payloadOfFigure = ({ projectId, ...alert }: FigureAlert): Payload => ({
  eventType: 'dashboard-alert',
  ...alert,
  project: { id: String(projectId) },
})

const timeOf = (ms: number): string => formatExpiration(new Date(ms))
