// Tables as a run of a component sees them: the port of the job runner (model/run-ports.ts), filled by this module.

import { randomUUID } from 'node:crypto'
import type { Trx } from '../../../../engines/metadata-db/dialects.ts'
import type { WaitForStore } from '../../../../engines/object-store/wait-for-store.ts'
import { localFileSize, takeColumnValues } from '../../../../engines/table-engine/objects-and-local-files.ts'
import { metadataView } from '../../../../http/metadata-items.ts'
import { formatTimestamp } from '../../../../kit/clock.ts'
import { defined } from '../../../../kit/defined.ts'
import { PlatformError } from '../../../../kit/errors.ts'
import { mapBounded } from '../../../../kit/map-bounded.ts'
import { NO_ORIGIN } from '../../../../model/event.ts'
import type { LoadedTable, RunScope, RunTables, TableInfo, TableLoad, TableQuery } from '../../../../model/run-ports.ts'
import type { Scope } from '../../../../model/scope.ts'
import type { TableParts } from '../catalog/table-catalog.ts'
import { readType } from '../changes/table-types.ts'
import type { LoadMetadata, LocalLoad, LocalRequester, LocalResult, LocalTables } from './local-tables.ts'
import { isWhole } from './open-tables.ts'

export interface RunTablesDeps {
  readonly parts: TableParts
  readonly local: LocalTables
  /** For files that live for moments. */
  readonly scratchDir: string
  readonly waitForStore: WaitForStore
}

export function createRunTables({ parts, local, scratchDir, waitForStore }: RunTablesDeps): RunTables {
  const { catalog, metadata } = parts

  async function find(scope: RunScope, tableId: string): Promise<TableInfo | undefined> {
    try {
      return await infoOf(scope, tableId)
    } catch (error) {
      if (error instanceof PlatformError && error.kind === 'not-found') return undefined
      throw error
    }
  }

  async function infoOf(scope: RunScope, tableId: string): Promise<TableInfo> {
    const table = await catalog.get(scopeOf(scope), tableId)
    const { row, data } = table
    const [own, columns, { snapshot, snapshotId }] = await Promise.all([
      metadata.listTables(row.projectId, [row.key]),
      metadata.listColumns(row.projectId, [row.key]),
      catalog.reading(table),
    ])
    const items = (own.get(row.key) ?? []).map(metadataView)
    const columnMetadata = Object.fromEntries(
      Object.entries(columns.get(row.key) ?? {}).map(([column, items]) => [column, items.map(metadataView)]),
    )
    return {
      id: table.id,
      uri: `${scope.baseUrl}/v2/storage/tables/${table.id}`,
      name: row.name,
      displayName: row.displayName,
      primaryKey: table.primaryKey,
      columns: table.columns,
      created: formatTimestamp(row.createdAt),
      lastChangeDate: data.lastChangeAt ? formatTimestamp(data.lastChangeAt) : null,
      lastImportDate: data.lastImportAt ? formatTimestamp(data.lastImportAt) : null,
      lastImportAt: data.lastImportAt,
      rowsCount: data.rowsCount,
      dataSizeBytes: data.sizeBytes,
      isAlias: table.source !== undefined,
      description: descriptionIn(items) ?? '',
      metadata: items,
      columnMetadata,
      schema: snapshot.typed
        ? snapshot.columns.map((column) => ({
            name: column.name,
            data_type: {
              base: {
                type: column.type,
                ...defined({ length: column.length, default: column.default }),
              },
            },
            nullable: column.nullable,
            primary_key: table.primaryKey.includes(column.name),
            ...describedBy(columnMetadata[column.name] ?? []),
          }))
        : undefined,
      stateId: snapshotId,
    }
  }

  /** A column of a table is small where it names what to delete; it goes through a file all the same, so that it may be large. */
  async function columnValues(scope: RunScope, tableId: string, column: string | undefined): Promise<readonly string[]> {
    const table = await catalog.get(scopeOf(scope), tableId)
    const wanted = column ?? table.columns[0]
    if (wanted === undefined || !table.columns.includes(wanted))
      throw new PlatformError('storage.tables.columnNotExists', { column: wanted ?? '' })
    const path = `${scratchDir}/values-${randomUUID()}.csv`
    await local.exportTo(scopeOf(scope), tableId, path, { columns: [wanted] })
    return takeColumnValues(path)
  }

  return {
    find,
    columnValues,
    isWhole: async (scope, tableId) => isWhole(await catalog.get(scopeOf(scope), tableId)),
    materialise: (scope, tableId, query, folder, signal) =>
      waitForStore(() => local.materialise(scopeOf(scope), tableId, folder, queryOf(query), signal), signal),
    targetOf: (scope, tableId) => local.describeTarget(scopeOf(scope), tableId),
    async bucketExists(scope, bucketId) {
      try {
        await parts.buckets.get(scopeOf(scope), bucketId)
        return true
      } catch (error) {
        if (error instanceof PlatformError && error.kind === 'not-found') return false
        throw error
      }
    },
    async findByMetadata(scope, key, value) {
      const found = new Set(await metadata.findTables(scope.projectId, { key, value }))
      return (await catalog.list(scopeOf(scope))).filter(({ row }) => found.has(row.key)).map(({ id }) => id)
    },
    async download(scope, tableId, query, path, signal) {
      const request = { ...queryOf(query), bareNulls: query.bareNulls ?? false }
      await waitForStore(() => local.exportTo(scopeOf(scope), tableId, path, request, signal), signal)
    },
    exportFile: (scope, tableId, query, signal) => local.exportFile(requesterOf(scope), tableId, queryOf(query), signal),
    async loadAll(scope, loads, commit, signal, onLoaded) {
      const backend = await parts.backendName(scope.projectId)
      const requests = await mapBounded(loads, 8, (load) => localLoad(load, backend))
      const shown = ({ tableId, rows, ...result }: LocalResult): LoadedTable => ({
        ...result,
        id: tableId,
        displayName: result.name,
        importedRowsCount: rows,
      })
      const publish = (trx: Trx, loaded: readonly LocalResult[]) => commit(trx, loaded.map(shown))
      const results = await local.load(requesterOf(scope), requests, publish, signal, onLoaded)
      return results.map(shown)
    },
  }
}

/** What people wrote about a table or a column. */
const descriptionIn = (items: readonly { readonly key: string; readonly value: string }[]): string | undefined =>
  items.find(({ key }) => key === 'KBC.description')?.value

const describedBy = (items: Parameters<typeof descriptionIn>[0]): { description?: string } => {
  const description = descriptionIn(items)
  return description ? { description } : {}
}

const queryOf = ({ columns, where, changedSince, limit }: TableQuery) => ({
  filters: where ? [where] : [],
  ...(columns && columns.length > 0 && { columns }),
  ...defined({ changedSince, limit }),
})

const scopeOf = (scope: RunScope): Scope => ({
  actor: scope.actor,
  branch: { id: scope.branchId, isDefault: scope.isDefaultBranch },
})

const requesterOf = (scope: RunScope): LocalRequester => ({
  ...scopeOf(scope),
  origin: { ...NO_ORIGIN, runId: scope.runId },
  baseUrl: scope.baseUrl,
})

async function localLoad(load: TableLoad, backend: string | undefined): Promise<LocalLoad> {
  const files = await mapBounded(load.files, 16, async (path) => ({ path, sizeBytes: await localFileSize(path) }))
  const types = load.schema
    ?.map(({ name, baseType, length, nullable, default: fallback }) => ({
      typed: baseType !== undefined,
      ...readType(
        name,
        { basetype: baseType, ...(baseType && { definition: { type: baseType, length, nullable, default: fallback } }) },
        load.primaryKey?.includes(name) ?? false,
        backend,
      ),
    }))
    .filter(({ typed }) => typed)
  return {
    tableId: load.destination,
    files,
    ...(load.stored && { stored: load.stored.files }),
    isSliced: load.files.length > 1 || load.columns !== undefined,
    csv: {
      delimiter: load.delimiter,
      enclosure: load.enclosure,
      ...(load.columns && { columns: load.columns, linesBeforeRows: load.hasHeader ? 1 : 0 }),
    },
    incremental: load.incremental,
    primaryKey: load.primaryKey,
    deleteWhere: load.deleteWhere.map(({ filters, changedSince, changedUntil }) => ({
      filters: filters.map(({ column, operator, values }) => ({ column, operator, values })),
      ...defined({ changedSince, changedUntil }),
    })),
    types: types && types.length > 0 ? types : undefined,
    nullValues: load.nullValues,
    ...defined({ deletedColumn: load.deletedColumn }),
    rules: {
      ...(load.modifications && { modifications: load.modifications }),
      ...(load.deduplication && { deduplication: load.deduplication }),
    },
    metadata: metadataOf(load),
  }
}

/** The component's own words under its name; who made and last changed the table under `system`. */
function metadataOf({ writer, metadata, columnMetadata, description }: TableLoad): LoadMetadata[] {
  const by = (word: string) => [
    { key: `KBC.${word}.component.id`, value: writer.componentId },
    ...(writer.configurationId === null ? [] : [{ key: `KBC.${word}.configuration.id`, value: writer.configurationId }]),
    ...(writer.rowId === null ? [] : [{ key: `KBC.${word}.configurationRow.id`, value: writer.rowId }]),
    { key: `KBC.${word}.branch.id`, value: String(writer.branchId) },
  ]
  const said = [...metadata, ...(description ? [{ key: 'KBC.description', value: description }] : [])]
  return [
    { provider: 'system', whenCreated: by('createdBy'), always: by('lastUpdatedBy') },
    { provider: writer.componentId, always: said, columns: columnMetadata },
  ]
}
