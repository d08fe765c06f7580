// HTTP for states of tables that people keep (spec storage 2.5.8).

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { DryRun, DryRunView } from '../../../../http/dry-run.ts'
import { idFrom } from '../../../../http/ids.ts'
import { JobView, jobStarter } from '../../../../http/job-view.ts'
import { numberedId, readByRule } from '../../../../http/parameters.ts'
import { scopeOf } from '../../../../http/scope.ts'
import { PlatformError } from '../../../../kit/errors.ts'
import type { DryRunJob } from '../../../../model/dry-run.ts'
import type { CreateJob } from '../../../../model/storage-job.ts'
import { ByTable } from '../views/table-route-shapes.ts'
import { snapshotDetail, snapshotView, type TableSnapshots } from './table-snapshots.ts'

export interface TableSnapshotsRoutesDeps {
  readonly snapshots: TableSnapshots
  readonly createJob: CreateJob
  readonly dryRun: DryRunJob
}

const BySnapshot = Type.Object({ snapshotId: numberedId('snapshot') })

const snapshotIdFrom = (text: string): number =>
  idFrom(text, () => new PlatformError('storage.snapshots.notFound', { id: text.slice(0, 40) }))

export function tableSnapshotsRoutes({ snapshots, createJob, dryRun }: TableSnapshotsRoutesDeps): FastifyPluginAsyncTypebox {
  const start = jobStarter(createJob, dryRun)

  return async (app) => {
    app.post(
      '/v2/storage/tables/:tableId/snapshots',
      {
        config: { operation: 'tables.createSnapshot', summary: 'Create a snapshot of a table', needs: 'bucketWrite' },
        schema: { params: ByTable, body: readByRule({ description: 'Free text.' }), response: { 202: JobView } },
      },
      async (req, reply) => start(req, reply, await snapshots.create(scopeOf(req), req.params.tableId, req.body)),
    )

    app.get(
      '/v2/storage/tables/:tableId/snapshots',
      {
        config: { operation: 'tables.listSnapshots', summary: 'List snapshots of a table, newest first', needs: 'bucketRead' },
        schema: {
          params: ByTable,
          querystring: readByRule({
            limit: 'Maximum number of items; 20 by default.',
            offset: 'Number of items to skip; 0 by default.',
          }),
          response: { 200: Type.Array(Type.Unknown()) },
        },
      },
      async (req) => {
        const found = await snapshots.list(scopeOf(req), req.params.tableId, req.query)
        return found.map((snapshot) => snapshotView(snapshot, req.baseUrl))
      },
    )

    app.post(
      '/v2/storage/tables/:tableId/restore',
      {
        config: {
          operation: 'tables.restore',
          summary: 'Restore the rows of an earlier state of a table',
          needs: 'bucketWrite',
        },
        schema: {
          params: ByTable,
          querystring: Type.Object({ dryRun: DryRun }),
          body: readByRule({
            snapshotId: 'Snapshot of this table to restore.',
            timestamp: 'Time of the state to restore, as ISO 8601, instead of a snapshot.',
          }),
          response: { 200: DryRunView, 202: JobView },
        },
      },
      async (req, reply) => start(req, reply, await snapshots.restore(scopeOf(req), req.params.tableId, req.body)),
    )

    app.get(
      '/v2/storage/snapshots/:snapshotId',
      {
        config: { operation: 'snapshots.get', summary: 'Snapshot detail', needs: 'bucketRead', branch: 'refused' },
        schema: { params: BySnapshot, response: { 200: Type.Unknown() } },
      },
      async (req) => {
        const id = snapshotIdFrom(req.params.snapshotId)
        return snapshotDetail(await snapshots.get(req.actor, id), req.baseUrl)
      },
    )

    app.delete(
      '/v2/storage/snapshots/:snapshotId',
      {
        config: { operation: 'snapshots.delete', summary: 'Delete a snapshot', branch: 'refused', needs: 'canManageBuckets' },
        schema: { params: BySnapshot, response: { 202: JobView } },
      },
      async (req, reply) => {
        const id = snapshotIdFrom(req.params.snapshotId)
        return start(req, reply, await snapshots.remove(req.actor, id))
      },
    )
  }
}
