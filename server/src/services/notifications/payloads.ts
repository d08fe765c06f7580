// What an event says (spec platform 6.7). Names of projects, components and configurations are added when the message is sent.

import { formatExpiration } from '../../kit/clock.ts'
import type { JobEndFacts } from '../../model/job-end.ts'
import type { PhaseEnd } from '../../model/notification-port.ts'

/** The events this stack emits itself. Others are emitted by whoever calls `POST /events/{event}`. */
export const OWN_EVENTS = [
  'job-failed',
  'job-succeeded',
  'job-succeeded-with-warning',
  'phase-job-failed',
  'phase-job-succeeded',
  'phase-job-succeeded-with-warning',
] as const
export type OwnEvent = (typeof OWN_EVENTS)[number]

export type Payload = Readonly<Record<string, unknown>> & { readonly eventType: string }

const JOB_EVENT: Readonly<Record<string, OwnEvent>> = {
  success: 'job-succeeded',
  warning: 'job-succeeded-with-warning',
  error: 'job-failed',
}

/** Undefined for jobs nobody is told about: those of development branches, parts of others, and jobs that somebody ended. */
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

const timeOf = (ms: number): string => formatExpiration(new Date(ms))
