// HTTP for the people of the whole stack and for manage tokens, in the shape of the public management API (spec platform 8.4).

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import type { MinimumRole } from '../../../http/roles.ts'
import type { People } from './people.ts'
import { PersonView, personView } from './person-views.ts'

const ById = Type.Object({ user: Type.String({ description: 'Id or e-mail of the user.', examples: ['ann@example.com'] }) })

export function usersRoutes(people: People): FastifyPluginAsyncTypebox {
  return async (app) => {
    const config = (operation: string, summary: string, role?: MinimumRole) =>
      ({
        operation: `users.${operation}`,
        summary,
        needs: 'person',
        ...(role && { role }),
        validationCode: 'validation.failed',
      }) as const

    app.get(
      '/manage/tokens/verify',
      {
        config: config('verify', 'Verify a manage token or session'),
        schema: { response: { 200: Type.Object({ user: PersonView, isSessionToken: Type.Boolean(), type: Type.String() }) } },
      },
      async ({ person }) => ({
        user: personView(await people.get(person.id)),
        isSessionToken: person.sessionId !== undefined,
        type: person.isStackAdmin ? 'super' : 'admin',
      }),
    )

    app.get(
      '/manage/users',
      { config: config('list', 'List users of the stack', 'stack admin'), schema: { response: { 200: Type.Array(PersonView) } } },
      async () => (await people.list()).map(personView),
    )

    app.get(
      '/manage/users/:user',
      { config: config('get', 'A user of the stack', 'stack admin'), schema: { params: ById, response: { 200: PersonView } } },
      async ({ params }) => personView(await people.getNamed(params.user)),
    )

    app.patch(
      '/manage/users/:user',
      {
        config: config('update', 'Grant or revoke the stack admin role', 'stack admin'),
        schema: {
          params: ById,
          body: Type.Object({ isStackAdmin: Type.Boolean({ description: 'Manages projects and users of the whole stack.' }) }),
          response: { 200: PersonView },
        },
      },
      async ({ params, body, origin }) =>
        personView(await people.setStackAdmin((await people.getNamed(params.user)).id, body.isStackAdmin, origin)),
    )

    app.delete(
      '/manage/users/:user',
      {
        config: config(
          'remove',
          'Remove a user from the stack; revokes their sessions, tokens and open streams immediately',
          'stack admin',
        ),
        schema: { params: ById, response: { 204: Type.Null() } },
      },
      async ({ person, params, origin }, reply) => {
        await people.remove((await people.getNamed(params.user)).id, origin, person)
        return reply.code(204).send(null)
      },
    )
  }
}
