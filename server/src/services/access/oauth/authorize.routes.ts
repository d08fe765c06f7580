// HTTP for the round trip of a person: the page behind a link, the way to the provider and the way back (spec platform 6.2).
// A browser gets pages, a program gets JSON.

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Static, Type } from 'typebox'
import { ComponentId, optionalText } from '../../../http/parameters.ts'
import { PlatformError } from '../../../kit/errors.ts'
import type { Actor } from '../../../model/actor.ts'
import { endPage, LINK_POLICY, linkPage } from './pages.ts'
import type { Provider } from './provider-definition.ts'
import { AuthoriseParameters, readUserData } from './request-values.ts'
import type { RoundTrips } from './round-trip.ts'

export interface AuthorizeRoutesDeps {
  readonly roundTrips: RoundTrips
  readonly authenticate: (token: string) => Actor | undefined | Promise<Actor | undefined>
  readonly usableComponent: (actor: Actor, componentId: string) => string
  readonly componentName: (componentId: string) => string
  readonly providers: { list(): Promise<readonly Provider[]> }
  /** The address of the stack; the cookie of a round trip belongs to its host. */
  readonly baseUrl: () => string
}

type Parameters = Static<typeof AuthoriseParameters>

const ofComponent = Type.Object({ componentId: ComponentId })
const Redirect = Type.Null({ description: 'A redirect, with a cookie that the way back needs.' })
const Departure = Type.Object(
  { url: Type.String({ description: 'URL of the provider page.' }) },
  { description: 'For scripts that accept only `application/json`: the URL to open in a browser with the same cookie.' },
)
const Page = Type.String({ description: 'An HTML page.' })
const CallbackQuery = Type.Object({
  code: optionalText('OAuth 2.0: authorization code.'),
  state: optionalText('OAuth 2.0: state of the request.'),
  iss: optionalText('OAuth 2.0: issuer of the code.'),
  error: optionalText('OAuth 2.0: error code.'),
  error_description: optionalText('OAuth 2.0: error message.'),
  oauth_token: optionalText('OAuth 1.0: request token.'),
  oauth_verifier: optionalText('OAuth 1.0: verifier.'),
  denied: optionalText('OAuth 1.0: refused request token.'),
})
const LinkQuery = Type.Object({
  token: Type.String({ description: 'The token of the link.' }),
  component: ComponentId,
  config: optionalText('The configuration that gets the credentials.'),
  id: optionalText('Id of the credentials.'),
  authorizedFor: optionalText('Name of the authorisation.'),
  provider: optionalText('Id of the provider.'),
  scope: optionalText('The requested scope, instead of that of the provider.'),
})
const validationCode = 'validation.failed'

export function authorizeRoutes(deps: AuthorizeRoutesDeps): FastifyPluginAsyncTypebox {
  const { roundTrips, authenticate, baseUrl } = deps

  async function actorOf(token: string | undefined): Promise<Actor> {
    if (token === undefined || token === '') throw new PlatformError('storage.tokenMissing')
    const actor = await authenticate(token)
    if (!actor) throw new PlatformError('storage.tokenInvalid')
    return actor
  }

  async function depart(req: FastifyRequest, reply: FastifyReply, componentId: string, given: Parameters): Promise<FastifyReply> {
    // Begun at another name of this stack, the cookie would be missing on the way back.
    if (new URL(req.baseUrl).host !== new URL(baseUrl()).host) return reply.redirect(`${baseUrl()}${req.originalUrl}`, 307)
    const actor = await actorOf(given.token ?? headerToken(req))
    const { url, cookie } = await roundTrips.depart(actor, componentId, { ...given, userData: readUserData(given.userData) })
    const secure = baseUrl().startsWith('https:') ? '; Secure' : ''
    reply.header(
      'set-cookie',
      `${cookie.name}=${cookie.value}; Path=${COOKIE_PATH}; Max-Age=${cookie.maxAgeSeconds}; HttpOnly; SameSite=Lax${secure}`,
    )
    // Scripts of a page cannot read where a redirect leads.
    if (req.headers.accept === 'application/json') return reply.header('cache-control', 'no-store').send({ url: url.toString() })
    // The address of this page may hold the token.
    return reply.header('referrer-policy', 'no-referrer').header('cache-control', 'no-store').redirect(url.toString(), 302)
  }

  return async (app) => {
    app.get(
      '/oauth/authorize/:componentId',
      {
        config: {
          operation: 'oauth.authorize',
          summary: 'Start an authorisation: redirect the user to the provider',
          needs: 'nothing',
          validationCode,
        },
        schema: { params: ofComponent, querystring: AuthoriseParameters, response: { 302: Redirect } },
      },
      async (req, reply) => forPeople(req, reply, () => depart(req, reply, req.params.componentId, req.query)),
    )

    app.post(
      '/oauth/authorize/:componentId',
      {
        config: {
          operation: 'oauth.authorizeByForm',
          summary: 'Start an authorisation by a form',
          needs: 'nothing',
          validationCode,
        },
        schema: { params: ofComponent, body: AuthoriseParameters, response: { 200: Departure, 302: Redirect } },
      },
      async (req, reply) => forPeople(req, reply, () => depart(req, reply, req.params.componentId, req.body)),
    )

    app.get(
      '/oauth/authorize/:componentId/callback',
      {
        config: {
          operation: 'oauth.callback',
          summary: 'Callback of the provider',
          needs: 'nothing',
          validationCode,
        },
        schema: { params: ofComponent, querystring: CallbackQuery, response: { 200: Page } },
      },
      async (req, reply) =>
        forPeople(req, reply, async () => {
          const query = new URLSearchParams(req.originalUrl.split('?')[1] ?? '')
          const { componentId } = req.params
          const arrival = await roundTrips.arrive(componentId, query, (name) => cookieIn(req, name), req.origin)
          if (arrival.returnUrl !== null) {
            const { credentialsId } = arrival
            return reply.redirect(withQuery(arrival.returnUrl, { success: 'true', id: credentialsId }), 302)
          }
          return sendPage(reply, endPage('Authorised', `The credentials "${arrival.credentialsId}" can be used now.`))
        }),
    )

    app.get(
      '/oauth/link',
      {
        config: { operation: 'oauth.linkPage', summary: 'Page of an authorisation link', needs: 'nothing', validationCode },
        schema: { querystring: LinkQuery, response: { 200: Page } },
      },
      async (req, reply) =>
        forPeople(req, reply, async () => {
          const { token, component, config, provider: wanted, ...rest } = req.query
          const componentId = deps.usableComponent(await actorOf(token), component)
          const all = await deps.providers.list()
          const page = linkPage({
            componentId,
            componentName: deps.componentName(componentId),
            token,
            hidden: { ...rest, ...(config !== undefined && { configurationId: config }) },
            providers: providersFor(componentId, all, wanted),
          })
          return sendPage(reply, page)
        }),
    )
  }
}

const COOKIE_PATH = '/' // with a domain the broker is at /authorize, else at /oauth/authorize

/** The requested one, or the component's own, or all. */
function providersFor(componentId: string, all: readonly Provider[], wanted: string | undefined): readonly Provider[] {
  const own = all.filter(({ id }) => id === (wanted ?? componentId))
  return own.length > 0 || wanted !== undefined ? own : all
}

const headerToken = (req: FastifyRequest): string | undefined => {
  const header = req.headers['x-storageapi-token']
  return Array.isArray(header) ? header[0] : header
}

/** A failure is a page for a browser, and goes back to where the person came from when that is known. */
async function forPeople(req: FastifyRequest, reply: FastifyReply, work: () => Promise<FastifyReply>): Promise<FastifyReply> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof PlatformError) || error.kind === 'bug') throw error
    const { returnUrl } = error as { returnUrl?: string | null } // put there by arrive
    if (returnUrl) return reply.redirect(withQuery(returnUrl, { error: error.code, error_description: error.message }), 302)
    if (!req.headers.accept?.includes('text/html')) throw error
    return sendPage(reply.code(400), endPage('Not authorised', error.message))
  }
}

const sendPage = (reply: FastifyReply, page: string): FastifyReply =>
  reply
    .header('content-security-policy', LINK_POLICY)
    .header('referrer-policy', 'no-referrer')
    .header('cache-control', 'no-store')
    .type('text/html; charset=utf-8')
    .send(page)

function withQuery(address: string, parameters: Readonly<Record<string, string>>): string {
  const url = new URL(address)
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
  return url.toString()
}

const cookieIn = (req: FastifyRequest, name: string): string | undefined =>
  req.headers.cookie
    ?.split(/;\s*/)
    .map((pair) => pair.split('='))
    .find(([key]) => key === name)?.[1]
