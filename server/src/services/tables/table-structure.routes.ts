// HTTP for the shape of tables: columns, keys, rows, profiles, swaps (spec storage 2.5.7).

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { JobView, jobStarter } from '../../http/job-view.ts'
import { optionalFlag, TableId } from '../../http/parameters.ts'
import { formatTimestamp } from '../../kit/clock.ts'
import { PlatformError } from '../../kit/errors.ts'
import { columnNameFrom } from '../../model/column-name.ts'
import type { NewStorageJob, Requester, StorageJob } from '../../model/storage-job.ts'
import { checkFilters, scopeOf } from './table-data.routes.ts'
import { MAX_COLUMNS } from './table-load.ts'
import { checkColumnName } from './table-names.ts'
import { hasNoFilter, readDeletion } from './table-query.ts'
import { flag, isSet, primaryKeyFrom } from './table-requests.ts'
import { ByColumn, ByTable, NewColumn, NewPrimaryKey, RowsToDelete } from './table-route-shapes.ts'
import { readType } from './table-types.ts'
import { jobOn } from './tables.routes.ts'
import { lockOf, refuseAlias, type Table, type Tables } from './tables.ts'

export interface TableStructureDeps {
  readonly tables: Tables
  readonly createJob: (requester: Requester, job: NewStorageJob) => Promise<StorageJob>
}

export function tableStructureRoutes({ tables, createJob }: TableStructureDeps): FastifyPluginAsyncTypebox {
  const { store, clock } = tables

  const start = jobStarter(createJob)

  /** A table of its own, that the asker may change. */
  async function ownTable(req: FastifyRequest, tableId: string): Promise<Table> {
    const table = await tables.getForChange(scopeOf(req), tableId)
    refuseAlias(table)
    return table
  }

  return async (app) => {
    app.post(
      '/v2/storage/tables/:tableId/columns',
      {
        config: { operation: 'tables.addColumn', summary: 'Add a column', validationCode: 'storage.tables.validation' },
        schema: { params: ByTable, body: NewColumn, response: { 202: JobView } },
      },
      async (req, reply) => {
        const table = await tables.getForChange(scopeOf(req), req.params.tableId)
        if (table.source)
          throw new PlatformError('storage.tables.validation.cannotAddColumn', { table: table.id, source: table.source.id })
        const given = isSet(req.body.name) ? String(req.body.name) : ''
        const name = columnNameFrom(given)
        try {
          checkColumnName(name, `"${given.slice(0, 60)}"`)
        } catch (error) {
          throw error instanceof PlatformError ? new PlatformError('storage.tables.invalidColumnName', error.details) : error
        }
        if (table.columns.some((column) => column.toLowerCase() === name.toLowerCase()))
          throw new PlatformError('storage.tables.columnAlreadyExists', { column: name })
        if (table.columns.length >= MAX_COLUMNS)
          throw new PlatformError('storage.tables.validation', { reason: `A table has at most ${MAX_COLUMNS} columns.` })
        const { column, isTyped, metadata } = readType(name, req.body, false)
        if (table.data.isTyped && !isTyped)
          throw new PlatformError('storage.tables.validation', { reason: 'Column "definition" or "basetype" must be set.' })
        return start(req, reply, jobOn(table, 'tableColumnAdd', { column, metadata }, { name }))
      },
    )

    app.delete(
      '/v2/storage/tables/:tableId/columns/:column',
      {
        config: { operation: 'tables.deleteColumn', summary: 'Delete a column' },
        schema: {
          params: ByColumn,
          querystring: Type.Object({ force: optionalFlag('Delete it from aliases that show it, as well.') }),
          response: { 202: JobView },
        },
      },
      async (req, reply) => {
        const table = await ownTable(req, req.params.tableId)
        const { column } = req.params
        if (!table.columns.includes(column))
          throw new PlatformError('notFound', { what: `The column "${column.slice(0, 100)}" of table "${table.id}"` })
        if (table.primaryKey.includes(column)) throw new PlatformError('storage.tables.cannotDeletePrimaryKeyColumn', { column })
        if (table.columns.length === 1) throw new PlatformError('storage.tables.cannotDeleteLastColumn', { column })
        const aliases = (await tables.aliasesOf(table.row.key)).filter(
          ({ alias }) => alias?.filter?.column === column || (!req.query.force && alias?.columns?.includes(column)),
        )
        if (aliases.length > 0)
          throw new PlatformError('storage.tables.cannotDeleteReferencedColumn', {
            column,
            aliases: aliases.map(({ name }) => name).join(', '),
          })
        return start(req, reply, jobOn(table, 'tableColumnDelete', { column }))
      },
    )

    app.post(
      '/v2/storage/tables/:tableId/primary-key',
      {
        config: {
          operation: 'tables.addPrimaryKey',
          summary: 'Add a primary key',
          validationCode: 'storage.validation.primaryKey',
        },
        schema: { params: ByTable, body: NewPrimaryKey, response: { 202: JobView } },
      },
      async (req, reply) => {
        const table = await ownTable(req, req.params.tableId)
        const columns = primaryKeyFrom(req.body.columns)
        const refuse = (reason: string) => new PlatformError('storage.validation.primaryKey', { reason })
        if (columns.length === 0) throw refuse('The parameter "columns" should name the columns of the primary key.')
        if (table.primaryKey.length > 0)
          throw refuse(`The table already has the primary key ${table.primaryKey.join(', ')}. Delete it first.`)
        const unknown = columns.find((column) => !table.columns.includes(column))
        if (unknown !== undefined) throw refuse(`The table has no column "${unknown.slice(0, 100)}".`)
        const input = { columns, skipDuplicatesCheck: flag(req.body, 'skipDuplicatesCheck') }
        return start(req, reply, jobOn(table, 'tablePrimaryKeyAdd', input))
      },
    )

    app.delete(
      '/v2/storage/tables/:tableId/primary-key',
      {
        config: { operation: 'tables.deletePrimaryKey', summary: 'Delete the primary key' },
        schema: { params: ByTable, response: { 202: JobView } },
      },
      async (req, reply) => {
        const table = await ownTable(req, req.params.tableId)
        if (table.primaryKey.length === 0)
          throw new PlatformError('storage.validation.primaryKey', { reason: `The table "${table.id}" has no primary key.` })
        const aliases = (await tables.aliasesOf(table.row.key)).filter(({ alias }) =>
          table.primaryKey.includes(alias?.filter?.column ?? ''),
        )
        if (aliases.length > 0)
          throw new PlatformError('storage.tables.cannotRemoveReferencedColumnFromPrimaryKey', {
            aliases: aliases.map(({ name }) => name).join(', '),
          })
        return start(req, reply, jobOn(table, 'tablePrimaryKeyDelete', {}))
      },
    )

    app.delete(
      '/v2/storage/tables/:tableId/rows',
      {
        config: {
          operation: 'tables.deleteRows',
          summary: 'Delete the rows that match',
          validationCode: 'storage.tables.validation',
        },
        schema: { params: ByTable, querystring: RowsToDelete, body: RowsToDelete, response: { 202: JobView } },
      },
      async (req, reply) => {
        const table = await ownTable(req, req.params.tableId)
        // New PHP clients send a body, old ones and the command line a query.
        const fields = { ...req.query, ...req.body }
        const query = readDeletion(fields, table.columns, clock.now())
        if (hasNoFilter(query) && !flag(fields, 'allowTruncate'))
          throw new PlatformError('storage.tables.validation.unintendedTruncation')
        await checkFilters(tables, table, query)
        return start(req, reply, jobOn(table, 'tableRowsDelete', { query }))
      },
    )

    app.post(
      '/v2/storage/tables/:tableId/profile',
      {
        config: { operation: 'tables.profile', summary: 'Compute figures for every column' },
        schema: { params: ByTable, response: { 202: JobView } },
      },
      async (req, reply) => {
        const table = await tables.get(scopeOf(req), req.params.tableId)
        if (table.bucket.sourceKey !== undefined) refuseAlias(table)
        const { lockKeys: _, ...job } = jobOn(table, 'tableProfile', {})
        return start(req, reply, job)
      },
    )

    app.get(
      '/v2/storage/tables/:tableId/profile/:uuid',
      {
        config: { operation: 'tables.getProfile', summary: 'A profile by its uuid, or the latest' },
        schema: {
          params: Type.Object({ tableId: TableId, uuid: Type.String({ description: 'Id of the profile, or `latest`.' }) }),
          response: { 200: Type.Unknown() },
        },
      },
      async (req) => {
        const table = await tables.get(scopeOf(req), req.params.tableId)
        const profile = await store.findProfile(
          req.actor.projectId,
          table.row.key,
          req.params.uuid === 'latest' ? undefined : req.params.uuid,
        )
        if (!profile) throw new PlatformError('storage.tables.profileNotFound', { table: table.id })
        return { uuid: profile.uuid, createdAt: formatTimestamp(profile.createdAt), ...(profile.value as object) } // saved by table-changes.ts
      },
    )

    app.post(
      '/v2/storage/tables/:tableId/optimize',
      {
        config: { operation: 'tables.optimize', summary: 'Rewrite the files of a table now' },
        schema: { params: ByTable, response: { 202: JobView } },
      },
      async (req, reply) => start(req, reply, jobOn(await ownTable(req, req.params.tableId), 'tableOptimize', {})),
    )

    app.post(
      '/v2/storage/tables/:tableId/swap',
      {
        config: { operation: 'tables.swap', summary: 'Exchange the contents of two tables of a bucket' },
        schema: {
          params: ByTable,
          body: Type.Object({ targetTableId: Type.String({ description: 'Id of the other table.' }) }),
          response: { 202: JobView },
        },
      },
      async (req, reply) => {
        const table = await tables.getForChange(scopeOf(req), req.params.tableId)
        const target = await tables.getForChange(scopeOf(req), req.body.targetTableId)
        if (table.row.key === target.row.key) throw new PlatformError('storage.tables.sameTableSwap')
        for (const one of [table, target])
          if (one.source) throw new PlatformError('storage.tables.cannotSwapAlias', { table: one.id })
        if (table.bucket.key !== target.bucket.key)
          throw new PlatformError('storage.tables.crossBucketSwap', { a: table.id, b: target.id })
        const job = jobOn(table, 'tableSwap', { targetKey: target.row.key }, { targetTableId: target.id })
        return start(req, reply, { ...job, lockKeys: [...(job.lockKeys ?? []), lockOf(target.bucket, target.row.name)] })
      },
    )

    app.post(
      '/v2/storage/tables/:tableId/pull',
      {
        config: { operation: 'tables.pull', summary: 'Copy a table of the default branch into this branch', branch: 'required' },
        schema: { params: ByTable, response: { 202: JobView } },
      },
      async (req, reply) => {
        if (req.branch.isDefault)
          throw new PlatformError('storage.tables.validation', {
            reason: 'Tables are pulled into a development branch, from the default one.',
          })
        const source = await tables.getInDefaultBranch(scopeOf(req), req.params.tableId)
        refuseAlias(source)
        const bucket = await tables.bucket.ensureInBranch(scopeOf(req), source.bucket, req.origin)
        return start(req, reply, {
          operationName: 'devBranchTablePull',
          operationParams: { tableId: source.id },
          input: { sourceKey: source.row.key, bucketKey: bucket.key, name: source.row.name },
          tableId: source.id,
          branchId: bucket.branchId,
          lockKeys: [lockOf(bucket, source.row.name)],
        })
      },
    )
  }
}
