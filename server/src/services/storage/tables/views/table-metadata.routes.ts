// HTTP for the metadata of tables and columns (spec storage 2.5.9).

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { idFrom } from '../../../../http/ids.ts'
import { includeFrom } from '../../../../http/include.ts'
import { include, MetadataId, MetadataList, optionalText, Provider, TableId } from '../../../../http/parameters.ts'
import { scopeOf } from '../../../../http/scope.ts'
import { PlatformError } from '../../../../kit/errors.ts'
import type { TableMetadata } from './table-metadata.ts'
import { ByTable } from './table-route-shapes.ts'
import { TableView } from './table-view.ts'
import type { TableViewLoader } from './table-view-loader.ts'

export interface TableMetadataRoutesDeps {
  readonly metadata: TableMetadata
  readonly views: TableViewLoader
}

const INCLUDES = ['buckets', 'metadata', 'columns', 'columnMetadata', 'attributes']
const ColumnId = Type.String({ description: 'Id of the table, a dot, the column.', examples: ['in.c-main.orders.id'] })
const MetadataBody = Type.Object({
  provider: Provider,
  metadata: MetadataList,
  columnsMetadata: Type.Optional(Type.Unknown({ description: 'An object: name of a column to a list as in `metadata`.' })),
})

export function tableMetadataRoutes({ metadata, views }: TableMetadataRoutesDeps): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.get(
      '/v2/storage/search/tables',
      {
        config: { operation: 'tables.search', summary: 'Search tables by metadata', needs: 'token', branch: 'refused' },
        schema: {
          querystring: Type.Object({
            metadataKey: optionalText('Only tables with this key.'),
            metadataValue: optionalText('Only tables with this value.'),
            metadataProvider: optionalText('Only metadata of this provider.'),
            include: include(...INCLUDES),
          }),
          response: { 200: Type.Array(TableView) },
        },
      },
      async (req) => {
        const { metadataKey: key, metadataValue: value, metadataProvider: provider } = req.query
        const found = await metadata.search(scopeOf(req), {
          ...(key && { key }),
          ...(value && { value }),
          ...(provider && { provider }),
        })
        const include = includeFrom(req.query.include, INCLUDES)
        return views.many(found, new Set([...include, 'metadata', 'buckets']), req.baseUrl)
      },
    )

    app.get(
      '/v2/storage/tables/:tableId/metadata',
      {
        config: { operation: 'tables.listMetadata', summary: 'Metadata of a table', needs: 'bucketRead' },
        schema: { params: ByTable, response: { 200: Type.Array(Type.Unknown()) } },
      },
      async (req) => metadata.list(scopeOf(req), req.params.tableId),
    )

    app.post(
      '/v2/storage/tables/:tableId/metadata',
      {
        config: {
          operation: 'tables.setMetadata',
          summary: 'Set metadata of a table and of its columns',
          needs: 'bucketWrite',
          proposable: 'branch',
        },
        schema: { params: ByTable, body: MetadataBody, response: { 201: Type.Unknown() } },
      },
      async (req, reply) => {
        const answer = await metadata.set(scopeOf(req), req.params.tableId, req.body, req.origin)
        // The old form answers with the list alone.
        const isForm = /x-www-form-urlencoded|form-data/.test(req.headers['content-type'] ?? '')
        const isOldForm = isForm && !isGiven(req.body.columnsMetadata)
        return reply.code(201).send(isOldForm ? answer.metadata : answer)
      },
    )

    app.delete(
      '/v2/storage/tables/:tableId/metadata/:metadataId',
      {
        config: {
          operation: 'tables.deleteMetadata',
          summary: 'Delete one item of the metadata of a table',
          needs: 'bucketWrite',
          withoutId: 'APPLICATION_ERROR',
        },
        schema: { params: Type.Object({ tableId: TableId, metadataId: MetadataId }), response: { 204: Type.Null() } },
      },
      async (req, reply) => {
        await metadata.remove(scopeOf(req), req.params.tableId, metadataIdFrom(req.params.metadataId))
        return reply.code(204).send(null)
      },
    )

    app.get(
      '/v2/storage/columns/:columnId/metadata',
      {
        config: { operation: 'columns.listMetadata', summary: 'Metadata of a column ({tableId}.{column})', needs: 'bucketRead' },
        schema: { params: Type.Object({ columnId: ColumnId }), response: { 200: Type.Array(Type.Unknown()) } },
      },
      async (req) => metadata.listOfColumn(scopeOf(req), req.params.columnId),
    )

    app.post(
      '/v2/storage/columns/:columnId/metadata',
      {
        config: { operation: 'columns.setMetadata', summary: 'Set metadata of a column', needs: 'bucketWrite' },
        schema: {
          params: Type.Object({ columnId: ColumnId }),
          body: MetadataBody,
          response: { 201: Type.Array(Type.Unknown()) },
        },
      },
      async (req, reply) => reply.code(201).send(await metadata.setOfColumn(scopeOf(req), req.params.columnId, req.body)),
    )

    app.delete(
      '/v2/storage/columns/:columnId/metadata/:metadataId',
      {
        config: {
          operation: 'columns.deleteMetadata',
          summary: 'Delete one item of the metadata of a column',
          needs: 'bucketWrite',
          withoutId: 'APPLICATION_ERROR',
        },
        schema: { params: Type.Object({ columnId: ColumnId, metadataId: MetadataId }), response: { 204: Type.Null() } },
      },
      async (req, reply) => {
        await metadata.removeOfColumn(scopeOf(req), req.params.columnId, metadataIdFrom(req.params.metadataId))
        return reply.code(204).send(null)
      },
    )
  }
}

function metadataIdFrom(text: string): number {
  if (!/^\d+$/.test(text)) throw new PlatformError('storage.metadata.invalidId', { value: text.slice(0, 60) })
  return idFrom(
    text,
    () => new PlatformError('storage.metadata.notFound', {}, { text: 'The supplied metadata ID was not found' }),
  )
}

/** Columns in `columnsMetadata`: only then the old form answers with more than the list. */
const isGiven = (value: unknown): boolean => typeof value === 'object' && value !== null && Object.keys(value).length > 0
