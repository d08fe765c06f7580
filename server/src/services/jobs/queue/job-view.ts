// A job as clients see it (spec platform 2.3): every key that a client insists on is always there.

import { Type } from 'typebox'
import { Timestamp } from '../../../http/record-schemas.ts'
import { formatTimestamp } from '../../../kit/clock.ts'
import { readStored } from '../../../kit/stored-json.ts'
import { rawJson } from '../../../kit/text/json-text.ts'
import { IDEMPOTENCY_KEY, type StoredRequest } from './job-request.ts'
import { isFinished } from './job-states.ts'
import type { JobRow } from './queue.schema.ts'

const Nullable = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) => Type.Union([schema, Type.Null()])
const Loose = Type.Union([Type.Record(Type.String(), Type.Unknown()), Type.Array(Type.Unknown())])

/** A job of a list that was requested with \`fields\` has only those. */
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
    branchId: Type.String(),
    configData: Loose,
    configRowIds: Nullable(Type.Array(Type.String())),
    tag: Type.String(),
    createdTime: Timestamp,
    startTime: Nullable(Timestamp),
    endTime: Nullable(Timestamp),
    delayedStartTime: Nullable(Timestamp),
    durationSeconds: Type.Integer(),
    durationMs: Type.Integer(),
    configVersion: Nullable(Type.String({ description: 'The version of the configuration that ran; null before it began.' })),
    usual: Nullable(
      Type.Object(
        {
          durationMs: Type.Integer(),
          runs: Type.Integer(),
          deviation: Nullable(Type.Number({ description: 'Duration of this job in units of the usual one.' })),
        },
        {
          description: 'Median duration of the last successful runs of the same configuration and rows; null if there are none.',
        },
      ),
    ),
    cause: Nullable(
      Type.Object(
        { kind: Type.String(), subject: Nullable(Type.String()) },
        { description: 'Cause of the failure; `result.error.cause` contains all of it.' },
      ),
    ),
    progress: Nullable(
      Type.Object(
        {
          rowsDone: Type.Integer({ description: 'Number of finished rows of the configuration.' }),
          rowsTotal: Type.Integer(),
          rowId: Nullable(Type.String({ description: 'The running row; null: the configuration itself.' })),
          phase: Type.String({ description: '`input`, `program` or `load`.' }),
          component: Type.Optional(Type.String({ description: 'Of a program: the component or processor.' })),
          done: Type.Optional(Type.Integer({ description: 'Progress of the phase, if known.' })),
          total: Type.Optional(Type.Integer()),
          unit: Type.Optional(Type.String({ description: '`bytes` or `statements`.' })),
          rows: Type.Optional(
            Type.Array(
              Type.Object({
                rowId: Nullable(Type.String()),
                status: Type.String(),
                phases: Type.Array(
                  Type.Object({
                    name: Type.String(),
                    startTime: Timestamp,
                    endTime: Nullable(Timestamp),
                    startMs: Type.Optional(Type.Integer({ description: 'Start in milliseconds since 1970.' })),
                    durationMs: Type.Optional(Nullable(Type.Integer())),
                  }),
                ),
              }),
              { description: 'The newest 20 rows that have started, and when their phases began and ended.' },
            ),
          ),
        },
        { description: 'Progress of a running job, available after a second; otherwise null.' },
      ),
    ),
    endedBy: Nullable(
      Type.String({
        description: 'Description of the token that cancelled or terminated the job; otherwise null.',
      }),
    ),
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

interface Shown {
  readonly job: JobRow
  readonly request: () => StoredRequest
  readonly context: ViewContext
}

const DURATION_COLUMNS = ['started_at', 'ended_at'] as const

/** Every member of a job: the columns it is made of, and how. `configData` goes out exactly as it came in, secrets as ciphers. */
const FIELDS = {
  id: [['id'], ({ job }) => String(job.id)],
  runId: [['run_id'], ({ job }) => job.run_id],
  parentRunId: [['parent_run_id'], ({ job }) => job.parent_run_id],
  project: [['project_id'], ({ job, context }) => ({ id: String(job.project_id), name: context.projectName })],
  token: [['token_id', 'token_description'], ({ job }) => ({ id: String(job.token_id), description: job.token_description })],
  status: [['status'], ({ job }) => job.status],
  desiredStatus: [['status'], ({ job }) => (ENDING.includes(job.status) ? 'terminating' : 'processing')],
  waitingReason: [['status', 'waiting_reason', 'lock_key'], ({ job }) => (job.status === 'waiting' ? job.waiting_reason : null)],
  mode: [['mode'], ({ job }) => job.mode],
  component: [['request'], ({ request }) => request().component],
  config: [['configuration_id'], ({ job }) => job.configuration_id],
  configVersion: [['config_version'], ({ job }) => (job.config_version === null ? null : String(job.config_version))],
  configData: [['config_data'], ({ job }) => (job.config_data === null ? {} : rawJson(job.config_data))],
  configRowIds: [['row_ids'], ({ job }) => (job.row_ids === null ? null : rawJson(job.row_ids))],
  tag: [['tag'], ({ job }) => job.tag],
  createdTime: [['created_at'], ({ job }) => timeOf(job.created_at)],
  startTime: [['started_at'], ({ job }) => timeOf(job.started_at)],
  endTime: [['ended_at'], ({ job }) => timeOf(job.ended_at)],
  delayedStartTime: [['request', 'start_after'], ({ job, request }) => (request().isDelayed ? timeOf(job.start_after) : null)],
  durationSeconds: [DURATION_COLUMNS, ({ job, context }) => Math.round(durationMsOf(job, context.now) / 1000)],
  durationMs: [DURATION_COLUMNS, ({ job, context }) => durationMsOf(job, context.now)],
  usual: [['usual_ms', 'usual_runs', ...DURATION_COLUMNS], ({ job, context }) => usualOf(job, context.now)],
  cause: [
    ['cause_kind', 'cause_subject'],
    ({ job }) => (job.cause_kind === null ? null : { kind: job.cause_kind, subject: job.cause_subject }),
  ],
  result: [['result', 'type'], ({ job }) => rawJson(job.result)],
  endedBy: [['ended_by'], ({ job }) => job.ended_by],
  progress: [['progress'], ({ job }) => (job.progress === null ? null : rawJson(job.progress))],
  usageData: [['usage'], ({ job }) => rawJson(job.usage)],
  isFinished: [['status'], ({ job }) => isFinished(job.status)],
  url: [['id'], ({ job, context }) => `${context.queueUrl}/jobs/${job.id}`],
  branchId: [['branch_id'], ({ job }) => String(job.branch_id)],
  branchType: [['is_default_branch'], ({ job }) => (job.is_default_branch === 1 ? 'default' : 'dev')],
  variableValuesId: [['variable_values_id'], ({ job }) => job.variable_values_id],
  variableValuesData: [['request'], ({ request }) => ({ values: valuesOf(request()) })],
  backend: [['request'], ({ request }) => request().backend ?? {}],
  executor: [['request'], ({ request }) => request().executor],
  metrics: [['metrics'], ({ job }) => rawJson(job.metrics)],
  behavior: [['request'], ({ request }) => request().behavior],
  parallelism: [['request'], ({ request }) => request().parallelism],
  type: [['type'], ({ job }) => job.type],
  orchestrationJobId: [['request'], ({ request }) => request().orchestrationJobId],
  orchestrationTaskId: [['request'], ({ request }) => request().orchestrationTaskId],
  orchestrationPhaseId: [['request'], ({ request }) => request().orchestrationPhaseId],
  onlyOrchestrationTaskIds: [['request'], ({ request }) => request().onlyOrchestrationTaskIds],
  onlyFlowTaskIds: [['request'], ({ request }) => request().onlyFlowTaskIds],
  previousJobId: [['request'], ({ request }) => request().previousJobId],
  runnerId: [['worker'], ({ job }) => job.worker],
  deduplicationId: [
    ['deduplication_id'],
    ({ job }) => (job.deduplication_id?.startsWith(`${IDEMPOTENCY_KEY} `) ? null : job.deduplication_id),
  ],
  error: [['status', 'error'], ({ job }) => (job.status === 'error' ? { message: job.error ?? '' } : undefined)],
} satisfies Record<string, readonly [columns: readonly (keyof JobRow)[], show: (shown: Shown) => unknown]>

export type JobField = keyof typeof FIELDS
export const JOB_FIELDS = Object.keys(FIELDS) as readonly JobField[]
export const isJobField = (name: string): name is JobField => Object.hasOwn(FIELDS, name)

/** What is read of jobs for these members; what is always needed to show them is part of it. */
export const columnsOf = (fields: readonly JobField[]): readonly (keyof JobRow)[] => [
  ...new Set<keyof JobRow>(['id', 'project_id', 'status', ...fields.flatMap((field) => [...FIELDS[field][0]])]),
]

export function jobView(job: JobRow, context: ViewContext, fields = JOB_FIELDS): Record<string, unknown> {
  let read: StoredRequest | undefined
  const request = (): StoredRequest => (read ??= readStored<StoredRequest>(job.request))
  const shown = { job, context, request }
  return Object.fromEntries(
    fields.flatMap((field) => {
      const value = FIELDS[field][1](shown)
      return value === undefined ? [] : [[field, value]]
    }),
  )
}

const ENDING: readonly string[] = ['terminating', 'terminated', 'cancelled']

/** How long such runs take, and this one against them: 1 is as usual, 2 twice as long. */
function usualOf(job: JobRow, now: Date) {
  if (job.usual_ms === null) return null
  const duration = durationMsOf(job, now)
  const deviation = job.usual_ms > 0 && job.started_at !== null ? Math.round((duration / job.usual_ms) * 100) / 100 : null
  return { durationMs: job.usual_ms, runs: job.usual_runs, deviation }
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
    durationSeconds: Math.round(durationMsOf(job, context.now) / 1000),
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
const durationMsOf = (job: JobRow, now: Date): number =>
  job.started_at === null ? 0 : Math.max(0, (job.ended_at ?? now.getTime()) - job.started_at)
