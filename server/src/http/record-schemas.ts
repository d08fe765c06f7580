// Schemas that more than one service answers with.

import { Type } from 'typebox'
import { Offset, optionalFlag, optionalText } from './parameters.ts'

export const Timestamp = Type.String({ description: 'YYYY-MM-DDThh:mm:ss+hhmm', examples: ['2026-01-31T12:00:00+0000'] })

export const CreatorToken = Type.Object({ id: Type.Integer(), description: Type.String() })

export const ErrorSchema = Type.Object({
  error: Type.String({ description: 'Message for users: the value, the reason, and what to do.' }),
  code: Type.Union([Type.String(), Type.Integer()], {
    description:
      'Storage API: a stable code, listed in docs/errors.md. Other services: the HTTP status; the code is context.stringCode.',
  }),
  exceptionId: Type.String({ description: 'Id of the request, to find it in the log.' }),
  status: Type.String(),
  errors: Type.Optional(Type.Array(Type.Object({ key: Type.String(), message: Type.String() }))),
  params: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
})

/** The query parameters of every list of events. */
export const EventListQuery = Type.Object({
  limit: Type.Optional(Type.Integer({ description: 'Maximum number of items; 100 by default.' })),
  offset: Offset,
  sinceId: optionalText('Only events that are newer than this one.'),
  maxId: optionalText('Only events that are older than this one.'),
  component: optionalText('Only events of this component.'),
  configurationId: optionalText('Only events of this configuration.'),
  runId: optionalText('Only events of this run.'),
  q: Type.Optional(Type.String({ maxLength: 1000, description: 'Search terms, such as `type:error` or a word of the message.' })),
  sortOrder: Type.Optional(
    Type.Union([Type.Literal('asc'), Type.Literal('desc')], { description: '`desc`, the newest first, by default.' }),
  ),
  forceUuid: optionalFlag('True: ids are UUIDs, as newer clients expect.'),
})
