// HTTP for the live stream of a project (spec storage 2.10.1).

import { once } from 'node:events'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply } from 'fastify'
import { Type } from 'typebox'
import { callerGone } from '../../../http/connection/caller-gone.ts'
import { asksForEvents, beginEvents } from '../../../http/connection/event-stream.ts'
import { PlatformError } from '../../../kit/errors.ts'
import { CHANGE_KINDS, type ChangeKind } from '../../../model/change.ts'
import type { ChangeFeed, ChangeOutput } from './change-feed.ts'

/** What may wait for a slow client. */
const MAX_BUFFERED_BYTES = 1024 * 1024

const Nullable = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) => Type.Union([schema, Type.Null()])
const ChangesView = Type.Object({
  lastEventId: Type.String({ description: 'The position to continue from.' }),
  isReset: Type.Boolean({ description: 'The position is too old or of another database: reload the data you show.' }),
  hasMore: Type.Boolean({ description: 'True: request the next changes immediately.' }),
  changes: Type.Array(
    Type.Object({
      kind: Type.String(),
      id: Type.String(),
      state: Type.String(),
      version: Nullable(Type.Integer()),
      branchId: Nullable(Type.String()),
      componentId: Nullable(Type.String()),
    }),
  ),
})

export function changesRoutes(feed: ChangeFeed): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.get(
      '/v2/storage/changes',
      {
        config: {
          operation: 'changes.stream',
          summary: 'Changes in the project; as server-sent events with Accept: text/event-stream',
          needs: 'token',
          branch: 'refused',
          produces: ['application/json', 'text/event-stream'],
          headers: {
            Accept: '`text/event-stream`: changes as server-sent events.',
            'Last-Event-ID': 'Continue after this event; changes of up to a day in between are sent first.',
          },
        },
        schema: {
          querystring: Type.Object({
            kinds: Type.Optional(
              Type.String({ description: `Only these, separated by commas: ${CHANGE_KINDS.join(', ')}. All by default.` }),
            ),
            since: Type.Optional(
              Type.String({
                description: 'Same as Last-Event-ID. Without either, the list is empty and has the current position.',
              }),
            ),
            recentSeconds: Type.Optional(
              Type.Integer({
                minimum: 0,
                maximum: 3600,
                description: 'Without a position: start with the changes of the last seconds instead of future changes only.',
              }),
            ),
          }),
          response: { 200: ChangesView },
        },
      },
      async (req, reply) => {
        const since = String(req.headers['last-event-id'] ?? req.query.since ?? '') || undefined
        const request = { actor: req.actor, kinds: kindsOf(req.query.kinds), since, recentSeconds: req.query.recentSeconds }
        if (!asksForEvents(req)) return feed.read(request)
        const gone = callerGone(reply)
        const leave = await feed.listen({ ...request, isStillAdmitted: () => req.isStillAdmitted(), output: outputOf(reply) })
        if (!gone.aborted) await once(gone, 'abort')
        leave()
        return reply
      },
    )
  }
}

function outputOf(reply: FastifyReply): ChangeOutput {
  return {
    open: () => beginEvents(reply),
    write(text) {
      reply.raw.write(text)
      return reply.raw.writableLength < MAX_BUFFERED_BYTES
    },
    end: () => void reply.raw.end(),
  }
}

function kindsOf(text: string | undefined): ReadonlySet<ChangeKind> | undefined {
  if (text === undefined || text === '') return undefined
  const kinds = text.split(',').map((kind) => kind.trim())
  const unknown = kinds.find((kind) => !CHANGE_KINDS.some((known) => known === kind))
  if (unknown !== undefined)
    throw new PlatformError('storage.validation', {
      field: 'kinds',
      reason: `"${unknown.slice(0, 40)}" is not one of ${CHANGE_KINDS.join(', ')}.`,
    })
  return new Set(kinds as ChangeKind[]) // all known, by the line above
}
