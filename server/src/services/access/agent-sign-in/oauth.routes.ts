// HTTP of the authorization server that agents sign in at: metadata (RFC 9728, RFC 8414), authorization, tokens, registration (RFC 7591) and
// revocation (RFC 7009), spec platform 6.10d.

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply } from 'fastify'
import { Type } from 'typebox'
import { PlatformError } from '../../../kit/errors.ts'
import { type AgentSignIn, type AuthorizationQuery, type IssuedSecrets, OauthRefusal, SCOPES } from './agent-sign-in.ts'
import type { Client } from './clients.ts'
import { AuthorizationFields, refusedUrl, resourceOf } from './oauth-answers.ts'

export interface OauthRoutesDeps {
  readonly signIn: AgentSignIn
  readonly register: (metadata: unknown) => Promise<Client>
}

const PLACE = '/agent-oauth'
/** The page of the console where the person decides. */
const PAGE = '/console/agents/authorize'

export function oauthRoutes({ signIn, register }: OauthRoutesDeps): FastifyPluginAsyncTypebox {
  return async (app) => {
    const config = (operation: string, summary: string) =>
      ({ operation: `agentOauth.${operation}`, summary, needs: 'nothing' }) as const
    const Anything = Type.Unknown()

    for (const path of ['/.well-known/oauth-protected-resource', '/.well-known/oauth-protected-resource/mcp'])
      app.get(
        path,
        {
          config: config(
            path.endsWith('/mcp') ? 'resourceOfMcp' : 'resource',
            'Metadata of the protected resource /mcp (RFC 9728)',
          ),
          schema: { response: { 200: Anything } },
        },
        async (req) => ({
          resource: resourceOf(req),
          resource_name: 'Millrace',
          authorization_servers: [req.baseUrl],
          scopes_supported: SCOPES,
          bearer_methods_supported: ['header'],
          resource_documentation: `${req.baseUrl}/help/agents`,
        }),
      )

    app.get(
      '/.well-known/oauth-authorization-server',
      {
        config: config('server', 'Metadata of the authorization server for agents (RFC 8414)'),
        schema: { response: { 200: Anything } },
      },
      async ({ baseUrl }) => ({
        issuer: baseUrl,
        authorization_endpoint: `${baseUrl}${PLACE}/authorize`,
        token_endpoint: `${baseUrl}${PLACE}/token`,
        registration_endpoint: `${baseUrl}${PLACE}/register`,
        revocation_endpoint: `${baseUrl}${PLACE}/revoke`,
        scopes_supported: SCOPES,
        response_types_supported: ['code'],
        response_modes_supported: ['query'],
        grant_types_supported: ['authorization_code', 'refresh_token'],
        code_challenge_methods_supported: ['S256'],
        token_endpoint_auth_methods_supported: ['none'],
        revocation_endpoint_auth_methods_supported: ['none'],
        client_id_metadata_document_supported: true,
        authorization_response_iss_parameter_supported: true,
        service_documentation: `${baseUrl}/help/agents`,
      }),
    )

    app.get(
      `${PLACE}/authorize`,
      {
        config: config('authorize', 'Start the sign-in of an agent; redirects the browser to the console'),
        schema: { querystring: Type.Object(AuthorizationFields), response: { 302: Type.Null() } },
      },
      async (req, reply) => {
        const query = req.query as AuthorizationQuery
        try {
          await signIn.check(query, resourceOf(req))
        } catch (error) {
          if (!(error instanceof OauthRefusal)) throw error
          const { redirectUri } = await signIn.checkClient(query)
          return reply.redirect(refusedUrl(redirectUri, req, query.state, error.error, error.message))
        }
        const given = Object.entries(query).flatMap(([name, value]) =>
          value === undefined ? [] : [[name, String(value)] as [string, string]],
        )
        return reply.redirect(`${PAGE}?${new URLSearchParams(given)}`)
      },
    )

    app.post(
      `${PLACE}/token`,
      {
        config: {
          ...config('token', 'Exchange an authorization code or a refresh token for an access token'),
          body: 'text',
          consumes: ['application/x-www-form-urlencoded'],
        },
        schema: { body: Type.Unknown({ description: 'Form of RFC 6749.' }), response: { 200: Anything, 400: Anything } },
      },
      (req, reply) =>
        answered(reply, async () => {
          const form = new URLSearchParams(typeof req.body === 'string' ? req.body : '')
          const wanted = (name: string): string => {
            const value = form.get(name)
            if (!value) throw new OauthRefusal('invalid_request', `${name} is required.`)
            return value
          }
          const resource = form.get('resource') ?? undefined
          const grant = form.get('grant_type')
          if (grant === 'authorization_code')
            return tokensView(
              await signIn.exchange({
                ...{ code: wanted('code'), verifier: wanted('code_verifier'), clientId: wanted('client_id') },
                ...{ redirectUri: wanted('redirect_uri'), resource },
              }),
            )
          if (grant !== 'refresh_token')
            throw new OauthRefusal('unsupported_grant_type', 'grant_type must be authorization_code or refresh_token.')
          const clientId = form.get('client_id') ?? undefined
          return tokensView(await signIn.refresh({ token: wanted('refresh_token'), clientId, resource }))
        }),
    )

    app.post(
      `${PLACE}/revoke`,
      {
        config: {
          ...config('revoke', 'Revoke an access or refresh token, and its connection'),
          body: 'text',
          consumes: ['application/x-www-form-urlencoded'],
        },
        schema: {
          body: Type.Unknown({ description: 'Form of RFC 7009 with `token`.' }),
          response: { 200: Anything, 400: Anything },
        },
      },
      (req, reply) =>
        answered(reply, async () => {
          const token = new URLSearchParams(typeof req.body === 'string' ? req.body : '').get('token')
          if (!token) throw new OauthRefusal('invalid_request', 'token is required.')
          await signIn.revokeByValue(token, req.origin)
          return {}
        }),
    )

    app.post(
      `${PLACE}/register`,
      {
        config: config('register', 'Register a client (RFC 7591); its id contains the registration, nothing is stored'),
        schema: {
          body: Type.Object({
            redirect_uris: Type.Unknown({ description: 'https addresses, or http ones on a loopback address.' }),
            client_name: Type.Unknown({ description: 'Name shown to users.' }),
          }),
          response: { 201: Anything, 400: Anything },
        },
      },
      async (req, reply) => {
        try {
          const { id, name, redirectUris } = await register(req.body)
          return reply.code(201).send({
            client_id: id,
            client_name: name,
            redirect_uris: redirectUris,
            grant_types: ['authorization_code', 'refresh_token'],
            response_types: ['code'],
            token_endpoint_auth_method: 'none',
          })
        } catch (error) {
          if (!(error instanceof PlatformError) || error.code !== 'agents.clientInvalid') throw error
          return reply.code(400).send({ error: 'invalid_client_metadata', error_description: error.message })
        }
      },
    )
  }
}

/** Errors in the format of the protocol; responses are never cached. */
async function answered(reply: FastifyReply, work: () => Promise<object>): Promise<FastifyReply> {
  reply.header('cache-control', 'no-store')
  try {
    return reply.code(200).send(await work())
  } catch (error) {
    if (!(error instanceof OauthRefusal)) throw error
    return reply.code(400).send({ error: error.error, error_description: error.message })
  }
}

const tokensView = ({ access, refresh, expiresInSeconds, scope }: IssuedSecrets) => ({
  ...{ access_token: access, token_type: 'Bearer', expires_in: expiresInSeconds, refresh_token: refresh, scope },
})
