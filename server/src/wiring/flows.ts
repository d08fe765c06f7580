// The wiring of flows: what they need of the queue, of configurations and of notifications.

import type { FastifyBaseLogger } from 'fastify'
import type { Clock } from '../kit/clock.ts'
import { readStored } from '../kit/stored-json.ts'
import type { Actor } from '../model/actor.ts'
import type { NotificationPort } from '../model/notification-port.ts'
import type { RunAccess } from '../services/configurations/run-access.ts'
import type { Start } from '../services/flows/advance.ts'
import type { StepJob } from '../services/flows/flow-state.ts'
import { flowVariables } from '../services/flows/flow-variables.ts'
import { createFlowsLoop } from '../services/flows/flows.loop.ts'
import { createFlows, type FlowJob, type FlowsDeps } from '../services/flows/flows.ts'
import { createFlowValidation, type FlowPlace } from '../services/flows/validation.ts'
import type { JobRequest, StoredRequest } from '../services/queue/job-request.ts'
import { isFinished } from '../services/queue/job-states.ts'
import type { JobRow } from '../services/queue/queue.schema.ts'
import type { Queue } from '../services/queue/queue.ts'
import type { Core } from './core.ts'

export interface FlowModulesDeps extends Pick<Core, 'metadata' | 'events'> {
  readonly clock: Clock
  readonly log: FastifyBaseLogger
  readonly queue: () => Queue
  readonly runAccess: RunAccess
  readonly canonicalId: (componentId: string) => string
  readonly componentExists: (componentId: string) => boolean
  readonly notifications: NotificationPort
  readonly decrypt: FlowsDeps['decrypt']
}

/** Components whose configurations are flows. */
const FORMATS = { 'platform.orchestrator': 'orchestrator', 'platform.flow': 'flow' } as const

export const flowFormatOf = (canonicalId: string): 'orchestrator' | 'flow' | undefined =>
  FORMATS[canonicalId as keyof typeof FORMATS] // of another id, undefined

export function createFlowModules(deps: FlowModulesDeps) {
  const { metadata, events, clock, log, queue, runAccess, canonicalId, notifications } = deps
  const { db, inTransaction } = metadata
  const findConfiguration = async (place: FlowPlace, configurationId: string) =>
    (await runAccess.find({ ...place, configurationId }))?.configuration

  const validation = createFlowValidation({
    formatOf: (componentId) => flowFormatOf(canonicalId(componentId)),
    componentExists: deps.componentExists,
    findConfiguration,
  })

  const flows = createFlows({
    db,
    inTransaction,
    clock,
    notifications,
    recordEvent: events.record,
    decrypt: deps.decrypt,
    onError: (error, jobId) => log.error({ err: error, jobId }, 'a flow could not go on; it is tried again'),
    validation,
    configurations: {
      find: findConfiguration,
      variables: (place, configuration, valuesId) =>
        flowVariables(configuration, valuesId, (componentId, configurationId) =>
          runAccess.find({ ...place, componentId, configurationId }),
        ),
    },
    queue: {
      find: async (projectId, jobId) => flowJob(await queue().find(projectId, jobId)),
      configurationOf: async (projectId, jobId) => (await queue().find(projectId, jobId))?.configuration_id,
      hold: async (trx, projectId, jobId) => (await queue().holdFlow(trx, projectId, jobId)) !== undefined,
      listJobs: async (from, projectId, jobId, otherIds) =>
        new Map((await queue().listSteps(from, projectId, jobId, otherIds)).map((job) => [job.id, stepJob(job)])),
      prepare: async (flow, start) => {
        const prepared = await queue().prepare(flow.actor, requestOf(flow, start), {
          branch: { id: flow.branchId, isDefault: flow.isDefaultBranch },
          baseUrl: flow.baseUrl,
          parent: { jobId: flow.id, stepGroup: start.visit, siblingLimit: flow.parallelism },
        })
        return { insert: async (trx) => (await queue().insert(trx, prepared)).id }
      },
      kill: (trx, projectId, jobIds) => queue().killSteps(trx, projectId, jobIds),
      end: async (trx, flow, end, result) =>
        queue().endFlow(trx, flow, { status: end.status, result: { message: end.message, ...result } }),
      committed: (killed) => queue().changed(killed),
    },
  })

  const loop = createFlowsLoop({
    flows,
    onError: (error) => log.error({ err: error }, 'flows could not be read; they are looked at again in a second'),
  })

  return {
    loop,
    validate: validation.validate,
    check: validation.checkSaved,
    /** For the queue. */
    ofQueue: {
      check: flows.check,
      open: (job: JobRow) => flows.open(flowJobOf(job)),
      wake: (trx: Parameters<typeof flows.wake>[0], flow: JobRow) => flows.wake(trx, flow.project_id, flow.id),
      progress: (from: Parameters<typeof flows.progress>[0], flow: JobRow, hasEnded: boolean) =>
        flows.progress(from, flow.project_id, flow.id, hasEnded),
    },
  }
}

const storedOf = (job: JobRow) => readStored<StoredRequest>(job.request)
const limitOf = (parallelism: string | null): number | null => Number(parallelism ?? 0) || null

const flowJob = (job: JobRow | undefined): FlowJob | undefined => (job?.status === 'processing' ? flowJobOf(job) : undefined)

function flowJobOf(job: JobRow): FlowJob {
  const request = storedOf(job)
  return {
    id: job.id,
    projectId: job.project_id,
    branchId: job.branch_id,
    isDefaultBranch: job.is_default_branch === 1,
    componentId: job.component_id,
    configurationId: job.configuration_id,
    configData: job.config_data,
    variableValuesId: job.variable_values_id,
    variableValues: [...request.variableValues, ...(request.variableOverrides ?? [])],
    onlyTaskIds: request.onlyOrchestrationTaskIds ?? request.onlyFlowTaskIds,
    previousJobId: Number(request.previousJobId ?? 0) || null,
    actor: readStored<Actor>(job.actor),
    runId: job.run_id,
    baseUrl: request.baseUrl,
    parallelism: limitOf(request.parallelism),
  }
}

const stepJob = (job: JobRow): StepJob => ({
  id: job.id,
  status: job.status,
  isFinished: isFinished(job.status),
  component: storedOf(job).component,
  config: job.configuration_id,
  startedAt: job.started_at,
  endedAt: job.ended_at,
  result: readStored<Record<string, unknown>>(job.result), // a result is an object
  error: job.error,
})

function requestOf(flow: FlowJob, { work, phaseId, taskId, variableOverrides, startAfter }: Start): JobRequest {
  const { type: _, delayMs: __, variableOverrides: ___, ...given } = work
  return {
    ...given,
    variableOverrides,
    ...(startAfter !== null && { startAfter }),
    parentRunId: flow.runId,
    orchestrationJobId: String(flow.id),
    orchestrationTaskId: taskId,
    orchestrationPhaseId: phaseId,
  }
}
