// The body of a new job (spec platform 2.2), read once, and the row it becomes.

import { type Static, Type } from 'typebox'
import { defined, filled, given } from '../../../kit/defined.ts'
import { PlatformError } from '../../../kit/errors.ts'
import { parseMoment } from '../../../kit/relative-time.ts'
import { readStored } from '../../../kit/stored-json.ts'
import type { Actor } from '../../../model/actor.ts'
import type { JobStatus } from './job-states.ts'
import type { JobMode, JobRow, JobType, NewJobRow } from './queue.schema.ts'
import { refusal } from './refusal.ts'

const Scalar = Type.Union([Type.String(), Type.Number(), Type.Boolean(), Type.Null()])
const id = (options: { description?: string; examples?: string[] } = {}) =>
  Type.String({ minLength: 1, maxLength: 255, ...options })

const Backend = Type.Object({
  type: Type.Optional(Type.String()),
  containerType: Type.Optional(Type.String()),
  context: Type.Optional(Type.String()),
})

/** Empty PHP maps arrive as lists, numbers as texts and the other way round. */
export const JobBody = Type.Object(
  {
    component: Type.Optional(id({ description: 'Component to run.', examples: ['keboola.ex-generic-v2'] })),
    config: Type.Optional(
      id({ description: 'Configuration to run; without one, configData is required.', examples: ['my-shop'] }),
    ),
    configData: Type.Optional(
      Type.Union([Type.Record(Type.String(), Type.Unknown()), Type.Array(Type.Unknown()), Type.String()], {
        description: 'Configuration to use instead of the stored one. An object, or its JSON as a string.',
      }),
    ),
    configRowIds: Type.Optional(
      Type.Array(id(), { description: 'Rows to run, also disabled ones; all enabled rows by default.' }),
    ),
    row: Type.Optional(id({ description: 'One row to run; alternative to configRowIds.' })),
    mode: Type.Optional(
      Type.Union([Type.Literal('run'), Type.Literal('forceRun'), Type.Literal('debug')], {
        description:
          '`run` by default; `forceRun` runs a disabled configuration; `debug` keeps the data folder of each step as a file.',
      }),
    ),
    tag: Type.Optional(Type.String({ maxLength: 255, description: 'Version of the component; its own by default.' })),
    branchId: Type.Optional(Type.String({ maxLength: 64, description: 'Branch by id; by default that of the URL.' })),
    variableValuesId: Type.Optional(
      Type.String({ maxLength: 255, description: 'Row of values for the variables of the configuration.' }),
    ),
    variableValuesData: Type.Optional(
      Type.Union(
        [
          Type.Object({ values: Type.Optional(Type.Array(Type.Object({ name: Type.String({ minLength: 1 }), value: Scalar }))) }),
          Type.Array(Type.Never()),
        ],
        { description: 'Values for the variables, instead of stored ones.' },
      ),
    ),
    parallelism: Type.Optional(
      Type.String({ maxLength: 20, description: 'Number of rows that run in parallel, or `infinity`.' }),
    ),
    backend: Type.Optional(
      Type.Union([Type.String(), Backend, Type.Array(Type.Never())], {
        description: 'Size of the run, for example `{"type": "small"}`.',
      }),
    ),
    parentRunId: Type.Optional(Type.String({ maxLength: 1000, description: 'Id of the parent run.' })),
    behavior: Type.Optional(
      Type.Union([Type.Object({ onError: Type.Optional(Type.String()) }), Type.Array(Type.Never())], {
        description: '`{"onError": "stop"}` or `warning` or `fail`: effect of a failure on the parent run.',
      }),
    ),
    orchestrationJobId: Type.Optional(Type.String({ description: 'Job of the orchestration that starts this one.' })),
    orchestrationTaskId: Type.Optional(Type.String({ description: 'Task of the orchestration.' })),
    orchestrationPhaseId: Type.Optional(Type.String({ description: 'Phase of the orchestration.' })),
    onlyOrchestrationTaskIds: Type.Optional(
      Type.Array(Type.String(), { minItems: 1, uniqueItems: true, description: 'Run only these tasks of an orchestration.' }),
    ),
    onlyFlowTaskIds: Type.Optional(Type.Array(Type.String(), { description: 'Run only these tasks of a flow.' })),
    previousJobId: Type.Optional(Type.String({ description: 'Job that this one repeats.' })),
    delay: Type.Optional(Type.String({ maxLength: 20, description: 'Seconds to wait before the job may start.' })),
    delayedStartTime: Type.Optional(
      Type.String({ maxLength: 64, description: 'Time before which the job does not start, as ISO 8601.' }),
    ),
    deduplicationId: Type.Optional(id({ description: 'The request is refused if a job of the project already has this id.' })),
    executor: Type.Optional(
      Type.Union([Type.Literal('dind'), Type.Literal('k8sContainers')], {
        description: 'Stored and returned; has no effect on the run.',
      }),
    ),
  },
  { title: 'JobRequest', additionalProperties: false },
)

export interface VariableValue {
  readonly name: string
  readonly value: unknown
}

/** A job as requested; `configData` is JSON text, exactly as it was sent. */
export interface JobRequest {
  readonly component: string
  readonly config?: string
  readonly configData?: string
  readonly configRowIds?: readonly string[]
  readonly mode?: JobMode
  /** The data folder is made and kept as an archive; nothing runs. */
  readonly inputOnly?: boolean
  readonly tag?: string
  readonly branchId?: string
  readonly variableValuesId?: string
  readonly variableValues?: readonly VariableValue[]
  /** Values laid over those of the task, the row or the job: the variables of a flow. */
  readonly variableOverrides?: readonly VariableValue[]
  readonly parallelism?: string | null
  readonly backend?: Readonly<Record<string, unknown>>
  readonly parentRunId?: string
  readonly onError?: string | null
  readonly orchestrationJobId?: string
  readonly orchestrationTaskId?: string
  readonly orchestrationPhaseId?: string
  readonly onlyOrchestrationTaskIds?: readonly string[]
  readonly onlyFlowTaskIds?: readonly string[]
  readonly previousJobId?: string
  /** Epoch milliseconds. */
  readonly startAfter?: number
  readonly deduplicationId?: string
  readonly executor?: string
}

export interface JobContext {
  readonly component?: string
  readonly mode?: JobMode
  readonly inputOnly?: boolean
  readonly tag?: string
  readonly parentRunId?: string | null
  /** `configData` as the client wrote it. */
  readonly configData?: string | undefined
  readonly now: Date
}

export function readJobRequest(body: Static<typeof JobBody>, context: JobContext): JobRequest {
  const component = context.component ?? body.component
  if (component === undefined) throw refusal('component', 'This field is missing.')
  const configData =
    body.configData === undefined || body.configData === null ? undefined : objectText(body.configData, context.configData)
  if (!body.config && configData === undefined)
    throw refusal('config', 'Send "config", the id of a configuration, or "configData", a configuration.')
  const values = body.variableValuesData && !Array.isArray(body.variableValuesData) ? (body.variableValuesData.values ?? []) : []
  if (body.variableValuesId && values.length > 0) {
    throw new PlatformError('queue.invalidJob', { reason: 'Only one of variableValuesId and variableValuesData can be set.' })
  }
  const rowIds = body.configRowIds ?? (body.row ? [body.row] : undefined)
  const backend =
    typeof body.backend === 'string' ? { type: body.backend } : Array.isArray(body.backend) ? undefined : body.backend
  const startAfter = startOf(body, context.now)
  const behavior = Array.isArray(body.behavior) ? undefined : body.behavior
  return {
    component,
    ...filled({
      config: body.config,
      configRowIds: rowIds,
      mode: context.mode ?? body.mode,
      inputOnly: context.inputOnly,
      tag: context.tag ?? body.tag,
      branchId: body.branchId,
      variableValuesId: body.variableValuesId,
      variableValues: values,
      backend,
      parentRunId: body.parentRunId ?? context.parentRunId,
      onError: behavior?.onError && onErrorOf(behavior.onError),
    }),
    ...defined({ configData }),
    ...(body.parallelism === undefined || body.parallelism === null ? {} : { parallelism: parallelismOf(body.parallelism) }),
    ...given({
      orchestrationJobId: body.orchestrationJobId,
      orchestrationTaskId: body.orchestrationTaskId,
      orchestrationPhaseId: body.orchestrationPhaseId,
      onlyOrchestrationTaskIds: body.onlyOrchestrationTaskIds,
      onlyFlowTaskIds: body.onlyFlowTaskIds,
      previousJobId: body.previousJobId,
      deduplicationId: body.deduplicationId,
      executor: body.executor,
    }),
    ...defined({ startAfter }),
  }
}

/** The text a client wrote is kept; from a form it is the field itself, else what was parsed is written again. */
function objectText(parsed: unknown, written: string | undefined): string {
  const text = typeof parsed === 'string' ? parsed : (written ?? JSON.stringify(parsed))
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw refusal('configData', 'This value should be valid JSON.')
  }
  if (Array.isArray(value) && value.length === 0) return '{}'
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw refusal('configData', 'This value should be an object.')
  return text
}

function parallelismOf(text: string): string {
  if (text === 'infinity') return text
  if (!/^\d{1,3}$/.test(text) || Number(text) > 100)
    throw refusal('parallelism', 'This value should be 0 to 100, "infinity" or null.')
  return String(Number(text))
}

function onErrorOf(text: string): string {
  if (!['stop', 'warning', 'fail'].includes(text))
    throw refusal('behavior[onError]', 'This value should be stop, warning or fail.')
  return text
}

const LONGEST_DELAY_MS = 366 * 86_400_000

function startOf(body: Static<typeof JobBody>, now: Date): number | undefined {
  const { delay, delayedStartTime } = body
  if (delay !== undefined && delay !== null && !/^\d{1,9}$/.test(delay))
    throw refusal('delay', 'This value should be a number of seconds.')
  const moment = delayedStartTime
    ? parseMoment(delayedStartTime, now)
    : delay
      ? new Date(now.getTime() + Number(delay) * 1000)
      : undefined
  if (delayedStartTime && !moment) throw refusal('delayedStartTime', 'This value should be a time.')
  if (moment && moment.getTime() - now.getTime() > LONGEST_DELAY_MS)
    throw refusal('delay', 'A job can be delayed by a year at most.')
  return moment?.getTime()
}

export interface RowContext {
  readonly actor: Actor
  readonly branch: { readonly id: number; readonly isDefault: boolean }
  readonly componentId: string
  readonly tag: string
  readonly type: JobType
  readonly parallelism: string | null
  readonly labels: readonly string[]
  readonly configData: string | null
  readonly deduplicationId: string | null
  readonly status: JobStatus
  readonly baseUrl: string
  readonly now: number
  readonly parent: ParentJob | undefined
}

/** The container a job is made for. */
export interface ParentJob {
  readonly jobId: number
  /** Jobs of the same number are waited for together. */
  readonly stepGroup: number
  /** How many of its children run at once; null: as many as can. */
  readonly siblingLimit: number | null
}

/** Before the value of that header, where deduplication ids are kept: the two never meet. */
export const IDEMPOTENCY_KEY = 'idempotency-key'

/** What is only shown again and never searched for, stored as one JSON value. */
export interface StoredRequest {
  readonly component: string
  /** As requested with the job; absent in older jobs. */
  readonly tag?: string | null
  readonly inputOnly?: boolean
  readonly variableValues: readonly VariableValue[]
  /** Absent in jobs without any. */
  readonly variableOverrides?: readonly VariableValue[]
  readonly backend: Readonly<Record<string, unknown>> | null
  readonly parallelism: string | null
  readonly behavior: { readonly onError: string | null }
  readonly orchestrationJobId: string | null
  readonly orchestrationTaskId: string | null
  readonly orchestrationPhaseId: string | null
  readonly onlyOrchestrationTaskIds: readonly string[] | null
  readonly onlyFlowTaskIds: readonly string[] | null
  readonly previousJobId: string | null
  readonly executor: string | null
  readonly isDelayed: boolean
  /** The stack's address as the client saw it, for links and for components that call back. */
  readonly baseUrl: string
}

/** What is kept of a request besides the columns of its job. */
function storedRequest(request: JobRequest, context: RowContext): StoredRequest {
  return {
    component: request.component,
    tag: request.tag ?? null,
    ...(request.inputOnly ? { inputOnly: true } : {}),
    variableValues: request.variableValues ?? [],
    ...(request.variableOverrides?.length ? { variableOverrides: request.variableOverrides } : {}),
    backend: request.backend ?? null,
    parallelism: context.parallelism,
    behavior: { onError: request.onError ?? null },
    orchestrationJobId: request.orchestrationJobId ?? null,
    orchestrationTaskId: request.orchestrationTaskId ?? null,
    orchestrationPhaseId: request.orchestrationPhaseId ?? null,
    onlyOrchestrationTaskIds: request.onlyOrchestrationTaskIds ?? null,
    onlyFlowTaskIds: request.onlyFlowTaskIds ?? null,
    previousJobId: request.previousJobId ?? null,
    executor: request.executor ?? null,
    isDelayed: request.startAfter !== undefined,
    baseUrl: context.baseUrl,
  }
}

/** Independent of the clock: one that is set back must not delay a job that no caller has delayed. */
export const AT_ONCE = 0

export function jobRow(request: JobRequest, context: RowContext): NewJobRow {
  const { actor, branch, componentId, now } = context
  return {
    project_id: actor.projectId,
    branch_id: branch.id,
    is_default_branch: branch.isDefault ? 1 : 0,
    component_id: componentId,
    configuration_id: request.config ?? null,
    type: context.type,
    mode: request.mode ?? 'run',
    status: context.status,
    waiting_reason: null,
    parent_run_id: request.parentRunId ?? '',
    parent_job_id: context.parent?.jobId ?? null,
    row_ids: request.configRowIds ? JSON.stringify(request.configRowIds) : null,
    tag: context.tag,
    variable_values_id: request.variableValuesId ?? null,
    deduplication_id: context.deduplicationId,
    token_id: actor.tokenId,
    token_description: actor.tokenDescription,
    actor: JSON.stringify(actor),
    request: JSON.stringify(storedRequest(request, context)),
    config_data: context.configData,
    // One configuration of a component in a branch runs once at a time; a job without one is not limited.
    lock_key: request.config === undefined ? null : `${actor.projectId}/${branch.id}/${componentId}/${request.config}`,
    sibling_limit: context.parent?.siblingLimit ?? null,
    step_group: context.parent?.stepGroup ?? null,
    created_at: now,
    start_after: request.startAfter ?? AT_ONCE,
    started_at: null,
    ended_at: null,
    updated_at: now,
    attempt: 0,
    worker: null,
    lease_until: null,
    has_begun: 0,
    result: '{}',
    usage: '[]',
    metrics: '[]',
    error: null,
    labels: context.labels.length === 0 ? null : context.labels.toSorted().join(','),
  }
}

/** The request of a job, to run it again; what was derived from it is derived again. */
export function requestAgain(job: JobRow): JobRequest {
  const stored = readStored<StoredRequest>(job.request)
  return defined({
    component: stored.component,
    mode: job.mode,
    inputOnly: stored.inputOnly,
    branchId: String(job.branch_id), // it may be gone by now
    previousJobId: String(job.id),
    tag: stored.tag || undefined,
    config: job.configuration_id ?? undefined,
    configData: job.config_data ?? undefined,
    configRowIds: job.row_ids === null ? undefined : readStored<string[]>(job.row_ids),
    variableValuesId: job.variable_values_id ?? undefined,
    variableValues: stored.variableValues,
    variableOverrides: stored.variableOverrides,
    onlyOrchestrationTaskIds: stored.onlyOrchestrationTaskIds ?? undefined,
    onlyFlowTaskIds: stored.onlyFlowTaskIds ?? undefined,
    parallelism: stored.parallelism ?? undefined,
    backend: stored.backend ?? undefined,
    executor: stored.executor ?? undefined,
    onError: stored.behavior.onError,
  })
}
