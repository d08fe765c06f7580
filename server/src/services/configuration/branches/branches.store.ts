// Branches and their metadata, in SQL.

import type { Generated, Kysely, Selectable } from 'kysely'
import { type Db, lockRows } from '../../../engines/metadata-db/dialects.ts'

type BranchTable = {
  id: Generated<number>
  project_id: number
  name: string
  description: string
  is_default: number
  created_at: number
  creator_token_id: number | null
  creator_token_description: string | null
}

type BranchTables = {
  branch: BranchTable
  branch_metadata: {
    id: Generated<number>
    project_id: number
    branch_id: number
    key: string
    value: string
    changed_at: number
  }
}

export interface BranchRecord {
  readonly id: number
  readonly projectId: number
  readonly name: string
  readonly description: string
  readonly isDefault: boolean
  readonly createdAt: number
  /** The default branch has no creator. */
  readonly creator: { readonly tokenId: number; readonly tokenDescription: string } | undefined
}

export interface BranchMetadata {
  readonly id: number
  readonly key: string
  readonly value: string
  readonly changedAt: number
}

const tables = (db: Db): Kysely<BranchTables> => db.withTables<BranchTables>()

const branchesOf = (db: Db, projectId: number) => tables(db).selectFrom('branch').selectAll().where('project_id', '=', projectId)

export async function findBranch(db: Db, projectId: number, id: number): Promise<BranchRecord | undefined> {
  const row = await branchesOf(db, projectId).where('id', '=', id).executeTakeFirst()
  return row && recordOf(row)
}

/** Held until the transaction ends. */
export async function lockBranch(trx: Db, projectId: number, id: number): Promise<BranchRecord | undefined> {
  const row = await branchesOf(trx, projectId).where('id', '=', id).$call(lockRows(trx)).executeTakeFirst()
  return row && recordOf(row)
}

export async function findDefaultBranch(db: Db, projectId: number): Promise<BranchRecord | undefined> {
  const row = await branchesOf(db, projectId).where('is_default', '=', 1).executeTakeFirst()
  return row && recordOf(row)
}

export async function findBranchByName(db: Db, projectId: number, name: string): Promise<BranchRecord | undefined> {
  const row = await branchesOf(db, projectId).where('name', '=', name).executeTakeFirst()
  return row && recordOf(row)
}

/** The default branch first, then by age. */
export async function listBranches(db: Db, projectId: number): Promise<readonly BranchRecord[]> {
  const rows = await branchesOf(db, projectId).orderBy('id', 'desc').execute()
  return rows.map(recordOf)
}

export async function insertBranch(trx: Db, branch: Omit<BranchRecord, 'id'>): Promise<BranchRecord> {
  const { id } = await tables(trx)
    .insertInto('branch')
    .values({
      project_id: branch.projectId,
      name: branch.name,
      description: branch.description,
      is_default: branch.isDefault ? 1 : 0,
      created_at: branch.createdAt,
      creator_token_id: branch.creator?.tokenId ?? null,
      creator_token_description: branch.creator?.tokenDescription ?? null,
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  return { ...branch, id }
}

/** Every project has one, from the transaction that makes the project. */
export async function insertDefaultBranch(trx: Db, projectId: number, createdAt: number): Promise<void> {
  await insertBranch(trx, { projectId, name: 'Main', description: '', isDefault: true, createdAt, creator: undefined })
}

export async function updateBranch(trx: Db, branch: BranchRecord): Promise<void> {
  await tables(trx)
    .updateTable('branch')
    .set({ name: branch.name, description: branch.description })
    .where('project_id', '=', branch.projectId)
    .where('id', '=', branch.id)
    .execute()
}

/** Its metadata goes with it; everything else that lives in a branch must be gone already. */
export async function deleteBranch(trx: Db, projectId: number, id: number): Promise<void> {
  await tables(trx).deleteFrom('branch').where('project_id', '=', projectId).where('id', '=', id).execute()
}

export async function listBranchMetadata(db: Db, projectId: number, branchId: number): Promise<readonly BranchMetadata[]> {
  const rows = await tables(db)
    .selectFrom('branch_metadata')
    .select(['id', 'key', 'value', 'changed_at'])
    .where('project_id', '=', projectId)
    .where('branch_id', '=', branchId)
    .orderBy('id')
    .execute()
  return rows.map((row) => ({ id: row.id, key: row.key, value: row.value, changedAt: row.changed_at }))
}

export async function setBranchMetadata(
  trx: Db,
  projectId: number,
  branchId: number,
  items: readonly { readonly key: string; readonly value: string }[],
  changedAt: number,
): Promise<void> {
  for (const { key, value } of items) {
    await tables(trx)
      .insertInto('branch_metadata')
      .values({ project_id: projectId, branch_id: branchId, key, value, changed_at: changedAt })
      .onConflict((conflict) => conflict.columns(['branch_id', 'key']).doUpdateSet({ value, changed_at: changedAt }))
      .execute()
  }
}

/** Answers the key that is gone. */
export async function deleteBranchMetadata(
  trx: Db,
  projectId: number,
  branchId: number,
  id: number,
): Promise<string | undefined> {
  const deleted = await tables(trx)
    .deleteFrom('branch_metadata')
    .where('project_id', '=', projectId)
    .where('branch_id', '=', branchId)
    .where('id', '=', id)
    .returning('key')
    .executeTakeFirst()
  return deleted?.key
}

const recordOf = (row: Selectable<BranchTable>): BranchRecord => ({
  id: row.id,
  projectId: row.project_id,
  name: row.name,
  description: row.description,
  isDefault: row.is_default === 1,
  createdAt: row.created_at,
  creator:
    row.creator_token_id === null
      ? undefined
      : { tokenId: row.creator_token_id, tokenDescription: row.creator_token_description ?? '' },
})
