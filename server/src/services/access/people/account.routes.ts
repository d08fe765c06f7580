// HTTP for one's own account: it takes a session, never a token (spec platform 8.2).

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { idFrom } from '../../../http/ids.ts'
import { numberedId } from '../../../http/parameters.ts'
import { clearCookie } from '../../../http/session-cookie.ts'
import { PlatformError } from '../../../kit/errors.ts'
import type { RoutesServer } from '../../../model/module.ts'
import type { People } from './people.ts'
import { AccountView, accountView, ManageTokenView, manageTokenView, SessionView, sessionView } from './person-views.ts'

const Nothing = Type.Null()
const ByName = Type.Object({ name: Type.String({ description: 'Name of the value.', examples: ['favourites:1'] }) })
const Password = Type.Optional(
  Type.String({ maxLength: 1000, description: 'The current password; omitted by users who have none.' }),
)

const config = (operation: string, summary: string) =>
  ({ operation: `account.${operation}`, summary, needs: 'session', validationCode: 'validation.failed' }) as const

export function accountRoutes({ account, projectsOf }: People): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.get(
      '/account',
      { config: config('get', 'The signed-in user and their projects'), schema: { response: { 200: AccountView } } },
      async ({ person }) => accountView(await account.get(person), await projectsOf(person)),
    )

    app.patch(
      '/account',
      {
        config: config('update', 'Change your name'),
        schema: {
          body: Type.Object({ name: Type.String({ maxLength: 1000, description: 'Name as other users see it.' }) }),
          response: { 200: AccountView },
        },
      },
      async ({ person, body, origin }) => accountView(await account.rename(person, body.name, origin), await projectsOf(person)),
    )

    addPreferenceRoutes(app, account)
    addSignInRoutes(app, account)
    addSessionRoutes(app, account)
    addManageTokenRoutes(app, account)
  }
}

function addPreferenceRoutes(app: RoutesServer, account: People['account']): void {
  app.get(
    '/account/preferences',
    {
      config: config('preferences', 'List your stored preferences by name'),
      schema: { response: { 200: Type.Record(Type.String(), Type.Unknown()) } },
    },
    async ({ person }) => ({ ...(await account.listPreferences(person)) }),
  )

  app.put(
    '/account/preferences/:name',
    {
      config: config('setPreference', 'Store a preference'),
      schema: {
        params: ByName,
        body: Type.Object({ value: Type.Unknown({ description: 'Any JSON of at most 20,000 characters.' }) }),
        response: { 204: Nothing },
      },
    },
    async ({ person, params, body }, reply) => {
      await account.setPreference(person, params.name, body.value)
      return reply.code(204).send(null)
    },
  )

  app.delete(
    '/account/preferences/:name',
    {
      config: config('removePreference', 'Delete a preference'),
      schema: { params: ByName, response: { 204: Nothing } },
    },
    async ({ person, params }, reply) => {
      await account.removePreference(person, params.name)
      return reply.code(204).send(null)
    },
  )
}

function addSignInRoutes(app: RoutesServer, account: People['account']): void {
  app.put(
    '/account/password',
    {
      config: config('setPassword', 'Change your password; revokes all other sessions'),
      schema: {
        body: Type.Object({
          current: Password,
          password: Type.String({ maxLength: 1000, description: 'The new one: 10 characters or more.' }),
        }),
        response: { 204: Nothing },
      },
    },
    async ({ person, body, origin }, reply) => {
      await account.setPassword(person, body, origin)
      return reply.code(204).send(null)
    },
  )

  app.post(
    '/account/authenticator',
    {
      config: config('proposeAuthenticator', 'Create a key for an authenticator app; it is active after the first code'),
      schema: {
        response: {
          200: Type.Object({
            secret: Type.String({ description: 'The key to enter in the authenticator app.' }),
            uri: Type.String({ description: 'The key as a URL for a QR code.' }),
          }),
        },
      },
    },
    async ({ person }) => account.proposeAuthenticator(person),
  )

  app.put(
    '/account/authenticator',
    {
      config: config('turnOnAuthenticator', 'Require a code of the authenticator app at every password sign-in'),
      schema: {
        body: Type.Object({
          secret: Type.String({ maxLength: 100, description: 'The proposed key.' }),
          code: Type.String({ maxLength: 40, description: 'Current code of the authenticator app.' }),
          password: Password,
        }),
        response: {
          200: Type.Object({
            recoveryCodes: Type.Array(Type.String(), { description: 'Each code works once. Returned only in this response.' }),
          }),
        },
      },
    },
    async ({ person, body, origin }) => ({ recoveryCodes: [...(await account.turnOnAuthenticator(person, body, origin))] }),
  )

  app.delete(
    '/account/authenticator',
    {
      config: config('turnOffAuthenticator', 'Disable the authenticator app'),
      schema: { body: Type.Object({ password: Password }), response: { 204: Nothing } },
    },
    async ({ person, body, origin }, reply) => {
      await account.turnOffAuthenticator(person, body.password, origin)
      return reply.code(204).send(null)
    },
  )
}

function addSessionRoutes(app: RoutesServer, account: People['account']): void {
  app.get(
    '/account/sessions',
    { config: config('sessions', 'List your sessions'), schema: { response: { 200: Type.Array(SessionView) } } },
    async ({ person }) => (await account.listSessions(person)).map((session) => sessionView(session, person.sessionId)),
  )

  app.delete(
    '/account/sessions/:id',
    {
      config: { ...config('endSession', 'Revoke a session'), withoutId: 'resourceNotFound' },
      schema: { params: Type.Object({ id: numberedId('session') }), response: { 204: Nothing } },
    },
    async ({ person, params, origin }, reply) => {
      await account.endSession(
        person,
        idFrom(params.id, () => new PlatformError('notFound', { what: `Session ${params.id}` })),
        origin,
      )
      return reply.code(204).send(null)
    },
  )

  app.delete(
    '/account/sessions',
    { config: config('endOtherSessions', 'Revoke all sessions except the current one'), schema: { response: { 204: Nothing } } },
    async ({ person, origin }, reply) => {
      await account.endOtherSessions(person, origin)
      return reply.code(204).send(null)
    },
  )

  app.post(
    '/account/sign-out',
    {
      config: config('signOut', 'Sign out: revoke the session on the server and in the browser'),
      schema: { response: { 204: Nothing } },
    },
    async (req, reply) => {
      await account.signOut(req.person, req.origin)
      clearCookie(reply, req)
      return reply.code(204).send(null)
    },
  )
}

function addManageTokenRoutes(app: RoutesServer, account: People['account']): void {
  app.get(
    '/account/manage-tokens',
    {
      config: config('manageTokens', 'Tokens for the management API'),
      schema: { response: { 200: Type.Array(ManageTokenView) } },
    },
    async ({ person }) => (await account.listManageTokens(person)).map(manageTokenView),
  )

  app.post(
    '/account/manage-tokens',
    {
      config: config('createManageToken', 'Create a token for the management API'),
      schema: {
        body: Type.Object({
          description: Type.String({ minLength: 1, maxLength: 1000, description: 'Purpose.' }),
          expiresIn: Type.Optional(
            Type.Integer({
              minimum: 1,
              maximum: 100 * 365 * 86_400,
              description: 'Seconds until it expires; never if omitted.',
            }),
          ),
        }),
        response: { 201: ManageTokenView },
      },
    },
    async ({ person, body, origin }, reply) => {
      const { token, value } = await account.createManageToken(person, body, origin)
      return reply.code(201).send({ ...manageTokenView(token), token: value })
    },
  )

  app.delete(
    '/account/manage-tokens/:id',
    {
      config: { ...config('deleteManageToken', 'Delete a token for the management API'), withoutId: 'resourceNotFound' },
      schema: { params: Type.Object({ id: numberedId('manage token') }), response: { 204: Nothing } },
    },
    async ({ person, params, origin }, reply) => {
      const id = idFrom(params.id, () => new PlatformError('notFound', { what: `Manage token ${params.id}` }))
      await account.deleteManageToken(person, id, origin)
      return reply.code(204).send(null)
    },
  )
}
