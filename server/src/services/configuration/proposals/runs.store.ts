// What runs once a proposal is accepted, in SQL.

import type { Generated, Selectable } from 'kysely'
import { type Db, type Trx, withTables } from '../../../engines/metadata-db/dialects.ts'

interface Tables {
  proposal_run: {
    id: Generated<number>
    project_id: number
    proposal_id: number
    component_id: string
    configuration_id: string
    is_wanted: number
    token_id: number | null
    is_due: number
    job_id: string | null
    problem: string | null
  }
}

export interface ProposedRun {
  readonly componentId: string
  readonly configurationId: string
}

export interface KnownRun extends ProposedRun {
  readonly id: number
  readonly projectId: number
  /** Who accepted it. */
  readonly tokenId: number | undefined
  readonly isWanted: boolean
  readonly jobId: string | null
  /** Why no job was started. */
  readonly problem: string | null
}

const table = (db: Db) => withTables<Tables>(db)

export async function listRuns(db: Db, projectId: number, proposalId: number): Promise<KnownRun[]> {
  const rows = await table(db)
    .selectFrom('proposal_run')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('proposal_id', '=', proposalId)
    .orderBy('id')
    .execute()
  return rows.map(runOf)
}

/** Of all projects. */
export async function listDueRuns(
  db: Db,
  { after, limit }: { readonly after: number; readonly limit: number },
): Promise<KnownRun[]> {
  const rows = await table(db)
    .selectFrom('proposal_run')
    .selectAll()
    .where('is_due', '=', 1)
    .where('id', '>', after)
    .orderBy('id')
    .limit(limit)
    .execute()
  return rows.map(runOf)
}

export async function replaceRuns(trx: Trx, projectId: number, proposalId: number, runs: readonly ProposedRun[]): Promise<void> {
  await table(trx).deleteFrom('proposal_run').where('project_id', '=', projectId).where('proposal_id', '=', proposalId).execute()
  const common = { project_id: projectId, proposal_id: proposalId, is_wanted: 1, is_due: 0 }
  for (const { componentId, configurationId } of runs)
    await table(trx)
      .insertInto('proposal_run')
      .values({ ...common, component_id: componentId, configuration_id: configurationId })
      .execute()
}

export async function setWanted(trx: Trx, projectId: number, proposalId: number, isWanted: boolean): Promise<void> {
  await table(trx)
    .updateTable('proposal_run')
    .set({ is_wanted: isWanted ? 1 : 0 })
    .where('project_id', '=', projectId)
    .where('proposal_id', '=', proposalId)
    .execute()
}

/** The wanted ones are due, with the rights of that token. */
export async function setDue(trx: Trx, projectId: number, proposalId: number, tokenId: number): Promise<void> {
  await table(trx)
    .updateTable('proposal_run')
    .set({ token_id: tokenId, is_due: 1 })
    .where('project_id', '=', projectId)
    .where('proposal_id', '=', proposalId)
    .where('is_wanted', '=', 1)
    .execute()
}

/** Those that were not started yet are left out. */
export async function cancelDue(trx: Trx, projectId: number, proposalId: number, problem: string): Promise<void> {
  await table(trx)
    .updateTable('proposal_run')
    .set({ is_due: 0, problem })
    .where('project_id', '=', projectId)
    .where('proposal_id', '=', proposalId)
    .where('is_due', '=', 1)
    .execute()
}

/** False if it was done before, by another node for example. */
export async function setDone(
  trx: Trx,
  { projectId, id }: KnownRun,
  outcome: { readonly jobId: string | null; readonly problem: string | null },
): Promise<boolean> {
  const { numUpdatedRows } = await table(trx)
    .updateTable('proposal_run')
    .set({ is_due: 0, job_id: outcome.jobId, problem: outcome.problem })
    .where('project_id', '=', projectId)
    .where('id', '=', id)
    .where('is_due', '=', 1)
    .executeTakeFirst()
  return Number(numUpdatedRows) === 1
}

const runOf = (row: Selectable<Tables['proposal_run']>): KnownRun => ({
  id: row.id,
  projectId: row.project_id,
  componentId: row.component_id,
  configurationId: row.configuration_id,
  tokenId: row.token_id ?? undefined,
  isWanted: row.is_wanted === 1,
  jobId: row.job_id,
  problem: row.problem,
})
