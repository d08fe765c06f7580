// A table as the API shows it (spec storage 2.5.1).

import { Type } from 'typebox'
import type { Column } from '../../../../engines/table-engine/snapshot.ts'
import { type Freshness, FreshnessView } from '../../../../http/freshness.ts'
import { type MetadataItem, metadataView } from '../../../../http/metadata-items.ts'
import { Timestamp } from '../../../../http/record-schemas.ts'
import { formatTimestamp } from '../../../../kit/clock.ts'
import { defined } from '../../../../kit/defined.ts'
import { STORAGE_PROVIDER, type Table } from '../catalog/table-catalog.ts'

const Items = Type.Array(Type.Unknown())

export const TableView = Type.Object(
  {
    uri: Type.String(),
    id: Type.String({ examples: ['in.c-main.orders'] }),
    name: Type.String(),
    displayName: Type.String(),
    primaryKey: Type.Array(Type.String()),
    created: Timestamp,
    lastImportDate: Type.Union([Timestamp, Type.Null()]),
    lastChangeDate: Type.Union([Timestamp, Type.Null()]),
    rowsCount: Type.Union([Type.Integer(), Type.Null()]),
    dataSizeBytes: Type.Union([Type.Integer(), Type.Null()]),
    isAlias: Type.Boolean(),
    isTyped: Type.Boolean(),
    columns: Type.Optional(Type.Array(Type.String())),
    metadata: Type.Optional(Items),
    columnMetadata: Type.Optional(Type.Record(Type.String(), Items)),
    bucket: Type.Optional(Type.Unknown()),
    definition: Type.Optional(Type.Unknown()),
    freshness: Type.Optional(FreshnessView),
  },
  { title: 'Table' },
)

export type ColumnsMetadata = Readonly<Record<string, readonly MetadataItem[]>>

/** The columns of the state that is shown, and the metadata of the columns of the table that holds it. */
export interface TableDefinition {
  readonly columns: readonly Column[]
  readonly said: ColumnsMetadata
}

/** What a view may carry beyond the bare record. */
export interface TableExtras {
  readonly bucket?: object | undefined
  readonly metadata?: readonly MetadataItem[] | undefined
  readonly columnMetadata?: ColumnsMetadata | undefined
  readonly columns?: boolean
  readonly attributes?: boolean
  readonly definition?: TableDefinition | undefined
  readonly freshness?: Freshness | undefined
  readonly sourceProjectName?: string | undefined
  readonly sourceMetadata?: readonly MetadataItem[] | undefined
  readonly sourceColumnMetadata?: ColumnsMetadata | undefined
}

export function tableView(table: Table, baseUrl: string, extras: TableExtras = {}) {
  const { row, data, source } = table
  const isFiltered = table.filters.length > 0
  return {
    uri: `${baseUrl}/v2/storage/tables/${table.id}`,
    id: table.id,
    name: row.name,
    displayName: row.displayName,
    transactional: false,
    primaryKey: [...table.primaryKey],
    indexType: null,
    indexKey: [],
    distributionType: null,
    distributionKey: [],
    syntheticPrimaryKeyEnabled: false,
    created: formatTimestamp(row.createdAt),
    lastImportDate: data.lastImportAt ? formatTimestamp(data.lastImportAt) : null,
    lastChangeDate: formatTimestamp(data.lastChangeAt ?? data.createdAt),
    rowsCount: isFiltered ? null : data.rowsCount,
    dataSizeBytes: isFiltered ? null : data.sizeBytes,
    isAlias: source !== undefined,
    isAliasable: row.alias?.filter === undefined && row.alias?.columns === undefined,
    isTyped: data.isTyped,
    timestampType: 'MANAGED',
    tableType: 'table',
    path: table.id,
    ...(extras.columns && { columns: [...table.columns] }),
    ...(extras.metadata && { metadata: extras.metadata.map(metadataView) }),
    ...(extras.columnMetadata && { columnMetadata: columnMetadataView(extras.columnMetadata, table.columns) }),
    ...(extras.attributes && { attributes: [] }),
    ...(extras.bucket && { bucket: extras.bucket }),
    ...(extras.definition && { definition: definitionView(table, extras.definition) }),
    ...(extras.freshness && { freshness: extras.freshness }),
    ...(source && { sourceTable: sourceView(table, baseUrl, extras) }),
    ...(row.alias && {
      aliasColumnsAutoSync: row.alias.columns === undefined,
      ...(row.alias.filter && { aliasFilter: row.alias.filter }),
    }),
  }
}

function sourceView({ source, data }: Table, baseUrl: string, extras: TableExtras) {
  return (
    source && {
      id: source.id,
      uri: `${baseUrl}/v2/storage/tables/${source.id}`,
      name: source.name,
      isAlias: source.isAlias,
      project: { id: source.projectId, name: extras.sourceProjectName ?? '' },
      ...(extras.sourceMetadata && { metadata: extras.sourceMetadata.map(metadataView) }),
      ...(extras.sourceColumnMetadata && { columnMetadata: columnMetadataView(extras.sourceColumnMetadata, data.columns) }),
    }
  )
}

function definitionView(table: Table, { columns, said }: TableDefinition) {
  const shown = new Set(table.columns)
  return {
    primaryKeysNames: table.primaryKey,
    columns: columns
      .filter((column) => shown.has(column.name))
      .toSorted((a, b) => (a.name < b.name ? -1 : 1)) // as clients expect them; `columns` of the table has its order
      .map((column) => ({
        name: column.name,
        definition: table.data.isTyped ? columnDefinition(column, said) : {},
        ...(table.data.isTyped && { basetype: saidOf(column, said)('KBC.datatype.basetype') ?? column.type }),
        canBeFiltered: true,
      })),
    ...table.data.layout,
  }
}

/** The type as it was written, where that is known; `length` is a string, because the Go client cannot decode a number. */
export function columnDefinition(column: Column, metadata: ColumnsMetadata) {
  const said = saidOf(column, metadata)
  const length = said('KBC.datatype.length') ?? column.length
  const fallback = column.default === undefined ? undefined : (said('KBC.datatype.default') ?? column.default)
  return {
    type: said('KBC.datatype.type') ?? column.type,
    nullable: column.nullable,
    ...defined({ length, default: fallback }),
  }
}

const saidOf = (column: Column, metadata: ColumnsMetadata) => (key: string) =>
  metadata[column.name]?.find((item) => item.key === key && item.provider === STORAGE_PROVIDER)?.value

const columnMetadataView = (metadata: ColumnsMetadata, columns: readonly string[]) =>
  Object.fromEntries(
    columns.flatMap((column) => {
      const items = Object.hasOwn(metadata, column) ? metadata[column] : undefined
      return items ? [[column, items.map(metadataView)]] : []
    }),
  )

export const columnsMetadataView = (metadata: ColumnsMetadata) =>
  Object.fromEntries(Object.entries(metadata).map(([column, items]) => [column, items.map(metadataView)]))
