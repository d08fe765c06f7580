// Tables as lists and details show them, with the metadata and the bucket they carry.

import type { Table, TableParts } from './table-catalog.ts'
import { tableView } from './table-view.ts'

export type TableViews = ReturnType<typeof createTableViews>

/** The routes of tables answer with these, and the buckets routes where they show the tables of a bucket. */
export function createTableViews({ catalog, buckets, metadata, projectName }: TableParts) {
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
          ...(table.source && { sourceProjectName: await projectName(table.source.projectId) }),
          ...(include.has('sourceMetadata') && table.source && { sourceMetadata: await sourceMetadata(table) }),
          ...(include.has('sourceColumnMetadata') && table.source && { sourceColumnMetadata: await sourceColumns(table) }),
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

  const sourceMetadata = async ({ data }: Table) => (await metadata.listTables(data.projectId, [data.key])).get(data.key) ?? []
  const sourceColumns = async ({ data }: Table) => (await metadata.listColumns(data.projectId, [data.key])).get(data.key) ?? {}

  async function detail(table: Table, baseUrl: string) {
    const { row } = table
    const [own, columns, bucket, { snapshot }] = await Promise.all([
      metadata.listTables(row.projectId, [row.key]),
      metadata.listColumns(row.projectId, [row.key]),
      buckets.view(table.bucket, baseUrl),
      catalog.reading(table),
    ])
    return tableView(table, baseUrl, {
      columns: true,
      attributes: true,
      metadata: own.get(row.key) ?? [],
      columnMetadata: columns.get(row.key) ?? {},
      bucket,
      definition: snapshot.columns,
      ...(table.source && {
        sourceProjectName: await projectName(table.source.projectId),
        sourceMetadata: await sourceMetadata(table),
        sourceColumnMetadata: await sourceColumns(table),
      }),
    })
  }

  return { many, detail }
}
