// HTTP for checking a configuration without saving it (spec storage 2.8.3).

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { exactMembers } from '../../../http/exact-members.ts'
import { Nullable, optionalFlag } from '../../../http/parameters.ts'
import { BODY_LIMIT, CONFIG, CONFIGS, callerOf, InComponent, InConfiguration } from './route-shapes.ts'
import type { Validation, ValidationAnswer } from './validation.ts'

const Content = Type.Optional(Type.Unknown({ description: 'The configuration: an object, or its JSON as a string.' }))
const Answer = Type.Unsafe<ValidationAnswer>(
  Type.Object(
    {
      isValid: Type.Boolean({ description: 'True without errors; warnings are possible.' }),
      problems: Type.Array(
        Type.Object({
          level: Type.String({ description: 'error or warning.' }),
          pointer: Type.String({ description: 'JSON pointer to the value, from the root of the configuration or the row.' }),
          message: Type.String(),
          rule: Type.String({ description: 'Check that reports the problem: json, schema, mapping, flow or schedule.' }),
          rowId: Nullable(Type.String({ description: 'Row with the problem; null for the configuration itself.' })),
        }),
      ),
    },
    { title: 'ValidationAnswer' },
  ),
)
const config = (operation: string, summary: string) =>
  ({ operation, summary, needs: 'component', validationCode: 'storage.components.validation', onlyReads: true }) as const

export function validationRoutes(validation: Validation): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.post(
      `${CONFIGS}/validate`,
      {
        config: config('configurations.validate', 'Validate a configuration or a row without saving it; lists every problem'),
        bodyLimit: BODY_LIMIT,
        schema: {
          params: InComponent,
          body: Type.Object({ configuration: Content, isRow: optionalFlag('True: the configuration of a row.') }),
          response: { 200: Answer },
        },
      },
      async (req) => {
        const text = exactMembers(req)('configuration') ?? '{}'
        return validation.validate(callerOf(req), req.params.componentId, text, req.body.isRow ?? false)
      },
    )

    app.post(
      `${CONFIG}/validate`,
      {
        config: config('configurations.validateSaved', 'Validate a saved configuration and its rows; lists every problem'),
        bodyLimit: BODY_LIMIT,
        schema: { params: InConfiguration, body: Type.Object({ configuration: Content }), response: { 200: Answer } },
      },
      async (req) => {
        const { componentId, configurationId } = req.params
        return validation.validateSaved(callerOf(req), componentId, configurationId, exactMembers(req)('configuration'))
      },
    )
  }
}
