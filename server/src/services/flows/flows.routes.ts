// HTTP for flows: what is wrong with one, before it is saved or run. Flows are run, watched and ended as jobs of the queue (spec platform 2.11).

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { membersOf } from '../../kit/json-text.ts'
import type { FlowValidation } from './validation.ts'

const Problem = Type.Object({
  level: Type.String({ description: 'error: the flow cannot be saved and run; warning: it can.' }),
  path: Type.String({ description: 'From the root of the configuration.', examples: ['phases[0].next[1].goto'] }),
  message: Type.String(),
})

const Body = Type.Object(
  {
    component: Type.String({ minLength: 1, description: 'keboola.flow, keboola.orchestrator or one of their other ids.' }),
    configuration: Type.Record(Type.String(), Type.Unknown(), { description: 'The configuration to look at.' }),
    config: Type.Optional(
      Type.String({ description: 'Id of the configuration it is meant for; a flow that contains it is then found.' }),
    ),
  },
  { additionalProperties: false },
)

export function flowsRoutes(validate: FlowValidation['validate']): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.post(
      '/queue/flows/validate',
      {
        config: {
          operation: 'flows.validate',
          onlyReads: true,
          summary: 'All that is wrong with a flow, each with its path',
          validationCode: 'validation.failed',
        },
        schema: { body: Body, response: { 200: Type.Object({ isValid: Type.Boolean(), problems: Type.Array(Problem) }) } },
      },
      async (req) => {
        const place = { projectId: req.actor.projectId, branchId: req.branch.id, componentId: req.body.component }
        const text = membersOf(req.rawBody).get('configuration') ?? JSON.stringify(req.body.configuration)
        const problems = await validate(place, req.body.config, text)
        return { isValid: problems.every(({ level }) => level !== 'error'), problems: [...problems] }
      },
    )
  }
}
