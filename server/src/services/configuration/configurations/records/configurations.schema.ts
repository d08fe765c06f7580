// The tables this module owns, as migration 0032 makes them.

import type { Generated, Kysely, Selectable } from 'kysely'
import { type Db, withTables } from '../../../../engines/metadata-db/dialects.ts'
import type { Stamp } from './records.ts'

type Stamped = {
  created_at: number
  creator_token_id: number
  creator_token_description: string
}

export type ConfigurationTable = Stamped & {
  id: Generated<number>
  project_id: number
  branch_id: number
  component_id: string
  /** Null: component_id. */
  listed_as: string | null
  configuration_id: string
  name: string
  description: string
  is_disabled: number
  is_deleted: number
  version: number
  content_version: number
  rows_sort_order: string
  state: string
  change_description: string
  version_identifier: string
  revision: number
  rows_revision: number
  changed_at: number
  changer_token_id: number
  changer_token_description: string
  base_version: number | null
  /** 1: changed since its words were written (words.store.ts). */
  words_stale: number
  /** 1: may hold objects below # in clear (sealing.ts). */
  secrets_stale: Generated<number>
}

export type VersionTable = Stamped & {
  project_id: number
  owner_id: number
  version: number
  name: string
  description: string
  is_disabled: number
  is_deleted: number
  content_version: number
  content: string | null
  rows_sort_order: string
  change_description: string
  version_identifier: string
}

export type RowTable = Stamped & {
  project_id: number
  owner_id: number
  row_id: string
  name: string
  description: string
  is_disabled: number
  is_deleted: number
  version: number
  content: string
  state: string
  change_description: string
  version_identifier: string
}

export type RowVersionTable = Stamped & {
  project_id: number
  owner_id: number
  row_id: string
  version: number
  configuration_version: number
  deleted_in: number | null
  name: string
  description: string
  is_disabled: number
  content: string
  change_description: string
  version_identifier: string
}

export type MetadataTable = {
  id: Generated<number>
  project_id: number
  owner_id: number
  key: string
  value: string
  changed_at: number
  /** 1: came with the copy of a configuration into a branch. */
  is_copied: Generated<number>
}

export type WordsTable = {
  project_id: number
  branch_id: number
  is_row: number
  owner_id: number
  /** Empty: of the configuration itself. */
  row_id: string
  /** Name and id, a line each. */
  label: string
  words: string
}

export type ConfigurationTables = {
  configuration: ConfigurationTable
  configuration_version: VersionTable
  configuration_row: RowTable
  configuration_row_version: RowVersionTable
  configuration_metadata: MetadataTable
  configuration_words: WordsTable
}

type Described = Pick<
  Selectable<RowVersionTable>,
  'name' | 'description' | 'is_disabled' | 'version' | 'change_description' | 'version_identifier'
>

/** What heads, rows and the versions of both have in common. */
export const sharedFields = (row: Described & Stamped) => ({
  name: row.name,
  description: row.description,
  isDisabled: row.is_disabled === 1,
  version: row.version,
  changeDescription: row.change_description,
  versionIdentifier: row.version_identifier,
  created: { at: row.created_at, tokenId: row.creator_token_id, tokenDescription: row.creator_token_description },
})

export const sharedColumns = (record: Omit<ReturnType<typeof sharedFields>, 'created'>): Described => ({
  name: record.name,
  description: record.description,
  is_disabled: record.isDisabled ? 1 : 0,
  version: record.version,
  change_description: record.changeDescription,
  version_identifier: record.versionIdentifier,
})

export const stampColumns = ({ at, tokenId, tokenDescription }: Stamp): Stamped => ({
  created_at: at,
  creator_token_id: tokenId,
  creator_token_description: tokenDescription,
})

export const tables = (db: Db): Kysely<ConfigurationTables> => withTables<ConfigurationTables>(db)
