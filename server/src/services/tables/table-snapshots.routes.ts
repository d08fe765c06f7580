// HTTP for states of tables that people keep (spec storage 2.5.8).

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { idFrom } from '../../http/ids.ts'
import { JobView, jobStarter } from '../../http/job-view.ts'
import { numberedId, readByRule } from '../../http/parameters.ts'
import { PlatformError } from '../../kit/errors.ts'
import { scopeOf } from './table-data.routes.ts'
import { isSet, whole } from './table-requests.ts'
import { ByTable } from './table-route-shapes.ts'
import { snapshotDetail, snapshotView } from './table-snapshots.ts'
import type { TableStructureDeps } from './table-structure.routes.ts'
import { jobOn } from './tables.routes.ts'

const BySnapshot = Type.Object({ snapshotId: numberedId('snapshot') })

export function tableSnapshotsRoutes({ tables, createJob }: TableStructureDeps): FastifyPluginAsyncTypebox {
  const { store } = tables

  const start = jobStarter(createJob)

  async function keptOf(req: FastifyRequest, id: string) {
    const kept = await store.findKept(
      req.actor.projectId,
      idFrom(id, () => new PlatformError('storage.snapshots.notFound', { id: id.slice(0, 40) })),
    )
    if (!kept) throw new PlatformError('storage.snapshots.notFound', { id: id.slice(0, 40) })
    return kept
  }

  return async (app) => {
    app.post(
      '/v2/storage/tables/:tableId/snapshots',
      {
        config: { operation: 'tables.createSnapshot', summary: 'Keep the present state of a table' },
        schema: { params: ByTable, body: readByRule({ description: 'Free text for people.' }), response: { 202: JobView } },
      },
      async (req, reply) => {
        const table = await tables.getForChange(scopeOf(req), req.params.tableId)
        // A snapshot holds the whole table, with all that an alias hides.
        if (table.source)
          throw new PlatformError('storage.buckets.snapshotNotSupported', { table: table.id, source: table.source.id })
        const description = isSet(req.body.description) ? String(req.body.description).slice(0, 10_000) : ''
        return start(req, reply, jobOn(table, 'tableSnapshotCreate', { description }))
      },
    )

    app.get(
      '/v2/storage/tables/:tableId/snapshots',
      {
        config: { operation: 'tables.listSnapshots', summary: 'Kept states of a table, newest first' },
        schema: {
          params: ByTable,
          querystring: readByRule({ limit: 'At most this many; 20 by default.', offset: 'How many to skip; 0 by default.' }),
          response: { 200: Type.Array(Type.Unknown()) },
        },
      },
      async (req) => {
        const table = await tables.get(scopeOf(req), req.params.tableId)
        const limit = isSet(req.query.limit) ? whole('limit', req.query.limit, 10_000) : 20
        const offset = isSet(req.query.offset) ? whole('offset', req.query.offset) : 0
        return (await store.listKept(req.actor.projectId, table.row.key, limit, offset)).map((kept) =>
          snapshotView(kept, req.baseUrl),
        )
      },
    )

    app.get(
      '/v2/storage/snapshots/:snapshotId',
      {
        config: { operation: 'snapshots.get', summary: 'Detail of a kept state', branch: 'refused' },
        schema: { params: BySnapshot, response: { 200: Type.Unknown() } },
      },
      async (req) => snapshotDetail(await keptOf(req, req.params.snapshotId), req.baseUrl),
    )

    app.delete(
      '/v2/storage/snapshots/:snapshotId',
      {
        config: { operation: 'snapshots.delete', summary: 'Forget a kept state', branch: 'refused', needs: 'canManageBuckets' },
        schema: { params: BySnapshot, response: { 202: JobView } },
      },
      async (req, reply) => {
        const { id, tableId } = await keptOf(req, req.params.snapshotId)
        return start(req, reply, {
          operationName: 'tableSnapshotDelete',
          operationParams: { snapshotId: id },
          input: { snapshotId: id },
          tableId,
        })
      },
    )
  }
}
