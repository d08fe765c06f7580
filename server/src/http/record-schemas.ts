// Schemas that more than one service answers with.

import { Type } from 'typebox'

export const Timestamp = Type.String({ description: 'YYYY-MM-DDThh:mm:ss+hhmm', examples: ['2026-01-31T12:00:00+0000'] })

export const CreatorToken = Type.Object({ id: Type.Integer(), description: Type.String() })

export const ErrorSchema = Type.Object({
  error: Type.String({ description: 'A sentence for people: which value, why, what to do.' }),
  code: Type.Union([Type.String(), Type.Integer()], {
    description:
      'Storage: a stable name for programs, all listed in docs/errors.md. Other services: the status; the name is context.stringCode.',
  }),
  exceptionId: Type.String({ description: 'Finds the request in the log.' }),
  status: Type.String(),
  errors: Type.Optional(Type.Array(Type.Object({ key: Type.String(), message: Type.String() }))),
  params: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
})

/** How lists of events are asked for, everywhere they appear. */
export const EventListQuery = Type.Object({
  limit: Type.Optional(Type.Integer()),
  offset: Type.Optional(Type.Integer({ minimum: 0 })),
  sinceId: Type.Optional(Type.String()),
  maxId: Type.Optional(Type.String()),
  component: Type.Optional(Type.String()),
  configurationId: Type.Optional(Type.String()),
  runId: Type.Optional(Type.String()),
  q: Type.Optional(Type.String({ maxLength: 1000 })),
  sortOrder: Type.Optional(Type.Union([Type.Literal('asc'), Type.Literal('desc')])),
  forceUuid: Type.Optional(Type.Boolean()),
})
