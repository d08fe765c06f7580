// HTTP for the definitions of tables: typed columns, and what can be changed of them later (spec storage 2.5.4).

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { DryRun, DryRunView } from '../../../../http/dry-run.ts'
import { JobView, jobStarter } from '../../../../http/job-view.ts'
import { scopeOf } from '../../../../http/scope.ts'
import type { DryRunJob } from '../../../../model/dry-run.ts'
import type { CreateJob } from '../../../../model/storage-job.ts'
import {
  ByBucket,
  ByColumn,
  ByTable,
  ColumnDefinitionChange,
  ColumnTypeChange,
  TableDefinition,
  TableDefinitionChange,
} from '../views/table-route-shapes.ts'
import type { DefinitionChanges } from './plan-definition-change.ts'

export interface TableDefinitionRoutesDeps {
  readonly definitions: DefinitionChanges
  readonly createJob: CreateJob
  readonly dryRun: DryRunJob
}

export function tableDefinitionRoutes({ definitions, createJob, dryRun }: TableDefinitionRoutesDeps): FastifyPluginAsyncTypebox {
  const start = jobStarter(createJob, dryRun)

  return async (app) => {
    app.post(
      '/v2/storage/buckets/:bucketId/tables-definition',
      {
        config: {
          operation: 'tables.createDefinition',
          summary: 'Create an empty table with typed columns',
          needs: 'bucketWrite',
          proposable: 'branch',
          validationCode: 'storage.tables.validation',
        },
        schema: { params: ByBucket, body: TableDefinition, response: { 202: JobView } },
      },
      async (req, reply) => start(req, reply, await definitions.create(scopeOf(req), req.params.bucketId, req.body)),
    )

    app.put(
      '/v2/storage/tables/:tableId/columns/:column/definition',
      {
        config: {
          operation: 'tables.changeColumn',
          summary: 'Change name, length, nullable, default and description of a column',
          needs: 'bucketWrite',
          validationCode: 'storage.tables.validation',
        },
        schema: {
          params: ByColumn,
          querystring: Type.Object({ dryRun: DryRun }),
          body: ColumnDefinitionChange,
          response: { 200: DryRunView, 202: JobView },
        },
      },
      async (req, reply) => {
        const { tableId, column } = req.params
        return start(req, reply, await definitions.changeColumn(scopeOf(req), tableId, column, req.body))
      },
    )

    app.put(
      '/v2/storage/tables/:tableId/columns/:column/type',
      {
        config: {
          operation: 'tables.changeColumnType',
          summary: 'Change the type of a column and rewrite its values',
          needs: 'bucketWrite',
          validationCode: 'storage.tables.validation',
        },
        schema: {
          params: ByColumn,
          querystring: Type.Object({ dryRun: DryRun }),
          body: ColumnTypeChange,
          response: { 200: DryRunView, 202: JobView },
        },
      },
      async (req, reply) => {
        const { tableId, column } = req.params
        return start(req, reply, await definitions.changeType(scopeOf(req), tableId, column, req.body))
      },
    )

    app.put(
      '/v2/storage/tables/:tableId/definition',
      {
        config: {
          operation: 'tables.changeDefinition',
          summary: 'Change display name, description and columns of a table',
          needs: 'bucketWrite',
          validationCode: 'storage.tables.validation',
        },
        schema: {
          params: ByTable,
          querystring: Type.Object({ dryRun: DryRun }),
          body: TableDefinitionChange,
          response: { 200: DryRunView, 202: JobView },
        },
      },
      async (req, reply) => start(req, reply, await definitions.change(scopeOf(req), req.params.tableId, req.body)),
    )
  }
}
