// What other modules get of a job that ends.

import type { JobEndFacts } from '../../../model/job-end.ts'
import type { StoredRequest } from './job-request.ts'
import type { JobRow } from './queue.schema.ts'
import type { JobEnd } from './queue.store.ts'

export function jobEndFacts(job: JobRow, end: JobEnd, now: number): JobEndFacts {
  const request = JSON.parse(job.request) as StoredRequest // written by jobRow
  const isTask = request.orchestrationTaskId !== null
  return {
    projectId: job.project_id,
    branchId: job.branch_id,
    isDefaultBranch: job.is_default_branch === 1,
    jobId: job.id,
    type: job.type,
    componentId: job.component_id,
    configurationId: job.configuration_id,
    status: end.status,
    isPart: job.type === 'phaseContainer' || (job.parent_job_id !== null && !isTask),
    inputBytes: inputBytesOf(end.metrics),
    errorMessage: end.error,
    startedAt: job.started_at,
    endedAt: now,
    baseUrl: request.baseUrl,
    tasks: tasksOf(end.result),
  }
}

function inputBytesOf(metrics: string): number {
  const { storage } = JSON.parse(metrics) as { storage?: { inputTablesBytesSum?: number } } // an empty list before a job has run
  return storage?.inputTablesBytesSum ?? 0
}

/** Only the result of a flow has tasks; the others are not read. */
function tasksOf(result: string): readonly unknown[] {
  if (!result.includes('"tasks"')) return []
  const { tasks } = JSON.parse(result) as { tasks?: unknown } // results are objects
  return Array.isArray(tasks) ? tasks : []
}
