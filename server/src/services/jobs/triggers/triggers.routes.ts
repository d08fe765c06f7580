// HTTP for triggers (spec storage 2.11).

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { idFrom } from '../../../http/ids.ts'
import { numberedId, optionalText } from '../../../http/parameters.ts'
import { CreatorToken, Timestamp } from '../../../http/record-schemas.ts'
import { formatTimestamp } from '../../../kit/clock.ts'
import { PlatformError } from '../../../kit/errors.ts'
import type { Trigger } from './triggers.store.ts'
import type { Triggers } from './triggers.ts'

const TriggerBody = Type.Object({
  runWithTokenId: Type.Integer({ description: 'Token of the runs; it must not expire.' }),
  component: Type.String({ minLength: 1, maxLength: 255, description: 'Component to run.' }),
  configurationId: Type.String({ minLength: 1, maxLength: 255, description: 'Configuration to run.' }),
  coolDownPeriodMinutes: Type.Optional(Type.Integer({ description: 'Minimum time between two runs; at least 1.' })),
  tableIds: Type.Array(Type.String({ minLength: 1, maxLength: 500 }), {
    description: 'Tables that must all be imported before a run.',
  }),
})

const TriggerView = Type.Object(
  {
    id: Type.String(),
    runWithTokenId: Type.Integer(),
    component: Type.String(),
    configurationId: Type.String(),
    lastRun: Timestamp,
    coolDownPeriodMinutes: Type.Integer(),
    creatorToken: CreatorToken,
    tables: Type.Array(Type.Object({ tableId: Type.String() })),
  },
  { title: 'Trigger' },
)

const ById = Type.Object({ id: numberedId('trigger') })
const Filter = Type.Object({
  component: optionalText('Only triggers that run this component.'),
  configurationId: optionalText('Only triggers that run this configuration.'),
})

export function triggersRoutes(triggers: Triggers): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.get(
      '/v2/storage/triggers',
      {
        config: { operation: 'triggers.list', summary: 'List triggers', needs: 'component', branch: 'refused' },
        schema: { querystring: Filter, response: { 200: Type.Array(TriggerView) } },
      },
      async (req) => (await triggers.list(req.actor, req.query)).map(view),
    )

    app.post(
      '/v2/storage/triggers',
      {
        config: {
          operation: 'triggers.create',
          summary: 'Create a trigger: run a configuration when tables were imported',
          needs: 'trigger',
          branch: 'refused',
          validationCode: 'storage.triggers.invalidParameters',
        },
        schema: { body: TriggerBody, response: { 201: TriggerView } },
      },
      async (req, reply) => reply.code(201).send(view(await triggers.create(req.actor, req.body, req.origin))),
    )

    app.get(
      '/v2/storage/triggers/:id',
      {
        config: { operation: 'triggers.get', summary: 'Trigger detail', needs: 'component', branch: 'refused' },
        schema: { params: ById, response: { 200: TriggerView } },
      },
      async (req) => view(await triggers.show(req.actor, triggerId(req.params.id))),
    )

    app.put(
      '/v2/storage/triggers/:id',
      {
        config: {
          operation: 'triggers.update',
          summary: 'Change a trigger',
          needs: 'trigger',
          branch: 'refused',
          validationCode: 'storage.triggers.invalidParameters',
        },
        schema: { params: ById, body: Type.Partial(TriggerBody), response: { 200: TriggerView } },
      },
      async (req) => view(await triggers.update(req.actor, triggerId(req.params.id), req.body, req.origin)),
    )

    app.delete(
      '/v2/storage/triggers/:id',
      {
        config: { operation: 'triggers.delete', summary: 'Delete a trigger', needs: 'trigger', branch: 'refused' },
        schema: { params: ById, response: { 204: Type.Null() } },
      },
      async (req, reply) => {
        await triggers.remove(req.actor, triggerId(req.params.id), req.origin)
        return reply.code(204).send(null)
      },
    )
  }
}

const view = (trigger: Trigger) => ({
  id: String(trigger.id),
  runWithTokenId: trigger.tokenId,
  component: trigger.component,
  configurationId: trigger.configurationId,
  lastRun: formatTimestamp(trigger.lastRunAt),
  coolDownPeriodMinutes: trigger.coolDownMinutes,
  creatorToken: trigger.creatorToken,
  tables: trigger.seen.map(({ tableId }) => ({ tableId })),
})

const triggerId = (text: string): number =>
  idFrom(text, () => new PlatformError('storage.triggers.notFound', { id: text.slice(0, 40) }))
