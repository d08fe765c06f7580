// HTTP for people: what a client requests, allow or refuse it, and which agents are signed in (spec platform 6.10d).

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { idFrom } from '../../../http/ids.ts'
import { Nullable, numberedId } from '../../../http/parameters.ts'
import { Timestamp } from '../../../http/record-schemas.ts'
import { formatTimestamp } from '../../../kit/clock.ts'
import { PlatformError } from '../../../kit/errors.ts'
import type { Actor } from '../../../model/actor.ts'
import type { Person } from '../../../model/person.ts'
import type { Connection } from './agent-sign-in.store.ts'
import { type AgentSignIn, type AuthorizationQuery, isWithin, OauthRefusal, type Scope } from './agent-sign-in.ts'
import { AuthorizationFields, answerUrl, refusedUrl, resourceOf } from './oauth-answers.ts'

export interface ConnectionsRoutesDeps {
  readonly signIn: AgentSignIn
  readonly people: {
    actorOf(person: Person, projectId: number | undefined): Promise<Actor>
    projectsOf(person: Person): Promise<readonly { readonly id: number; readonly name: string; readonly role: string }[]>
  }
}

const ScopeName = Type.Union([Type.Literal('read'), Type.Literal('propose'), Type.Literal('write')], {
  description: '`read`: read and query. `propose`: also propose changes, which a person accepts. `write`: also change and run.',
})
const View = Type.Object(
  {
    id: Type.Integer(),
    client: Type.Object({ id: Type.String(), name: Type.String() }),
    scope: Type.String(),
    person: Type.Object({ id: Type.Integer() }),
    tokenId: Type.Integer({ description: 'Token of the connection, as shown in events and daily limits.' }),
    created: Timestamp,
    lastUsed: Nullable(Timestamp),
    expires: Timestamp,
  },
  { title: 'AgentConnection' },
)

export function connectionsRoutes({ signIn, people }: ConnectionsRoutesDeps): FastifyPluginAsyncTypebox {
  const checked = async (req: FastifyRequest, query: AuthorizationQuery) => {
    try {
      return await signIn.check(query, resourceOf(req))
    } catch (error) {
      if (error instanceof OauthRefusal) throw new PlatformError('agents.authorizationInvalid', { reason: error.message })
      throw error
    }
  }

  return async (app) => {
    app.post(
      '/agent-oauth/requests',
      {
        config: {
          operation: 'agentConnections.describe',
          summary: 'The access that a client requests from the signed-in user',
          needs: 'session',
          validationCode: 'validation.failed',
        },
        schema: {
          body: Type.Object(AuthorizationFields),
          response: {
            200: Type.Object({
              client: Type.Object({
                name: Type.String(),
                host: Nullable(
                  Type.String({ description: 'Host of the metadata document of the client; null if its name is not verified.' }),
                ),
                redirectHost: Type.String({ description: 'Redirect URI after the decision.' }),
              }),
              scope: ScopeName,
              projects: Type.Array(Type.Object({ id: Type.Integer(), name: Type.String(), role: Type.String() })),
            }),
          },
        },
      },
      async (req) => {
        const { client, redirectUri, scope } = await checked(req, req.body as AuthorizationQuery)
        return {
          client: { name: client.name, host: client.host ?? null, redirectHost: new URL(redirectUri).host },
          scope,
          projects: [...(await people.projectsOf(req.person))],
        }
      },
    )

    app.post(
      '/agent-oauth/decide',
      {
        config: {
          operation: 'agentConnections.decide',
          summary: 'Grant or deny the access that a client requests; returns the redirect URL',
          needs: 'session',
          validationCode: 'validation.failed',
        },
        schema: {
          body: Type.Object({
            request: Type.Object(AuthorizationFields, { description: 'The query that the client sent.' }),
            isAllowed: Type.Boolean({ description: 'False: refuse.' }),
            projectId: Type.Optional(Type.Integer({ description: 'The project that the agent works in.' })),
            scope: Type.Optional(ScopeName),
          }),
          response: { 200: Type.Object({ redirect: Type.String() }) },
        },
      },
      async (req) => {
        const { isAllowed, projectId, request: query } = req.body
        const request = await checked(req, query as AuthorizationQuery)
        const { redirectUri, state } = request
        if (!isAllowed) return { redirect: refusedUrl(redirectUri, req, state, 'access_denied', 'The person has refused.') }
        const scope = req.body.scope ?? request.scope
        if (!isWithin(scope, request.scope))
          throw new PlatformError('agents.authorizationInvalid', {
            reason: `The client asked for the scope ${request.scope} only.`,
          })
        const owner = await people.actorOf(req.person, projectId)
        const by = { person: req.person, owner, origin: req.origin }
        const code = await signIn.allow(by, request, { scope, resource: resourceOf(req) })
        return { redirect: answerUrl(redirectUri, req, { code, state }) }
      },
    )

    app.get(
      '/v2/storage/agent-connections',
      {
        config: {
          operation: 'agentConnections.list',
          summary: 'List agents that users signed in with OAuth, newest first',
          needs: 'project',
          branch: 'refused',
        },
        schema: { response: { 200: Type.Array(View) } },
      },
      async ({ actor }) => (await signIn.list(actor.projectId)).map(viewOf),
    )

    app.delete(
      '/v2/storage/agent-connections/:connectionId',
      {
        config: {
          operation: 'agentConnections.remove',
          summary: 'Revoke the sign-in of an agent, with its token',
          needs: 'ownToken',
          branch: 'refused',
        },
        schema: {
          params: Type.Object({ connectionId: numberedId('connection') }),
          response: { 204: Type.Null() },
        },
      },
      async (req, reply) => {
        await signIn.remove(
          req.actor,
          idFrom(req.params.connectionId, () => new PlatformError('agents.connectionNotFound', { id: req.params.connectionId })),
          req.origin,
        )
        return reply.code(204).send(null)
      },
    )
  }
}

const viewOf = (one: Connection) => ({
  id: one.id,
  client: { id: one.client_id, name: one.client_name },
  scope: one.scope as Scope,
  person: { id: one.person_id },
  tokenId: one.token_id,
  created: formatTimestamp(new Date(one.created_at)),
  lastUsed: one.used_at === null ? null : formatTimestamp(new Date(one.used_at)),
  expires: formatTimestamp(new Date(one.expires_at)),
})
