// A job as clients see it (spec platform 2.3): every key that a client insists on is always there.

import { Type } from 'typebox'
import { formatTimestamp } from '../../kit/clock.ts'
import { rawJson } from '../../kit/json-text.ts'
import { readStored } from '../../kit/stored-json.ts'
import { IDEMPOTENCY_KEY, type StoredRequest } from './job-request.ts'
import { isFinished } from './job-states.ts'
import type { JobRow } from './queue.schema.ts'

const Nullable = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) => Type.Union([schema, Type.Null()])
const Time = Type.String({ examples: ['2026-01-31T12:00:00+00:00'] })
const Loose = Type.Union([Type.Record(Type.String(), Type.Unknown()), Type.Array(Type.Unknown())])

export const JobView = Type.Object(
  {
    id: Type.String(),
    runId: Type.String(),
    parentRunId: Type.String(),
    project: Type.Object({ id: Type.String(), name: Type.String() }),
    token: Type.Object({ id: Type.String(), description: Type.String() }),
    status: Type.String(),
    desiredStatus: Type.String(),
    waitingReason: Nullable(Type.String()),
    mode: Type.String(),
    component: Type.String(),
    config: Nullable(Type.String()),
    configData: Loose,
    configRowIds: Nullable(Type.Array(Type.String())),
    tag: Type.String(),
    createdTime: Time,
    startTime: Nullable(Time),
    endTime: Nullable(Time),
    delayedStartTime: Nullable(Time),
    durationSeconds: Type.Integer(),
    result: Loose,
    usageData: Type.Array(Type.Unknown()),
    isFinished: Type.Boolean(),
    url: Type.String(),
    error: Type.Optional(Type.Object({ message: Type.String() }, { description: 'Present when the status is error.' })),
  },
  { title: 'Job' },
)

export interface ViewContext {
  readonly projectName: string
  /** Address of the queue service. */
  readonly queueUrl: string
  readonly now: Date
}

/** Built with raw pieces: `configData` goes out exactly as it came in, secrets as ciphers. */
export function jobView(job: JobRow, { projectName, queueUrl, now }: ViewContext): Record<string, unknown> {
  const request = readStored<StoredRequest>(job.request)
  return {
    id: String(job.id),
    runId: job.run_id,
    parentRunId: job.parent_run_id,
    project: { id: String(job.project_id), name: projectName },
    token: { id: String(job.token_id), description: job.token_description },
    status: job.status,
    desiredStatus:
      job.status === 'terminating' || job.status === 'terminated' || job.status === 'cancelled' ? 'terminating' : 'processing',
    waitingReason: job.status === 'waiting' ? job.waiting_reason : null,
    mode: job.mode,
    component: request.component,
    config: job.configuration_id,
    configData: job.config_data === null ? {} : rawJson(job.config_data),
    configRowIds: job.row_ids === null ? null : rawJson(job.row_ids),
    tag: job.tag,
    createdTime: timeOf(job.created_at),
    startTime: timeOf(job.started_at),
    endTime: timeOf(job.ended_at),
    delayedStartTime: request.isDelayed ? timeOf(job.start_after) : null,
    durationSeconds: durationOf(job, now),
    result: rawJson(job.result),
    usageData: rawJson(job.usage),
    isFinished: isFinished(job.status),
    url: `${queueUrl}/jobs/${job.id}`,
    branchId: String(job.branch_id),
    branchType: job.is_default_branch === 1 ? 'default' : 'dev',
    variableValuesId: job.variable_values_id,
    variableValuesData: { values: valuesOf(request) },
    backend: request.backend ?? {},
    executor: request.executor,
    metrics: rawJson(job.metrics),
    behavior: request.behavior,
    parallelism: request.parallelism,
    type: job.type,
    orchestrationJobId: request.orchestrationJobId,
    orchestrationTaskId: request.orchestrationTaskId,
    orchestrationPhaseId: request.orchestrationPhaseId,
    onlyOrchestrationTaskIds: request.onlyOrchestrationTaskIds,
    onlyFlowTaskIds: request.onlyFlowTaskIds,
    previousJobId: request.previousJobId,
    runnerId: job.worker,
    deduplicationId: job.deduplication_id?.startsWith(`${IDEMPOTENCY_KEY} `) ? null : job.deduplication_id,
    ...(job.status === 'error' ? { error: { message: job.error ?? '' } } : {}),
  }
}

/** The record of the older job services: the same job, other names (spec platform 2.10). */
export function legacyJobView(
  job: JobRow,
  context: ViewContext & { readonly legacyUrl: string; readonly withMetrics: boolean },
): Record<string, unknown> {
  const waited = (job.started_at ?? job.ended_at ?? context.now.getTime()) - job.created_at
  return {
    id: job.id,
    runId: job.run_id,
    lockName: job.lock_key ?? String(job.id),
    project: { id: job.project_id, name: context.projectName },
    token: { id: job.token_id, description: job.token_description },
    component: 'docker',
    command: 'run',
    params: {
      component: job.component_id,
      mode: job.mode,
      ...(job.configuration_id === null ? {} : { config: job.configuration_id }),
      ...(job.config_data === null ? {} : { configData: rawJson(job.config_data) }),
      ...(job.row_ids === null ? {} : { rows: rawJson(job.row_ids) }),
    },
    result: rawJson(job.result),
    status: job.status === 'created' ? 'waiting' : job.status,
    createdTime: timeOf(job.created_at),
    startTime: timeOf(job.started_at),
    endTime: timeOf(job.ended_at),
    durationSeconds: durationOf(job, context.now),
    waitSeconds: Math.max(0, Math.round(waited / 1000)),
    isFinished: isFinished(job.status),
    url: `${context.legacyUrl}/queue/job/${job.id}`,
    ...(context.withMetrics ? { metrics: rawJson(job.metrics) } : {}),
    ...(job.status === 'error' ? { error: { message: job.error ?? '' } } : {}),
  }
}

/** As they hold in the run: what is laid over comes last. */
const valuesOf = ({ variableValues, variableOverrides = [] }: StoredRequest) => [
  ...variableValues.filter(({ name }) => !variableOverrides.some((over) => over.name === name)),
  ...variableOverrides,
]

const timeOf = (ms: number | null): string | null => (ms === null ? null : formatTimestamp(new Date(ms)))

/** Only the time of processing counts. */
const durationOf = (job: JobRow, now: Date): number =>
  job.started_at === null ? 0 : Math.max(0, Math.round(((job.ended_at ?? now.getTime()) - job.started_at) / 1000))
