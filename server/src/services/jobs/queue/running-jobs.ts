// Jobs that run now, and how long the last runs of the same configuration took.

import { readStored } from '../../../kit/stored-json.ts'
import type { ListRunning } from '../../../model/notification-port.ts'
import type { StoredRequest } from './job-request.ts'
import type { JobRow } from './queue.schema.ts'
import type { QueueStore } from './queue.store.ts'

/** How many earlier runs make the average. */
const RUNS = 10

export function createRunningJobs(store: Pick<QueueStore, 'listProcessing' | 'listEarlierRuns'>): ListRunning {
  /** By job: what ran before it stays as it was. Undefined: nothing did. */
  let averages = new Map<number, number | undefined>()

  async function averageOf(job: JobRow): Promise<number | undefined> {
    if (averages.has(job.id)) return averages.get(job.id)
    const runs = await store.listEarlierRuns(job, RUNS)
    if (runs.length === 0) return undefined
    return runs.reduce((sum, { started_at, ended_at }) => sum + (ended_at ?? 0) - (started_at ?? ended_at ?? 0), 0) / runs.length
  }

  return async (projectIds) => {
    const jobs = await store.listProcessing(projectIds)
    averages = new Map(await Promise.all(jobs.map(async (job) => [job.id, await averageOf(job)] as const)))
    return jobs.flatMap((job) => {
      const averageMs = averages.get(job.id)
      if (averageMs === undefined || job.started_at === null) return []
      return {
        projectId: job.project_id,
        branchId: job.branch_id,
        jobId: job.id,
        componentId: job.component_id,
        configurationId: job.configuration_id,
        phase: undefined,
        startedAt: job.started_at,
        averageMs,
        baseUrl: readStored<StoredRequest>(job.request).baseUrl,
      }
    })
  }
}
