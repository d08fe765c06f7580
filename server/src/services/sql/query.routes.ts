// HTTP for queries: one statement in, its rows out (spec storage 2.9.1).

import { Readable } from 'node:stream'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { scopeOf } from '../../http/scope.ts'
import { DEFAULT_JSON_ROWS, type Queries } from './queries.ts'

const MAX_JSON_ROWS = 1_000_000

const QueryBody = Type.Object({
  sql: Type.String({
    description: 'One statement that reads, in the dialect of DuckDB. Tables are named `"in.c-bucket"."table"`.',
    examples: ['SELECT city, count(*) AS orders FROM "in.c-main"."orders" GROUP BY city ORDER BY orders DESC'],
  }),
  format: Type.Optional(
    Type.Union([Type.Literal('json'), Type.Literal('csv')], {
      description:
        '`json` (default): columns with their types, then rows as arrays. `csv`: with a header, all rows unless `limit` says less.',
    }),
  ),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: MAX_JSON_ROWS,
      description: `Most rows of the answer. Default for json ${DEFAULT_JSON_ROWS}; csv has none.`,
    }),
  ),
})

const CONTENT_TYPES = { json: 'application/json; charset=utf-8', csv: 'text/csv; charset=utf-8' }

export function queryRoutes(queries: Queries): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.post(
      '/v2/storage/query',
      {
        config: {
          operation: 'sql.query',
          onlyReads: true,
          summary: 'Rows of a SQL query over tables of the project, as JSON or CSV',
          produces: ['application/json', 'text/csv'],
        },
        schema: { body: QueryBody, response: { 200: Type.Unknown() } },
      },
      async (req, reply) => {
        const { sql, format = 'json', limit } = req.body
        const gone = new AbortController()
        reply.raw.once('close', () => gone.abort())
        const rows = await queries.run(scopeOf(req), { sql, format, limit }, gone.signal)
        return reply.type(CONTENT_TYPES[format]).send(Readable.from(rows, { objectMode: false }))
      },
    )
  }
}
