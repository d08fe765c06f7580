// What flows call of notifications. Both calls take the open transaction of the step they belong to: a message is queued exactly
// when the step that sends it is recorded, and delivered afterwards.

import type { Trx } from '../engines/metadata-db/dialects.ts'

/** Of a webhook either member may carry the address (spec platform 6.7). */
export interface NotificationRecipient {
  readonly channel: 'email' | 'webhook'
  readonly address?: string
  readonly url?: string
}

/** A message that a task of a flow sends itself, to the recipients it names. */
export interface DirectNotification {
  readonly projectId: number
  readonly recipients: readonly NotificationRecipient[]
  readonly title: string
  readonly message: string
  /** The job of the flow. */
  readonly jobId: number
}

/** A phase of a flow has ended: the phase-job-* events of subscriptions. */
export interface PhaseEnd {
  readonly projectId: number
  readonly branchId: number
  readonly isDefaultBranch: boolean
  readonly jobId: number
  readonly componentId: string
  readonly configurationId: string | null
  readonly phase: { readonly id: string; readonly name: string }
  readonly status: 'success' | 'warning' | 'error'
  /** Of the tasks that failed; empty when none did. */
  readonly errorMessage: string
  /** Epoch milliseconds. */
  readonly startedAt: number
  readonly endedAt: number
}

/** A job, or a phase of one, that runs now, and how long it usually takes. */
export interface RunningWork {
  readonly projectId: number
  readonly branchId: number
  readonly jobId: number
  readonly componentId: string
  readonly configurationId: string | null
  readonly phase: { readonly id: string; readonly name: string } | undefined
  /** Epoch milliseconds. */
  readonly startedAt: number
  /** Of the last runs that succeeded. */
  readonly averageMs: number
  readonly baseUrl: string
}

/** Of the default branch; what has no earlier run is left out. */
export type ListRunning = (projectIds: readonly number[]) => Promise<readonly RunningWork[]>

/** A schedule did not run what was due, or has stopped. */
export interface ScheduleMissed {
  readonly projectId: number
  readonly scheduleId: number
  /** The configuration of the schedule. */
  readonly configurationId: string
  readonly target: { readonly componentId: string; readonly configurationId: string }
  readonly dueAt: Date
  readonly reason: string
}

export interface NotificationPort {
  notify(trx: Trx, notification: DirectNotification): Promise<void>
  phaseEnded(trx: Trx, end: PhaseEnd): Promise<void>
  scheduleMissed(trx: Trx, missed: ScheduleMissed): Promise<void>
}
