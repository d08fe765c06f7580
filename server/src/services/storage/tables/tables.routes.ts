// HTTP for the catalogue of tables: lists, detail, names, deletion, events (spec storage 2.5.2).

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { callerGone } from '../../../http/connection/caller-gone.ts'
import { DryRun, DryRunView, isDryRun } from '../../../http/dry-run.ts'
import { includeFrom } from '../../../http/include.ts'
import { JobView, jobView } from '../../../http/job-view.ts'
import { fieldsFrom, PAGE_PARAMETERS, pageFrom, picked } from '../../../http/page.ts'
import { Async, BucketId, include, optionalFlag } from '../../../http/parameters.ts'
import { EventListQuery } from '../../../http/record-schemas.ts'
import { scopeOf } from '../../../http/scope.ts'
import type { DryRunJob } from '../../../model/dry-run.ts'
import { eventOf } from '../../../model/event.ts'
import type { Tables } from './tables.ts'
import { ByTable } from './views/table-route-shapes.ts'
import { TableView } from './views/table-view.ts'
import type { TableViewLoader } from './views/table-view-loader.ts'

export interface TablesRoutesDeps {
  readonly tables: Tables
  readonly views: TableViewLoader
  readonly dryRun: DryRunJob
  readonly eventsOfTable: (req: FastifyRequest, tableId: string, query: Type.Static<typeof EventListQuery>) => Promise<unknown[]>
}

const INCLUDES = [
  'attributes',
  'buckets',
  'bucketsWithoutSourceTables',
  'columns',
  'metadata',
  'columnMetadata',
  'definition',
  'sourceMetadata',
  'sourceColumnMetadata',
]
const ListQuery = Type.Object({ include: include(...INCLUDES) })

export function tablesRoutes({ tables, views, dryRun, eventsOfTable }: TablesRoutesDeps): FastifyPluginAsyncTypebox {
  /** Not set: bucket and metadata. Set, even if empty: exactly that (spec storage 2.5.2). */
  const included = (text: string | undefined) =>
    text === undefined ? new Set(['buckets', 'metadata']) : includeFrom(text, INCLUDES)

  /** Only what is answered has to be looked up. */
  const includedFor = (fields: readonly string[]) =>
    new Set(fields.map((name) => (name === 'bucket' ? 'buckets' : name)).filter((name) => INCLUDES.includes(name)))

  return async (app) => {
    app.get(
      '/v2/storage/tables',
      {
        config: { operation: 'tables.list', summary: 'List tables', needs: 'token' },
        schema: {
          querystring: Type.Object({ ...ListQuery.properties, ...PAGE_PARAMETERS }),
          response: { 200: Type.Array(TableView) },
        },
      },
      async (req, reply) => {
        const page = pageFrom(req.query)
        const fields = fieldsFrom(req.query.fields)
        const found = page
          ? await tables.listPage(scopeOf(req), page)
          : { tables: await tables.list(scopeOf(req)), total: undefined }
        if (found.total !== undefined) reply.header('x-millrace-total', found.total)
        if (!fields) return views.many(found.tables, included(req.query.include), req.baseUrl)
        const compact = await views.many(found.tables, includedFor(fields), req.baseUrl)
        return compact.map((view) => picked(view, fields)) as Type.Static<typeof TableView>[] // only the requested members
      },
    )

    app.get(
      '/v2/storage/buckets/:bucketId/tables',
      {
        config: {
          operation: 'tables.listOfBucket',
          summary: 'List the tables of a bucket',
          needs: 'bucketRead',
          readEvent: ({ params }) => {
            const { bucketId } = params as { bucketId: string } // by the schema below
            return eventOf('storage.tablesListed', {}, { objectId: bucketId, objectName: bucketId })
          },
        },
        schema: {
          params: Type.Object({ bucketId: BucketId }),
          querystring: ListQuery,
          response: { 200: Type.Array(TableView) },
        },
      },
      async (req) => {
        const found = await tables.listInBucket(scopeOf(req), req.params.bucketId)
        return views.many(found, included(req.query.include), req.baseUrl)
      },
    )

    app.get(
      '/v2/storage/tables/:tableId',
      {
        config: {
          operation: 'tables.get',
          summary: 'Table detail',
          needs: 'bucketRead',
          readEvent: ({ params }) => {
            const { tableId } = params as Type.Static<typeof ByTable> // by the schema below
            const objectName = tableId.slice(tableId.lastIndexOf('.') + 1)
            return eventOf('storage.tableDetail', {}, { objectId: tableId, objectName })
          },
        },
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
          needs: 'bucketWrite',
          validationCode: 'validation.failed',
        },
        schema: {
          params: ByTable,
          querystring: Type.Object({ async: Async }),
          body: Type.Object({
            displayName: Type.String({ description: 'Display name; can be changed, unlike the id.' }),
            async: Async,
          }),
          response: { 200: TableView, 202: JobView },
        },
      },
      async (req, reply) => {
        const { tableId } = req.params
        const { displayName } = req.body
        if (req.query.async || req.body.async)
          return reply.code(202).send(jobView(await tables.startRename(req, tableId, displayName), req.baseUrl))
        return views.detail(await tables.rename(scopeOf(req), tableId, displayName, req.origin), req.baseUrl)
      },
    )

    app.delete(
      '/v2/storage/tables/:tableId',
      {
        config: {
          operation: 'tables.delete',
          summary: 'Delete a table; force deletes its aliases as well',
          needs: 'bucketWrite',
          proposable: 'branch',
        },
        schema: {
          params: ByTable,
          querystring: Type.Object({
            force: optionalFlag('Delete the aliases of the table as well.'),
            async: Async,
            dryRun: DryRun,
          }),
          response: { 200: DryRunView, 204: Type.Null(), 202: JobView },
        },
      },
      async (req, reply) => {
        const { tableId } = req.params
        const { force = false, async: asJob } = req.query
        if (isDryRun(req)) {
          const job = await tables.planRemoval(scopeOf(req), tableId, force)
          return reply.code(200).send(await dryRun(req, job, callerGone(reply)))
        }
        if (asJob) return reply.code(202).send(jobView(await tables.startRemoval(req, tableId, force), req.baseUrl))
        await tables.remove(scopeOf(req), tableId, force, req.origin)
        return reply.code(204).send(null)
      },
    )

    app.get(
      '/v2/storage/tables/:tableId/events',
      {
        config: { operation: 'tables.events', summary: 'Events of a table', needs: 'bucketRead' },
        schema: { params: ByTable, querystring: EventListQuery, response: { 200: Type.Array(Type.Unknown()) } },
      },
      async (req) => eventsOfTable(req, (await tables.get(scopeOf(req), req.params.tableId)).id, req.query),
    )
  }
}
