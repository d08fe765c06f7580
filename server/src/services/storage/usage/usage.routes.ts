// HTTP for usage: the billing service of the stack, without money (spec platform 6.6).

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { formatTimestamp } from '../../../kit/clock.ts'
import { PlatformError } from '../../../kit/errors.ts'
import { PROJECT_LIMITS, type ProjectLimit } from '../../../model/project-limits.ts'
import type { Usage } from './usage.ts'
import { USAGE_GROUPS, type UsageGroup, usageCsv } from './usage-lines.ts'

export interface UsageRoutesDeps {
  readonly usage: Pick<Usage, 'list' | 'credits' | 'limitsOf'>
  readonly now: () => Date
}

const Day = (description: string) =>
  Type.Optional(Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}$', description, examples: ['2026-11-01'] }))
const Query = Type.Object({
  from: Day('First day (UTC); by default the first of the current month.'),
  to: Day('Last day (UTC), inclusive; today by default.'),
  groupBy: Type.Optional(
    Type.String({
      maxLength: 100,
      description: `Groups, separated by commas: ${USAGE_GROUPS.join(', ')}. One line for each combination. \`day\` by default; empty for one sum.`,
    }),
  ),
  format: Type.Optional(Type.Union([Type.Literal('json'), Type.Literal('csv')], { description: 'json (default) or csv.' })),
})
const Line = Type.Object({
  day: Type.Optional(Type.String()),
  componentId: Type.Optional(Type.String({ description: 'Empty for usage outside of jobs.' })),
  configurationId: Type.Optional(Type.String()),
  jobs: Type.Integer(),
  failedJobs: Type.Integer(),
  jobSeconds: Type.Number(),
  sqlSeconds: Type.Number(),
  rowsLoaded: Type.Integer({ description: 'Rows loaded into tables.' }),
  bytesLoaded: Type.Integer({ description: 'Bytes of CSV loaded into tables.' }),
  bytesRead: Type.Integer({ description: 'Bytes of tables read by jobs and written by exports.' }),
  storageByteHours: Type.Integer({ description: 'Bytes of tables and files multiplied by the hours they were stored.' }),
})
const Credits = Type.Object({
  remaining: Type.Number({ description: 'Remaining credits. There is no billing, so the number is constant.' }),
  consumed: Type.Number({ description: 'Job hours in the current month.' }),
  purchased: Type.Number(),
  stats: Type.Object({ workspaceJobs: Type.Array(Type.Unknown()), month: Type.Union([Line, Type.Null()]) }),
})
const Limits = Type.Array(
  Type.Object({ name: Type.String(), description: Type.String(), value: Type.Union([Type.Number(), Type.Null()]) }),
)

export function usageRoutes({ usage, now }: UsageRoutesDeps): FastifyPluginAsyncTypebox {
  return async (app) => {
    for (const method of ['GET', 'POST'] as const)
      app.route({
        method,
        url: '/billing/credits',
        config: {
          operation: `billing.credits${method === 'POST' ? 'TopUp' : ''}`,
          summary: method === 'POST' ? 'The same as GET: there is no billing' : 'Credits of the project',
          needs: 'token',
        },
        schema: { response: { 200: Credits } },
        handler: async (req) => usage.credits(req.actor),
      })

    app.get(
      '/billing/usage',
      {
        config: {
          operation: 'billing.usage',
          summary: 'Usage of the project by day, component and configuration',
          needs: 'project',
          produces: ['application/json', 'text/csv'],
        },
        schema: { querystring: Query, response: { 200: Type.Union([Type.Array(Line), Type.String()]) } },
      },
      async (req, reply) => {
        const today = formatTimestamp(now()).slice(0, 10)
        const { from = `${today.slice(0, 7)}-01`, to = today, format, groupBy = 'day' } = req.query
        if (from > to) throw invalid('from', `${from} is after to (${to}).`)
        const groups = groupsFrom(groupBy)
        const lines = await usage.list(req.actor, { from, to }, groups)
        if (format !== 'csv') return [...lines]
        return reply.type('text/csv; charset=utf-8').send(usageCsv(lines, groups))
      },
    )

    app.get(
      '/billing/limits',
      {
        config: { operation: 'billing.limits', summary: 'Limits of the project', needs: 'token' },
        schema: { response: { 200: Limits } },
      },
      async (req) => {
        const limits = await usage.limitsOf(req.actor.projectId)
        return Object.entries(PROJECT_LIMITS).map(([name, description]) => ({
          name,
          description,
          value: limits[name as ProjectLimit] ?? null, // keys of the list
        }))
      },
    )
  }
}

function groupsFrom(text: string): readonly UsageGroup[] {
  const words = text.split(',').filter((word) => word !== '')
  const wrong = words.find((word) => !(USAGE_GROUPS as readonly string[]).includes(word))
  if (wrong !== undefined) throw invalid('groupBy', `"${wrong.slice(0, 40)}" is not one of ${USAGE_GROUPS.join(', ')}.`)
  return USAGE_GROUPS.filter((group) => words.includes(group))
}

const invalid = (field: string, reason: string) => new PlatformError('storage.validation', { field, reason })
