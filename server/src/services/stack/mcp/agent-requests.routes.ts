// HTTP for requests of agents to people (spec platform 6.10b): permission for an action, or a secret, which is entered here and never in a
// chat.

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import { path, Refused } from '../../../http/inner/inner-api.ts'
import { Nullable } from '../../../http/parameters.ts'
import { Timestamp } from '../../../http/record-schemas.ts'
import { formatTimestamp } from '../../../kit/clock.ts'
import { PlatformError } from '../../../kit/errors.ts'
import { readStored } from '../../../kit/stored-json.ts'
import { type Api, createApi } from './api.ts'
import type { AgentRequest, GuardsOfAgents } from './guards.ts'
import { withValues } from './json-pointer.ts'

interface SecretTarget {
  readonly component: string
  readonly configuration: string
  readonly row?: string
  readonly pointer: string
  readonly branch?: string
}

const PLACE = '/v2/storage/agent-requests'
const View = Type.Object(
  {
    id: Type.String(),
    kind: Type.String({ description: '`allow`: a host, recipient or token; `call`: one call of a tool; `secret`: a value.' }),
    subject: Type.String({ description: 'The request.' }),
    detail: Type.Unknown({ description: 'Arguments, without secrets.' }),
    state: Type.String({ description: '`waiting`, `allowed`, `refused` or `used`.' }),
    token: Type.Object({ id: Type.Integer(), description: Type.String() }),
    decidedBy: Nullable(Type.String()),
    created: Timestamp,
  },
  { title: 'AgentRequest' },
)

export function agentRequestsRoutes(guards: GuardsOfAgents): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.get(
      PLACE,
      {
        config: {
          operation: 'agentRequests.list',
          summary: 'List requests of agents of the last day, newest first',
          needs: 'project',
          branch: 'refused',
        },
        schema: { response: { 200: Type.Array(View) } },
      },
      async (req) => (await guards.list(req.actor)).map(viewOf),
    )

    app.post(
      `${PLACE}/:id/decide`,
      {
        config: {
          operation: 'agentRequests.decide',
          summary: 'Allow or refuse a request of an agent, or enter the requested secret',
          needs: 'canManageBuckets',
          branch: 'refused',
        },
        schema: {
          params: Type.Object({ id: Type.String({ maxLength: 60, description: 'Id of the request.' }) }),
          body: Type.Object({
            isAllowed: Type.Boolean({ description: 'False: refuse.' }),
            value: Type.Optional(
              Type.String({ maxLength: 100_000, description: 'The secret; it is encrypted and never returned.' }),
            ),
          }),
          response: { 200: View },
        },
      },
      async (req) => {
        const { isAllowed, value } = req.body
        const isSession = req.tokenValue === ''
        const found = await guards.toDecide(req.actor, isSession, req.params.id)
        if (found.kind === 'secret' && isAllowed) {
          if (!value) throw new PlatformError('agents.noValue', { id: found.id })
          // Before it is decided: what cannot be stored can be entered again.
          const target = readStored<SecretTarget>(found.detail)
          await storeSecret(createApi(app as unknown as FastifyInstance, req, target.branch), target, value)
        }
        const decided = await guards.decide(req.actor, isSession, found.id, isAllowed)
        return viewOf(decided)
      },
    )
  }
}

const MAX_TRIES = 5
/** What a route answers that refuses the caller or the value; everything else is a fault of the stack. */
const REASONS: Readonly<Record<number, (message: string) => PlatformError>> = {
  400: (reason) => new PlatformError('malformedRequest', { reason }),
  403: () => new PlatformError('accessDenied'),
  404: (message) => new PlatformError('agents.notStored', { reason: message }),
  409: (message) => new PlatformError('agents.notStored', { reason: message }),
}

/** Others may change the configuration at the same time: then it is read again. */
async function storeSecret(api: Api, { component, configuration, row, pointer }: SecretTarget, value: string): Promise<void> {
  const owner = path`/v2/storage/components/${component}/configs/${configuration}`
  const address = row === undefined ? owner : `${owner}${path`/rows/${row}`}`
  for (let tries = 1; ; tries++)
    try {
      const before = await api.get<{ configuration: unknown; version: number }>(address)
      const change = { configuration: withValues(before.configuration, { [pointer]: value }) }
      await api.send('PUT', address, { ...change, changeDescription: 'Secret entered for an agent' }, before.version)
      return
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      if (error.status !== 409 || tries === MAX_TRIES) throw REASONS[error.status]?.(error.message) ?? error
    }
}

const viewOf = (request: AgentRequest) => ({
  ...{ id: request.id, kind: request.kind, subject: request.subject, state: request.state, decidedBy: request.decided_by },
  detail: readStored<unknown>(request.detail),
  token: { id: request.token_id, description: request.token_description },
  created: formatTimestamp(new Date(request.created_at)),
})
