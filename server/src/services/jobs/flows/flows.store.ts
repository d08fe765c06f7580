// Runs of flows in the metadata database. A run is written only over the revision that was read; a job of it that ends raises the revision.

import { sql } from 'kysely'
import { type Db, type Trx, withTables } from '../../../engines/metadata-db/dialects.ts'
import { readStored } from '../../../kit/stored-json.ts'
import type { FlowPlan } from './flow-plan.ts'
import type { FlowState } from './flow-state.ts'

interface FlowTables {
  flow_run: {
    job_id: number
    project_id: number
    /** JSON */
    plan: string
    /** JSON */
    state: string
    revision: number
    /** Epoch milliseconds; null: not before a job of it ends. */
    wake_at: number | null
  }
}

export interface FlowRun {
  readonly jobId: number
  readonly projectId: number
  readonly plan: FlowPlan
  readonly state: FlowState
  readonly revision: number
}

export type FlowsStore = ReturnType<typeof createFlowsStore>

const tables = (db: Db) => withTables<FlowTables>(db)

/** Due since ever. */
const AT_ONCE = 0

export function createFlowsStore(db: Db) {
  return {
    insert: async (trx: Trx, run: Omit<FlowRun, 'revision'>): Promise<void> => {
      await tables(trx)
        .insertInto('flow_run')
        .values({
          job_id: run.jobId,
          project_id: run.projectId,
          plan: JSON.stringify(run.plan),
          state: JSON.stringify(run.state),
          revision: 1,
          wake_at: AT_ONCE,
        })
        .execute()
    },

    find: async (from: Db, projectId: number, jobId: number): Promise<FlowRun | undefined> => {
      const row = await tables(from)
        .selectFrom('flow_run')
        .selectAll()
        .where('project_id', '=', projectId)
        .where('job_id', '=', jobId)
        .executeTakeFirst()
      if (!row) return undefined
      const [plan, state] = [readStored<FlowPlan>(row.plan), readStored<FlowState>(row.state)]
      return { jobId, projectId, plan, state, revision: row.revision }
    },

    listDue: (now: number, limit: number): Promise<{ job_id: number; project_id: number }[]> =>
      tables(db)
        .selectFrom('flow_run')
        .select(['job_id', 'project_id'])
        .where('wake_at', '<=', now)
        .orderBy('wake_at')
        .limit(limit)
        .execute(),

    /** False when the run changed since it was read: what was decided is void. */
    claim: async (trx: Trx, { projectId, jobId, revision }: FlowRun): Promise<boolean> => {
      const claimed = await tables(trx)
        .updateTable('flow_run')
        .set({ revision: revision + 1 })
        .where('project_id', '=', projectId)
        .where('job_id', '=', jobId)
        .where('revision', '=', revision)
        .returning('job_id')
        .executeTakeFirst()
      return claimed !== undefined
    },

    save: async (trx: Trx, { projectId, jobId }: FlowRun, state: FlowState, wakeAt: number | null): Promise<void> => {
      await tables(trx)
        .updateTable('flow_run')
        .set({ state: JSON.stringify(state), wake_at: wakeAt })
        .where('project_id', '=', projectId)
        .where('job_id', '=', jobId)
        .execute()
    },

    /** Its job has ended, by a kill or otherwise: nothing is left to decide. */
    rest: async (projectId: number, jobId: number): Promise<void> => {
      await tables(db)
        .updateTable('flow_run')
        .set({ wake_at: null })
        .where('project_id', '=', projectId)
        .where('job_id', '=', jobId)
        .execute()
    },

    wake: async (trx: Trx, projectId: number, jobId: number): Promise<void> => {
      await tables(trx)
        .updateTable('flow_run')
        .set({ wake_at: AT_ONCE, revision: sql`revision + 1` })
        .where('project_id', '=', projectId)
        .where('job_id', '=', jobId)
        .execute()
    },
  }
}
