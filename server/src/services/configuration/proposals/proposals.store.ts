// Proposals, in SQL.

import type { Generated, Kysely, Selectable } from 'kysely'
import { type Db, type Trx, withTables } from '../../../engines/metadata-db/dialects.ts'
import { readStored } from '../../../kit/stored-json.ts'
import type { AppliedStorageChange } from '../../../model/hooks.ts'

interface ProposalTable {
  id: Generated<number>
  project_id: number
  token_id: number
  token_description: string
  branch_id: number
  merge_request_id: number | null
  created_at: number
  /** JSON of Replaced[]; null before it is accepted. */
  replaced: string | null
  undone_at: number | null
  /** JSON of AppliedStorageChange[]; null before it is applied. */
  storage_applied: string | null
}

/** A configuration of the default branch before a proposal changed it; `version` is null for one that did not exist. */
export interface Replaced {
  readonly componentId: string
  readonly configurationId: string
  readonly kind: 'created' | 'changed' | 'deleted'
  readonly version: number | null
}

export interface Proposal {
  readonly id: number
  readonly projectId: number
  readonly token: { readonly id: number; readonly description: string }
  readonly branchId: number
  readonly mergeRequestId: number | undefined
  readonly createdAt: Date
  readonly replaced: readonly Replaced[] | undefined
  readonly undoneAt: Date | undefined
  /** Besides configurations. */
  readonly storageApplied: readonly AppliedStorageChange[]
}

const table = (db: Db): Kysely<{ proposal: ProposalTable }> => withTables<{ proposal: ProposalTable }>(db)

const MAX_LISTED = 500

export async function insertProposal(
  trx: Trx,
  proposal: Pick<Proposal, 'projectId' | 'token' | 'branchId' | 'createdAt'>,
): Promise<number> {
  const { id } = await table(trx)
    .insertInto('proposal')
    .values({
      project_id: proposal.projectId,
      token_id: proposal.token.id,
      token_description: proposal.token.description,
      branch_id: proposal.branchId,
      merge_request_id: null,
      created_at: proposal.createdAt.getTime(),
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

/** Of a branch, the newest. */
export async function findProposalOfBranch(db: Db, projectId: number, branchId: number): Promise<Proposal | undefined> {
  const row = await table(db)
    .selectFrom('proposal')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('branch_id', '=', branchId)
    .orderBy('id', 'desc')
    .executeTakeFirst()
  return row && proposalOf(row)
}

export async function findProposalOfRequest(db: Db, projectId: number, mergeRequestId: number): Promise<Proposal | undefined> {
  const row = await table(db)
    .selectFrom('proposal')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('merge_request_id', '=', mergeRequestId)
    .executeTakeFirst()
  return row && proposalOf(row)
}

export async function countProposalsOfToken(db: Db, projectId: number, tokenId: number, since: Date): Promise<number> {
  const { count } = await table(db)
    .selectFrom('proposal')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('project_id', '=', projectId)
    .where('token_id', '=', tokenId)
    .where('created_at', '>', since.getTime())
    .executeTakeFirstOrThrow()
  return Number(count)
}

/** Of all projects: those that began between two moments. */
export async function listBegunBetween(db: Db, after: Date, until: Date, limit: number): Promise<Proposal[]> {
  const rows = await table(db)
    .selectFrom('proposal')
    .selectAll()
    .where('created_at', '>', after.getTime())
    .where('created_at', '<', until.getTime())
    .orderBy('id', 'desc')
    .limit(limit)
    .execute()
  return rows.map(proposalOf)
}

export async function setReplaced(trx: Trx, projectId: number, id: number, replaced: readonly Replaced[]): Promise<void> {
  await table(trx)
    .updateTable('proposal')
    .set({ replaced: JSON.stringify(replaced) })
    .where('project_id', '=', projectId)
    .where('id', '=', id)
    .execute()
}

export async function setStorageApplied(
  trx: Trx,
  projectId: number,
  id: number,
  applied: readonly AppliedStorageChange[],
): Promise<void> {
  await table(trx)
    .updateTable('proposal')
    .set({ storage_applied: JSON.stringify(applied) })
    .where('project_id', '=', projectId)
    .where('id', '=', id)
    .execute()
}

/** False if it was undone before. */
export async function setUndone(trx: Trx, projectId: number, id: number, at: Date): Promise<boolean> {
  const { numUpdatedRows } = await table(trx)
    .updateTable('proposal')
    .set({ undone_at: at.getTime() })
    .where('project_id', '=', projectId)
    .where('id', '=', id)
    .where('undone_at', 'is', null)
    .executeTakeFirst()
  return Number(numUpdatedRows) === 1
}

export async function findProposal(db: Db, projectId: number, id: number): Promise<Proposal | undefined> {
  const row = await table(db)
    .selectFrom('proposal')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('id', '=', id)
    .executeTakeFirst()
  return row && proposalOf(row)
}

/** The one that the token began last. */
export async function findNewestOfToken(db: Db, projectId: number, tokenId: number): Promise<Proposal | undefined> {
  const row = await table(db)
    .selectFrom('proposal')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('token_id', '=', tokenId)
    .orderBy('id', 'desc')
    .executeTakeFirst()
  return row && proposalOf(row)
}

/** Newest first. */
export async function listProposals(db: Db, projectId: number): Promise<Proposal[]> {
  const rows = await table(db)
    .selectFrom('proposal')
    .selectAll()
    .where('project_id', '=', projectId)
    .orderBy('id', 'desc')
    .limit(MAX_LISTED)
    .execute()
  return rows.map(proposalOf)
}

export async function setMergeRequest(trx: Trx, projectId: number, id: number, mergeRequestId: number): Promise<void> {
  await table(trx)
    .updateTable('proposal')
    .set({ merge_request_id: mergeRequestId })
    .where('project_id', '=', projectId)
    .where('id', '=', id)
    .execute()
}

const proposalOf = (row: Selectable<ProposalTable>): Proposal => ({
  id: row.id,
  projectId: row.project_id,
  token: { id: row.token_id, description: row.token_description },
  branchId: row.branch_id,
  mergeRequestId: row.merge_request_id ?? undefined,
  createdAt: new Date(row.created_at),
  replaced: row.replaced === null ? undefined : readStored<readonly Replaced[]>(row.replaced),
  undoneAt: row.undone_at === null ? undefined : new Date(row.undone_at),
  storageApplied: row.storage_applied === null ? [] : readStored<readonly AppliedStorageChange[]>(row.storage_applied),
})
