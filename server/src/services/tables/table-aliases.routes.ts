// HTTP for aliases: a table shown under another name, through a filter or with some of its columns (spec storage 2.5.8).

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { isUniqueViolation } from '../../engines/metadata-db/dialects.ts'
import { PlatformError } from '../../kit/errors.ts'
import { readAliasFilter } from './table-aliases.ts'
import { checkFilters, checkNewTable, scopeOf, writable } from './table-data.routes.ts'
import { namesFrom } from './table-query.ts'
import { flag, isSet } from './table-requests.ts'
import { AliasFilterFields, ByBucket, ByTable, NewAlias } from './table-route-shapes.ts'
import { TableView } from './table-view.ts'
import { createTableViews } from './tables.routes.ts'
import { eventOf, type Tables, tableExists } from './tables.ts'

export function tableAliasesRoutes(tables: Tables): FastifyPluginAsyncTypebox {
  const { store, clock, inTransaction } = tables
  const views = createTableViews(tables)

  async function aliasOf(req: FastifyRequest, tableId: string) {
    const table = await tables.getForChange(scopeOf(req), tableId)
    if (!table.row.alias) throw new PlatformError('storage.tables.notAnAlias', { table: table.id })
    return { table, alias: table.row.alias }
  }

  return async (app) => {
    app.post(
      '/v2/storage/buckets/:bucketId/table-aliases',
      {
        config: {
          operation: 'tables.createAlias',
          summary: 'Create an alias of a table',
          validationCode: 'storage.tables.validation',
        },
        schema: { params: ByBucket, body: NewAlias, response: { 201: TableView } },
      },
      async (req, reply) => {
        if (!req.branch.isDefault)
          throw new PlatformError('storage.buckets.invalidAlias', {
            reason: 'Aliases are not supported in a development branch. Make the alias in the default branch.',
          })
        const bucket = await writable(tables, scopeOf(req), req.params.bucketId)
        if (!isSet(req.body.sourceTable))
          throw new PlatformError('storage.tables.validation', {
            reason: 'The parameter "sourceTable" is missing: which table shall be shown?',
          })
        const source = await tables.get(scopeOf(req), String(req.body.sourceTable))
        if (source.row.alias?.filter || source.row.alias?.columns)
          throw new PlatformError('storage.buckets.invalidAlias', {
            reason: 'Aliasing an advanced alias is not allowed. Make an alias of the table behind it.',
          })
        const name = isSet(req.body.name) ? String(req.body.name) : source.row.name
        const displayName = isSet(req.body.displayName) ? String(req.body.displayName) : name
        await checkNewTable(tables, bucket, name, displayName)
        const columns = namesFrom('aliasColumns', req.body.aliasColumns)
        const unknown = columns.find((column) => !source.columns.includes(column))
        if (unknown !== undefined)
          throw new PlatformError('storage.buckets.invalidAlias', {
            reason: `The table "${source.id}" has no column "${unknown.slice(0, 100)}".`,
          })
        const filter = readAliasFilter(req.body.aliasFilter, source.columns)
        await checkFilters(tables, source, { filters: filter ? [filter] : [] })
        const isSynced = columns.length === 0 && (!isSet(req.body.aliasColumnsAutoSync) || flag(req.body, 'aliasColumnsAutoSync'))
        const alias = {
          sourceKey: source.row.key,
          filter,
          columns: isSynced ? undefined : columns.length > 0 ? columns : source.columns,
        }
        const row = await inTransaction(async (trx) => {
          const created = await store.insertAlias(trx, {
            projectId: req.actor.projectId,
            bucketKey: bucket.key,
            name,
            displayName,
            alias,
            createdAt: clock.now(),
          })
          const event = eventOf(
            { id: `${bucket.id}.${name}`, bucket },
            'tableAliasCreated',
            `Created alias ${bucket.id}.${name} of ${source.id}`,
          )
          await tables.recordEvent(trx, req.actor, event, req.origin)
          return created
        }).catch((error: unknown) => {
          throw isUniqueViolation(error) ? tableExists(name, displayName) : error
        })
        return reply.code(201).send(await views.detail(await tables.resolve(bucket, row), req.baseUrl))
      },
    )

    app.post(
      '/v2/storage/tables/:tableId/alias-filter',
      {
        config: { operation: 'tables.setAliasFilter', summary: 'Set the filter of an alias', branch: 'refused' },
        schema: { params: ByTable, body: AliasFilterFields, response: { 200: TableView } },
      },
      async (req) => {
        const { table, alias } = await aliasOf(req, req.params.tableId)
        const filter = readAliasFilter(req.body, table.data.columns)
        await checkFilters(tables, table, { filters: filter ? [filter] : [] })
        await inTransaction((trx) => store.updateAlias(trx, table.row.key, { ...alias, filter }))
        return views.detail(await tables.get(scopeOf(req), req.params.tableId), req.baseUrl)
      },
    )

    app.delete(
      '/v2/storage/tables/:tableId/alias-filter',
      {
        config: { operation: 'tables.deleteAliasFilter', summary: 'Remove the filter of an alias', branch: 'refused' },
        schema: { params: ByTable, response: { 204: Type.Null() } },
      },
      async (req, reply) => {
        const { table, alias } = await aliasOf(req, req.params.tableId)
        await inTransaction((trx) => store.updateAlias(trx, table.row.key, { ...alias, filter: undefined }))
        return reply.code(204).send(null)
      },
    )

    for (const [method, operation, summary] of [
      ['POST', 'tables.enableAliasSync', 'Let an alias follow the columns of its table'],
      ['DELETE', 'tables.disableAliasSync', 'Keep the columns of an alias as they are'],
    ] as const)
      app.route({
        method,
        url: '/v2/storage/tables/:tableId/alias-columns-auto-sync',
        config: { operation, summary },
        schema: { params: ByTable, response: { 204: Type.Null() } },
        handler: async (req, reply) => {
          const { table, alias } = await aliasOf(req, (req.params as { tableId: string }).tableId) // by the schema above
          const dependants = await tables.aliasesOf(table.row.key)
          if (dependants.length > 0)
            throw new PlatformError('storage.tables.aliasHasAliases', { aliases: dependants.map(({ name }) => name).join(', ') })
          const columns = method === 'POST' ? undefined : table.columns
          await inTransaction((trx) => store.updateAlias(trx, table.row.key, { ...alias, columns }))
          return reply.code(204).send(null)
        },
      })
  }
}
