// Manifests beside the files a component is given (spec platform 1.8).

import type { FileInfo, S3Place, TableInfo } from '../../../../model/run-ports.ts'

/** `s3` is where the rows are when they are not beside the manifest. */
export function tableManifest(table: TableInfo, columns: readonly string[] | undefined, s3?: S3Place): string {
  const selected = columns ?? table.columns
  return JSON.stringify({
    id: table.id,
    uri: table.uri,
    name: table.name,
    primary_key: table.primaryKey,
    distribution_key: [],
    created: table.created,
    last_change_date: table.lastChangeDate,
    last_import_date: table.lastImportDate,
    ...(table.description === '' ? {} : { description: table.description }),
    columns: selected,
    metadata: table.metadata,
    column_metadata: Object.fromEntries(selected.map((column) => [column, table.columnMetadata[column] ?? []])),
    ...(table.schema && { schema: selected.flatMap((column) => table.schema?.find(({ name }) => name === column) ?? []) }),
    // What older components read.
    indexed_columns: table.primaryKey,
    rows_count: table.rowsCount,
    data_size_bytes: table.dataSizeBytes,
    is_alias: table.isAlias,
    attributes: [],
    ...(s3 && { s3 }),
  })
}

export const fileManifest = (file: FileInfo, s3?: S3Place): string =>
  JSON.stringify({
    id: file.id,
    name: file.name,
    created: file.created,
    is_public: file.isPublic,
    is_encrypted: file.isEncrypted,
    is_sliced: file.isSliced,
    tags: file.tags,
    max_age_days: file.maxAgeDays ?? 0,
    size_bytes: file.sizeBytes,
    creator_token: file.creatorToken,
    ...(s3 && { s3 }),
  })
