// From the record of a job to what the job runner gets.

import { readStored } from '../../../kit/stored-json.ts'
import type { QueuedJob } from '../../../model/queued-job.ts'
import type { StoredRequest } from './job-request.ts'
import type { JobRow } from './queue.schema.ts'

export function queuedJob(job: JobRow): QueuedJob {
  const request = readStored<StoredRequest>(job.request)
  const backend = request.backend?.containerType ?? request.backend?.type
  return {
    id: job.id,
    projectId: job.project_id,
    branchId: job.branch_id,
    isDefaultBranch: job.is_default_branch === 1,
    componentId: job.component_id,
    configurationId: job.configuration_id,
    configData: job.config_data,
    rowIds: job.row_ids === null ? null : readStored<string[]>(job.row_ids),
    mode: job.mode,
    inputOnly: request.inputOnly ?? false,
    tag: request.tag ?? null,
    actor: readStored<QueuedJob['actor']>(job.actor),
    variableValuesId: job.variable_values_id,
    variableValues: request.variableValues,
    variableOverrides: request.variableOverrides ?? [],
    backend: typeof backend === 'string' ? backend : undefined,
    backendContext: typeof request.backend?.context === 'string' ? request.backend.context : undefined,
    orchestrationId: request.orchestrationJobId,
    baseUrl: request.baseUrl,
    readyAt: Math.max(job.created_at, job.start_after),
    startedAt: job.started_at ?? job.updated_at,
  }
}
