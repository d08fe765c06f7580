// HTTP for queries: one statement in, its rows out (spec storage 2.9.1).

import { Readable } from 'node:stream'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from 'typebox'
import { type FilledSql, PARAMETER_TYPES, withValues } from '../../../engines/sql/parameters.ts'
import { callerGone } from '../../../http/connection/caller-gone.ts'
import { JobView, jobView } from '../../../http/job-view.ts'
import { Nullable, optionalFlag, optionalText } from '../../../http/parameters.ts'
import { scopeOf } from '../../../http/scope.ts'
import type { CreateJob } from '../../../model/storage-job.ts'
import { DEFAULT_JSON_ROWS, type Queries } from './queries.ts'
import type { QueryHistory } from './query-history.ts'
import { checkQuery, type QueryExportInput } from './result-files.ts'

const MAX_JSON_ROWS = 1_000_000

const Parameters = Type.Array(
  Type.Object({
    name: Type.String({ pattern: '^[A-Za-z_][A-Za-z0-9_]{0,62}$', description: 'Name, in the SQL after `$`.' }),
    type: Type.Union(
      PARAMETER_TYPES.map((type) => Type.Literal(type)),
      { description: 'Type of the value.' },
    ),
    value: Type.Union([Type.String({ maxLength: 10_000 }), Type.Number(), Type.Boolean()], {
      description: 'Value, inserted as one literal of the type.',
    }),
  }),
  { maxItems: 50, description: 'Values of `$name` in the SQL, as in saved queries. If omitted, `$` is not replaced.' },
)

const QueryBody = Type.Object({
  sql: Type.String({
    description: 'One read-only statement in the dialect of DuckDB. Tables are named `"in.c-bucket"."table"`.',
    examples: ['SELECT city, count(*) AS orders FROM "in.c-main"."orders" GROUP BY city ORDER BY orders DESC'],
  }),
  format: Type.Optional(
    Type.Union([Type.Literal('json'), Type.Literal('csv'), Type.Literal('parquet')], {
      description:
        '`json` (default): columns with their types, then rows as arrays. `csv`: with a header, all rows unless `limit` is set. `parquet`: a file of them.',
    }),
  ),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: MAX_JSON_ROWS,
      description: `Maximum number of rows. ${DEFAULT_JSON_ROWS} by default for json, unlimited for the others.`,
    }),
  ),
  parameters: Type.Optional(Parameters),
})

const RunView = Type.Object(
  {
    id: Type.String(),
    sql: Type.String({ description: 'The first 20,000 characters.' }),
    creatorToken: Type.Object({ id: Type.Integer(), description: Type.String() }),
    started: Type.String(),
    durationMs: Type.Integer({ description: 'Duration until the last row was sent.' }),
    error: Nullable(Type.String({ description: 'Why it failed.' })),
  },
  { title: 'QueryRun' },
)

const CONTENT_TYPES = {
  json: 'application/json; charset=utf-8',
  csv: 'text/csv; charset=utf-8',
  parquet: 'application/vnd.apache.parquet',
}

const ExportBody = Type.Object({
  sql: Type.String({ description: 'One read-only statement, as in `POST query`.' }),
  fileName: optionalText('Name of the file; `query.csv` or `query.parquet` if omitted.'),
  fileType: Type.Optional(
    Type.Union([Type.Literal('csv'), Type.Literal('parquet')], { description: '`csv` (default) with a header, or `parquet`.' }),
  ),
  gzip: optionalFlag('True: the file is compressed.'),
  parameters: Type.Optional(Parameters),
})

export function queryRoutes(queries: Queries, history: QueryHistory, createJob: CreateJob): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.post(
      '/v2/storage/query',
      {
        config: {
          operation: 'sql.query',
          onlyReads: true,
          needs: 'bucketRead',
          summary: 'Rows of a SQL query over tables of the project, as JSON, CSV or Parquet',
          produces: ['application/json', 'text/csv', 'application/vnd.apache.parquet'],
        },
        schema: { body: QueryBody, response: { 200: Type.Unknown() } },
      },
      async (req, reply) => {
        const { sql: text, format = 'json', limit, parameters } = req.body
        const gone = callerGone(reply)
        const scope = scopeOf(req)
        const { sql, placed } = await filledIn(text, parameters)
        const run = () =>
          queries.run(scope, { sql, format, limit }, gone).catch((error: unknown) => {
            throw placed(error)
          })
        const rows = await history.recorded(scope, sql, run)
        return reply.type(CONTENT_TYPES[format]).send(Readable.from(rows, { objectMode: false }))
      },
    )

    app.get(
      '/v2/storage/query/history',
      {
        config: {
          operation: 'sql.history',
          summary: 'List queries that were run with POST query, newest first; a token that cannot read all buckets sees its own',
          needs: 'bucketRead',
        },
        schema: {
          querystring: Type.Object({
            limit: Type.Optional(
              Type.Integer({ minimum: 1, maximum: 1000, description: 'Maximum number of items; 100 by default.' }),
            ),
            before: Type.Optional(Type.Integer({ minimum: 1, description: 'Only queries older than the one with this id.' })),
            q: Type.Optional(Type.String({ maxLength: 200, description: 'Only queries that contain this text.' })),
          }),
          response: { 200: Type.Array(RunView) },
        },
      },
      async (req) => {
        const { limit = 100, before, q } = req.query
        return history.list(scopeOf(req), { limit, before, q })
      },
    )

    app.post(
      '/v2/storage/query/export',
      {
        config: {
          operation: 'sql.export',
          summary: 'Export the rows of a SQL query as a file of the project (storage job)',
          needs: 'bucketRead',
        },
        schema: { body: ExportBody, response: { 202: JobView } },
      },
      async (req, reply) => {
        const { sql: text, fileType = 'csv', fileName, gzip = false, parameters } = req.body
        const { sql } = await filledIn(text, parameters)
        await checkQuery(sql)
        const name = fileName ?? `query.${fileType}${gzip ? '.gz' : ''}`
        const input: QueryExportInput = { scope: scopeOf(req), sql, fileType, gzip, fileName: name }
        const job = await createJob(req, {
          operationName: 'queryExport',
          operationParams: { sql: sql.slice(0, 10_000), fileType, gzip, fileName: name },
          input,
          branchId: req.branch.id,
        })
        return reply.code(202).send(jobView(job, req.baseUrl))
      },
    )
  }
}

/** Without parameters the text stays as it is. */
const filledIn = async (sql: string, parameters: Static<typeof Parameters> | undefined): Promise<FilledSql> =>
  parameters === undefined
    ? { sql, placed: (error) => error }
    : withValues(sql, parameters, Object.fromEntries(parameters.map(({ name, value }) => [name, value])))
