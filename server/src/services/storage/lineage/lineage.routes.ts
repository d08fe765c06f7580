// HTTP for lineage and freshness (spec storage 2.5.12).

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { FRESHNESS, FreshnessView } from '../../../http/freshness.ts'
import { Nullable, Offset, TableId } from '../../../http/parameters.ts'
import { scopeOf } from '../../../http/scope.ts'
import type { Direction, Lineage } from './lineage.ts'

const ByTable = Type.Object({ tableId: TableId })
const Time = Type.String({ examples: ['2026-01-31T12:00:00.000Z'] })
const User = Type.Object({
  componentId: Type.String(),
  configurationId: Type.String(),
  name: Nullable(Type.String()),
  rowId: Nullable(Type.String()),
  lastJobId: Nullable(Type.String({ description: 'The last job that did this; null: only declared by the mapping.' })),
  lastTime: Nullable(Time),
})
const UsedByView = Type.Object(
  {
    tableId: Type.String(),
    readBy: Type.Array(User),
    writtenBy: Type.Array(User),
    aliases: Type.Array(Type.String(), { description: 'Tables that show this one.' }),
  },
  { title: 'UsedBy' },
)
const GraphView = Type.Object(
  {
    isComplete: Type.Boolean({ description: 'False: the graph has more than 2,000 nodes; request a single table.' }),
    nodes: Type.Array(
      Type.Object({
        id: Type.String(),
        kind: Type.String({ description: '`table` or `configuration`.' }),
        tableId: Type.Optional(Type.String()),
        freshness: Type.Optional(Nullable(FreshnessView)),
        componentId: Type.Optional(Type.String()),
        configurationId: Type.Optional(Type.String()),
        name: Type.Optional(Nullable(Type.String())),
      }),
    ),
    edges: Type.Array(
      Type.Object({
        from: Type.String(),
        to: Type.String(),
        kind: Type.String({ description: '`read`, `write`, `run`: a task of a flow, or `alias`: a table that shows another.' }),
        rowId: Nullable(Type.String()),
        jobId: Nullable(Type.String({ description: 'The last job that did this; null: only declared by the configuration.' })),
        time: Nullable(Time),
        columns: Type.Optional(
          Nullable(
            Type.Array(
              Type.Object({
                column: Type.String(),
                from: Type.Array(Type.Object({ tableId: Type.String(), column: Type.String() })),
              }),
              {
                description:
                  'For a table that a SQL transformation wrote: the source columns of each column; null if they cannot be determined.',
              },
            ),
          ),
        ),
      }),
    ),
  },
  { title: 'Lineage' },
)
const JudgedView = Type.Object(
  {
    ...FRESHNESS,
    writer: Nullable(Type.Object({ componentId: Type.String(), configurationId: Type.String(), rowId: Nullable(Type.String()) })),
    lastLoad: Nullable(
      Type.Object({
        jobId: Nullable(
          Type.String({ description: 'The job of the writer that loaded it; null if it was loaded in another way.' }),
        ),
        tokenDescription: Type.String({ description: 'Of the token that loaded it.' }),
      }),
    ),
    failure: Nullable(
      Type.Object(
        { jobId: Type.String(), kind: Nullable(Type.String()), message: Nullable(Type.String()) },
        { description: 'The newest job of the writer, when it failed.' },
      ),
    ),
    lateInputs: Type.Array(Type.String(), { description: 'Tables that the writer reads and that are late themselves.' }),
  },
  { title: 'JudgedFreshness' },
)
const DeliveriesView = Type.Array(
  Type.Object(
    {
      componentId: Type.String(),
      configurationId: Type.String(),
      name: Nullable(Type.String()),
      rowId: Nullable(Type.String()),
      tableId: Type.String({ description: 'The delivered table.' }),
      state: Type.Union([Type.Literal('current'), Type.Literal('behind'), Type.Literal('never')], {
        description:
          '`behind`: the table was loaded since the start of the last successful delivery. `never`: nothing was delivered yet.',
      }),
      behindSeconds: Nullable(
        Type.Integer({
          description:
            'Seconds since the first load that was not delivered; 0: all loads were delivered, null: nothing was delivered yet.',
        }),
      ),
      lastDelivery: Nullable(
        Type.Object({
          jobId: Type.String(),
          time: Time,
          counts: Type.Record(Type.String(), Type.Number(), {
            description:
              'Counts by kind: `inserted`, `updated`, `deleted`, `delivered`, `rejected`, `failed`, `files written`, `messages sent`. Configuration rows of one job are added up.',
          }),
        }),
      ),
      failure: Nullable(
        Type.Object(
          { jobId: Type.String(), kind: Nullable(Type.String()), message: Nullable(Type.String()) },
          { description: 'The newest job of the configuration, when it failed.' },
        ),
      ),
    },
    { title: 'Delivery' },
  ),
)
const FreshnessList = Type.Array(JudgedView)

export function lineageRoutes(lineage: Lineage): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.get(
      '/v2/storage/tables/:tableId/used-by',
      {
        config: { operation: 'lineage.usedBy', summary: 'List configurations that read or write a table', needs: 'bucketRead' },
        schema: { params: ByTable, response: { 200: UsedByView } },
      },
      async (req) => lineage.usedBy(scopeOf(req), req.params.tableId),
    )

    app.get(
      '/v2/storage/tables/:tableId/freshness',
      {
        config: {
          operation: 'lineage.freshnessOfTable',
          summary: 'Usual load interval of a table, and whether it is late',
          needs: 'bucketRead',
        },
        schema: { params: ByTable, response: { 200: JudgedView } },
      },
      async (req) => lineage.freshnessOf(scopeOf(req), req.params.tableId),
    )

    app.get(
      '/v2/storage/lineage',
      {
        config: {
          operation: 'lineage.graph',
          summary: 'Lineage of tables and configurations',
          needs: 'token',
        },
        schema: {
          querystring: Type.Object({
            tableId: Type.Optional(
              Type.String({ description: 'Only objects connected with this table; all tables by default.' }),
            ),
            direction: Type.Optional(
              Type.Union([Type.Literal('upstream'), Type.Literal('downstream'), Type.Literal('both')], {
                description: 'Of a table: `upstream`, `downstream`, or `both`, the default.',
              }),
            ),
            depth: Type.Optional(
              Type.Integer({
                minimum: 1,
                maximum: 20,
                description: 'Maximum number of steps from the table; a configuration is a step. 4 by default.',
              }),
            ),
          }),
          response: { 200: GraphView },
        },
      },
      async (req) => {
        const { tableId, direction = 'both', depth = 4 } = req.query
        return lineage.graph(scopeOf(req), tableId, direction as Direction, depth)
      },
    )

    app.get(
      '/v2/storage/freshness',
      {
        config: {
          operation: 'lineage.freshness',
          summary: 'List tables by lateness, with the causes upstream',
          needs: 'token',
        },
        schema: {
          querystring: Type.Object({
            limit: Type.Optional(
              Type.Integer({ minimum: 1, maximum: 500, description: 'Maximum number of items; 100 by default.' }),
            ),
            offset: Offset,
          }),
          response: { 200: FreshnessList },
        },
      },
      async (req) => lineage.freshness(scopeOf(req), req.query.limit ?? 100, req.query.offset ?? 0),
    )

    app.get(
      '/v2/storage/deliveries',
      {
        config: {
          operation: 'lineage.deliveries',
          summary: 'List tables that writers deliver, and how far their targets are behind',
          needs: 'token',
        },
        schema: { response: { 200: DeliveriesView } },
      },
      async (req) => lineage.deliveries(scopeOf(req)),
    )
  }
}
