// Rows and their versions, in SQL. A deleted row keeps its head: an id that comes back continues its versions.

import { type Insertable, type Selectable, sql } from 'kysely'
import type { Db } from '../../../../engines/metadata-db/dialects.ts'
import { statement } from '../../../../engines/metadata-db/statement.ts'
import {
  type RowTable,
  type RowVersionTable,
  sharedColumns,
  sharedFields,
  stampColumns,
  tables,
} from './configurations.schema.ts'
import type { RowRecord, RowVersionRecord } from './records.ts'
import { deleteRowWords, type Owner, saveRowWords } from './words.store.ts'

export async function listRows(db: Db, projectId: number, ownerId: number): Promise<readonly RowRecord[]> {
  const rows = await tables(db)
    .selectFrom('configuration_row')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('owner_id', '=', ownerId)
    .where('is_deleted', '=', 0)
    .execute()
  return rows.map(rowOf)
}

/** Rows of several configurations at once, by owner. */
export async function listRowsOf(
  db: Db,
  projectId: number,
  ownerIds: readonly number[],
): Promise<ReadonlyMap<number, RowRecord[]>> {
  const byOwner = new Map<number, RowRecord[]>(ownerIds.map((id) => [id, []]))
  if (ownerIds.length === 0) return byOwner
  const rows = await tables(db)
    .selectFrom('configuration_row')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('owner_id', 'in', ownerIds)
    .where('is_deleted', '=', 0)
    .execute()
  for (const row of rows) byOwner.get(row.owner_id)?.push(rowOf(row))
  return byOwner
}

/** When each row was created, deleted ones included: rows that were never sorted have this order. */
export async function listRowCreations(db: Db, projectId: number, ownerId: number): Promise<ReadonlyMap<string, number>> {
  const rows = await tables(db)
    .selectFrom('configuration_row')
    .select(['row_id', 'created_at'])
    .where('project_id', '=', projectId)
    .where('owner_id', '=', ownerId)
    .execute()
  return new Map(rows.map((row) => [row.row_id, row.created_at]))
}

/** By row, those of deleted rows as they were left (corrections-2 A14). */
export async function listRowStates(db: Db, projectId: number, ownerId: number): Promise<ReadonlyMap<string, string>> {
  const rows = await tables(db)
    .selectFrom('configuration_row')
    .select(['row_id', 'state'])
    .where('project_id', '=', projectId)
    .where('owner_id', '=', ownerId)
    .execute()
  return new Map(rows.map((row) => [row.row_id, row.state]))
}

export async function listRowIds(db: Db, projectId: number, ownerId: number): Promise<readonly string[]> {
  const rows = await tables(db)
    .selectFrom('configuration_row')
    .select('row_id')
    .where('project_id', '=', projectId)
    .where('owner_id', '=', ownerId)
    .where('is_deleted', '=', 0)
    .execute()
  return rows.map((row) => row.row_id)
}

const rowAt = statement((db, at: { projectId: number; ownerId: number; rowId: string }) =>
  tables(db)
    .selectFrom('configuration_row')
    .selectAll()
    .where('project_id', '=', at.projectId)
    .where('owner_id', '=', at.ownerId)
    .where('row_id', '=', at.rowId),
)

/** Deleted rows are found as well. */
export async function findRow(db: Db, projectId: number, ownerId: number, rowId: string): Promise<RowRecord | undefined> {
  const [row] = await rowAt(db, { projectId, ownerId, rowId })
  return row && rowOf(row)
}

const putRow = statement((db, row: Insertable<RowTable>) => {
  const { project_id: _project, owner_id: _owner, row_id: _row, ...columns } = row
  return tables(db)
    .insertInto('configuration_row')
    .values(row)
    .onConflict((conflict) => conflict.columns(['owner_id', 'row_id']).doUpdateSet(columns))
})

/** Writes the head, new or changed. */
export async function saveRow(trx: Db, owner: Owner, row: RowRecord): Promise<void> {
  await putRow(trx, {
    project_id: owner.projectId,
    owner_id: owner.ownerId,
    row_id: row.id,
    ...sharedColumns(row),
    ...stampColumns(row.created),
    is_deleted: row.isDeleted ? 1 : 0,
    content: row.configuration,
    state: row.state,
  })
  await saveRowWords(trx, owner, row)
}

export async function setRowState(trx: Db, projectId: number, ownerId: number, rowId: string, state: string): Promise<void> {
  await tables(trx)
    .updateTable('configuration_row')
    .set({ state })
    .where('project_id', '=', projectId)
    .where('owner_id', '=', ownerId)
    .where('row_id', '=', rowId)
    .execute()
}

export interface NewRowVersion extends RowVersionRecord {
  /** The configuration's version that this row version came with. */
  readonly configurationVersion: number
}

const addRowVersion = statement((db, version: Insertable<RowVersionTable>) =>
  tables(db).insertInto('configuration_row_version').values(version),
)

export async function insertRowVersion(trx: Db, projectId: number, ownerId: number, row: NewRowVersion): Promise<void> {
  await addRowVersion(trx, {
    project_id: projectId,
    owner_id: ownerId,
    row_id: row.rowId,
    ...sharedColumns(row),
    ...stampColumns(row.created),
    configuration_version: row.configurationVersion,
    deleted_in: null,
    content: row.configuration,
  })
}

/** The rows are gone from this version of the configuration on. */
export async function markRowsDeleted(
  trx: Db,
  projectId: number,
  ownerId: number,
  rowIds: readonly string[],
  configurationVersion: number,
): Promise<void> {
  if (rowIds.length === 0) return
  await tables(trx)
    .updateTable('configuration_row')
    .set({ is_deleted: 1 })
    .where('project_id', '=', projectId)
    .where('owner_id', '=', ownerId)
    .where('row_id', 'in', rowIds)
    .execute()
  await tables(trx)
    .updateTable('configuration_row_version')
    .set({ deleted_in: configurationVersion })
    .where('project_id', '=', projectId)
    .where('owner_id', '=', ownerId)
    .where('row_id', 'in', rowIds)
    .where('deleted_in', 'is', null)
    .execute()
  await deleteRowWords(trx, projectId, ownerId, rowIds)
}

/** The rows as they were in one version of the configuration. */
export async function listRowsAt(
  db: Db,
  projectId: number,
  ownerId: number,
  configurationVersion: number,
): Promise<readonly RowVersionRecord[]> {
  const rows = await tables(db)
    .selectFrom('configuration_row_version as row')
    .selectAll('row')
    .where('row.project_id', '=', projectId)
    .where('row.owner_id', '=', ownerId)
    .where('row.configuration_version', '<=', configurationVersion)
    .where((eb) => eb.or([eb('row.deleted_in', 'is', null), eb('row.deleted_in', '>', configurationVersion)]))
    .where((eb) =>
      eb(
        'row.version',
        '=',
        eb
          .selectFrom('configuration_row_version as newest')
          .select(sql<number>`max(newest.version)`.as('version'))
          .whereRef('newest.owner_id', '=', 'row.owner_id')
          .whereRef('newest.row_id', '=', 'row.row_id')
          .where('newest.configuration_version', '<=', configurationVersion),
      ),
    )
    .execute()
  return rows.map(rowVersionOf)
}

/** Ids of the rows that were changed, made or deleted after a version of the configuration. */
export async function listRowsChangedSince(
  db: Db,
  projectId: number,
  ownerId: number,
  configurationVersion: number,
): Promise<readonly string[]> {
  const rows = await tables(db)
    .selectFrom('configuration_row_version')
    .select('row_id')
    .distinct()
    .where('project_id', '=', projectId)
    .where('owner_id', '=', ownerId)
    .where((eb) => eb.or([eb('configuration_version', '>', configurationVersion), eb('deleted_in', '>', configurationVersion)]))
    .orderBy('row_id')
    .limit(100)
    .execute()
  return rows.map(({ row_id }) => row_id)
}

export async function listRowVersions(
  db: Db,
  projectId: number,
  ownerId: number,
  rowId: string,
  page: { readonly limit: number; readonly offset: number },
): Promise<readonly RowVersionRecord[]> {
  const rows = await tables(db)
    .selectFrom('configuration_row_version')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('owner_id', '=', ownerId)
    .where('row_id', '=', rowId)
    .orderBy('version', 'desc')
    .limit(page.limit)
    .offset(page.offset)
    .execute()
  return rows.map(rowVersionOf)
}

export async function findRowVersion(
  db: Db,
  projectId: number,
  ownerId: number,
  rowId: string,
  version: number,
): Promise<RowVersionRecord | undefined> {
  const row = await tables(db)
    .selectFrom('configuration_row_version')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('owner_id', '=', ownerId)
    .where('row_id', '=', rowId)
    .where('version', '=', version)
    .executeTakeFirst()
  return row && rowVersionOf(row)
}

const rowOf = (row: Selectable<RowTable>): RowRecord => ({
  id: row.row_id,
  ...sharedFields(row),
  isDeleted: row.is_deleted === 1,
  configuration: row.content,
  state: row.state,
})

const rowVersionOf = (row: Selectable<RowVersionTable>): RowVersionRecord => ({
  rowId: row.row_id,
  ...sharedFields(row),
  configuration: row.content,
})
