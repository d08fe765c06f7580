// HTTP for looking at a table: pages of rows, figures of columns (spec storage 2.5.6, 2.5.7).

import { Readable } from 'node:stream'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { callerGone } from '../../../../http/connection/caller-gone.ts'
import { Nullable } from '../../../../http/parameters.ts'
import { scopeOf } from '../../../../http/scope.ts'
import { ByTable, ProfileQuery, RowsQuery } from '../views/table-route-shapes.ts'
import type { ProfileView, RowsPage, TableRows } from './table-rows.ts'

const Histogram = Type.Object({
  kind: Type.String(),
  bins: Type.Array(Type.Object({ from: Type.String(), to: Type.String(), rows: Type.Integer() })),
  otherRows: Type.Integer(),
})
const ProfileShape = Type.Object({
  state: Type.Integer(),
  rows: Type.Integer(),
  readRows: Type.Integer(),
  isSampled: Type.Boolean(),
  columns: Type.Array(
    Type.Object({
      name: Type.String(),
      type: Type.String(),
      nulls: Type.Integer(),
      empty: Type.Integer(),
      distinct: Type.Integer(),
      duplicates: Type.Integer(),
      min: Nullable(Type.String()),
      max: Nullable(Type.String()),
      top: Type.Array(Type.Object({ value: Type.String(), rows: Type.Integer() })),
      histogram: Nullable(Histogram),
    }),
  ),
})
/** Described for the API document; the answer itself is written row by row. */
const PageView = Type.Object({
  state: Type.Integer({ description: 'State of the table that was read; send it with the next request to read the same state.' }),
  columns: Type.Array(Type.Object({ name: Type.String(), type: Type.String() })),
  offset: Type.Integer(),
  limit: Type.Integer({ description: 'Number of rows of a page; fewer than requested for tables with many columns.' }),
  nextOffset: Nullable(Type.Integer()),
  total: Nullable(Type.Integer()),
  rows: Type.Array(Type.Array(Nullable(Type.String()))),
  cut: Type.Array(Type.Array(Type.Integer()), { description: 'Truncated cells, as pairs of row and column.' }),
})

export function tableRowsRoutes({ rows }: { readonly rows: TableRows }): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.get(
      '/v2/storage/tables/:tableId/rows',
      {
        config: {
          operation: 'tables.rows',
          summary: 'Page through rows of one state of a table, sorted and filtered',
          needs: 'bucketRead',
          validationCode: 'storage.tables.validation',
        },
        schema: { params: ByTable, querystring: RowsQuery, response: { 200: Type.Unsafe<Readable>(PageView) } },
        serializerCompiler: () => (sent) => sent as string, // the stream of pageText is JSON already
      },
      async (req, reply) => {
        const page = await rows.page(scopeOf(req), req.params.tableId, req.query, callerGone(reply))
        return reply.type('application/json; charset=utf-8').send(Readable.from(pageText(page), { objectMode: false }))
      },
    )

    app.get(
      '/v2/storage/tables/:tableId/profile',
      {
        config: {
          operation: 'tables.profileNow',
          summary: 'Statistics and a histogram for each column, of a sample or of all rows',
          needs: 'bucketRead',
          validationCode: 'storage.tables.validation',
        },
        schema: { params: ByTable, querystring: ProfileQuery, response: { 200: Type.Unsafe<ProfileView>(ProfileShape) } },
      },
      async (req, reply) => rows.profile(scopeOf(req), req.params.tableId, req.query, callerGone(reply)),
    )
  }
}

/** Row by row: a page may have megabytes, and other requests are served in between. */
function* pageText({ rows, ...head }: RowsPage): Generator<string> {
  yield `${JSON.stringify(head).slice(0, -1)},"rows":[`
  const cut: [number, number][] = []
  for (const [i, row] of rows.entries()) {
    for (const [j, cell] of row.entries()) if (cell.isTruncated) cut.push([i, j])
    yield `${i === 0 ? '' : ','}${JSON.stringify(row.map(({ value }) => value))}`
  }
  yield `],"cut":${JSON.stringify(cut)}}`
}
