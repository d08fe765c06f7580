// HTTP for browsing storage (spec storage 2.5.2): pages of the tables by bucket, and how many there are.

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { includeFrom } from '../../../../http/include.ts'
import { include, Nullable, Offset, optionalFlag, optionalText } from '../../../../http/parameters.ts'
import { Timestamp } from '../../../../http/record-schemas.ts'
import { scopeOf } from '../../../../http/scope.ts'
import { formatTimestamp } from '../../../../kit/clock.ts'
import { PlatformError } from '../../../../kit/errors.ts'
import { tableView } from '../views/table-view.ts'
import type { BrowsedLine, createTableBrowse } from './table-browse.ts'

const Day = (description: string) => Type.Optional(Type.String({ format: 'date-time', description }))
const Query = Type.Object({
  text: optionalText('Only tables whose id, name or column name contains the text, and empty buckets whose id does.'),
  name: Type.Optional(
    Type.String({ minLength: 1, description: 'Only tables whose id or display name contains the text, closest matches first.' }),
  ),
  tableId: Type.Optional(
    Type.Array(Type.String(), { maxItems: 1000, description: 'Only these tables.', examples: [['in.c-main.orders']] }),
  ),
  minBytes: Type.Optional(Type.Integer({ minimum: 0, description: 'Only tables of at least this size.' })),
  changedAfter: Day('Only tables whose rows changed after this time.'),
  changedBefore: Day('Only tables whose rows last changed before this time.'),
  neverLoaded: optionalFlag('True: only tables that never had rows.'),
  sort: Type.Optional(
    Type.Union(
      (['name', 'rows', 'size', 'changed'] as const).map((word) => Type.Literal(word)),
      { description: '`name`, the default: by bucket and name; the others: largest or newest first.' },
    ),
  ),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, description: 'At most this many lines; 100 by default.' })),
  offset: Offset,
  include: include('columns'),
})
const BucketsQuery = Type.Object({
  text: optionalText('Only buckets whose id or display name contains the text, closest matches first.'),
  bucketId: Type.Optional(
    Type.Array(Type.String(), { maxItems: 1000, description: 'Only these buckets.', examples: [['in.c-main']] }),
  ),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, description: 'At most this many; 100 by default.' })),
  offset: Offset,
})

const LineView = Type.Object({
  bucket: Type.Object({
    id: Type.String({ examples: ['in.c-main'] }),
    tables: Type.Integer(),
    isShared: Type.Boolean(),
    isLinked: Type.Boolean(),
  }),
  table: Nullable(
    Type.Object({
      id: Type.String({ examples: ['in.c-main.orders'] }),
      displayName: Type.String(),
      rowsCount: Nullable(Type.Integer()),
      dataSizeBytes: Nullable(Type.Integer()),
      lastChangeDate: Nullable(Timestamp),
      isAlias: Type.Boolean(),
      columns: Type.Optional(Type.Array(Type.String(), { description: 'Only with `include=columns`.' })),
    }),
  ),
})
const TotalsView = Type.Object({ tables: Type.Integer(), buckets: Type.Integer(), bytes: Type.Integer() })

const BucketLine = Type.Object({
  id: Type.String({ examples: ['in.c-main'] }),
  displayName: Type.String(),
  isLinked: Type.Boolean(),
})

export function tableBrowseRoutes({ page, totals, bucketPage }: ReturnType<typeof createTableBrowse>): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.get(
      '/v2/storage/browse',
      {
        config: { operation: 'tables.browse', summary: 'Tables by bucket, a page at a time', needs: 'token' },
        schema: { querystring: Query, response: { 200: Type.Array(LineView) } },
      },
      async (req) => {
        const {
          text = '',
          name,
          tableId,
          minBytes,
          changedAfter,
          changedBefore,
          neverLoaded,
          sort = 'name',
          limit = 100,
        } = req.query
        const filter = {
          text: text.trim(),
          name,
          tableIds: tableId,
          minBytes,
          changedAfter: timeOf('changedAfter', changedAfter),
          changedBefore: timeOf('changedBefore', changedBefore),
          isNeverLoaded: neverLoaded || undefined,
        }
        const lines = await page(scopeOf(req), filter, sort, { limit, offset: req.query.offset ?? 0 })
        const withColumns = includeFrom(req.query.include, ['columns']).has('columns')
        return lines.map((line) => lineView(line, req.baseUrl, withColumns))
      },
    )

    app.get(
      '/v2/storage/browse/buckets',
      {
        config: { operation: 'buckets.browse', summary: 'Buckets by id, a page at a time', needs: 'token' },
        schema: { querystring: BucketsQuery, response: { 200: Type.Array(BucketLine) } },
      },
      async (req) => {
        const { text = '', bucketId, limit = 100, offset = 0 } = req.query
        return bucketPage(scopeOf(req), { text: text.trim(), bucketIds: bucketId }, { limit, offset })
      },
    )

    app.get(
      '/v2/storage/browse/totals',
      {
        config: { operation: 'tables.totals', summary: 'How many tables and buckets the caller can read', needs: 'token' },
        schema: { response: { 200: TotalsView } },
      },
      async (req) => totals(scopeOf(req)),
    )
  }
}

/** The format also allows leap seconds, which JavaScript does not read. */
function timeOf(field: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const at = Date.parse(text)
  if (Number.isNaN(at)) throw new PlatformError('storage.validation', { field, reason: `"${text}" is not a supported time.` })
  return at
}

function lineView({ bucket, table }: BrowsedLine, baseUrl: string, withColumns: boolean): Type.Static<typeof LineView> {
  if (!table) return { bucket, table: null }
  const { id, displayName, rowsCount, dataSizeBytes, isAlias } = tableView(table, baseUrl)
  const { lastChangeAt } = table.data
  const lastChangeDate = lastChangeAt ? formatTimestamp(lastChangeAt) : null
  const columns = withColumns ? { columns: [...table.columns] } : {}
  return { bucket, table: { id, displayName, rowsCount, dataSizeBytes, lastChangeDate, isAlias, ...columns } }
}
