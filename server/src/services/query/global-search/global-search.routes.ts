// HTTP for the search over everything (spec storage 2.12). Field types are those that strict clients expect.

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type TSchema, Type } from 'typebox'
import { Offset } from '../../../http/parameters.ts'
import { formatTimestamp } from '../../../kit/clock.ts'
import { type createGlobalSearch, type Found, type FoundType, TYPES } from './global-search.ts'

export interface GlobalSearchRoutesDeps {
  readonly search: ReturnType<typeof createGlobalSearch>['search']
  readonly projectName: (projectId: number) => Promise<string>
}

const list = <T extends TSchema>(item: T, description: string) =>
  Type.Optional(Type.Union([Type.Array(item), item], { description }))
const Query = Type.Object({
  query: Type.String({ minLength: 1, maxLength: 500, description: 'Search text for names and ids.' }),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, description: 'Maximum number of items; 50 by default.' })),
  offset: Offset,
  types: list(Type.Union(TYPES.map((type) => Type.Literal(type))), 'Only objects of these types.'),
  projectIds: list(Type.String({ pattern: '^[0-9]{1,15}$' }), 'Only these projects; a token finds only objects of its project.'),
  branchTypes: list(
    Type.Union([Type.Literal('production'), Type.Literal('development')]),
    '`production`: the default branch; `development`: the others.',
  ),
  branchIds: list(Type.String({ pattern: '^[0-9]{1,15}$' }), 'Only these branches.'),
  mode: Type.Optional(
    Type.Union([Type.Literal('standard'), Type.Literal('regex')], {
      description: '`regex`: query is a regular expression; `standard` by default.',
    }),
  ),
})

const View = Type.Object({
  all: Type.Integer(),
  items: Type.Array(Type.Unknown()),
  byType: Type.Record(Type.String(), Type.Integer()),
  byProject: Type.Record(Type.String(), Type.String()),
})

const listOf = <T>(value: T | readonly T[] | undefined): readonly T[] =>
  value === undefined ? [] : Array.isArray(value) ? (value as readonly T[]) : [value as T] // distinguished by isArray

export function globalSearchRoutes({ search, projectName }: GlobalSearchRoutesDeps): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.get(
      '/v2/storage/global-search',
      {
        config: {
          operation: 'globalSearch.search',
          summary: 'Search buckets, tables, configurations and rows by name',
          needs: 'token',
        },
        schema: { querystring: Query, response: { 200: View } },
      },
      async (req) => {
        const { query, limit = 50, offset = 0, types, projectIds, branchTypes, branchIds, mode } = req.query
        const { projectId } = req.actor
        const isElsewhere = listOf(projectIds).length > 0 && !listOf(projectIds).includes(String(projectId))
        const request = {
          query,
          types: listOf<FoundType>(types),
          branchTypes: listOf(branchTypes),
          branchIds: listOf(branchIds).map(Number),
          isRegex: mode === 'regex',
        }
        const everything = await search(req.actor, request)
        const found = isElsewhere ? [] : everything
        const project = { id: projectId, name: await projectName(projectId) }
        return {
          all: found.length,
          items: found.slice(offset, offset + limit).map((item) => itemView(item, project, req.baseUrl)),
          byType: countTypes(found),
          byProject: everything.length > 0 ? { [projectId]: project.name } : {},
        }
      },
    )
  }
}

function countTypes(found: readonly Found[]): Record<string, number> {
  const counts: Record<string, number> = { total: found.length }
  for (const { type } of found) counts[type] = (counts[type] ?? 0) + 1
  return counts
}

const itemView = (found: Found, project: { id: number; name: string }, baseUrl: string) => {
  const { id, type, name, branch, path, componentId, createdAt } = found
  return {
    id,
    type,
    name,
    fullPath: {
      project,
      branch: { id: branch.id, name: branch.name, isDefault: branch.isDefault, isNative: found.isNative },
      ...path,
    },
    componentId: componentId ?? null,
    organizationId: 1,
    projectId: project.id,
    projectName: project.name,
    created: formatTimestamp(new Date(createdAt)),
    ...((type === 'bucket' || type === 'table') && { uri: `${baseUrl}/v2/storage/${placeOf(found)}${type}s/${id}` }),
  }
}

const placeOf = ({ branch, isNative }: Found): string => (branch.isDefault || !isNative ? '' : `branch/${branch.id}/`)
