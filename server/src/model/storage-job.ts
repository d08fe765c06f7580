// The port between modules and the storage-jobs module: modules create jobs and handle them, that module stores and runs them.

import { ERRORS, type ErrorCode } from '../../../contract/error-codes.ts'
import type { FailureFacts } from '../../../contract/failure-causes.ts'
import type { Trx } from '../engines/metadata-db/dialects.ts'
import { PlatformError } from '../kit/errors.ts'
import type { Actor } from './actor.ts'
import type { EventSource, Origin } from './event.ts'

export type JobStatus = 'waiting' | 'processing' | 'success' | 'error'

export interface Metrics {
  readonly inCompressed: boolean
  readonly inBytes: number
  readonly inBytesUncompressed: number
  readonly outCompressed: boolean
  readonly outBytes: number
  readonly outBytesUncompressed: number
}

export const NO_METRICS: Metrics = {
  inCompressed: false,
  inBytes: 0,
  inBytesUncompressed: 0,
  outCompressed: false,
  outBytes: 0,
  outBytesUncompressed: 0,
}

export interface JobError {
  readonly code: string
  readonly message: string
  readonly exceptionId: string
  readonly contextParams?: Readonly<Record<string, unknown>>
}

export interface StorageJob {
  readonly id: number
  readonly projectId: number
  readonly branchId: number | null
  readonly status: JobStatus
  readonly operationName: string
  readonly operationParams: Readonly<Record<string, unknown>>
  /** What the handler needs and the record does not show. */
  readonly input: unknown
  readonly tableId: string | null
  readonly results: unknown
  readonly error: JobError | undefined
  readonly metrics: Metrics
  /** The requester, its origin and the address of the stack: for events and for links in the results. */
  readonly source: EventSource
  readonly origin: Origin
  readonly baseUrl: string
  readonly createdAt: Date
  readonly startedAt: Date | undefined
  readonly endedAt: Date | undefined
  /** The fencing number: rises with every worker that takes the job. */
  readonly attempt: number
}

/** The requester of a job. `request` of a route fits: actor, origin and baseUrl. */
export interface Requester {
  readonly actor: Pick<Actor, 'projectId' | 'tokenId' | 'tokenDescription'>
  readonly origin: Origin
  readonly baseUrl: string
}

export interface NewStorageJob {
  readonly operationName: string
  readonly operationParams?: Readonly<Record<string, unknown>>
  readonly input?: unknown
  readonly tableId?: string | null
  readonly branchId?: number | null
  /** Jobs of a project that share a key never run at once. */
  readonly lockKeys?: readonly string[]
}

export type CreateJob = (requester: Requester, job: NewStorageJob) => Promise<StorageJob>

export interface JobOutcome {
  readonly results?: unknown
  readonly metrics?: Partial<Metrics>
  /** The table a create made; shown from then on. */
  readonly tableId?: string | null
}

/** The error of a failed job, to be thrown to the caller that waited for it: code, text and data as recorded. */
export function failureOf({ id, error }: Pick<StorageJob, 'id' | 'error'>, facts: FailureFacts = {}): PlatformError {
  const text = error?.message ?? 'The job failed without a reason.'
  const code = error && isErrorCode(error.code) ? error.code : 'storage.jobs.failed'
  return new PlatformError(code, {}, { text, params: { ...error?.contextParams, job: id }, facts })
}

export interface JobRun {
  readonly job: StorageJob
  /** Aborted when the job was lost or the stack stops: end soon, nothing you do will count. */
  readonly signal: AbortSignal
  /**
   * Everything `work` writes and the job's success, in one transaction. Throws `storage.jobs.lost`, and writes nothing, when another
   * worker has the job. Call it last and once; a handler that never does succeeds with what it returns.
   */
  publish(work: (trx: Trx) => Promise<JobOutcome | undefined>): Promise<void>
}

// biome-ignore lint/suspicious/noConfusingVoidType: a handler that has published returns nothing
export type JobHandler = (run: JobRun) => Promise<JobOutcome | undefined | void>

const isErrorCode = (code: string): code is ErrorCode => Object.hasOwn(ERRORS, code)
