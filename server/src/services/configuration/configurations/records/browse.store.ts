// Configurations of all components, a page at a time: with 100,000 of them, only what is shown is read.

import { type Expression, type SqlBool, sql } from 'kysely'
import type { Db } from '../../../../engines/metadata-db/dialects.ts'
import { contains, containsSmall } from '../../../../engines/metadata-db/like.ts'
import type { Page } from '../../../../http/page.ts'
import { tables } from './configurations.schema.ts'

/** Where public clients keep the folder of a configuration. */
const FOLDER = 'KBC.configuration.folderName'

export interface BrowseFilter {
  readonly projectId: number
  readonly branchId: number
  readonly isDeleted: boolean
  /** Components that the caller may use. */
  readonly componentIds: readonly string[]
  /** In the name or the id; empty for all. */
  readonly text: string
  /** All configurations of these match the text. */
  readonly matchingComponentIds: readonly string[]
  /** A variable of the vault that they use; undefined for all. */
  readonly vaultVariable: string | undefined
}

export interface BrowsedConfiguration {
  readonly componentId: string
  readonly configurationId: string
  readonly name: string
  readonly version: number
  readonly isDisabled: boolean
  readonly creator: string
  readonly folder: string
}

const matching = (db: Db, filter: Omit<BrowseFilter, 'text' | 'matchingComponentIds' | 'vaultVariable'>) =>
  tables(db)
    .selectFrom('configuration as c')
    .where('c.project_id', '=', filter.projectId)
    .where('c.branch_id', '=', filter.branchId)
    .where('c.is_deleted', '=', filter.isDeleted ? 1 : 0)
    .where('c.component_id', 'in', [...filter.componentIds])

const COLUMNS = [
  'component_id',
  'listed_as',
  'configuration_id',
  'name',
  'version',
  'is_disabled',
  'creator_token_description',
] as const

/** Those in folders first, by folder; the others by component and id, which is the order of an index. */
export async function browseConfigurations(
  db: Db,
  filter: BrowseFilter,
  { limit, offset }: Page,
): Promise<BrowsedConfiguration[]> {
  if (filter.componentIds.length === 0) return []
  const { text, matchingComponentIds, vaultVariable } = filter
  const found = matching(db, filter)
    .$if(text !== '', (query) =>
      query.where((e) =>
        e.or([
          contains(db, e.ref('c.name'), text),
          contains(db, e.ref('c.configuration_id'), text),
          ...(matchingComponentIds.length > 0 ? [e('c.component_id', 'in', [...matchingComponentIds])] : []),
        ]),
      ),
    )
    .$if(vaultVariable !== undefined, (query) =>
      query.where((e) =>
        e.or([
          e.exists(
            e
              .selectFrom('configuration_version as content')
              .select('content.version')
              .where('content.project_id', '=', filter.projectId)
              .whereRef('content.owner_id', '=', 'c.id')
              .whereRef('content.version', '=', 'c.content_version')
              .where(usesVariable(db, sql.ref('content.content'), vaultVariable!)),
          ),
          e.exists(
            e
              .selectFrom('configuration_row as row')
              .select('row.row_id')
              .where('row.project_id', '=', filter.projectId)
              .whereRef('row.owner_id', '=', 'c.id')
              .where('row.is_deleted', '=', 0)
              .where(usesVariable(db, sql.ref('row.content'), vaultVariable!)),
          ),
        ]),
      ),
    )
  const inFolders = found.innerJoin('configuration_metadata as folder', (join) =>
    join
      .onRef('folder.owner_id', '=', 'c.id')
      .on('folder.project_id', '=', filter.projectId)
      .on('folder.key', '=', FOLDER)
      .on('folder.value', '>', ''),
  )
  const first = await inFolders
    .select([...COLUMNS.map((name) => `c.${name}` as const), 'folder.value as folder'])
    .orderBy('folder.value')
    .orderBy('c.component_id')
    .orderBy('c.configuration_id')
    .limit(limit)
    .offset(offset)
    .execute()
  if (first.length === limit) return first.map(toBrowsed)
  const isAfterFolders = first.length === 0 && offset > 0
  const counted = isAfterFolders
    ? await inFolders.select((e) => e.fn.countAll<number | string>().as('n')).executeTakeFirst()
    : { n: offset + first.length }
  const rest = await found
    .where((e) =>
      e.not(
        e.exists(
          e
            .selectFrom('configuration_metadata as folder')
            .select('folder.id')
            .where('folder.project_id', '=', filter.projectId)
            .whereRef('folder.owner_id', '=', 'c.id')
            .where('folder.key', '=', FOLDER)
            .where('folder.value', '<>', ''),
        ),
      ),
    )
    .select([...COLUMNS.map((name) => `c.${name}` as const), sql<string>`''`.as('folder')])
    .orderBy('c.component_id')
    .orderBy('c.configuration_id')
    .limit(limit - first.length)
    .offset(Math.max(0, offset - Number(counted?.n ?? 0)))
    .execute()
  return [...first, ...rest].map(toBrowsed)
}

/** `{{ vault.name }}`, with a brace, a space or an escaped character of JSON after the name. */
function usesVariable(db: Db, content: Expression<string>, name: string): Expression<SqlBool> {
  const [brace, space, escaped] = ['}', ' ', '\\'].map((after) => containsSmall(db, content, `vault.${name}${after}`))
  return sql<SqlBool>`(${brace} or ${space} or ${escaped})`
}

export interface ConfigurationCount {
  readonly componentId: string
  readonly configurations: number
  readonly disabled: number
}

export async function countConfigurations(db: Db, projectId: number, branchId: number): Promise<ConfigurationCount[]> {
  const rows = await tables(db)
    .selectFrom('configuration')
    .select(['component_id', (e) => e.fn.max('listed_as').as('listed_as')])
    .select((e) => [e.fn.countAll<number | string>().as('n'), e.fn.sum<number | string>('is_disabled').as('disabled')])
    .where('project_id', '=', projectId)
    .where('branch_id', '=', branchId)
    .where('is_deleted', '=', 0)
    .groupBy('component_id')
    .orderBy('component_id')
    .execute()
  return rows.map((row) => ({
    componentId: row.listed_as ?? row.component_id,
    configurations: Number(row.n),
    disabled: Number(row.disabled),
  }))
}

/** Of configurations, also of deleted ones. */
export async function listUsedComponents(db: Db, projectId: number, branchId: number): Promise<string[]> {
  const rows = await tables(db)
    .selectFrom('configuration')
    .select('component_id')
    .distinct()
    .where('project_id', '=', projectId)
    .where('branch_id', '=', branchId)
    .execute()
  return rows.map((row) => row.component_id)
}

/** By component and configuration id with a space between, and more than requested. Those that do not exist or are deleted are missing. */
export async function findNames(
  db: Db,
  projectId: number,
  branchId: number,
  places: readonly { readonly componentId: string; readonly configurationId: string }[],
): Promise<ReadonlyMap<string, string>> {
  if (places.length === 0) return new Map()
  const componentIds = [...new Set(places.map(({ componentId }) => componentId))]
  const configurationIds = [...new Set(places.map(({ configurationId }) => configurationId))]
  // Each of these with each of those: SQLite finds pairs in the index, but reads the whole branch for conditions joined by `or`.
  const rows = await tables(db)
    .selectFrom('configuration')
    .select(['component_id', 'configuration_id', 'name'])
    .where('project_id', '=', projectId)
    .where('branch_id', '=', branchId)
    .where('component_id', 'in', componentIds)
    .where('configuration_id', 'in', configurationIds)
    .where('is_deleted', '=', 0)
    .execute()
  return new Map(rows.map((row) => [`${row.component_id} ${row.configuration_id}`, row.name]))
}

interface Row {
  readonly component_id: string
  readonly listed_as: string | null
  readonly configuration_id: string
  readonly name: string
  readonly version: number
  readonly is_disabled: number
  readonly creator_token_description: string
  readonly folder: string
}

const toBrowsed = (row: Row): BrowsedConfiguration => ({
  componentId: row.listed_as ?? row.component_id,
  configurationId: row.configuration_id,
  name: row.name,
  version: row.version,
  isDisabled: row.is_disabled === 1,
  creator: row.creator_token_description,
  folder: row.folder,
})
