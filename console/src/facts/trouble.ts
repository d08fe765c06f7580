// What needs a person: configurations whose last run failed, and tables that are late.

import type { Job, JudgedFreshness } from '../../../client/src/operations.ts'
import { useLoad } from '../load.tsx'
import { failingNow } from './failing-jobs.ts'
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
