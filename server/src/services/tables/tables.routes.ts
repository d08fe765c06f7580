// HTTP for the catalogue of tables: lists, detail, names, deletion, events (spec storage 2.5.2).

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { isUniqueViolation } from '../../engines/metadata-db/dialects.ts'
import { includeFrom } from '../../http/include.ts'
import { JobView, jobView } from '../../http/job-view.ts'
import { Async, BucketId, include, optionalFlag } from '../../http/parameters.ts'
import { EventListQuery } from '../../http/record-schemas.ts'
import { PlatformError } from '../../kit/errors.ts'
import type { NewStorageJob, Requester, StorageJob } from '../../model/storage-job.ts'
import { scopeOf } from './table-data.routes.ts'
import { checkTableName } from './table-names.ts'
import { ByTable } from './table-route-shapes.ts'
import { TableView, tableView } from './table-view.ts'
import { eventOf, lockOf, type Table, type Tables, tableExists } from './tables.ts'

export interface TablesRoutesDeps {
  readonly tables: Tables
  readonly createJob: (requester: Requester, job: NewStorageJob) => Promise<StorageJob>
  readonly eventsOfTable: (req: FastifyRequest, tableId: string, query: Type.Static<typeof EventListQuery>) => Promise<unknown[]>
}

const INCLUDES = [
  'attributes',
  'buckets',
  'bucketsWithoutSourceTables',
  'columns',
  'metadata',
  'columnMetadata',
  'sourceMetadata',
  'sourceColumnMetadata',
]
const ListQuery = Type.Object({ include: include(...INCLUDES) })
export type TableViews = ReturnType<typeof createTableViews>

/** Lists and details with what they carry; the buckets room shows the tables of a bucket with it too. */
export function createTableViews(tables: Tables) {
  const { metadata } = tables

  async function many(found: readonly Table[], include: ReadonlySet<string>, baseUrl: string) {
    const byProject = Map.groupBy(found, (table) => table.row.projectId)
    const own = new Map<number, Awaited<ReturnType<typeof metadataOf>>>()
    for (const [projectId, group] of byProject) own.set(projectId, await metadataOf(projectId, group, include))
    const buckets = new Map<number, Promise<object>>()
    const bucketOf = (table: Table) => {
      const view = buckets.get(table.bucket.key) ?? tables.bucket.view(table.bucket, baseUrl)
      buckets.set(table.bucket.key, view)
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
          ...(table.source && { sourceProjectName: await tables.projectName(table.source.projectId) }),
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
      tables.bucket.view(table.bucket, baseUrl),
      tables.reading(table),
    ])
    return tableView(table, baseUrl, {
      columns: true,
      attributes: true,
      metadata: own.get(row.key) ?? [],
      columnMetadata: columns.get(row.key) ?? {},
      bucket,
      definition: snapshot.columns,
      ...(table.source && {
        sourceProjectName: await tables.projectName(table.source.projectId),
        sourceMetadata: await sourceMetadata(table),
        sourceColumnMetadata: await sourceColumns(table),
      }),
    })
  }

  return { many, detail }
}

export function tablesRoutes({ tables, createJob, eventsOfTable }: TablesRoutesDeps): FastifyPluginAsyncTypebox {
  const views = createTableViews(tables)
  const { store, inTransaction } = tables
  /** Nothing said: bucket and metadata. Said, even if empty: exactly that (spec storage 2.5.2). */
  const included = (text: string | undefined) =>
    text === undefined ? new Set(['buckets', 'metadata']) : includeFrom(text, INCLUDES)

  return async (app) => {
    app.get(
      '/v2/storage/tables',
      {
        config: { operation: 'tables.list', summary: 'List tables' },
        schema: { querystring: ListQuery, response: { 200: Type.Array(TableView) } },
      },
      async (req) => views.many(await tables.list(scopeOf(req)), included(req.query.include), req.baseUrl),
    )

    app.get(
      '/v2/storage/buckets/:bucketId/tables',
      {
        config: { operation: 'tables.listOfBucket', summary: 'List the tables of a bucket' },
        schema: {
          params: Type.Object({ bucketId: BucketId }),
          querystring: ListQuery,
          response: { 200: Type.Array(TableView) },
        },
      },
      async (req) => {
        const bucket = await tables.bucket.get(scopeOf(req), req.params.bucketId)
        return views.many(await tables.listOfBucket(bucket), included(req.query.include), req.baseUrl)
      },
    )

    app.get(
      '/v2/storage/tables/:tableId',
      {
        config: { operation: 'tables.get', summary: 'Table detail' },
        schema: { params: ByTable, response: { 200: TableView } },
      },
      async (req) => views.detail(await tables.get(scopeOf(req), req.params.tableId), req.baseUrl),
    )

    app.put(
      '/v2/storage/tables/:tableId',
      {
        config: {
          operation: 'tables.update',
          summary: 'Change the display name of a table',
          validationCode: 'validation.failed',
        },
        schema: {
          params: ByTable,
          querystring: Type.Object({ async: Async }),
          body: Type.Object({
            displayName: Type.String({ description: 'Name for people; it can change, the id cannot.' }),
            async: Async,
          }),
          response: { 200: TableView, 202: JobView },
        },
      },
      async (req, reply) => {
        const table = await tables.getForChange(scopeOf(req), req.params.tableId)
        const { displayName } = req.body
        checkTableName(displayName, 'display name')
        const same = await store.findNamed(table.row.bucketKey, displayName)
        if (same && same.key !== table.row.key) throw tableExists(same.name, displayName)
        if (req.query.async || req.body.async) {
          const job = await createJob(req, jobOn(table, 'tableUpdate', { displayName }))
          return reply.code(202).send(jobView(job, req.baseUrl))
        }
        await inTransaction(async (trx) => {
          await store.setDisplayName(trx, table.row.key, displayName).catch((error: unknown) => {
            throw isUniqueViolation(error) ? tableExists(table.row.name, displayName) : error
          })
          await tables.recordEvent(trx, req.actor, eventOf(table, 'tableUpdated', `Updated table ${table.id}`), req.origin)
        })
        return views.detail(await tables.get(scopeOf(req), req.params.tableId), req.baseUrl)
      },
    )

    app.delete(
      '/v2/storage/tables/:tableId',
      {
        config: { operation: 'tables.delete', summary: 'Delete a table; force deletes its aliases as well' },
        schema: {
          params: ByTable,
          querystring: Type.Object({ force: optionalFlag('Delete the aliases of the table as well.'), async: Async }),
          response: { 204: Type.Null(), 202: JobView },
        },
      },
      async (req, reply) => {
        const table = await tables.getForChange(scopeOf(req), req.params.tableId)
        if (!req.query.force) await refuseWithAliases(tables, table)
        if (req.query.async) {
          const job = await createJob(req, jobOn(table, 'tableDrop', {}))
          return reply.code(202).send(jobView(job, req.baseUrl))
        }
        // Not waiting for a running load: it finds the table gone when it wants to publish, and says so.
        await inTransaction(async (trx) => {
          await tables.drop(trx, table)
          await tables.bucket.touch(trx, table.bucket)
          await tables.recordEvent(trx, req.actor, eventOf(table, 'tableDeleted', `Deleted table ${table.id}`), req.origin)
        })
        return reply.code(204).send(null)
      },
    )

    app.get(
      '/v2/storage/tables/:tableId/events',
      {
        config: { operation: 'tables.events', summary: 'Events of a table' },
        schema: { params: ByTable, querystring: EventListQuery, response: { 200: Type.Array(Type.Unknown()) } },
      },
      async (req) => eventsOfTable(req, (await tables.get(scopeOf(req), req.params.tableId)).id, req.query),
    )
  }
}

/** A job on one table, holding its lock. */
export const jobOn = (table: Table, operationName: string, input: object, operationParams: object = input): NewStorageJob => ({
  operationName,
  operationParams: { ...operationParams },
  input: { ...input, tableKey: table.row.key },
  tableId: table.id,
  branchId: table.bucket.branchId,
  lockKeys: [lockOf(table.bucket, table.row.name)],
})

export async function refuseWithAliases(tables: Tables, table: Table): Promise<void> {
  const aliases = await tables.aliasesOf(table.row.key)
  if (aliases.length > 0)
    throw new PlatformError('tables.cannotDeletedTableWithAliases', {
      table: table.id,
      aliases: aliases.map(({ name }) => name).join(', '),
    })
}
