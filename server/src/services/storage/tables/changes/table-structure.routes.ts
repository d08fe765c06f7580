// HTTP for the shape of tables: columns, keys, rows, profiles, swaps (spec storage 2.5.7).

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { DryRun, DryRunView } from '../../../../http/dry-run.ts'
import { JobView, jobStarter } from '../../../../http/job-view.ts'
import { optionalFlag, TableId } from '../../../../http/parameters.ts'
import { scopeOf } from '../../../../http/scope.ts'
import type { DryRunJob } from '../../../../model/dry-run.ts'
import type { CreateJob } from '../../../../model/storage-job.ts'
import { ByColumn, ByTable, NewColumn, NewPrimaryKey, RowsToDelete } from '../views/table-route-shapes.ts'
import type { StructureChanges } from './plan-structure-change.ts'

export interface TableStructureRoutesDeps {
  readonly changes: StructureChanges
  readonly createJob: CreateJob
  readonly dryRun: DryRunJob
}

export function tableStructureRoutes({ changes, createJob, dryRun }: TableStructureRoutesDeps): FastifyPluginAsyncTypebox {
  const start = jobStarter(createJob, dryRun)

  return async (app) => {
    app.post(
      '/v2/storage/tables/:tableId/columns',
      {
        config: {
          operation: 'tables.addColumn',
          summary: 'Add a column',
          needs: 'bucketWrite',
          validationCode: 'storage.tables.validation',
        },
        schema: { params: ByTable, body: NewColumn, response: { 202: JobView } },
      },
      async (req, reply) => start(req, reply, await changes.addColumn(scopeOf(req), req.params.tableId, req.body)),
    )

    app.delete(
      '/v2/storage/tables/:tableId/columns/:column',
      {
        config: { operation: 'tables.deleteColumn', summary: 'Delete a column', needs: 'bucketWrite' },
        schema: {
          params: ByColumn,
          querystring: Type.Object({ force: optionalFlag('Also delete it from aliases that show it.'), dryRun: DryRun }),
          response: { 200: DryRunView, 202: JobView },
        },
      },
      async (req, reply) => {
        const { tableId, column } = req.params
        return start(req, reply, await changes.deleteColumn(scopeOf(req), tableId, column, req.query.force ?? false))
      },
    )

    app.post(
      '/v2/storage/tables/:tableId/primary-key',
      {
        config: {
          operation: 'tables.addPrimaryKey',
          summary: 'Add a primary key',
          needs: 'bucketWrite',
          validationCode: 'storage.validation.primaryKey',
        },
        schema: { params: ByTable, body: NewPrimaryKey, response: { 202: JobView } },
      },
      async (req, reply) => start(req, reply, await changes.addPrimaryKey(scopeOf(req), req.params.tableId, req.body)),
    )

    app.delete(
      '/v2/storage/tables/:tableId/primary-key',
      {
        config: { operation: 'tables.deletePrimaryKey', summary: 'Delete the primary key', needs: 'bucketWrite' },
        schema: { params: ByTable, response: { 202: JobView } },
      },
      async (req, reply) => start(req, reply, await changes.deletePrimaryKey(scopeOf(req), req.params.tableId)),
    )

    app.delete(
      '/v2/storage/tables/:tableId/rows',
      {
        config: {
          operation: 'tables.deleteRows',
          summary: 'Delete matching rows',
          needs: 'bucketWrite',
          validationCode: 'storage.tables.validation',
        },
        schema: {
          params: ByTable,
          querystring: Type.Object({ ...RowsToDelete.properties, dryRun: DryRun }, { additionalProperties: true }),
          body: RowsToDelete,
          response: { 200: DryRunView, 202: JobView },
        },
      },
      async (req, reply) => {
        // New PHP clients send a body, old ones and the command line a query.
        const { dryRun: _, ...query } = req.query
        const fields = { ...query, ...req.body }
        return start(req, reply, await changes.deleteRows(scopeOf(req), req.params.tableId, fields))
      },
    )

    app.post(
      '/v2/storage/tables/:tableId/profile',
      {
        config: { operation: 'tables.profile', summary: 'Create a profile of all columns (storage job)', needs: 'bucketRead' },
        schema: { params: ByTable, response: { 202: JobView } },
      },
      async (req, reply) => start(req, reply, await changes.profile(scopeOf(req), req.params.tableId)),
    )

    app.get(
      '/v2/storage/tables/:tableId/profile/:uuid',
      {
        config: { operation: 'tables.getProfile', summary: 'A profile by its uuid, or the latest', needs: 'bucketRead' },
        schema: {
          params: Type.Object({ tableId: TableId, uuid: Type.String({ description: 'Id of the profile, or `latest`.' }) }),
          response: { 200: Type.Unknown() },
        },
      },
      async (req) => changes.getProfile(scopeOf(req), req.params.tableId, req.params.uuid),
    )

    app.post(
      '/v2/storage/tables/:tableId/optimize',
      {
        config: { operation: 'tables.optimize', summary: 'Compact a table: rewrite its files', needs: 'bucketWrite' },
        schema: { params: ByTable, response: { 202: JobView } },
      },
      async (req, reply) => start(req, reply, await changes.optimize(scopeOf(req), req.params.tableId)),
    )

    app.post(
      '/v2/storage/tables/:tableId/swap',
      {
        config: { operation: 'tables.swap', summary: 'Swap two tables of a bucket', needs: 'bucketWrite' },
        schema: {
          params: ByTable,
          body: Type.Object({ targetTableId: Type.String({ description: 'Id of the other table.' }) }),
          response: { 202: JobView },
        },
      },
      async (req, reply) => start(req, reply, await changes.swap(scopeOf(req), req.params.tableId, req.body.targetTableId)),
    )

    app.post(
      '/v2/storage/tables/:tableId/pull',
      {
        config: {
          operation: 'tables.pull',
          summary: 'Copy a table of the default branch into this branch',
          needs: 'bucketWrite',
          branch: 'required',
        },
        schema: { params: ByTable, response: { 202: JobView } },
      },
      async (req, reply) => start(req, reply, await changes.pull(scopeOf(req), req.params.tableId, req.origin)),
    )
  }
}
