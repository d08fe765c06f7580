// HTTP for events and tickets (spec storage 2.10).

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { objectFromField } from '../../../http/json-field.ts'
import { numberedId, optionalText } from '../../../http/parameters.ts'
import { EventListQuery, Timestamp } from '../../../http/record-schemas.ts'
import { eventViews, type FileStates } from './event-view.ts'
import type { EventQuery, Events } from './events.ts'

const TypeOfEvent = Type.Union([Type.Literal('info'), Type.Literal('success'), Type.Literal('warn'), Type.Literal('error')], {
  description: 'Severity; `info` by default.',
})
const JsonObject = Type.Union([Type.Record(Type.String(), Type.Unknown()), Type.Array(Type.Unknown()), Type.String()], {
  description: 'An object, or its JSON as a string.',
})

const EventBody = Type.Object({
  component: Type.String({ minLength: 1, maxLength: 255, description: 'Source of the event, usually the id of a component.' }),
  message: Type.String({ minLength: 1, description: 'Message.' }),
  description: optionalText('Details.'),
  type: Type.Optional(TypeOfEvent),
  configurationId: Type.Optional(Type.String({ maxLength: 255, description: 'Configuration of the event.' })),
  params: Type.Optional(JsonObject),
  results: Type.Optional(JsonObject),
  duration: Type.Optional(Type.Number({ description: 'Seconds that it took.' })),
  runId: Type.Optional(Type.String({ maxLength: 255, description: 'Run that it belongs to.' })),
})

const EventView = Type.Object(
  {
    id: Type.Union([Type.String(), Type.Integer()]),
    uuid: Type.String(),
    event: Type.String(),
    component: Type.String(),
    message: Type.String(),
    type: Type.String(),
    created: Timestamp,
  },
  { title: 'Event' },
)

export function eventsRoutes(events: Events, fileStates: FileStates): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.post(
      '/v2/storage/events',
      {
        config: {
          operation: 'events.create',
          summary: 'Create an event',
          needs: 'token',
          validationCode: 'storage.event.schemaValidationFailed',
        },
        schema: { body: EventBody, response: { 201: Type.Object({ id: Type.String(), uuid: Type.String() }) } },
      },
      async (req, reply) => {
        const { params, results, ...rest } = req.body
        const request = { ...rest, params: objectFromField('params', params), results: objectFromField('results', results) }
        const row = await events.create(req.actor, request, req.branch.id, req.origin)
        return reply.code(201).send({ id: String(row.id), uuid: row.uuid })
      },
    )

    app.get(
      '/v2/storage/events',
      {
        config: { operation: 'events.list', summary: 'List events', needs: 'token' },
        schema: { querystring: EventListQuery, response: { 200: Type.Array(EventView) } },
      },
      async (req) =>
        eventViews(
          await events.list(req.actor, req.query as EventQuery, { branch: req.branch }),
          req,
          fileStates,
          req.query.forceUuid,
        ),
    )

    app.get(
      '/v2/storage/events/:id',
      {
        config: { operation: 'events.get', summary: 'Event detail', needs: 'ownEvent' },
        schema: { params: Type.Object({ id: numberedId('event') }), response: { 200: EventView } },
      },
      async (req) => (await eventViews([await events.get(req.actor, req.params.id, req.branch)], req, fileStates))[0]!,
    )

    app.post(
      '/v2/storage/tickets',
      {
        config: { operation: 'tickets.create', summary: 'A unique ascending id', needs: 'token', branch: 'refused' },
        schema: { response: { 201: Type.Object({ id: Type.String() }) } },
      },
      async (_req, reply) => reply.code(201).send({ id: String(await events.nextTicket()) }),
    )
  }
}
