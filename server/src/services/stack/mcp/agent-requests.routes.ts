// HTTP for what agents ask people for (spec platform 6.10b): leave to do something, or a secret, which is entered here and never in a
// chat.

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import { Nullable } from '../../../http/parameters.ts'
import { Timestamp } from '../../../http/record-schemas.ts'
import { formatTimestamp } from '../../../kit/clock.ts'
import { PlatformError } from '../../../kit/errors.ts'
import { readStored } from '../../../kit/stored-json.ts'
import { createApi, path } from './api.ts'
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
    subject: Type.String({ description: 'What is requested.' }),
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
          summary: 'What agents ask people for, of the last day, newest first',
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
          summary: 'Allow or refuse what an agent asks for, or enter the secret that it needs',
          needs: 'canManageBuckets',
          branch: 'refused',
        },
        schema: {
          params: Type.Object({ id: Type.String({ maxLength: 60, description: 'Id of the request.' }) }),
          body: Type.Object({
            isAllowed: Type.Boolean({ description: 'False refuses it.' }),
            value: Type.Optional(
              Type.String({ maxLength: 100_000, description: 'The secret; it is encrypted and never returned.' }),
            ),
          }),
          response: { 200: View },
        },
      },
      async (req) => {
        const { isAllowed, value } = req.body
        const found = await guards.get(req.actor, req.params.id)
        const isSecret = found.kind === 'secret' && isAllowed
        if (isSecret && !value) throw new PlatformError('agents.noValue', { id: found.id })
        const decided = await guards.decide(req.actor, req.tokenValue === '', found.id, isAllowed)
        if (isSecret) {
          const { component, configuration, row, pointer, branch } = readStored<SecretTarget>(found.detail)
          const api = createApi(app as unknown as FastifyInstance, req, branch)
          const owner = path`/v2/storage/components/${component}/configs/${configuration}`
          const address = row === undefined ? owner : `${owner}${path`/rows/${row}`}`
          const before = await api.get<{ configuration: unknown }>(address)
          await api.send('PUT', address, {
            configuration: withValues(before.configuration, { [pointer]: value }),
            changeDescription: 'Secret entered for an agent',
          })
        }
        return viewOf(decided)
      },
    )
  }
}

const viewOf = (request: AgentRequest) => ({
  ...{ id: request.id, kind: request.kind, subject: request.subject, state: request.state, decidedBy: request.decided_by },
  detail: readStored<unknown>(request.detail),
  token: { id: request.token_id, description: request.token_description },
  created: formatTimestamp(new Date(request.created_at)),
})
