// HTTP for OAuth credentials, providers and links (spec platform 6.2).

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { ComponentId, optionalText } from '../../../http/parameters.ts'
import type { Actor } from '../../../model/actor.ts'
import type { Origin } from '../../../model/event.ts'
import type { Credentials } from './credentials.ts'
import { type Provider, placeholdersOf } from './provider-definition.ts'
import { NewCredentialsBody, readUserData } from './request-values.ts'
import type { Upkeep } from './upkeep.ts'

export interface OauthRoutesDeps {
  readonly credentials: Credentials
  readonly upkeep: Upkeep
  readonly providers: { list(): Promise<readonly Provider[]>; get(id: string): Promise<Provider> }
  readonly redirectUrl: (componentId: string) => string
  /** A token of one hour for the component, and the page that begins with it. */
  readonly makeLink: (
    actor: Actor,
    request: LinkRequest,
    origin: Origin,
  ) => Promise<{ readonly url: string; readonly expiresAt: string }>
}

export interface LinkRequest {
  readonly componentId: string
  readonly configurationId?: string | undefined
  readonly id?: string | undefined
  readonly authorizedFor?: string | undefined
  readonly provider?: string | undefined
  readonly scope?: string | undefined
}

const Nullable = Type.Union([Type.String(), Type.Null()])
const View = Type.Object({
  id: Type.String(),
  authorizedFor: Type.String(),
  creator: Type.Object({ id: Type.Integer(), description: Type.String() }),
  created: Type.String(),
  oauthVersion: Type.String(),
  appKey: Type.String(),
  '#data': Type.String(),
  '#appSecret': Type.String(),
  provider: Nullable,
  expires: Nullable,
  refreshed: Nullable,
  problem: Nullable,
})
const ProviderView = Type.Object({
  id: Type.String(),
  name: Type.String(),
  oauthVersion: Type.String(),
  scope: Nullable,
  pkce: Type.Boolean(),
  hasClient: Type.Boolean(),
  userData: Type.Array(Type.String()),
  canRevoke: Type.Boolean(),
  canTest: Type.Boolean(),
})
const CredentialsId = Type.String({ maxLength: 200, description: 'Id of the credentials.' })
const ofComponent = Type.Object({ componentId: ComponentId })
const ofCredentials = Type.Object({ componentId: ComponentId, id: CredentialsId })
const LinkBody = Type.Object({
  componentId: ComponentId,
  configurationId: optionalText('The configuration that gets the credentials.'),
  id: optionalText('Id of the credentials; existing ones are authorised again.'),
  authorizedFor: optionalText('Name of the authorisation; the user is prompted for one if it is missing.'),
  provider: optionalText('Id of the provider; the user chooses one if it is missing.'),
  scope: optionalText('The requested scope, instead of that of the provider.'),
})
const validationCode = 'validation.failed'

export function oauthRoutes({
  credentials,
  upkeep,
  providers,
  redirectUrl,
  makeLink,
}: OauthRoutesDeps): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.get(
      '/oauth/credentials/:componentId',
      {
        config: { operation: 'oauth.listCredentials', summary: 'OAuth credentials of a component', needs: 'component' },
        schema: { params: ofComponent, response: { 200: Type.Array(View) } },
      },
      async (req) => credentials.list(req.actor, req.params.componentId),
    )

    app.get(
      '/oauth/credentials/:componentId/:id',
      {
        config: { operation: 'oauth.credentials', summary: 'OAuth credentials, with encrypted secrets', needs: 'component' },
        schema: { params: ofCredentials, response: { 200: View } },
      },
      async (req) => credentials.get(req.actor, req.params.componentId, req.params.id),
    )

    app.post(
      '/oauth/credentials/:componentId',
      {
        config: {
          operation: 'oauth.addCredentials',
          summary: 'Add existing OAuth credentials',
          needs: 'component',
          validationCode,
        },
        schema: { params: ofComponent, body: NewCredentialsBody, response: { 201: View } },
      },
      async (req, reply) => {
        const { id, authorizedFor, '#data': data, '#appSecret': sealed, appSecret, userData, ...rest } = req.body
        const given = {
          ...rest,
          id,
          authorizedFor,
          data: typeof data === 'string' ? data : JSON.stringify(data),
          appSecret: sealed ?? appSecret,
          userData: readUserData(userData),
        }
        return reply.code(201).send(await credentials.add(req.actor, req.params.componentId, given, req.origin))
      },
    )

    app.delete(
      '/oauth/credentials/:componentId/:id',
      {
        config: {
          operation: 'oauth.deleteCredentials',
          summary: 'Delete OAuth credentials without revoking them at the provider',
          needs: 'component',
        },
        schema: { params: ofCredentials, response: { 204: Type.Null() } },
      },
      async (req, reply) => {
        await credentials.remove(req.actor, req.params.componentId, req.params.id, req.origin)
        return reply.code(204).send(null)
      },
    )

    app.post(
      '/oauth/credentials/:componentId/:id/refresh',
      {
        config: {
          operation: 'oauth.refreshCredentials',
          summary: 'Refresh the access token now',
          needs: 'component',
        },
        schema: { params: ofCredentials, response: { 200: View } },
      },
      async (req) => upkeep.refreshNow(req.actor, req.params.componentId, req.params.id),
    )

    app.post(
      '/oauth/credentials/:componentId/:id/test',
      {
        config: {
          operation: 'oauth.testCredentials',
          summary: 'Test the credentials at the provider',
          needs: 'component',
        },
        schema: {
          params: ofCredentials,
          response: { 200: Type.Object({ status: Type.String(), message: Type.String() }) },
        },
      },
      async (req) => upkeep.test(req.actor, req.params.componentId, req.params.id),
    )

    app.post(
      '/oauth/credentials/:componentId/:id/revoke',
      {
        config: {
          operation: 'oauth.revokeCredentials',
          summary: 'Revoke the tokens at the provider and delete the credentials',
          needs: 'component',
        },
        schema: { params: ofCredentials, response: { 200: View } },
      },
      async (req) => upkeep.revoke(req.actor, req.params.componentId, req.params.id, req.origin),
    )

    app.get(
      '/oauth/providers',
      {
        config: { operation: 'oauth.listProviders', summary: 'List providers for authorisations', needs: 'token' },
        schema: { response: { 200: Type.Array(ProviderView) } },
      },
      async () => (await providers.list()).map(providerView),
    )

    app.get(
      '/oauth/providers/:id',
      {
        config: {
          operation: 'oauth.provider',
          summary: 'A provider with the redirect URL to register there',
          needs: 'token',
        },
        schema: {
          params: Type.Object({ id: Type.String({ maxLength: 200, description: 'Id of the provider.' }) }),
          querystring: Type.Object({ componentId: optionalText('Component whose redirect URL is returned.') }),
          response: { 200: Type.Intersect([ProviderView, Type.Object({ redirectUrl: Nullable })]) },
        },
      },
      async (req) => {
        const { componentId } = req.query
        const view = providerView(await providers.get(req.params.id))
        return { ...view, redirectUrl: componentId === undefined ? null : redirectUrl(componentId) }
      },
    )

    app.post(
      '/oauth/links',
      {
        config: {
          operation: 'oauth.makeLink',
          summary: 'Create an authorisation link for another user, valid for one hour',
          needs: 'canManageTokens',
          validationCode,
        },
        schema: { body: LinkBody, response: { 201: Type.Object({ url: Type.String(), expiresAt: Type.String() }) } },
      },
      async (req, reply) => reply.code(201).send(await makeLink(req.actor, req.body, req.origin)),
    )
  }
}

const providerView = (provider: Provider) => ({
  id: provider.id,
  name: provider.name,
  oauthVersion: provider.version,
  scope: provider.scope ?? null,
  pkce: provider.pkce && provider.version === '2.0',
  hasClient: provider.appKey !== undefined,
  userData: [...placeholdersOf(provider)],
  canRevoke: provider.revokeUrl !== undefined,
  canTest: provider.testUrl !== undefined,
})
