// HTTP for dashboards (spec storage 2.9.1).

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { PARAMETER_TYPES } from '../../../engines/sql/parameters.ts'
import { numberedId, optionalFlag, optionalText } from '../../../http/parameters.ts'
import { sendQueryResult, valuesFromText } from '../../../http/query-result.ts'
import { scopeOf } from '../../../http/scope.ts'
import { PlatformError } from '../../../kit/errors.ts'
import { type Dashboard, type Link, OPERATORS, TILE_TYPES } from './dashboards.store.ts'
import type { Dashboards } from './dashboards.ts'

const oneOf = <const T extends readonly string[]>(values: T, description: string) =>
  Type.Union(
    values.map((value) => Type.Literal(value)),
    { description },
  ) as unknown as ReturnType<typeof Type.Unsafe<T[number]>> // a union of exactly these texts

const Column = (description: string) => Type.Optional(Type.String({ minLength: 1, maxLength: 200, description }))
const TileShape = Type.Object({
  id: Type.String({ pattern: '^[A-Za-z0-9_-]{1,40}$', description: 'Chosen by the caller, unique in the dashboard.' }),
  queryId: Type.String({ pattern: '^[0-9]{1,15}$', description: 'The saved query that it shows.' }),
  title: Type.String({ maxLength: 200, description: 'Title of the tile.' }),
  type: oneOf(TILE_TYPES, 'Type of the chart.'),
  width: Type.Integer({ minimum: 1, maximum: 3, description: 'Width in thirds of the page.' }),
  x: Column('Column of the x axis, or of the rows of a pivot.'),
  y: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 200 }), { maxItems: 10, description: 'Columns with the values.' }),
  ),
  series: Column('Column whose values become separate lines, or columns of a pivot.'),
  alert: Type.Optional(
    Type.Object(
      {
        operator: oneOf(OPERATORS, '`above` or `below`.'),
        value: Type.Number({ description: 'Limit.' }),
      },
      { description: 'For a figure: it is highlighted if its value is outside of the limit.' },
    ),
  ),
})
const FilterShape = Type.Object({
  name: Type.String({
    pattern: '^[A-Za-z_][A-Za-z0-9_]{0,62}$',
    description: 'Name of the query parameter that it sets.',
  }),
  type: oneOf(PARAMETER_TYPES, 'Type of the value.'),
  default: Type.Optional(Type.String({ maxLength: 1000, description: 'Used if no value is sent.' })),
  label: Type.Optional(Type.String({ maxLength: 200, description: 'Label on the page.' })),
})
const Name = Type.String({ minLength: 1, maxLength: 200, description: 'Name of the dashboard, unique in the project.' })
const Description = Type.String({ maxLength: 10_000, description: 'Purpose.' })
const Tiles = Type.Array(TileShape, { maxItems: 50, description: 'Charts and tables, in their order.' })
const Filters = Type.Array(FilterShape, { maxItems: 20, description: 'Filters that users can set on the page.' })
const Body = Type.Object({
  name: Name,
  description: Type.Optional(Description),
  tiles: Type.Optional(Tiles),
  filters: Type.Optional(Filters),
})
const Change = Type.Object({
  name: Type.Optional(Name),
  description: Type.Optional(Description),
  tiles: Type.Optional(Tiles),
  filters: Type.Optional(Filters),
  version: Type.Optional(
    Type.Integer({ minimum: 1, description: 'Version that was read; the change is refused if the dashboard has changed since.' }),
  ),
})
const Creator = Type.Object({ id: Type.Integer(), description: Type.String() })
const View = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    description: Type.String(),
    tiles: Type.Array(TileShape),
    filters: Type.Array(FilterShape),
    creatorToken: Creator,
    created: Type.String(),
    updated: Type.String(),
    version: Type.Integer(),
  },
  { title: 'Dashboard' },
)
const LinkView = Type.Object(
  { id: Type.String(), creatorToken: Creator, created: Type.String(), expires: Type.String() },
  { title: 'DashboardLink' },
)
const NewLink = Type.Object({
  ...LinkView.properties,
  value: Type.String({ description: 'Secret of the link; returned once, only its hash is stored.' }),
})
const SharedView = Type.Object(
  {
    name: Type.String(),
    description: Type.String(),
    tiles: Type.Array(Type.Omit(TileShape, ['queryId'])),
    filters: Type.Array(FilterShape),
    expires: Type.String(),
  },
  { title: 'SharedDashboard' },
)
const ById = Type.Object({ dashboardId: numberedId('dashboard') })
const ByTile = Type.Object({
  dashboardId: numberedId('dashboard'),
  tileId: Type.String({ maxLength: 40, description: 'Id of a tile of the dashboard.' }),
})
const FilterValues = optionalText('Values of filters, as a JSON object: `{"city": "Praha"}`.')
const Secret = Type.Object({
  'x-dashboard-link': Type.String({ maxLength: 100, description: 'The value of a link, as its creation returned it.' }),
})

const JSON_TYPE = 'application/json; charset=utf-8'

export function dashboardsRoutes(dashboards: Dashboards): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.get(
      '/v2/storage/dashboards',
      {
        config: { operation: 'dashboards.list', summary: 'Dashboards of the project, by name', needs: 'bucketRead' },
        schema: { response: { 200: Type.Array(View) } },
      },
      async (req) => (await dashboards.list(scopeOf(req))).map(view),
    )

    app.post(
      '/v2/storage/dashboards',
      {
        config: { operation: 'dashboards.create', summary: 'Create a dashboard', needs: 'canManageBuckets' },
        schema: { body: Body, response: { 201: View } },
      },
      async (req, reply) => reply.code(201).send(view(await dashboards.create(scopeOf(req), req.body, req.origin))),
    )

    app.get(
      '/v2/storage/dashboards/:dashboardId',
      {
        config: { operation: 'dashboards.get', summary: 'A dashboard', needs: 'bucketRead' },
        schema: { params: ById, response: { 200: View } },
      },
      async (req) => view(await dashboards.get(scopeOf(req), idOf(req.params.dashboardId))),
    )

    app.put(
      '/v2/storage/dashboards/:dashboardId',
      {
        config: {
          operation: 'dashboards.update',
          summary: 'Change a dashboard; omitted fields are unchanged',
          needs: 'canManageBuckets',
        },
        schema: { params: ById, body: Change, response: { 200: View } },
      },
      async (req) => view(await dashboards.update(scopeOf(req), idOf(req.params.dashboardId), req.body, req.origin)),
    )

    app.delete(
      '/v2/storage/dashboards/:dashboardId',
      {
        config: { operation: 'dashboards.remove', summary: 'Delete a dashboard with its links', needs: 'canManageBuckets' },
        schema: { params: ById, response: { 204: Type.Null() } },
      },
      async (req, reply) => {
        await dashboards.remove(scopeOf(req), idOf(req.params.dashboardId), req.origin)
        return reply.code(204).send(null)
      },
    )

    app.get(
      '/v2/storage/dashboards/:dashboardId/tiles/:tileId/result',
      {
        config: {
          operation: 'dashboards.result',
          summary: 'Rows of a tile, at most 2,000, with the rights of the caller; may be cached',
          needs: 'bucketRead',
        },
        schema: {
          params: ByTile,
          querystring: Type.Object({
            filters: FilterValues,
            refresh: optionalFlag('True: bypass the cache.'),
          }),
          response: { 200: Type.Unknown() },
        },
      },
      async (req, reply) => {
        const { filters, refresh = false } = req.query
        const { dashboardId, tileId } = req.params
        const values = valuesIn(filters)
        return sendQueryResult(reply, JSON_TYPE, (signal) =>
          dashboards.result(scopeOf(req), idOf(dashboardId), { tileId, values, refresh }, signal),
        )
      },
    )

    app.get(
      '/v2/storage/dashboards/:dashboardId/links',
      {
        config: {
          operation: 'dashboards.links',
          summary: 'List links to a dashboard, without their secrets',
          needs: 'canManageBuckets',
        },
        schema: { params: ById, response: { 200: Type.Array(LinkView) } },
      },
      async (req) => (await dashboards.links(scopeOf(req), idOf(req.params.dashboardId))).map(linkView),
    )

    app.post(
      '/v2/storage/dashboards/:dashboardId/links',
      {
        config: {
          operation: 'dashboards.createLink',
          summary: 'Create a link that shows the results of a dashboard without a token, until it expires',
          needs: 'canManageBuckets',
        },
        schema: {
          params: ById,
          body: Type.Object({
            expiresIn: Type.Integer({
              minimum: 60,
              maximum: 366 * 86_400,
              description: 'Seconds after which it expires, a year at most.',
              examples: [604_800],
            }),
          }),
          response: { 201: NewLink },
        },
      },
      async (req, reply) => {
        const id = idOf(req.params.dashboardId)
        const { link, value } = await dashboards.createLink(scopeOf(req), id, req.body.expiresIn, req.origin)
        return reply.code(201).send({ ...linkView(link), value })
      },
    )

    app.delete(
      '/v2/storage/dashboards/:dashboardId/links/:linkId',
      {
        config: { operation: 'dashboards.removeLink', summary: 'Revoke a link', needs: 'canManageBuckets' },
        schema: {
          params: Type.Object({ dashboardId: numberedId('dashboard'), linkId: numberedId('link') }),
          response: { 204: Type.Null() },
        },
      },
      async (req, reply) => {
        const { dashboardId, linkId } = req.params
        await dashboards.removeLink(scopeOf(req), idOf(dashboardId), linkIdOf(linkId), req.origin)
        return reply.code(204).send(null)
      },
    )

    app.get(
      '/shared/dashboard',
      {
        config: { operation: 'dashboards.shared', summary: 'The dashboard of a link', needs: 'nothing' },
        schema: { headers: Secret, response: { 200: SharedView } },
      },
      async (req, reply) => {
        const { dashboard, link } = await dashboards.shared(req.headers['x-dashboard-link'])
        reply.header('cache-control', 'no-store')
        return sharedView(dashboard, link)
      },
    )

    app.get(
      '/shared/dashboard/tiles/:tileId/result',
      {
        config: { operation: 'dashboards.sharedResult', summary: 'Rows of a tile of the dashboard of a link', needs: 'nothing' },
        schema: {
          headers: Secret,
          params: Type.Object({ tileId: Type.String({ maxLength: 40, description: 'Id of a tile of the dashboard.' }) }),
          querystring: Type.Object({ filters: FilterValues }),
          response: { 200: Type.Unknown() },
        },
      },
      async (req, reply) => {
        const values = valuesIn(req.query.filters)
        reply.header('cache-control', 'no-store')
        return sendQueryResult(reply, JSON_TYPE, (signal) =>
          dashboards.sharedResult(req.headers['x-dashboard-link'], { tileId: req.params.tileId, values, refresh: false }, signal),
        )
      },
    )
  }
}

function idOf(text: string): number {
  if (!/^[0-9]{1,15}$/.test(text)) throw new PlatformError('dashboards.notFound', { id: text.slice(0, 60) })
  return Number(text)
}

function linkIdOf(text: string): number {
  if (!/^[0-9]{1,15}$/.test(text)) throw new PlatformError('dashboards.noLink', { id: text.slice(0, 60) })
  return Number(text)
}

const valuesIn = (filters: string | undefined) =>
  valuesFromText(filters, (reason) => new PlatformError('dashboards.invalid', { what: 'filters', reason }))

const copied = <T>(value: T) => structuredClone(value) as Mutable<T>
type Mutable<T> = T extends readonly (infer U)[]
  ? Mutable<U>[]
  : T extends object
    ? { -readonly [K in keyof T]: Mutable<T[K]> }
    : T

const view = ({ id, name, description, tiles, filters, creator, createdAt, updatedAt, version }: Dashboard) => ({
  id: String(id),
  ...{ name, description, version },
  tiles: copied(tiles),
  filters: copied(filters),
  creatorToken: { ...creator },
  created: createdAt.toISOString(),
  updated: updatedAt.toISOString(),
})

const linkView = ({ id, creator, createdAt, expiresAt }: Link) => ({
  id: String(id),
  creatorToken: { ...creator },
  created: createdAt.toISOString(),
  expires: expiresAt.toISOString(),
})

/** Nothing of the project but what the page shows. */
const sharedView = ({ name, description, tiles, filters }: Dashboard, { expiresAt }: Link) => ({
  ...{ name, description },
  tiles: copied(tiles).map(({ queryId: _, ...tile }) => tile),
  filters: copied(filters),
  expires: expiresAt.toISOString(),
})
