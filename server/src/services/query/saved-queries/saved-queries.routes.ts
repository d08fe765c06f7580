// HTTP for saved queries (spec storage 2.9.1).

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { PARAMETER_TYPES, wrong } from '../../../engines/sql/parameters.ts'
import { numberedId, Offset, optionalFlag, optionalText } from '../../../http/parameters.ts'
import { sendQueryResult, valuesFromText } from '../../../http/query-result.ts'
import { scopeOf } from '../../../http/scope.ts'
import { PlatformError } from '../../../kit/errors.ts'
import type { SavedQuery, SavedQueryVersion } from './saved-queries.store.ts'
import type { SavedQueries } from './saved-queries.ts'

const Name = Type.String({ minLength: 1, maxLength: 200, description: 'Name of the query, unique in the project.' })
const Sql = Type.String({
  minLength: 1,
  maxLength: 65_536,
  description: 'One read-only statement, as in `POST query`. `$name` is replaced by the value of a parameter.',
  examples: ['SELECT * FROM "in.c-main"."orders" WHERE city = $city'],
})
const Description = Type.String({ maxLength: 10_000, description: 'Purpose.' })
const Parameters = Type.Array(
  Type.Object({
    name: Type.String({ pattern: '^[A-Za-z_][A-Za-z0-9_]{0,62}$', description: 'Name, in the SQL after `$`.' }),
    type: Type.Union(
      PARAMETER_TYPES.map((type) => Type.Literal(type)),
      { description: 'Type of the value.' },
    ),
    default: Type.Optional(Type.String({ maxLength: 10_000, description: 'Used if the caller sends no value.' })),
  }),
  { maxItems: 50, description: 'Parameters of the query.' },
)
const Body = Type.Object({
  name: Name,
  sql: Sql,
  description: Type.Optional(Description),
  parameters: Type.Optional(Parameters),
})
const Change = Type.Object({
  name: Type.Optional(Name),
  sql: Type.Optional(Sql),
  description: Type.Optional(Description),
  parameters: Type.Optional(Parameters),
  version: Type.Optional(
    Type.Integer({
      minimum: 1,
      description: 'Version that was read; the change is refused if the query has changed since.',
    }),
  ),
})
const View = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    description: Type.String(),
    sql: Type.String(),
    parameters: Type.Array(Type.Object({ name: Type.String(), type: Type.String(), default: Type.Optional(Type.String()) })),
    creatorToken: Type.Object({ id: Type.Integer(), description: Type.String() }),
    created: Type.String(),
    updated: Type.String(),
    version: Type.Integer({ description: '1 for a new query; incremented by every change.' }),
  },
  { title: 'SavedQuery' },
)
const VersionView = Type.Object(
  {
    version: Type.Integer(),
    name: Type.String(),
    description: Type.String(),
    sql: Type.String(),
    parameters: Type.Array(Type.Object({ name: Type.String(), type: Type.String(), default: Type.Optional(Type.String()) })),
    creatorToken: Type.Object({ id: Type.Integer(), description: Type.String() }),
    created: Type.String(),
  },
  { title: 'SavedQueryVersion' },
)
const ById = Type.Object({ queryId: numberedId('saved query') })
const CONTENT_TYPES = { json: 'application/json; charset=utf-8', csv: 'text/csv; charset=utf-8' }

export function savedQueriesRoutes(queries: SavedQueries): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.get(
      '/v2/storage/saved-queries',
      {
        config: { operation: 'savedQueries.list', summary: 'Saved queries of the project, by name', needs: 'bucketRead' },
        schema: {
          querystring: Type.Object({
            limit: Type.Optional(
              Type.Integer({ minimum: 1, maximum: 1000, description: 'Maximum number of items; 100 by default.' }),
            ),
            offset: Offset,
          }),
          response: { 200: Type.Array(View) },
        },
      },
      async (req) => {
        const { limit = 100, offset = 0 } = req.query
        return (await queries.list(scopeOf(req), { limit, offset })).map(view)
      },
    )

    app.post(
      '/v2/storage/saved-queries',
      {
        config: { operation: 'savedQueries.create', summary: 'Save a query for the project', needs: 'canManageBuckets' },
        schema: { body: Body, response: { 201: View } },
      },
      async (req, reply) => reply.code(201).send(view(await queries.create(scopeOf(req), req.body, req.origin))),
    )

    app.get(
      '/v2/storage/saved-queries/:queryId',
      {
        config: { operation: 'savedQueries.get', summary: 'A saved query', needs: 'bucketRead' },
        schema: { params: ById, response: { 200: View } },
      },
      async (req) => view(await queries.get(scopeOf(req), idOf(req.params.queryId))),
    )

    app.put(
      '/v2/storage/saved-queries/:queryId',
      {
        config: {
          operation: 'savedQueries.update',
          summary: 'Change a saved query; omitted fields are unchanged',
          needs: 'canManageBuckets',
        },
        schema: { params: ById, body: Change, response: { 200: View } },
      },
      async (req) => view(await queries.update(scopeOf(req), idOf(req.params.queryId), req.body, req.origin)),
    )

    app.delete(
      '/v2/storage/saved-queries/:queryId',
      {
        config: { operation: 'savedQueries.remove', summary: 'Delete a saved query', needs: 'canManageBuckets' },
        schema: { params: ById, response: { 204: Type.Null() } },
      },
      async (req, reply) => {
        await queries.remove(scopeOf(req), idOf(req.params.queryId), req.origin)
        return reply.code(204).send(null)
      },
    )

    app.get(
      '/v2/storage/saved-queries/:queryId/versions',
      {
        config: {
          operation: 'savedQueries.versions',
          summary: 'Versions of a saved query, newest first; the last 200 are kept',
          needs: 'bucketRead',
        },
        schema: { params: ById, response: { 200: Type.Array(VersionView) } },
      },
      async (req) => (await queries.versions(scopeOf(req), idOf(req.params.queryId))).map(versionView),
    )

    app.get(
      '/v2/storage/saved-queries/:queryId/result',
      {
        config: {
          operation: 'savedQueries.result',
          summary: 'Rows of a saved query with the rights of the caller; may be cached',
          needs: 'bucketRead',
          produces: ['application/json', 'text/csv'],
        },
        schema: {
          params: ById,
          querystring: Type.Object({
            parameters: optionalText('Values of parameters, as a JSON object: `{"city": "Praha"}`.'),
            format: Type.Optional(
              Type.Union([Type.Literal('json'), Type.Literal('csv')], { description: '`json` (default) or `csv`.' }),
            ),
            limit: Type.Optional(
              Type.Integer({ minimum: 1, maximum: 1_000_000, description: 'Maximum number of rows; 10,000 by default.' }),
            ),
            refresh: optionalFlag('True: bypass the cache.'),
          }),
          response: { 200: Type.Unknown() },
        },
      },
      async (req, reply) => {
        const { parameters, format = 'json', limit = 10_000, refresh = false } = req.query
        const values = valuesFromText(parameters, (reason) => wrong('parameters', reason))
        const queryId = idOf(req.params.queryId)
        return sendQueryResult(reply, CONTENT_TYPES[format], (signal) =>
          queries.result(scopeOf(req), queryId, { values, format, limit, refresh }, signal),
        )
      },
    )
  }
}

function idOf(text: string): number {
  if (!/^[0-9]{1,15}$/.test(text)) throw new PlatformError('sql.savedQueries.notFound', { id: text.slice(0, 60) })
  return Number(text)
}

const view = (query: SavedQuery) => ({
  id: String(query.id),
  name: query.name,
  description: query.description,
  sql: query.sql,
  parameters: query.parameters.map((one) => ({ ...one })),
  creatorToken: { ...query.creator },
  created: query.createdAt.toISOString(),
  updated: query.updatedAt.toISOString(),
  version: query.version,
})

const versionView = ({ parameters, creator, createdAt, ...version }: SavedQueryVersion) => ({
  ...version,
  parameters: parameters.map((one) => ({ ...one })),
  creatorToken: { ...creator },
  created: createdAt.toISOString(),
})
