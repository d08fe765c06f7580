// Key-value pairs on configurations, in SQL.

import type { Db } from '../../../../engines/metadata-db/dialects.ts'
import { tables } from './configurations.schema.ts'
import type { MetadataItem } from './records.ts'

export async function listMetadata(db: Db, projectId: number, ownerId: number): Promise<readonly MetadataItem[]> {
  const rows = await tables(db)
    .selectFrom('configuration_metadata')
    .select(['id', 'key', 'value', 'changed_at'])
    .where('project_id', '=', projectId)
    .where('owner_id', '=', ownerId)
    .orderBy('id')
    .execute()
  return rows.map((row) => ({ id: row.id, key: row.key, value: row.value, changedAt: row.changed_at }))
}

export async function setMetadata(
  trx: Db,
  projectId: number,
  ownerId: number,
  items: readonly { readonly key: string; readonly value: string; readonly isCopied?: boolean }[],
  changedAt: number,
): Promise<void> {
  for (const { key, value, isCopied } of items) {
    const is_copied = isCopied ? 1 : 0
    await tables(trx)
      .insertInto('configuration_metadata')
      .values({ project_id: projectId, owner_id: ownerId, key, value, changed_at: changedAt, is_copied })
      .onConflict((conflict) => conflict.columns(['owner_id', 'key']).doUpdateSet({ value, changed_at: changedAt, is_copied }))
      .execute()
  }
}

/** What was set since the configuration was copied into its branch. */
export async function listOwnMetadata(
  db: Db,
  projectId: number,
  ownerId: number,
): Promise<readonly { readonly key: string; readonly value: string }[]> {
  return await tables(db)
    .selectFrom('configuration_metadata')
    .select(['key', 'value'])
    .where('project_id', '=', projectId)
    .where('owner_id', '=', ownerId)
    .where('is_copied', '=', 0)
    .orderBy('id')
    .execute()
}

/** Answers the key that is gone. */
export async function deleteMetadata(trx: Db, projectId: number, ownerId: number, id: number): Promise<string | undefined> {
  const deleted = await tables(trx)
    .deleteFrom('configuration_metadata')
    .where('project_id', '=', projectId)
    .where('owner_id', '=', ownerId)
    .where('id', '=', id)
    .returning('key')
    .executeTakeFirst()
  return deleted?.key
}

export interface MetadataSearch {
  readonly projectId: number
  readonly branchId: number
  readonly componentId?: string | undefined
  readonly configurationId?: string | undefined
  readonly keys: readonly string[]
}

export interface FoundConfiguration {
  readonly componentId: string
  readonly configurationId: string
  readonly metadata: readonly MetadataItem[]
}

/** Configurations that carry at least one of the keys; without keys, all of them. */
export async function searchConfigurations(db: Db, search: MetadataSearch): Promise<readonly FoundConfiguration[]> {
  let query = tables(db)
    .selectFrom('configuration')
    .leftJoin('configuration_metadata as item', (join) => join.onRef('item.owner_id', '=', 'configuration.id'))
    .select([
      'configuration.id as owner_id',
      'configuration.component_id',
      'configuration.listed_as',
      'configuration.configuration_id',
      'item.id',
      'item.key',
      'item.value',
      'item.changed_at',
    ])
    .where('configuration.project_id', '=', search.projectId)
    .where('configuration.branch_id', '=', search.branchId)
    .where('configuration.is_deleted', '=', 0)
  if (search.componentId !== undefined) query = query.where('configuration.component_id', '=', search.componentId)
  if (search.configurationId !== undefined) query = query.where('configuration.configuration_id', '=', search.configurationId)
  if (search.keys.length > 0) query = query.where('item.key', 'in', search.keys)
  const rows = await query.orderBy('configuration.id').orderBy('item.id').execute()
  const found = new Map<number, FoundConfiguration & { metadata: MetadataItem[] }>()
  for (const row of rows) {
    const entry = found.get(row.owner_id) ?? {
      componentId: row.listed_as ?? row.component_id,
      configurationId: row.configuration_id,
      metadata: [],
    }
    if (row.id !== null) entry.metadata.push({ id: row.id, key: row.key!, value: row.value!, changedAt: row.changed_at! }) // one row of the join
    found.set(row.owner_id, entry)
  }
  return [...found.values()]
}
