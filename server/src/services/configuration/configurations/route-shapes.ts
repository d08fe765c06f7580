// Shapes that the routes of this module share: addresses, bodies, answers, and how a request becomes a Caller.

import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { ComponentId, ConfigurationId, Offset, optionalFlag, optionalText, RowId, VersionId } from '../../../http/parameters.ts'
import { CreatorToken, Timestamp } from '../../../http/record-schemas.ts'
import { sendJson } from '../../../http/send-json.ts'
import type { JsonAnswer } from '../../../http/weighted-cache.ts'
import { PlatformError } from '../../../kit/errors.ts'
import { type Caller, type ExpectedVersion, versionNotFound } from './access.ts'

export const CONFIGS = '/v2/storage/components/:componentId/configs'
export const CONFIG = `${CONFIGS}/:configurationId`
export const ROWS = `${CONFIG}/rows`
export const ROW = `${ROWS}/:rowId`

/** A configuration of 4 MB, sent as a form, where every quote and bracket takes three characters; what is larger holds the event loop. */
export const BODY_LIMIT = 16 * 2 ** 20

export const InComponent = Type.Object({ componentId: ComponentId })
export const InConfiguration = Type.Object({ componentId: ComponentId, configurationId: ConfigurationId })
export const InRow = Type.Object({ componentId: ComponentId, configurationId: ConfigurationId, rowId: RowId })
export const OfVersion = Type.Object({
  componentId: ComponentId,
  configurationId: ConfigurationId,
  versionId: VersionId,
})
export const OfRowVersion = Type.Object({
  componentId: ComponentId,
  configurationId: ConfigurationId,
  rowId: RowId,
  versionId: VersionId,
})

export const ChangeDescription = optionalText('Reason of this change; shown in the list of versions.')
const Description = optionalText('Free text.')
const Name = Type.String({ minLength: 1, description: 'Display name.' })
const Json = Type.Optional(Type.Unknown({ description: 'An object, or its JSON as a string. Stored exactly as it is sent.' }))

const common = {
  description: Description,
  configuration: Json,
  state: Json,
  changeDescription: ChangeDescription,
  isDisabled: optionalFlag('True: jobs skip it.'),
}
const Id = Type.Optional(Type.Unknown({ description: 'Letters, digits, dots, dashes, underscores; generated if omitted.' }))

export const NewConfigurationBody = Type.Object({ name: Name, configurationId: Id, ...common })
export const ConfigurationBody = Type.Object({
  name: Type.Optional(Name),
  ...common,
  rowsSortOrder: Type.Optional(Type.Unknown({ description: 'Every row id once, in the new order.' })),
})
export const RowBody = Type.Object({ rowId: Id, name: optionalText('Display name.'), ...common })
export const StateBody = Type.Object({ state: Json }, { additionalProperties: false })
export const ChangeBody = Type.Object({ changeDescription: ChangeDescription })
/** The copy is made in the branch of the address: a branch in the body would be ignored, so it is refused. */
export const CopyBody = Type.Object(
  { name: Name, description: Description, changeDescription: ChangeDescription },
  { additionalProperties: false },
)

const Stored = Type.Record(Type.String(), Type.Unknown())
export const RowView = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    description: Type.String(),
    configuration: Stored,
    isDisabled: Type.Boolean(),
    version: Type.Integer(),
    created: Timestamp,
    creatorToken: CreatorToken,
    changeDescription: Type.String(),
    state: Stored,
    versionIdentifier: Type.String(),
  },
  { title: 'ConfigurationRow' },
)
export const ConfigurationView = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    description: Type.String(),
    created: Timestamp,
    creatorToken: CreatorToken,
    version: Type.Integer(),
    changeDescription: Type.String(),
    isDisabled: Type.Boolean(),
    isDeleted: Type.Boolean(),
    configuration: Stored,
    rowsSortOrder: Type.Array(Type.String()),
    rows: Type.Array(RowView),
    state: Stored,
    currentVersion: Type.Object({
      created: Timestamp,
      creatorToken: CreatorToken,
      changeDescription: Type.String(),
      versionIdentifier: Type.String(),
    }),
  },
  { title: 'Configuration' },
)
export const VersionView = Type.Object(
  {
    version: Type.Integer(),
    created: Timestamp,
    creatorToken: CreatorToken,
    changeDescription: Type.String(),
    isDeleted: Type.Boolean(),
    name: Type.String(),
    description: Type.Optional(Type.String({ description: 'Omitted in lists whose `include` names other fields.' })),
    isDisabled: Type.Boolean(),
    versionIdentifier: Type.String(),
    configuration: Type.Optional(Stored),
  },
  { title: 'ConfigurationVersion' },
)
export const RowVersionView = Type.Omit(RowView, ['state'])
export const MetadataView = Type.Object(
  { id: Type.String(), key: Type.String(), value: Type.String(), timestamp: Timestamp },
  { title: 'MetadataItem' },
)

export const PageQuery = Type.Object({
  include: Type.Optional(
    Type.String({
      description:
        'Fields separated by commas; `configuration` includes the configuration. A list without `description` omits the description.',
    }),
  ),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 10_000, description: 'Maximum number of items; all by default.' })),
  offset: Offset,
})

export const callerOf = ({ actor, branch, origin }: FastifyRequest): Caller => ({ actor, branch, origin })

export const wordsOf = (text: string | null | undefined): string | undefined => (text === '' ? undefined : (text ?? undefined))

export function versionOf(text: string): number {
  if (!/^[0-9]{1,15}$/.test(text)) throw versionNotFound(text.slice(0, 30))
  return Number(text)
}

export const IF_MATCH = {
  'If-Match': 'A version such as `"7"`: the change is refused with 409 if this is not the current version.',
}

/** `If-Match: "7"`: change version 7 or nothing. */
export function expectedVersionOf(request: FastifyRequest): ExpectedVersion {
  const header = request.headers['if-match']?.trim()
  if (header === undefined || header === '' || header === '*') return undefined
  const version = /^(?:W\/)?"?([0-9]{1,15})"?$/.exec(header)?.[1]
  if (version === undefined) {
    throw new PlatformError('malformedRequest', { reason: 'the header If-Match must be one version number, for example "7".' })
  }
  return Number(version)
}

/** The server compresses every response for each caller; this one only once. */
export async function sendKept(request: FastifyRequest, reply: FastifyReply, answer: JsonAnswer): Promise<FastifyReply> {
  const bytes = answer.bytes()
  if (bytes.length < GZIP_FROM_BYTES || !/\bgzip\b/.test(String(request.headers['accept-encoding'])))
    return sendJson(reply, bytes)
  reply.header('content-encoding', 'gzip')
  reply.header('vary', reply.hasHeader('vary') ? `${String(reply.getHeader('vary'))}, Accept-Encoding` : 'Accept-Encoding')
  return sendJson(reply, await answer.gzipped())
}

const GZIP_FROM_BYTES = 1024

/** The words of a list such as `configuration, rows`. */
export const wordsIn = (list: string | undefined): readonly string[] =>
  (list ?? '')
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '')
