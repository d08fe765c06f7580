// HTTP for flows: what is wrong with one, before it is saved or run. Flows are run, watched and ended as jobs of the queue (spec platform 2.11).

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { PlatformError } from '../../../kit/errors.ts'
import { membersOf } from '../../../kit/text/json-text.ts'
import type { FlowValidation } from './validation.ts'

const Problem = Type.Object({
  level: Type.String({ description: 'error: the flow cannot be saved or run; warning: it can.' }),
  path: Type.String({ description: 'Path from the root of the configuration.', examples: ['phases[0].next[1].goto'] }),
  message: Type.String(),
})

const Body = Type.Object(
  {
    component: Type.String({ minLength: 1, description: 'keboola.flow, keboola.orchestrator or one of their other ids.' }),
    configuration: Type.Record(Type.String(), Type.Unknown(), { description: 'The configuration to validate.' }),
    config: Type.Optional(Type.String({ description: 'Id of the configuration, to detect a flow that contains itself.' })),
    branchId: Type.Optional(Type.String({ maxLength: 64, description: 'Branch by id; the default branch if omitted.' })),
  },
  { additionalProperties: false },
)

export interface FlowsRoutesDeps {
  readonly validate: FlowValidation['validate']
  readonly findBranch: (projectId: number, name: string) => Promise<{ readonly id: number } | undefined>
}

export function flowsRoutes({ validate, findBranch }: FlowsRoutesDeps): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.post(
      '/queue/flows/validate',
      {
        config: {
          operation: 'flows.validate',
          onlyReads: true,
          summary: 'Validate a flow; lists every problem with its path',
          needs: 'component',
          validationCode: 'validation.failed',
        },
        schema: { body: Body, response: { 200: Type.Object({ isValid: Type.Boolean(), problems: Type.Array(Problem) }) } },
      },
      async (req) => {
        const { projectId } = req.actor
        const { component, branchId } = req.body
        const branch = branchId === undefined ? req.branch : await findBranch(projectId, branchId)
        if (!branch) throw new PlatformError('notFound', { what: `Branch "${branchId}"` })
        const place = { projectId, branchId: branch.id, componentId: component }
        const text = membersOf(req.rawBody).get('configuration') ?? JSON.stringify(req.body.configuration)
        const problems = await validate(place, req.body.config, text)
        return { isValid: problems.every(({ level }) => level !== 'error'), problems: [...problems] }
      },
    )
  }
}
