// Heads and versions of configurations, in SQL. Every function carries the project id; what it means to change one is in versioning.ts.

import { type Insertable, type Selectable, sql } from 'kysely'
import { type Db, dialectOf, lockRows } from '../../../../engines/metadata-db/dialects.ts'
import { statement } from '../../../../engines/metadata-db/statement.ts'
import type { Page } from '../../../../http/page.ts'
import { PlatformError } from '../../../../kit/errors.ts'
import { readStored } from '../../../../kit/stored-json.ts'
import {
  type ConfigurationTable,
  sharedColumns,
  sharedFields,
  stampColumns,
  tables,
  type VersionTable,
} from './configurations.schema.ts'
import type { Address, ConfigurationRecord, VersionRecord } from './records.ts'

export interface ListFilter {
  readonly projectId: number
  readonly branchId: number
  readonly componentId?: string
  readonly isDeleted: boolean
}

/** Versions by which a reader checks whether its cache is current. */
export interface Revision {
  readonly ownerId: number
  readonly revision: number
  readonly rowsRevision: number
}

const headsWithContent = (db: Db, projectId: number) =>
  tables(db)
    .selectFrom('configuration')
    .innerJoin('configuration_version as content', (join) =>
      join.onRef('content.owner_id', '=', 'configuration.id').onRef('content.version', '=', 'configuration.content_version'),
    )
    .selectAll('configuration')
    .select('content.content')
    .where('configuration.project_id', '=', projectId)

const configurationAt = statement((db, address: Address) =>
  headsWithContent(db, address.projectId)
    .where('configuration.branch_id', '=', address.branchId)
    .where('configuration.component_id', '=', address.componentId)
    .where('configuration.configuration_id', '=', address.configurationId),
)

export async function findConfiguration(db: Db, address: Address): Promise<ConfigurationRecord | undefined> {
  const [row] = await configurationAt(db, address)
  return row && recordOf(row)
}

/**
 * The head, held until the transaction ends: changes of one configuration happen one after the other. In two steps on PostgreSQL: a
 * join that waited for the lock would look for the content of the version from before the wait. SQLite has one writer, who holds all.
 */
export async function lockConfiguration(trx: Db, address: Address): Promise<ConfigurationRecord | undefined> {
  if (dialectOf(trx) === 'sqlite') return await findConfiguration(trx, address)
  for (;;) {
    const locked = await lockedHead(trx, address)
    const found = await findConfiguration(trx, address)
    // A writer that waited for a head that a reset has replaced has locked nothing, and looks again.
    if (locked || !found) return locked && found
  }
}

const lockedHead = (trx: Db, address: Address) =>
  tables(trx)
    .selectFrom('configuration')
    .select('id')
    .where('project_id', '=', address.projectId)
    .where('branch_id', '=', address.branchId)
    .where('component_id', '=', address.componentId)
    .where('configuration_id', '=', address.configurationId)
    .$call(lockRows(trx))
    .executeTakeFirst()

/** Every head of some branches, held until the transaction ends. */
export async function lockBranches(trx: Db, projectId: number, branchIds: readonly number[]): Promise<void> {
  if (dialectOf(trx) === 'sqlite') return // its one writer is this transaction
  await tables(trx)
    .selectFrom('configuration')
    .select('id')
    .where('project_id', '=', projectId)
    .where('branch_id', 'in', branchIds)
    .orderBy('id')
    .forUpdate()
    .execute()
}

const revisionAt = statement((db, address: Address) =>
  tables(db)
    .selectFrom('configuration')
    .select(['id', 'revision', 'rows_revision', 'is_deleted'])
    .where('project_id', '=', address.projectId)
    .where('branch_id', '=', address.branchId)
    .where('component_id', '=', address.componentId)
    .where('configuration_id', '=', address.configurationId),
)

/** Every read runs this query. */
export async function findRevision(db: Db, address: Address): Promise<(Revision & { readonly isDeleted: boolean }) | undefined> {
  const [row] = await revisionAt(db, address)
  return row && { ownerId: row.id, revision: row.revision, rowsRevision: row.rows_revision, isDeleted: row.is_deleted === 1 }
}

export type ListedRevision = Revision & { readonly componentId: string }

const revisionsIn = (db: Db, filter: { projectId: number; branchId: number; isDeleted: number }) =>
  tables(db)
    .selectFrom('configuration')
    .select(['id', 'revision', 'rows_revision', 'component_id'])
    .where('project_id', '=', filter.projectId)
    .where('branch_id', '=', filter.branchId)
    .where('is_deleted', '=', filter.isDeleted)
    .orderBy('id')
const revisionsInBranch = statement(revisionsIn)
const revisionsOfComponent = statement(
  (db, { componentId, ...filter }: Parameters<typeof revisionsIn>[1] & { componentId: string }) =>
    revisionsIn(db, filter).where('component_id', '=', componentId),
)

/** In the order they were made. */
export async function listRevisions(
  db: Db,
  { componentId, isDeleted, ...place }: ListFilter,
): Promise<readonly ListedRevision[]> {
  const filter = { ...place, isDeleted: isDeleted ? 1 : 0 }
  const rows =
    componentId === undefined ? await revisionsInBranch(db, filter) : await revisionsOfComponent(db, { ...filter, componentId })
  return rows.map((row) => ({
    ownerId: row.id,
    revision: row.revision,
    rowsRevision: row.rows_revision,
    componentId: row.component_id,
  }))
}

/** A page of them, and how many there are. */
export async function listRevisionsPage(
  db: Db,
  { componentId, isDeleted, projectId, branchId }: ListFilter & { readonly componentId: string },
  { limit, offset }: Page,
): Promise<{ readonly listed: readonly Revision[]; readonly total: number }> {
  const wanted = tables(db)
    .selectFrom('configuration')
    .where('project_id', '=', projectId)
    .where('branch_id', '=', branchId)
    .where('component_id', '=', componentId)
    .where('is_deleted', '=', isDeleted ? 1 : 0)
  const rows = await wanted.select(['id', 'revision', 'rows_revision']).orderBy('id').limit(limit).offset(offset).execute()
  const counted = await wanted.select((e) => e.fn.countAll<number | string>().as('n')).executeTakeFirst()
  return {
    listed: rows.map((row) => ({ ownerId: row.id, revision: row.revision, rowsRevision: row.rows_revision })),
    total: Number(counted?.n ?? 0),
  }
}

export async function findRevisions(
  db: Db,
  projectId: number,
  ownerIds: readonly number[],
): Promise<ReadonlyMap<number, number>> {
  const rows = await tables(db)
    .selectFrom('configuration')
    .select(['id', 'revision'])
    .where('project_id', '=', projectId)
    .where('id', 'in', ownerIds)
    .execute()
  return new Map(rows.map((row) => [row.id, row.revision]))
}

export async function listConfigurations(
  db: Db,
  projectId: number,
  ownerIds: readonly number[],
): Promise<readonly ConfigurationRecord[]> {
  if (ownerIds.length === 0) return []
  const rows = await headsWithContent(db, projectId).where('configuration.id', 'in', ownerIds).execute()
  return rows.map(recordOf)
}

/** Where the configurations of some components are, in all branches of a project. */
export async function listPlaces(db: Db, projectId: number, componentIds: readonly string[], limit: number): Promise<Address[]> {
  if (componentIds.length === 0) return []
  const rows = await tables(db)
    .selectFrom('configuration')
    .select(['branch_id', 'component_id', 'configuration_id'])
    .where('project_id', '=', projectId)
    .where('component_id', 'in', componentIds)
    .where('is_deleted', '=', 0)
    .orderBy('id')
    .limit(limit)
    .execute()
  return rows.map((row) => ({
    projectId,
    branchId: row.branch_id,
    componentId: row.component_id,
    configurationId: row.configuration_id,
  }))
}

/** Configurations and rows of a branch whose text has a mapping or tasks. */
export async function listLinkingTexts(db: Db, projectId: number, branchId: number, componentIds?: readonly string[]) {
  const heads = await headsWithContent(db, projectId)
    .clearSelect()
    .select(['configuration.component_id', 'configuration.configuration_id', 'content.content'])
    .where('configuration.branch_id', '=', branchId)
    .where('configuration.is_deleted', '=', 0)
    .where((e) => e.or([e('content.content', 'like', '%"storage"%'), e('content.content', 'like', '%"tasks"%')]))
    .$if(componentIds !== undefined, (query) => query.where('configuration.component_id', 'in', componentIds ?? []))
    .execute()
  const rows = await tables(db)
    .selectFrom('configuration')
    .innerJoin('configuration_row as row', 'row.owner_id', 'configuration.id')
    .select(['configuration.component_id', 'configuration.configuration_id', 'row.row_id', 'row.content'])
    .where('configuration.project_id', '=', projectId)
    .where('configuration.branch_id', '=', branchId)
    .where('configuration.is_deleted', '=', 0)
    .where('row.is_deleted', '=', 0)
    .where('row.content', 'like', '%"storage"%')
    .$if(componentIds !== undefined, (query) => query.where('configuration.component_id', 'in', componentIds ?? []))
    .execute()
  return [...heads.map((head) => ({ ...head, row_id: null })), ...rows].map((one) => ({
    componentId: one.component_id,
    configurationId: one.configuration_id,
    rowId: one.row_id,
    content: one.content ?? '{}',
  }))
}

/** Every configuration of a branch with its name, those in the trash too: their runs are still shown. */
export async function listConfigurationNames(db: Db, projectId: number, branchId: number, componentIds?: readonly string[]) {
  const rows = await tables(db)
    .selectFrom('configuration')
    .select(['component_id', 'configuration_id', 'name'])
    .where('project_id', '=', projectId)
    .where('branch_id', '=', branchId)
    .$if(componentIds !== undefined, (query) => query.where('component_id', 'in', componentIds ?? []))
    .execute()
  return rows.map((row) => ({ componentId: row.component_id, configurationId: row.configuration_id, name: row.name }))
}

/** The components that have configurations, in any project. Skips from id to id, so it costs as many steps as there are components. */
export async function listComponentIds(db: Db): Promise<readonly string[]> {
  const { rows } = await sql<{ id: string | null }>`
    with recursive found(id) as (
      select min(component_id) from configuration
      union all
      select (select min(component_id) from configuration where component_id > found.id) from found where found.id is not null
    )
    select id from found where id is not null`.execute(db)
  return rows.flatMap(({ id }) => id ?? [])
}

export type NewConfiguration = Omit<ConfigurationRecord, 'ownerId'>

/** Two who make the same id at once both find nothing to lock: the index lets one of them through, and the other gets an error. */
export async function insertConfiguration(trx: Db, record: NewConfiguration): Promise<number> {
  const made = await tables(trx)
    .insertInto('configuration')
    .values({
      project_id: record.projectId,
      branch_id: record.branchId,
      component_id: record.componentId,
      listed_as: record.listedAs === record.componentId ? null : record.listedAs,
      configuration_id: record.configurationId,
      ...headColumns(record),
      ...stampColumns(record.created),
    })
    .onConflict((conflict) => conflict.columns(['project_id', 'branch_id', 'component_id', 'configuration_id']).doNothing())
    .returning('id')
    .executeTakeFirst()
  if (!made) throw new PlatformError('configurationAlreadyExists', { id: record.configurationId })
  return made.id
}

const setHead = statement(
  (db, { id, project_id, ...columns }: ReturnType<typeof headColumns> & { id: number; project_id: number }) =>
    tables(db).updateTable('configuration').set(columns).where('project_id', '=', project_id).where('id', '=', id),
)

export async function updateConfiguration(trx: Db, record: ConfigurationRecord): Promise<void> {
  await setHead(trx, { ...headColumns(record), id: record.ownerId, project_id: record.projectId })
}

/** The head keeps everything else, so concurrent changes are not undone. */
export async function setBaseVersion(trx: Db, projectId: number, ownerId: number, baseVersion: number): Promise<void> {
  await tables(trx)
    .updateTable('configuration')
    .set({ base_version: baseVersion })
    .where('project_id', '=', projectId)
    .where('id', '=', ownerId)
    .execute()
}

const addVersion = statement((db, version: Insertable<VersionTable>) =>
  tables(db).insertInto('configuration_version').values(version),
)

/** `content` is the configuration text where this version changed it. */
export async function insertVersion(trx: Db, record: ConfigurationRecord): Promise<void> {
  await addVersion(trx, {
    project_id: record.projectId,
    owner_id: record.ownerId,
    ...sharedColumns(record),
    ...stampColumns(record.changed),
    is_deleted: record.isDeleted ? 1 : 0,
    content_version: record.contentVersion,
    content: record.contentVersion === record.version ? record.configuration : null,
    rows_sort_order: JSON.stringify(record.rowsSortOrder),
  })
}

/** Versions, rows and metadata go with it. */
export async function purgeConfiguration(trx: Db, projectId: number, ownerId: number): Promise<void> {
  await tables(trx).deleteFrom('configuration').where('project_id', '=', projectId).where('id', '=', ownerId).execute()
}

export async function listVersions(
  db: Db,
  projectId: number,
  ownerId: number,
  page: { readonly limit: number; readonly offset: number },
): Promise<readonly VersionRecord[]> {
  const rows = await tables(db)
    .selectFrom('configuration_version')
    .select([
      'version',
      'name',
      'description',
      'is_disabled',
      'is_deleted',
      'content_version',
      'rows_sort_order',
      'change_description',
      'version_identifier',
      'created_at',
      'creator_token_id',
      'creator_token_description',
    ])
    .where('project_id', '=', projectId)
    .where('owner_id', '=', ownerId)
    .orderBy('version', 'desc')
    .limit(page.limit)
    .offset(page.offset)
    .execute()
  return rows.map(versionOf)
}

export async function findVersion(
  db: Db,
  projectId: number,
  ownerId: number,
  version: number,
): Promise<VersionRecord | undefined> {
  const row = await tables(db)
    .selectFrom('configuration_version')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('owner_id', '=', ownerId)
    .where('version', '=', version)
    .executeTakeFirst()
  return row && versionOf(row)
}

/** The configuration texts of some content versions. */
export async function findContents(
  db: Db,
  projectId: number,
  ownerId: number,
  contentVersions: readonly number[],
): Promise<ReadonlyMap<number, string>> {
  if (contentVersions.length === 0) return new Map()
  const rows = await tables(db)
    .selectFrom('configuration_version')
    .select(['version', 'content'])
    .where('project_id', '=', projectId)
    .where('owner_id', '=', ownerId)
    .where('version', 'in', [...new Set(contentVersions)])
    .execute()
  return new Map(rows.map((row) => [row.version, row.content ?? '{}'])) // never null at a content version
}

const headColumns = (record: NewConfiguration) => ({
  ...sharedColumns(record),
  is_deleted: record.isDeleted ? 1 : 0,
  content_version: record.contentVersion,
  rows_sort_order: JSON.stringify(record.rowsSortOrder),
  state: record.state,
  revision: record.revision,
  rows_revision: record.rowsRevision,
  changed_at: record.changed.at,
  changer_token_id: record.changed.tokenId,
  changer_token_description: record.changed.tokenDescription,
  base_version: record.baseVersion,
  words_stale: 1,
})

const recordOf = (row: Selectable<ConfigurationTable> & { content: string | null }): ConfigurationRecord => ({
  ownerId: row.id,
  projectId: row.project_id,
  branchId: row.branch_id,
  componentId: row.component_id,
  listedAs: row.listed_as ?? row.component_id,
  configurationId: row.configuration_id,
  ...sharedFields(row),
  isDeleted: row.is_deleted === 1,
  contentVersion: row.content_version,
  configuration: row.content ?? '{}', // never null: the join is on the version that holds it
  rowsSortOrder: idsOf(row.rows_sort_order),
  state: row.state,
  revision: row.revision,
  rowsRevision: row.rows_revision,
  changed: { at: row.changed_at, tokenId: row.changer_token_id, tokenDescription: row.changer_token_description },
  baseVersion: row.base_version,
})

const versionOf = (row: Omit<Selectable<VersionTable>, 'project_id' | 'owner_id' | 'content'>): VersionRecord => ({
  ...sharedFields(row),
  isDeleted: row.is_deleted === 1,
  contentVersion: row.content_version,
  rowsSortOrder: idsOf(row.rows_sort_order),
})

const idsOf = (text: string): readonly string[] => readStored<string[]>(text)
