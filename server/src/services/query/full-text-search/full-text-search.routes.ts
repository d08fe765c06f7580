// HTTP for finding things by a word (spec storage 2.12).

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { optionalText } from '../../../http/parameters.ts'
import { scopeOf } from '../../../http/scope.ts'
import { type createFullTextSearch, KINDS } from './full-text-search.ts'

const Kinds = Type.Union(KINDS.map((kind) => Type.Literal(kind)))
const Query = Type.Object({
  text: Type.String({ minLength: 1, maxLength: 200, description: 'Search text; not case-sensitive.' }),
  kinds: Type.Optional(
    Type.Union([Type.Array(Kinds), Kinds], { description: `Only these kinds: ${KINDS.join(', ')}; all by default.` }),
  ),
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 100, description: 'Maximum number of results per kind; 10 by default.' }),
  ),
})
const Hit = Type.Object({
  kind: Type.String(),
  id: Type.String(),
  name: Type.String(),
  tableId: optionalText('Table of a column.'),
  componentId: optionalText('Component of a configuration, a row or a job.'),
  configurationId: optionalText('Configuration of a row, a job or a schedule.'),
  rowId: optionalText('Row whose content matches.'),
  email: optionalText('E-mail of a user.'),
})
const View = Type.Object(
  { items: Type.Array(Hit), more: Type.Array(Type.String({ description: 'Kinds with further results.' })) },
  { title: 'SearchResult' },
)

export function fullTextSearchRoutes(search: ReturnType<typeof createFullTextSearch>): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.get(
      '/v2/storage/search',
      {
        config: {
          operation: 'search.everything',
          summary: 'Search tables, columns, configurations, files, jobs, schedules and users',
          needs: 'token',
        },
        schema: { querystring: Query, response: { 200: View } },
      },
      async (req) => {
        const { text, kinds, limit = 10 } = req.query
        const { items, more } = await search(scopeOf(req), text, kinds === undefined ? [] : [kinds].flat(), limit)
        return { items: [...items], more: [...more] }
      },
    )
  }
}
