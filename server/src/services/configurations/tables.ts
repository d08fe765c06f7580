// The tables this room owns, as migration 0032 makes them.

import type { Generated, Kysely } from 'kysely'
import type { Db } from '../../engines/metadata-db/dialects.ts'

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
}

export type ConfigurationTables = {
  configuration: ConfigurationTable
  configuration_version: VersionTable
  configuration_row: RowTable
  configuration_row_version: RowVersionTable
  configuration_metadata: MetadataTable
}

export const tables = (db: Db): Kysely<ConfigurationTables> => db.withTables<ConfigurationTables>()
