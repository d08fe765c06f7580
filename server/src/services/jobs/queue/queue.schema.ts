// The tables of the queue: jobs, and which of them hold a configuration.

import type { Generated, Insertable, Kysely, Selectable } from 'kysely'
import { type Db, withTables } from '../../../engines/metadata-db/dialects.ts'
import type { JobStatus } from './job-states.ts'

export interface QueueTables {
  queue_job: {
    id: Generated<number>
    project_id: number
    branch_id: number
    is_default_branch: number
    component_id: string
    configuration_id: string | null
    type: JobType
    mode: JobMode
    status: JobStatus
    waiting_reason: string | null
    run_id: string
    parent_run_id: string
    parent_job_id: number | null
    row_ids: string | null
    tag: string
    variable_values_id: string | null
    deduplication_id: string | null
    token_id: number
    token_description: string
    actor: string
    request: string
    config_data: string | null
    lock_key: string | null
    sibling_limit: number | null
    /** Children of a flow that it waits for together. */
    step_group: number | null
    created_at: number
    start_after: number
    started_at: number | null
    ended_at: number | null
    updated_at: number
    attempt: number
    worker: string | null
    lease_until: number | null
    has_begun: number
    result: string
    usage: string
    metrics: string
    error: string | null
    config_version: Generated<number | null>
    cause_kind: Generated<string | null>
    cause_subject: Generated<string | null>
    /** Median of the runs before this one that ended well, and of how many. */
    usual_ms: Generated<number | null>
    usual_runs: Generated<number | null>
    /** JSON of a JobProgress; only while it runs. */
    progress: Generated<string | null>
    /** The description of the token that cancelled or terminated it. */
    ended_by: Generated<string | null>
    /** What the node that runs it must have, in the order of the alphabet, with commas; null: any node runs it. */
    labels: Generated<string | null>
    /** 1: may hold objects below # in clear (sealing.ts). */
    secrets_stale: Generated<number>
  }
  queue_lock: { lock_key: string; project_id: number; job_id: number }
}

export type JobType = 'standard' | 'container' | 'phaseContainer' | 'orchestrationContainer' | 'retryContainer'
/** `rehearse`: offline, against recorded answers, in a development branch; only the module of rehearsals creates such jobs. */
export type JobMode = 'run' | 'forceRun' | 'debug' | 'rehearse'
export type JobRow = Selectable<QueueTables['queue_job']>
export type NewJobRow = Omit<Insertable<QueueTables['queue_job']>, 'run_id' | 'id'>

export const tables = (db: Db): Kysely<QueueTables> => withTables<QueueTables>(db)
