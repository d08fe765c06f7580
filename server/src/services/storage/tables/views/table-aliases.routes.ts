// HTTP for aliases: a table shown under another name, through a filter or with some of its columns (spec storage 2.5.8).

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { scopeOf } from '../../../../http/scope.ts'
import type { TableAliases } from './table-aliases.ts'
import { AliasFilterFields, ByBucket, ByTable, NewAlias } from './table-route-shapes.ts'
import { TableView } from './table-view.ts'
import type { TableViewLoader } from './table-view-loader.ts'

export interface TableAliasesRoutesDeps {
  readonly aliases: TableAliases
  readonly views: TableViewLoader
}

export function tableAliasesRoutes({ aliases, views }: TableAliasesRoutesDeps): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.post(
      '/v2/storage/buckets/:bucketId/table-aliases',
      {
        config: {
          operation: 'tables.createAlias',
          summary: 'Create an alias of a table',
          needs: 'bucketWrite',
          validationCode: 'storage.tables.validation',
        },
        schema: { params: ByBucket, body: NewAlias, response: { 201: TableView } },
      },
      async (req, reply) => {
        const alias = await aliases.create(scopeOf(req), req.params.bucketId, req.body, req.origin)
        return reply.code(201).send(await views.detail(alias, req.baseUrl))
      },
    )

    app.post(
      '/v2/storage/tables/:tableId/alias-filter',
      {
        config: {
          operation: 'tables.setAliasFilter',
          summary: 'Set the filter of an alias',
          needs: 'bucketWrite',
          branch: 'refused',
        },
        schema: { params: ByTable, body: AliasFilterFields, response: { 200: TableView } },
      },
      async (req) => views.detail(await aliases.setFilter(scopeOf(req), req.params.tableId, req.body), req.baseUrl),
    )

    app.delete(
      '/v2/storage/tables/:tableId/alias-filter',
      {
        config: {
          operation: 'tables.deleteAliasFilter',
          summary: 'Remove the filter of an alias',
          needs: 'bucketWrite',
          branch: 'refused',
        },
        schema: { params: ByTable, response: { 204: Type.Null() } },
      },
      async (req, reply) => {
        await aliases.removeFilter(scopeOf(req), req.params.tableId)
        return reply.code(204).send(null)
      },
    )

    for (const [method, operation, summary] of [
      ['POST', 'tables.enableAliasSync', 'Synchronize the columns of an alias with its table'],
      ['DELETE', 'tables.disableAliasSync', 'Stop synchronizing the columns of an alias'],
    ] as const)
      app.route({
        method,
        url: '/v2/storage/tables/:tableId/alias-columns-auto-sync',
        config: { operation, summary, needs: 'bucketWrite' },
        schema: { params: ByTable, response: { 204: Type.Null() } },
        handler: async (req, reply) => {
          const { tableId } = req.params as { tableId: string } // by the schema above
          await aliases.setSync(scopeOf(req), tableId, method === 'POST')
          return reply.code(204).send(null)
        },
      })
  }
}
