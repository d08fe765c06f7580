// Merge requests, in SQL.

import type { Generated, Kysely, Selectable } from 'kysely'
import { type Db, lockRows, withTables } from '../../../engines/metadata-db/dialects.ts'
import { readStored } from '../../../kit/stored-json.ts'
import type { MergeRequestState } from './merge-request-states.ts'

type MergeRequestTable = {
  id: Generated<number>
  project_id: number
  branch_from_id: number
  branch_into_id: number
  title: string
  description: string
  external_id: string | null
  state: MergeRequestState
  auto_merge_strategy: string
  auto_merge_at: string | null
  reviewer_ids: string
  approvals: string
  activity: string
  created_at: number
  creator_token_id: number
  creator_token_description: string
  change_log: string
  merged_at: number | null
  merger_id: number | null
  merger_name: string | null
}

/** The token that did something, and the person behind it, if there is one. */
export interface Person {
  readonly id: number
  readonly name: string
  readonly personId?: number
}

export interface Activity {
  readonly at: number
  readonly by: Person
  readonly what: string
  readonly reason?: string
}

/** A configuration that the branch made, changed or deleted. */
export interface LoggedChange {
  readonly componentId: string
  readonly configurationId: string
  readonly isDeleted: boolean
  readonly lastVersionIdentifier: string
}

/** Why a request was cancelled with its branch. */
export const BRANCH_DELETED = 'The branch was deleted.'

export interface MergeRequest {
  readonly id: number
  readonly projectId: number
  readonly branchFromId: number
  readonly branchIntoId: number
  readonly title: string
  readonly description: string
  readonly externalId: string | null
  readonly state: MergeRequestState
  readonly autoMergeStrategy: string
  readonly autoMergeAt: string | null
  readonly reviewerIds: readonly number[]
  readonly approvals: readonly { readonly by: Person; readonly at: number }[]
  readonly activity: readonly Activity[]
  readonly changeLog: readonly LoggedChange[]
  readonly createdAt: number
  readonly creator: Person
  readonly merged: { readonly at: number; readonly by: Person } | undefined
}

interface Tables {
  merge_request: MergeRequestTable
  merge_request_setting: { project_id: number; required_approvals: number }
}

const tables = (db: Db): Kysely<Tables> => withTables<Tables>(db)

/** How many approvals the project requires; undefined for the default. */
export async function findRequiredApprovals(db: Db, projectId: number): Promise<number | undefined> {
  const row = await tables(db)
    .selectFrom('merge_request_setting')
    .select('required_approvals')
    .where('project_id', '=', projectId)
    .executeTakeFirst()
  return row?.required_approvals
}

export async function setRequiredApprovals(trx: Db, projectId: number, count: number | undefined): Promise<void> {
  await tables(trx).deleteFrom('merge_request_setting').where('project_id', '=', projectId).execute()
  if (count !== undefined)
    await tables(trx).insertInto('merge_request_setting').values({ project_id: projectId, required_approvals: count }).execute()
}

export async function listMergeRequests(db: Db, projectId: number): Promise<readonly MergeRequest[]> {
  const rows = await tables(db)
    .selectFrom('merge_request')
    .selectAll()
    .where('project_id', '=', projectId)
    .orderBy('id', 'desc')
    .execute()
  return rows.map(recordOf)
}

/** Those that a merge holds. */
export async function listInMerge(
  db: Db,
  projectId: number,
): Promise<readonly { readonly id: number; readonly branchFromId: number }[]> {
  const rows = await tables(db)
    .selectFrom('merge_request')
    .select(['id', 'branch_from_id'])
    .where('project_id', '=', projectId)
    .where('state', '=', 'in_merge')
    .execute()
  return rows.map((row) => ({ id: row.id, branchFromId: row.branch_from_id }))
}

/** Of every project: approved ones that wait for their time. */
export async function listScheduledMerges(db: Db): Promise<readonly MergeRequest[]> {
  const rows = await tables(db)
    .selectFrom('merge_request')
    .selectAll()
    .where('state', '=', 'approved')
    .where('auto_merge_strategy', '=', 'scheduled')
    .orderBy('id')
    .execute()
  return rows.map(recordOf)
}

export async function findMergeRequest(db: Db, projectId: number, id: number): Promise<MergeRequest | undefined> {
  const row = await tables(db)
    .selectFrom('merge_request')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('id', '=', id)
    .$call(lockRows(db))
    .executeTakeFirst()
  return row && recordOf(row)
}

export async function insertMergeRequest(trx: Db, request: Omit<MergeRequest, 'id'>): Promise<MergeRequest> {
  const { id } = await tables(trx)
    .insertInto('merge_request')
    .values({
      project_id: request.projectId,
      branch_from_id: request.branchFromId,
      branch_into_id: request.branchIntoId,
      created_at: request.createdAt,
      creator_token_id: request.creator.id,
      creator_token_description: request.creator.name,
      ...changing(request),
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  return { ...request, id }
}

export async function updateMergeRequest(trx: Db, request: MergeRequest): Promise<void> {
  await tables(trx)
    .updateTable('merge_request')
    .set(changing(request))
    .where('project_id', '=', request.projectId)
    .where('id', '=', request.id)
    .execute()
}

const changing = (request: Omit<MergeRequest, 'id'>) => ({
  title: request.title,
  description: request.description,
  external_id: request.externalId,
  state: request.state,
  auto_merge_strategy: request.autoMergeStrategy,
  auto_merge_at: request.autoMergeAt,
  reviewer_ids: JSON.stringify(request.reviewerIds),
  approvals: JSON.stringify(request.approvals),
  activity: JSON.stringify(request.activity),
  change_log: JSON.stringify(request.changeLog),
  merged_at: request.merged?.at ?? null,
  merger_id: request.merged?.by.id ?? null,
  merger_name: request.merged?.by.name ?? null,
})

const recordOf = (row: Selectable<MergeRequestTable>): MergeRequest => ({
  id: row.id,
  projectId: row.project_id,
  branchFromId: row.branch_from_id,
  branchIntoId: row.branch_into_id,
  title: row.title,
  description: row.description,
  externalId: row.external_id,
  state: row.state,
  autoMergeStrategy: row.auto_merge_strategy,
  autoMergeAt: row.auto_merge_at,
  // The four lists are written by `changing` above.
  reviewerIds: readStored<number[]>(row.reviewer_ids),
  approvals: readStored<MergeRequest['approvals']>(row.approvals),
  activity: readStored<Activity[]>(row.activity),
  changeLog: readStored<LoggedChange[]>(row.change_log),
  createdAt: row.created_at,
  creator: { id: row.creator_token_id, name: row.creator_token_description },
  merged: row.merged_at === null ? undefined : { at: row.merged_at, by: { id: row.merger_id ?? 0, name: row.merger_name ?? '' } },
})
