// Tables as lists and details show them, with the metadata and the bucket they carry.

import type { Table, TableParts } from '../catalog/table-catalog.ts'
import { type TableDefinition, tableView } from './table-view.ts'

export type TableViewLoader = ReturnType<typeof createTableViewLoader>

/** The routes of tables answer with these, and the buckets routes where they show the tables of a bucket. */
export function createTableViewLoader({ catalog, buckets, metadata, projectName, freshnessAt }: TableParts) {
  async function many(found: readonly Table[], include: ReadonlySet<string>, baseUrl: string) {
    const byProject = Map.groupBy(found, (table) => table.row.projectId)
    const own = new Map<number, Awaited<ReturnType<typeof metadataOf>>>()
    for (const [projectId, group] of byProject) own.set(projectId, await metadataOf(projectId, group, include))
    const views = new Map<number, Promise<object>>()
    const bucketOf = (table: Table) => {
      const view = views.get(table.bucket.key) ?? buckets.view(table.bucket, baseUrl)
      views.set(table.bucket.key, view)
      return view
    }
    return Promise.all(
      found.map(async (table) => {
        const known = own.get(table.row.projectId)
        return tableView(table, baseUrl, {
          columns: include.has('columns'),
          attributes: include.has('attributes'),
          metadata: include.has('metadata') ? known?.tables.get(table.row.key) : undefined,
          columnMetadata: include.has('columnMetadata') ? known?.columns.get(table.row.key) : undefined,
          bucket: include.has('buckets') || include.has('bucketsWithoutSourceTables') ? await bucketOf(table) : undefined,
          definition: include.has('definition') ? await definitionOf(table) : undefined,
          ...(await sourceExtras(table, {
            metadata: include.has('sourceMetadata'),
            columns: include.has('sourceColumnMetadata') || include.has('columnMetadata'),
          })),
        })
      }),
    )
  }

  async function metadataOf(projectId: number, group: readonly Table[], include: ReadonlySet<string>) {
    const keys = group.map((table) => table.row.key)
    return {
      tables: include.has('metadata') ? await metadata.listTables(projectId, keys) : new Map(),
      columns: include.has('columnMetadata') ? await metadata.listColumns(projectId, keys) : new Map(),
    }
  }

  /** Of the table an alias was made of, which may be an alias itself. */
  async function sourceExtras({ source }: Table, include: { readonly metadata: boolean; readonly columns: boolean }) {
    if (!source) return {}
    const { projectId, key } = source
    return {
      sourceProjectName: await projectName(projectId),
      ...(include.metadata && { sourceMetadata: (await metadata.listTables(projectId, [key])).get(key) ?? [] }),
      ...(include.columns && { sourceColumnMetadata: (await metadata.listColumns(projectId, [key])).get(key) ?? {} }),
    }
  }

  const definitionOf = async (table: Table): Promise<TableDefinition> => ({
    columns: (await catalog.reading(table)).snapshot.columns,
    said: (await metadata.listColumns(table.data.projectId, [table.data.key])).get(table.data.key) ?? {},
  })

  async function detail(table: Table, baseUrl: string) {
    const { row } = table
    const [own, columns, bucket, definition, freshness] = await Promise.all([
      metadata.listTables(row.projectId, [row.key]),
      metadata.listColumns(row.projectId, [row.key]),
      buckets.view(table.bucket, baseUrl),
      definitionOf(table),
      catalog.placeOf(table).then(freshnessAt),
    ])
    return tableView(table, baseUrl, {
      columns: true,
      attributes: true,
      metadata: own.get(row.key) ?? [],
      columnMetadata: columns.get(row.key) ?? {},
      bucket,
      definition,
      freshness,
      ...(await sourceExtras(table, { metadata: true, columns: true })),
    })
  }

  return { many, detail }
}
