// Rehearsals, in SQL.

import type { Generated, Kysely, Selectable } from 'kysely'
import { type Db, type Trx, withTables } from '../../../engines/metadata-db/dialects.ts'
import { readStored } from '../../../kit/stored-json.ts'
import type { Found } from './found.ts'
import type { Plan } from './plan.ts'

interface RehearsalTable {
  id: Generated<number>
  project_id: number
  proposal_id: number
  branch_id: number
  /** Null: nothing of the proposal can run, or it has not begun yet. */
  job_id: number | null
  /** Fingerprint of what was rehearsed. */
  content: string
  plan: string
  /** Null while the job runs, and until its tables are compared. */
  result: string | null
  created_at: number
}

export interface Rehearsal {
  readonly id: number
  readonly projectId: number
  readonly proposalId: number
  readonly branchId: number
  readonly jobId: number | null
  readonly content: string
  readonly plan: Plan
  readonly result: Found | null
  readonly createdAt: Date
}

const table = (db: Db): Kysely<{ rehearsal: RehearsalTable }> => withTables<{ rehearsal: RehearsalTable }>(db)

export async function insertRehearsal(trx: Trx, one: Omit<Rehearsal, 'id' | 'result'>): Promise<number> {
  const { id } = await table(trx)
    .insertInto('rehearsal')
    .values({
      ...{ project_id: one.projectId, proposal_id: one.proposalId, branch_id: one.branchId, job_id: one.jobId },
      ...{ content: one.content, plan: JSON.stringify(one.plan), result: null, created_at: one.createdAt.getTime() },
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

/** The last ones of a proposal, newest first. */
export async function listRehearsals(db: Db, projectId: number, proposalId: number, limit: number): Promise<Rehearsal[]> {
  const rows = await table(db)
    .selectFrom('rehearsal')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('proposal_id', '=', proposalId)
    .orderBy('id', 'desc')
    .limit(limit)
    .execute()
  return rows.map(rehearsalOf)
}

/** How many of a project began after a moment. */
export async function countRehearsals(db: Db, projectId: number, since: Date): Promise<number> {
  const { count } = await table(db)
    .selectFrom('rehearsal')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('project_id', '=', projectId)
    .where('created_at', '>', since.getTime())
    .executeTakeFirstOrThrow()
  return Number(count)
}

export async function saveResult(trx: Trx, projectId: number, id: number, result: Found): Promise<void> {
  await table(trx)
    .updateTable('rehearsal')
    .set({ result: JSON.stringify(result) })
    .where('project_id', '=', projectId)
    .where('id', '=', id)
    .execute()
}

export async function saveJob(trx: Trx, projectId: number, id: number, jobId: number | null): Promise<void> {
  await table(trx)
    .updateTable('rehearsal')
    .set({ job_id: jobId })
    .where('project_id', '=', projectId)
    .where('id', '=', id)
    .execute()
}

export async function deleteRehearsal(trx: Trx, projectId: number, id: number): Promise<void> {
  await table(trx).deleteFrom('rehearsal').where('project_id', '=', projectId).where('id', '=', id).execute()
}

const rehearsalOf = (row: Selectable<RehearsalTable>): Rehearsal => ({
  id: row.id,
  projectId: row.project_id,
  proposalId: row.proposal_id,
  branchId: row.branch_id,
  jobId: row.job_id,
  content: row.content,
  plan: readStored<Plan>(row.plan),
  result: row.result === null ? null : readStored<Found>(row.result),
  createdAt: new Date(row.created_at),
})
