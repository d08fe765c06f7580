// HTTP for signing in: the ways that end in a session cookie (spec platform 8.1).

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { optionalText } from '../../../http/parameters.ts'
import { assertFromOwnPage, readCookie, setCookie } from '../../../http/session-cookie.ts'
import { formatTimestamp } from '../../../kit/clock.ts'
import type { People } from './people.ts'
import { PersonView, personView } from './person-views.ts'
import type { SignedIn } from './sign-in.ts'

const Link = Type.String({ minLength: 1, maxLength: 200, description: 'The value of `#link=` in the URL of the link.' })
const Secret = (description: string) => Type.String({ maxLength: 1000, description })

export interface SignInRoutesDeps {
  readonly people: People
  readonly projectName: (projectId: number) => Promise<string | undefined>
  /** The provider that people sign in with; undefined: none. */
  readonly issuer: string | undefined
}

export function signInRoutes({ people: { signIn, finder }, projectName, issuer }: SignInRoutesDeps): FastifyPluginAsyncTypebox {
  return async (app) => {
    const config = (operation: string, summary: string) =>
      ({ operation: `signIn.${operation}`, summary, needs: 'nothing', validationCode: 'validation.failed' }) as const

    app.get(
      '/sign-in',
      {
        config: config('methods', 'Sign-in methods of this stack'),
        schema: {
          response: {
            200: Type.Object({
              isSignedIn: Type.Boolean({ description: 'The session of the request is valid.' }),
              hasPeople: Type.Boolean({ description: 'At least one user can sign in with e-mail and password.' }),
              oidc: Type.Union([Type.Object({ name: Type.String() }), Type.Null()], {
                description: 'The provider behind `/sign-in/oidc`.',
              }),
            }),
          },
        },
      },
      async (req) => ({
        isSignedIn: (await finder.ofSession(readCookie(req) ?? '')) !== undefined,
        hasPeople: await signIn.hasPeople(),
        oidc: issuer === undefined ? null : { name: new URL(issuer).host },
      }),
    )

    app.post(
      '/sign-in/password',
      {
        config: config('password', 'Sign in with e-mail and password; starts a session'),
        preHandler: fromOwnPage,
        schema: {
          body: Type.Object({
            email: Type.String({ maxLength: 300, description: 'E-mail of the user.' }),
            password: Secret('Password of the user.'),
            code: Type.Optional(
              Type.String({ maxLength: 40, description: 'Code of the authenticator app, or a recovery code, if one is set up.' }),
            ),
          }),
          response: { 200: PersonView },
        },
      },
      async (req, reply) => begin(req, reply, await signIn.byPassword(req.body, req.origin)),
    )

    app.post(
      '/sign-in/link',
      {
        config: config('link', 'Sign in with a one-time link; starts a session'),
        preHandler: fromOwnPage,
        schema: {
          body: Type.Object({
            link: Link,
            name: optionalText('Name of a new user.'),
            email: optionalText('For a new stack admin; an invitation has its own e-mail.'),
            password: Type.Optional(Secret('Password that a new user chooses: 10 characters or more.')),
          }),
          response: { 200: PersonView },
        },
      },
      async (req, reply) => begin(req, reply, await signIn.byLink(req.body, req.origin)),
    )

    app.post(
      '/sign-in/link/describe',
      {
        config: config('describeLink', 'Purpose of a link; does not use it'),
        preHandler: fromOwnPage,
        schema: {
          body: Type.Object({ link: Link }),
          response: {
            200: Type.Object({
              kind: Type.String({
                description: '`admin`: creates a stack admin; `invitation`; `sign-in`: for an existing user.',
              }),
              email: Type.Union([Type.String(), Type.Null()]),
              role: Type.Union([Type.String(), Type.Null()]),
              project: Type.Union([Type.String(), Type.Null()], { description: 'Name of the project.' }),
              creator: Type.Union([Type.String(), Type.Null()], { description: 'User who invites.' }),
              expires: Type.String(),
            }),
          },
        },
      },
      async (req) => {
        const { kind, email, role, projectId, creator, expiresAt } = await signIn.look(req.body.link)
        return {
          kind,
          email: email ?? null,
          role: role ?? null,
          project: projectId === undefined ? null : ((await projectName(projectId)) ?? null),
          creator: creator ?? null,
          expires: formatTimestamp(expiresAt),
        }
      },
    )
  }
}

/** Another site must not sign a user in either: they would work in an account that is not theirs. */
const fromOwnPage = async (req: FastifyRequest): Promise<void> => assertFromOwnPage(req)

function begin(req: FastifyRequest, reply: FastifyReply, { person, session }: SignedIn) {
  setCookie(reply, req, session.value, session)
  return personView(person)
}
