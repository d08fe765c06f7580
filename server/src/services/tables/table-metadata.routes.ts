// HTTP for the metadata of tables and columns (spec storage 2.5.9).

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { idFrom } from '../../http/ids.ts'
import { includeFrom } from '../../http/include.ts'
import { readMetadataItems } from '../../http/metadata-items.ts'
import { include, MetadataId, MetadataList, optionalText, Provider, TableId } from '../../http/parameters.ts'
import { PlatformError } from '../../kit/errors.ts'
import { scopeOf } from './table-data.routes.ts'
import { readColumnsMetadata } from './table-metadata.ts'
import { ByTable } from './table-route-shapes.ts'
import { columnsMetadataView, metadataView, TableView } from './table-view.ts'
import { createTableViews } from './tables.routes.ts'
import { eventOf, STORAGE_PROVIDER, type Table, type Tables } from './tables.ts'

const INCLUDES = ['buckets', 'metadata', 'columns', 'columnMetadata', 'attributes']
const ColumnId = Type.String({ description: 'Id of the table, a dot, the column.', examples: ['in.c-main.orders.id'] })
const MetadataBody = Type.Object({
  provider: Provider,
  metadata: MetadataList,
  columnsMetadata: Type.Optional(Type.Unknown({ description: 'An object: name of a column to a list as in `metadata`.' })),
})

export function tableMetadataRoutes(tables: Tables): FastifyPluginAsyncTypebox {
  const { metadata, inTransaction, clock } = tables
  const views = createTableViews(tables)

  async function columnOf(req: FastifyRequest, id: string, change: boolean): Promise<{ table: Table; column: string }> {
    const parts = id.split('.')
    const column = parts.at(3) ?? ''
    const table = await (change ? tables.getForChange : tables.get)(scopeOf(req), parts.slice(0, 3).join('.'))
    if (parts.length !== 4 || !table.columns.includes(column))
      throw new PlatformError('notFound', { what: `The column "${column.slice(0, 100)}" of table "${table.id}"` })
    return { table, column }
  }

  const columnItems = async (table: Table, column: string) =>
    ((await metadata.listColumns(table.row.projectId, [table.row.key])).get(table.row.key)?.[column] ?? []).map(metadataView)

  const tableItems = async (table: Table) =>
    ((await metadata.listTables(table.row.projectId, [table.row.key])).get(table.row.key) ?? []).map(metadataView)

  return async (app) => {
    app.get(
      '/v2/storage/search/tables',
      {
        config: { operation: 'tables.search', summary: 'Tables with certain metadata', branch: 'refused' },
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
        if (!key && !value && !provider)
          throw new PlatformError('validationError', {
            reason: 'Send at least one of metadataKey, metadataValue and metadataProvider.',
          })
        const wanted = { ...(key && { key }), ...(value && { value }), ...(provider && { provider }) }
        const found = new Set(await metadata.findTables(req.actor.projectId, wanted))
        const visible = (await tables.list(scopeOf(req))).filter((table) => found.has(table.row.key))
        const include = includeFrom(req.query.include, INCLUDES)
        return views.many(visible, new Set([...include, 'metadata']), req.baseUrl)
      },
    )

    app.get(
      '/v2/storage/tables/:tableId/metadata',
      {
        config: { operation: 'tables.listMetadata', summary: 'Metadata of a table' },
        schema: { params: ByTable, response: { 200: Type.Array(Type.Unknown()) } },
      },
      async (req) => tableItems(await tables.get(scopeOf(req), req.params.tableId)),
    )

    app.post(
      '/v2/storage/tables/:tableId/metadata',
      {
        config: { operation: 'tables.setMetadata', summary: 'Set metadata of a table and of its columns' },
        schema: { params: ByTable, body: MetadataBody, response: { 201: Type.Unknown() } },
      },
      async (req, reply) => {
        const table = await tables.getForChange(scopeOf(req), req.params.tableId)
        const provider = providerFrom(req.body.provider, table)
        const pairs = isAbsent(req.body.metadata) ? [] : readMetadataItems(req.body.metadata)
        const byColumn = readColumnsMetadata(req.body.columnsMetadata, table.columns)
        if (pairs.length === 0 && byColumn.size === 0) throw new PlatformError('storage.metadata.invalidParameter')
        await inTransaction(async (trx) => {
          const { projectId, key } = table.row
          if (pairs.length > 0) await metadata.set(trx, projectId, key, undefined, provider, pairs, clock.now())
          for (const [column, items] of byColumn) await metadata.set(trx, projectId, key, column, provider, items, clock.now())
          await tables.recordEvent(
            trx,
            req.actor,
            eventOf(table, 'tableMetadataSet', `Set metadata of table ${table.id}`),
            req.origin,
          )
        })
        const items = await tableItems(table)
        // The old form answers with the list alone.
        const isForm = /x-www-form-urlencoded|form-data/.test(req.headers['content-type'] ?? '')
        if (isForm && byColumn.size === 0) return reply.code(201).send(items)
        const columns = (await metadata.listColumns(table.row.projectId, [table.row.key])).get(table.row.key) ?? {}
        const named = Object.fromEntries(Object.entries(columns).filter(([column]) => byColumn.has(column)))
        return reply.code(201).send({ metadata: items, columnsMetadata: columnsMetadataView(named) })
      },
    )

    app.delete(
      '/v2/storage/tables/:tableId/metadata/:metadataId',
      {
        config: { operation: 'tables.deleteMetadata', summary: 'Delete one item of the metadata of a table' },
        schema: { params: Type.Object({ tableId: TableId, metadataId: MetadataId }), response: { 204: Type.Null() } },
      },
      async (req, reply) => {
        const table = await tables.getForChange(scopeOf(req), req.params.tableId)
        const id = metadataIdFrom(req.params.metadataId)
        await inTransaction((trx) => metadata.remove(trx, table.row.projectId, table.row.key, undefined, id))
        return reply.code(204).send(null)
      },
    )

    app.get(
      '/v2/storage/columns/:columnId/metadata',
      {
        config: { operation: 'columns.listMetadata', summary: 'Metadata of a column ({tableId}.{column})' },
        schema: { params: Type.Object({ columnId: ColumnId }), response: { 200: Type.Array(Type.Unknown()) } },
      },
      async (req) => {
        const { table, column } = await columnOf(req, req.params.columnId, false)
        return columnItems(table, column)
      },
    )

    app.post(
      '/v2/storage/columns/:columnId/metadata',
      {
        config: { operation: 'columns.setMetadata', summary: 'Set metadata of a column' },
        schema: {
          params: Type.Object({ columnId: ColumnId }),
          body: MetadataBody,
          response: { 201: Type.Array(Type.Unknown()) },
        },
      },
      async (req, reply) => {
        const { table, column } = await columnOf(req, req.params.columnId, true)
        const provider = providerFrom(req.body.provider, table)
        const pairs = readMetadataItems(req.body.metadata)
        await inTransaction((trx) => metadata.set(trx, table.row.projectId, table.row.key, column, provider, pairs, clock.now()))
        return reply.code(201).send(await columnItems(table, column))
      },
    )

    app.delete(
      '/v2/storage/columns/:columnId/metadata/:metadataId',
      {
        config: { operation: 'columns.deleteMetadata', summary: 'Delete one item of the metadata of a column' },
        schema: { params: Type.Object({ columnId: ColumnId, metadataId: MetadataId }), response: { 204: Type.Null() } },
      },
      async (req, reply) => {
        const { table, column } = await columnOf(req, req.params.columnId, true)
        const id = metadataIdFrom(req.params.metadataId)
        await inTransaction((trx) => metadata.remove(trx, table.row.projectId, table.row.key, column, id))
        return reply.code(204).send(null)
      },
    )
  }
}

/** On typed tables the platform's own entries are not for others to write. */
function providerFrom(provider: string | undefined, table: Table): string {
  if (!provider) throw new PlatformError('storage.metadata.invalidProvider')
  if (provider === STORAGE_PROVIDER && table.data.isTyped) throw new PlatformError('storage.metadata.reservedProvider')
  return provider
}

const metadataIdFrom = (text: string): number =>
  idFrom(text, () => new PlatformError('storage.metadata.notFound', { id: text.slice(0, 40) }))

const isAbsent = (value: unknown): boolean =>
  value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0)
