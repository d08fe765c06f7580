// The queue as flows see it, and flows as the queue sees them: records of jobs on one side, the ports of model/flow-ports.ts on the other.

import type { Db, Trx } from '../../../engines/metadata-db/dialects.ts'
import { readStored } from '../../../kit/stored-json.ts'
import type { Actor } from '../../../model/actor.ts'
import type { FlowJob, FlowQueue, StepJob, StepStart } from '../../../model/flow-ports.ts'
import type { JobRequest, StoredRequest } from './job-request.ts'
import { isFinished } from './job-states.ts'
import type { JobRow } from './queue.schema.ts'
import type { Queue, QueueFlows } from './queue.ts'

export const createFlowQueue = (queue: () => Queue): FlowQueue => ({
  listRunning: async (projectIds, runs) => {
    const flows = (await queue().listProcessing(projectIds)).filter(({ type }) => type === 'orchestrationContainer')
    return Promise.all(
      flows.map(async (job) => ({
        flow: flowJob(job),
        earlierRunIds: (await queue().listEarlierRuns(job, runs)).map(({ id }) => id),
      })),
    )
  },
  find: async (projectId, jobId) => {
    const job = await queue().find(projectId, jobId)
    return job?.status === 'processing' ? flowJob(job) : undefined
  },
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
  end: (trx, flow, end) => queue().endFlow(trx, flow, end),
  committed: (killed) => queue().changed(killed),
})

/** What the queue calls of flows, by the job of the flow. */
interface FlowRuns extends Pick<QueueFlows, 'check'> {
  open(job: FlowJob): Promise<(trx: Trx) => Promise<void>>
  wake(trx: Trx, projectId: number, jobId: number): Promise<void>
  progress(from: Db, projectId: number, jobId: number, hasEnded: boolean): Promise<Readonly<Record<string, unknown>>>
}

export const createQueueFlows = ({ check, open, wake, progress }: FlowRuns): QueueFlows => ({
  check,
  open: (job) => open(flowJob(job)),
  wake: (trx, flow) => wake(trx, flow.project_id, flow.id),
  progress: (from, flow, hasEnded) => progress(from, flow.project_id, flow.id, hasEnded),
})

function flowJob(job: JobRow): FlowJob {
  const request = readStored<StoredRequest>(job.request)
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
    parallelism: Number(request.parallelism ?? 0) || null,
  }
}

const stepJob = (job: JobRow): StepJob => ({
  id: job.id,
  status: job.status,
  isFinished: isFinished(job.status),
  component: readStored<StoredRequest>(job.request).component,
  config: job.configuration_id,
  startedAt: job.started_at,
  endedAt: job.ended_at,
  result: readStored<Record<string, unknown>>(job.result),
  error: job.error,
})

function requestOf(flow: FlowJob, { work, phaseId, taskId, variableOverrides, startAfter }: StepStart): JobRequest {
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
