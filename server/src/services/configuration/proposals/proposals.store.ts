// Proposals, in SQL.

import type { Generated, Kysely, Selectable } from 'kysely'
import { type Db, type Trx, withTables } from '../../../engines/metadata-db/dialects.ts'

interface ProposalTable {
  id: Generated<number>
  project_id: number
  token_id: number
  token_description: string
  branch_id: number
  merge_request_id: number | null
  created_at: number
}

export interface Proposal {
  readonly id: number
  readonly projectId: number
  readonly token: { readonly id: number; readonly description: string }
  readonly branchId: number
  readonly mergeRequestId: number | undefined
  readonly createdAt: Date
}

const table = (db: Db): Kysely<{ proposal: ProposalTable }> => withTables<{ proposal: ProposalTable }>(db)

const MAX_LISTED = 500

export async function insertProposal(trx: Trx, proposal: Omit<Proposal, 'id' | 'mergeRequestId'>): Promise<void> {
  await table(trx)
    .insertInto('proposal')
    .values({
      project_id: proposal.projectId,
      token_id: proposal.token.id,
      token_description: proposal.token.description,
      branch_id: proposal.branchId,
      merge_request_id: null,
      created_at: proposal.createdAt.getTime(),
    })
    .execute()
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
})
