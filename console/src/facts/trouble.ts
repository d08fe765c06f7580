// What needs a person: configurations whose last run failed, and tables that are late.

import type { Job, JudgedFreshness } from '../../../client/src/operations.ts'
import { useLoad } from '../load.tsx'
import { isOver } from './job.ts'
import { useExisting } from './names.ts'

/** Jobs and tables among which trouble is looked for. */
export const LOOKED_AT = 200

export interface Trouble {
  readonly failing: readonly Job[]
  /** The latest first. */
  readonly late: readonly JudgedFreshness[]
}

export function useTrouble(): Trouble {
  const jobs = useLoad('queue.search', { query: { limit: LOOKED_AT } })
  const tables = useLoad('lineage.freshness', { query: { limit: LOOKED_AT } })
  const exists = useExisting()
  return {
    failing: failingNow(jobs.data ?? []).filter((job) => exists(job.component, job.config)),
    late: (tables.data ?? []).filter(({ state }) => state === 'late'),
  }
}

/** Of each configuration the newest run that has ended, when it failed. Jobs come newest first. */
function failingNow(jobs: readonly Job[]): readonly Job[] {
  const newest = new Map<string, Job>()
  for (const job of jobs) {
    const key = `${job.component} ${job.config}`
    if (isOver(job.status) && job.config !== null && !newest.has(key)) newest.set(key, job)
  }
  return [...newest.values()].filter((job) => job.status === 'error')
}
