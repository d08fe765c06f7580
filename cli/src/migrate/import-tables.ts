// Buckets, links to buckets, tables and aliases of a folder into a project.

import type { StorageJob } from '../client.ts'
import { count, type Metadata, type MovedBucket, type MovedTable } from '../configuration/project-folder.ts'
import { uploadFile } from '../storage/file-upload.ts'
import { exists } from '../storage/table.ts'
import type { Target } from './import-target.ts'

export const SILENT = { onProgress: () => {}, onResume: () => {} }

export async function importTables(target: Target): Promise<void> {
  const { folder } = target
  const buckets: MovedBucket[] = []
  for (const name of await folder.list('buckets')) {
    const bucket = await folder.read<MovedBucket>('buckets', decodeURIComponent(name))
    if (bucket) buckets.push(bucket)
  }
  for (const bucket of buckets) await (bucket.isLinkedBucket ? importLink(target, bucket) : importBucket(target, bucket))
  const tables = buckets.flatMap((bucket) => bucket.tables.map((table) => ({ bucket, table })))
  const byId = new Map(tables.map(({ table }) => [table.id, table]))
  for (const { bucket, table } of tables) if (!table.isAlias) await importTable(target, bucket, table)
  const aliases = tables.filter(({ table }) => table.isAlias)
  for (const { bucket, table } of aliases.toSorted((a, b) => depthOf(byId, a.table) - depthOf(byId, b.table)))
    await importAlias(target, bucket, table)
}

/** Aliases of aliases come after what they show. */
function depthOf(tables: ReadonlyMap<string, MovedTable>, { sourceTable }: MovedTable): number {
  const source = sourceTable && tables.get(sourceTable.id)
  return source ? 1 + depthOf(tables, source) : 0
}

async function importBucket({ client, report, branchId, once }: Target, bucket: MovedBucket): Promise<void> {
  const { id, stage, name, displayName, description, metadata, sharing } = bucket
  await once(`bucket ${id}`, async () => {
    // A bucket that is there is the place where the tables go; what is in it stays.
    if (!(await isOwn(client, branchId, `/v2/storage/buckets/${id}`)))
      await client.request('POST', '/v2/storage/buckets', {
        json: { stage, name: name.replace(/^c-/, ''), displayName, ...(description && { description }) },
      })
    await setMetadata(client, `/v2/storage/buckets/${id}`, metadata)
    count(report, 'buckets')
    if (sharing)
      report.notMoved.push({
        what: `sharing of bucket ${id}`,
        reason: `It was shared (${sharing}): share it again when it is ready.`,
      })
  })
}

interface SharedBucket {
  readonly id: string
  readonly project: { readonly id: number; readonly name: string }
}

/** Projects have other ids on another stack: a link leads to the bucket of the same id in a project of the same name. */
async function importLink({ client, report, branchId, once }: Target, bucket: MovedBucket): Promise<void> {
  const { id, stage, name, displayName, sourceBucket } = bucket
  const path = `/v2/storage/buckets/${id}`
  await once(
    `linked bucket ${id}`,
    async () => {
      const shared = await client.request<SharedBucket[]>('GET', '/v2/storage/shared-buckets')
      const found = shared.filter((one) => one.id === sourceBucket?.id && one.project.name === sourceBucket.project.name)
      const [source] = found
      if (!source || found.length > 1)
        throw new Error(
          `It shows the bucket ${sourceBucket?.id} of the project "${sourceBucket?.project.name}", and ${found.length} such buckets are shared with this project. Share it there, or link it by hand, and run the import again.`,
        )
      const link = { sourceProjectId: source.project.id, sourceBucketId: source.id }
      await client.request('POST', '/v2/storage/buckets', {
        json: { stage, name: name.replace(/^c-/, ''), displayName, ...link },
      })
      count(report, 'linked buckets')
    },
    { isThere: () => isOwn(client, branchId, path), remove: () => client.request('DELETE', path) },
  )
}

const tablePath = (id: string): string => `/v2/storage/tables/${id}`

async function importTable(target: Target, bucket: MovedBucket, table: MovedTable): Promise<void> {
  const { client, folder, report, branchId, once } = target
  const { id, name, primaryKey, columns, isTyped, definition } = table
  const run = async (path: string, json: object) => client.waitForJob(await client.request<StorageJob>('POST', path, { json }))
  await once(
    `table ${id}`,
    async () => {
      const file = await uploadFile(client, folder.pathOf('tables', `${id}.csv.gz`), SILENT)
      // Made empty first: a row that looks like a header is a row all the same.
      const create = (wanted: readonly object[]) =>
        run(`/v2/storage/buckets/${bucket.id}/tables-definition`, { name, primaryKeysNames: primaryKey, columns: wanted })
      // The definition is sorted by name, the table is not.
      const byName = new Map(definition?.columns.map((column) => [column.name, column]))
      const typed = columns.flatMap((column) => byName.get(column) ?? [])
      if (!isTyped) await create(columns.map((column) => ({ name: column })))
      else await create(typed.map(asItWas)).catch(() => create(typed.map(byBaseType)))
      await run(`${tablePath(id)}/import-async`, { dataFileId: file.id, columns, withoutHeaders: 1 })
      await client.request('DELETE', `/v2/storage/files/${file.id}`)
      await describeTable(target, table)
      count(report, 'tables')
      count(report, 'rows', table.rowsCount ?? 0)
    },
    {
      isThere: () => isOwn(client, branchId, tablePath(id)),
      remove: () => client.request('DELETE', tablePath(id), { query: { force: 1 } }),
    },
  )
}

type TypedColumn = NonNullable<MovedTable['definition']>['columns'][number]

const asItWas = ({ name, definition }: TypedColumn) => ({ name, definition })
/** Types of another backend may not exist here: the base type always does. */
const byBaseType = ({ name, definition, basetype }: TypedColumn) => ({ name, definition: { ...definition, type: basetype } })

async function importAlias(target: Target, bucket: MovedBucket, table: MovedTable): Promise<void> {
  const { client, report, branchId, once } = target
  const { id, name, sourceTable, aliasFilter, aliasColumnsAutoSync, columns } = table
  await once(
    `alias ${id}`,
    async () => {
      await client.request('POST', `/v2/storage/buckets/${bucket.id}/table-aliases`, {
        json: {
          name,
          sourceTable: sourceTable?.id,
          ...(aliasFilter && Object.keys(aliasFilter).length > 0 && { aliasFilter }),
          ...(aliasColumnsAutoSync === false && { aliasColumns: columns }),
        },
      })
      await describeTable(target, table)
      count(report, 'aliases')
    },
    {
      isThere: () => isOwn(client, branchId, tablePath(id)),
      remove: () => client.request('DELETE', tablePath(id)),
    },
  )
}

/** Reading in a branch also finds what the default branch has. */
async function isOwn(client: Target['client'], branchId: number | undefined, path: string): Promise<boolean> {
  type Found = { readonly idBranch?: number; readonly bucket?: { readonly idBranch?: number } }
  if (!(await exists(client, path))) return false
  if (branchId === undefined) return true
  const found = await client.request<Found>('GET', path)
  return (found.bucket?.idBranch ?? found.idBranch) === branchId
}

async function describeTable({ client }: Target, { id, name, displayName, metadata, columnMetadata }: MovedTable): Promise<void> {
  if (displayName !== name) await client.request('PUT', tablePath(id), { json: { displayName } })
  await setMetadata(client, tablePath(id), metadata)
  for (const [column, items] of Object.entries(columnMetadata))
    await setMetadata(client, `/v2/storage/columns/${id}.${column}`, items as readonly Metadata[]) // an empty list has no entries
}

/** The platform's own metadata has the provider `storage`, which only the platform may write. */
async function setMetadata(client: Target['client'], path: string, items: readonly Metadata[]): Promise<void> {
  for (const [provider, list] of Map.groupBy(items, (item) => item.provider))
    if (provider !== 'storage')
      await client.request('POST', `${path}/metadata`, {
        json: { provider, metadata: list.map(({ key, value }) => ({ key, value })) },
      })
}
