// HTTP for sign-in by a provider: to it, and back from it (spec platform 8.1). The browser comes as a person, so a failure leads to the
// sign-in page with the name of its reason; the reason itself is in the log.

import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { OidcAttempt, OidcClient, OidcIdentity } from '../../../engines/oidc/oidc.ts'
import { optionalText } from '../../../http/parameters.ts'
import { clearCookie, readCookie, setCookie } from '../../../http/session-cookie.ts'
import { PlatformError } from '../../../kit/errors.ts'
import type { Origin } from '../../../model/event.ts'
import type { SignedIn } from './sign-in.ts'

const Any = Type.Unsafe<unknown>({})
const COOKIE = 'oidc'
const ATTEMPT_SECONDS = 600
const CALLBACK = '/sign-in/oidc/callback'

export interface OidcRoutesDeps {
  readonly client: OidcClient
  readonly signIn: (identity: OidcIdentity, origin: Origin) => Promise<SignedIn>
}

export function oidcRoutes({ client, signIn }: OidcRoutesDeps): FastifyPluginAsync {
  return async (app: FastifyInstance) => {
    app.get(
      '/sign-in/oidc',
      {
        config: { operation: 'signIn.oidc', summary: 'Leads to the provider that people sign in with', needs: 'nothing' },
        schema: { response: { 303: Any } },
      },
      async (req, reply) =>
        orProblem(req, reply, async () => {
          const { url, attempt } = await client.begin(`${req.baseUrl}${CALLBACK}`)
          const value = [attempt.state, attempt.nonce, attempt.verifier].join('.')
          setCookie(reply, req, value, { what: COOKIE, maxAgeSeconds: ATTEMPT_SECONDS, sameSite: 'Lax' })
          return reply.redirect(url, 303)
        }),
    )

    app.get(
      CALLBACK,
      {
        config: {
          operation: 'signIn.oidcCallback',
          summary: 'The redirect URL of the provider; starts a session',
          needs: 'nothing',
        },
        schema: {
          querystring: Type.Object({
            code: optionalText('What the provider gives for an ID token.'),
            state: optionalText('As it was sent to the provider.'),
            iss: optionalText('The provider.'),
            error: optionalText('Why the provider refused.'),
            error_description: optionalText('The same in words.'),
          }),
          response: { 303: Any },
        },
      },
      async (req, reply) =>
        orProblem(req, reply, async () => {
          const attempt = attemptFrom(readCookie(req, COOKIE))
          clearCookie(reply, req, COOKIE) // it is good for one way back
          const identity = await client.finish(`${req.baseUrl}${req.url}`, attempt)
          const { session } = await signIn(identity, req.origin)
          setCookie(reply, req, session.value, session)
          return reply.redirect('/console/', 303)
        }),
    )
  }
}

function attemptFrom(cookie: string | undefined): OidcAttempt {
  const [state, nonce, verifier] = (cookie ?? '').split('.')
  if (!state || !nonce || !verifier) throw new PlatformError('people.oidcBegin')
  return { state, nonce, verifier }
}

async function orProblem(req: FastifyRequest, reply: FastifyReply, work: () => Promise<FastifyReply>): Promise<FastifyReply> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error
    req.log.warn({ code: error.code, reason: error.message, requestId: req.id }, 'a sign-in by the provider failed')
    return reply.redirect(`/console/#problem=${error.code}`, 303)
  }
}
