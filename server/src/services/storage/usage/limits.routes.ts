// HTTP for the limits of a project, in the shape of the public management API (spec platform 6.6).

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { idFrom } from '../../../http/ids.ts'
import { numberedId } from '../../../http/parameters.ts'
import { PlatformError } from '../../../kit/errors.ts'
import type { EventSource } from '../../../model/event.ts'
import type { Person } from '../../../model/person.ts'
import { PROJECT_LIMITS } from '../../../model/project-limits.ts'
import type { Usage } from './usage.ts'

export interface LimitsRoutesDeps {
  readonly usage: Pick<Usage, 'limitsOf' | 'changeLimits'>
  /** Who does it, for the event; throws when the person is not a stack admin or the project does not exist. */
  readonly asStackAdmin: (person: Person, projectId: number) => Promise<EventSource>
}

const Limit = Type.Object({
  name: Type.String({ maxLength: 100, description: `One of ${Object.keys(PROJECT_LIMITS).join(', ')}.` }),
  value: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description: 'Maximum value.' }),
})
const InProject = Type.Object({ projectId: numberedId('project') })
const OfLimit = Type.Object({
  projectId: numberedId('project'),
  limit: Type.String({ maxLength: 100, description: 'Name of the limit.', examples: ['storage.maxBytes'] }),
})

export function limitsRoutes({ usage, asStackAdmin }: LimitsRoutesDeps): FastifyPluginAsyncTypebox {
  return async (app) => {
    const config = (operation: string, summary: string) =>
      ({
        operation: `projects.${operation}`,
        summary,
        needs: 'person',
        role: 'stack admin',
        validationCode: 'validation.failed',
      }) as const

    app.post(
      '/manage/projects/:projectId/limits',
      {
        config: config('setLimits', 'Set limits of a project'),
        schema: {
          params: InProject,
          body: Type.Object({
            limits: Type.Array(Limit, { maxItems: 50, description: 'Limits to set; others are unchanged.' }),
          }),
          response: { 200: Type.Array(Limit) },
        },
      },
      async ({ person, params, body, origin }) => {
        const projectId = projectFrom(params.projectId)
        const source = await asStackAdmin(person, projectId)
        await usage.changeLimits(projectId, Object.fromEntries(body.limits.map(({ name, value }) => [name, value])), {
          source,
          origin,
        })
        return Object.entries(await usage.limitsOf(projectId)).map(([name, value]) => ({ name, value }))
      },
    )

    app.delete(
      '/manage/projects/:projectId/limits/:limit',
      {
        config: config('removeLimit', 'Remove a limit of a project'),
        schema: { params: OfLimit, response: { 204: Type.Null() } },
      },
      async ({ person, params, origin }, reply) => {
        const projectId = projectFrom(params.projectId)
        const source = await asStackAdmin(person, projectId)
        await usage.changeLimits(projectId, { [params.limit]: undefined }, { source, origin })
        return reply.code(204).send(null)
      },
    )
  }
}

const projectFrom = (text: string): number => idFrom(text, () => new PlatformError('notFound', { what: `Project ${text}` }))
