// HTTP for events and tickets (spec storage 2.10).

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { objectFromField } from '../../http/json-field.ts'
import { numberedId, optionalText } from '../../http/parameters.ts'
import { EventListQuery, Timestamp } from '../../http/record-schemas.ts'
import { formatTimestamp } from '../../kit/clock.ts'
import type { Actor } from '../../model/actor.ts'
import type { EventAttachment } from '../../model/event.ts'
import { shownObjectId } from '../../model/event-definitions.ts'
import type { EventRow } from './events.store.ts'
import type { EventQuery, Events } from './events.ts'

const TypeOfEvent = Type.Union([Type.Literal('info'), Type.Literal('success'), Type.Literal('warn'), Type.Literal('error')], {
  description: 'How serious it is; `info` by default.',
})
const JsonObject = Type.Union([Type.Record(Type.String(), Type.Unknown()), Type.Array(Type.Unknown()), Type.String()], {
  description: 'An object, or a string that holds one as JSON.',
})

const EventBody = Type.Object({
  component: Type.String({ minLength: 1, maxLength: 255, description: 'Who reports it, usually the id of a component.' }),
  message: Type.String({ minLength: 1, description: 'What happened, in a sentence.' }),
  description: optionalText('More about it.'),
  type: Type.Optional(TypeOfEvent),
  configurationId: Type.Optional(Type.String({ maxLength: 255, description: 'Configuration that it is about.' })),
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
          summary: 'Report what a component did',
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
        config: { operation: 'events.list', summary: 'List events' },
        schema: { querystring: EventListQuery, response: { 200: Type.Array(EventView) } },
      },
      async (req) => eventViews(await events.list(req.actor, req.query as EventQuery), req, fileStates, req.query.forceUuid),
    )

    app.get(
      '/v2/storage/events/:id',
      {
        config: { operation: 'events.get', summary: 'Event detail' },
        schema: { params: Type.Object({ id: numberedId('event') }), response: { 200: EventView } },
      },
      async (req) => (await eventViews([await events.get(req.actor, req.params.id)], req, fileStates))[0]!,
    )

    app.post(
      '/v2/storage/tickets',
      {
        config: { operation: 'tickets.create', summary: 'A unique, rising id', branch: 'refused' },
        schema: { response: { 201: Type.Object({ id: Type.String() }) } },
      },
      async (_req, reply) => reply.code(201).send({ id: String(await events.nextTicket()) }),
    )
  }
}

/** What has become of a file that an event names. */
export interface FileState {
  readonly isExpired: boolean
  /** A link to its bytes, for those who may read it. */
  readonly url: string | null
}

export type FileStates = (actor: Actor, ids: readonly number[], baseUrl: string) => Promise<ReadonlyMap<number, FileState>>

/** Events with the files they are about, as the actor may see them. */
export async function eventViews(
  rows: readonly EventRow[],
  { actor, baseUrl }: { readonly actor: Actor; readonly baseUrl: string },
  fileStates: FileStates,
  uuidAsId = false,
) {
  const ids = new Set(rows.flatMap((row) => attachmentsOf(row).map(({ id }) => id)))
  const states = ids.size === 0 ? undefined : await fileStates(actor, [...ids], baseUrl)
  return rows.map((row) => eventView(row, baseUrl, uuidAsId, states))
}

const attachmentsOf = (row: EventRow): readonly EventAttachment[] =>
  row.attachments === '[]' ? [] : (JSON.parse(row.attachments) as EventAttachment[]) // written by events.ts

export const eventView = (row: EventRow, baseUrl: string, uuidAsId = false, files?: ReadonlyMap<number, FileState>) => ({
  id: uuidAsId ? row.uuid : row.id,
  uuid: row.uuid,
  event: row.event,
  component: row.component,
  message: row.message,
  description: row.description,
  type: row.type,
  runId: row.run_id,
  created: formatTimestamp(new Date(row.created_at)),
  configurationId: row.configuration_id,
  objectId: shownObjectId(row.object_type, row.object_id),
  objectName: row.object_name,
  objectType: row.object_type,
  context: contextOf(row),
  params: JSON.parse(row.params) as unknown,
  results: JSON.parse(row.results) as unknown,
  performance: JSON.parse(row.performance) as unknown,
  token: { id: row.token_id, name: row.token_description },
  idBranch: row.branch_id,
  uri: `${baseUrl}/v2/storage/events/${row.id}`,
  attachments: attachmentsOf(row).map((file) => ({
    ...file,
    uploadType: 's3',
    ...(files?.get(file.id) ?? { isExpired: true, url: null }),
  })),
})

function contextOf(row: EventRow) {
  const stored = JSON.parse(row.context) as { remoteAddr: string | null; userAgent: string | null } // written by events.ts
  return {
    remoteAddr: stored.remoteAddr,
    httpReferer: null,
    httpUserAgent: stored.userAgent,
    apiVersion: 'v2',
    userAgent: stored.userAgent,
    async: false,
  }
}
