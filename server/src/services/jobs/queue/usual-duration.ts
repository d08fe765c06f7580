// How the runs of a configuration usually go: how long they take, and which was the last that ended well.

import { type SqlBool, sql } from 'kysely'
import type { Db } from '../../../engines/metadata-db/dialects.ts'
import { statement } from '../../../engines/metadata-db/statement.ts'
import { medianOf } from '../../../kit/median.ts'
import type { QueuedJob } from '../../../model/queued-job.ts'
import { type JobRow, tables } from './queue.schema.ts'

/** The key of runs of the same kind. */
export type RunOf = Pick<JobRow, 'id' | 'project_id' | 'branch_id' | 'component_id' | 'configuration_id' | 'type' | 'row_ids'>
export type EarlierRun = Pick<JobRow, 'id' | 'started_at' | 'ended_at' | 'config_version'>

/** In the words of the index `queue_job_good_runs`, without parameters: only then do the databases use it. */
const ENDED_WELL = sql<SqlBool>`status in ('success', 'warning') and (parent_job_id is null or step_group is not null)`

type RunsBefore = RunOf & { readonly limit: number }

const runsBefore = (db: Db, job: RunsBefore) =>
  tables(db)
    .selectFrom('queue_job')
    .select(['id', 'started_at', 'ended_at', 'config_version'])
    .where('project_id', '=', job.project_id)
    .where('component_id', '=', job.component_id)
    .where('configuration_id', '=', job.configuration_id)
    .where('branch_id', '=', job.branch_id)
    .where('type', '=', job.type)
    .where('id', '<', job.id)
    .where(ENDED_WELL)
    .orderBy('id', 'desc')
    .limit(job.limit)

// Two statements: PostgreSQL takes `is not distinct from` for rare, and would read and sort all runs of the configuration.
const wholeRuns = statement((db, job: RunsBefore) => runsBefore(db, job).where('row_ids', 'is', null))
const runsOfRows = statement((db, job: RunsBefore) => runsBefore(db, job).where('row_ids', '=', job.row_ids))

/** Every job runs this query when it starts. */
export const earlierRuns = (db: Db, job: RunsBefore): Promise<readonly EarlierRun[]> =>
  job.row_ids === null ? wholeRuns(db, job) : runsOfRows(db, job)

/** Runs that the median is taken of; older ones are less relevant. */
const RUNS = 15

export interface UsualDuration {
  readonly ms: number | null
  readonly runs: number
}

/** Of runs of the same configuration and the same rows that ended well; a job without a stored configuration has no others. */
export async function usualDuration(from: Db, job: RunOf): Promise<UsualDuration> {
  if (job.configuration_id === null) return { ms: null, runs: 0 }
  const runs = await earlierRuns(from, { ...job, limit: RUNS })
  return { ms: medianOf(runs.map(durationOf)), runs: runs.length }
}

const durationOf = ({ started_at, ended_at }: EarlierRun): number => (ended_at ?? 0) - (started_at ?? 0)

export async function lastGoodRun(db: Db, job: QueuedJob) {
  const [good] = await earlierRuns(db, {
    id: job.id,
    project_id: job.projectId,
    branch_id: job.branchId,
    component_id: job.componentId,
    configuration_id: job.configurationId,
    type: 'standard',
    row_ids: job.rowIds === null ? null : JSON.stringify(job.rowIds),
    limit: 1,
  })
  return good && { jobId: good.id, endedAt: good.ended_at ?? 0, configVersion: good.config_version }
}
