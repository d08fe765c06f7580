// HTTP for operators: the state of the stack, and what happened on it (spec platform 6.10a). Only for stack admins.

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { Timestamp } from '../../../http/record-schemas.ts'
import { formatTimestamp } from '../../../kit/clock.ts'
import { PlatformError } from '../../../kit/errors.ts'
import { parseMoment } from '../../../kit/relative-time.ts'
import { config } from './for-stack-admins.ts'
import type { Status } from './status.ts'

export interface AuditEntry {
  readonly id: number
  readonly projectId: number
  readonly event: string
  readonly component: string
  readonly message: string
  readonly objectType: string | null
  readonly objectId: string | null
  readonly tokenId: number
  readonly tokenDescription: string
  readonly remoteAddress: string | null
  readonly at: Date
}

export interface AuditFilter {
  readonly projectId?: number
  /** Part of the description of the token, which is the name of a person. */
  readonly who?: string
  readonly tokenId?: number
  /** Beginning of the name of the event. */
  readonly what?: string
  readonly objectId?: string
  /** False: without what jobs and components logged. */
  readonly logs?: boolean
  readonly since?: number
  readonly until?: number
  readonly beforeId?: number
  readonly limit: number
}

export interface OperationsDeps {
  readonly status: () => Promise<Status>
  readonly listAudit: (filter: AuditFilter) => Promise<readonly AuditEntry[]>
  readonly now: () => Date
}

const StatusView = Type.Object(
  {
    level: Type.String({ description: 'ok, warning or problem: the worst of the checks.' }),
    version: Type.String(),
    at: Timestamp,
    checks: Type.Array(
      Type.Object({
        check: Type.String({
          description: 'disk, database, objectStore, queue.jobs, queue.storage, backup, schedules, components or certificate.',
        }),
        level: Type.String(),
        text: Type.String(),
        facts: Type.Record(Type.String(), Type.Unknown()),
      }),
    ),
  },
  { title: 'StackStatus' },
)
const Nullable = Type.Union([Type.String(), Type.Null()])
const AuditView = Type.Object(
  {
    id: Type.Integer(),
    projectId: Type.Integer(),
    event: Type.String(),
    component: Type.String(),
    message: Type.String(),
    objectType: Nullable,
    objectId: Nullable,
    who: Type.Object({ tokenId: Type.Integer(), description: Type.String(), remoteAddress: Nullable }),
    at: Timestamp,
  },
  { title: 'AuditEntry' },
)
const Moment = (description: string) => Type.Optional(Type.String({ maxLength: 100, description }))
const AuditQuery = Type.Object({
  projectId: Type.Optional(Type.Integer({ description: 'Only events of this project.' })),
  who: Type.Optional(
    Type.String({ maxLength: 200, description: 'Part of the name of the user or of the description of the token.' }),
  ),
  tokenId: Type.Optional(Type.Integer({ description: 'Only events caused by this token.' })),
  what: Type.Optional(Type.String({ maxLength: 200, description: 'Prefix of the event name.', examples: ['storage.table'] })),
  objectId: Type.Optional(
    Type.String({ maxLength: 500, description: 'Only events of this table, configuration, file or token.' }),
  ),
  logs: Type.Optional(
    Type.Boolean({ description: 'false: only changes, without log events of jobs and components; true by default.' }),
  ),
  since: Moment('Not before this time: ISO 8601, or words such as `-2 days`.'),
  until: Moment('Before this time.'),
  beforeId: Type.Optional(Type.Integer({ description: 'Only entries with a smaller id, for the next page.' })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, description: 'Maximum number of items; 100 by default.' })),
})

export function operationsRoutes({ status, listAudit, now }: OperationsDeps): FastifyPluginAsyncTypebox {
  const momentOf = (field: string, text: string | undefined): number | undefined => {
    if (text === undefined) return undefined
    const moment = parseMoment(text, now())
    if (!moment) throw new PlatformError('validation.failed', { field, reason: `"${text.slice(0, 40)}" is not a time.` })
    return moment.getTime()
  }

  return async (app) => {
    app.get(
      '/operations/status',
      { config: config('status', 'Health checks of the stack (stack admin)'), schema: { response: { 200: StatusView } } },
      async () => {
        const { at, checks, ...rest } = await status()
        return { ...rest, at: formatTimestamp(at), checks: checks.map((check) => ({ ...check, facts: { ...check.facts } })) }
      },
    )

    app.get(
      '/operations/audit',
      {
        config: config('audit', 'Audit log of the stack, newest first (stack admin)'),
        schema: { querystring: AuditQuery, response: { 200: Type.Array(AuditView) } },
      },
      async ({ query: { since, until, limit = 100, ...filter } }) => {
        const range = { since: momentOf('since', since), until: momentOf('until', until) }
        const given = Object.fromEntries(Object.entries({ ...filter, ...range }).filter(([, value]) => value !== undefined))
        const found = await listAudit({ ...given, limit })
        return found.map(({ tokenId, tokenDescription, remoteAddress, at, ...entry }) => ({
          ...entry,
          who: { tokenId, description: tokenDescription, remoteAddress },
          at: formatTimestamp(at),
        }))
      },
    )
  }
}
