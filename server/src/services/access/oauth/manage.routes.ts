// HTTP for the operator of the stack: the applications that it has registered with providers (spec platform 6.2). `component_id` is the id of the
// component that uses an application, or of a provider that several components share.

import { createHash, timingSafeEqual } from 'node:crypto'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { PlatformError } from '../../../kit/errors.ts'
import type { EventSource } from '../../../model/event.ts'
import type { Person } from '../../../model/person.ts'
import { type ProviderDefinition, ProviderFields } from './provider-definition.ts'
import type { ChangedBy, Providers } from './providers.ts'

export interface ManageRoutesDeps {
  readonly providers: Providers
  /** Whether it is the manage token of the stack. */
  readonly isStackToken: (token: string) => boolean
  /** Whose manage token it is. */
  readonly personOf: (token: string) => Promise<Person | undefined>
  readonly asStackAdmin: (person: Person) => Promise<EventSource | undefined>
  readonly asStack: () => Promise<EventSource | undefined>
}

const Secret = Type.Optional(
  Type.String({ maxLength: 5000, description: 'Client secret issued by the provider; never returned.' }),
)
const Changes = Type.Object({ ...Type.Partial(Type.Object(ProviderFields)).properties, app_secret: Secret })
const Id = Type.String({
  pattern: '^[A-Za-z0-9._-]{1,200}$',
  description: 'Id of the component that uses it, or a separate id for a provider that several components share.',
})
const NewProvider = Type.Object({ component_id: Id, ...Changes.properties })
const View = Type.Object(
  { component_id: Type.String(), ...Type.Partial(Type.Object(ProviderFields)).properties },
  { additionalProperties: true },
)
const ofProvider = Type.Object({
  componentId: Type.String({ maxLength: 200, description: 'Value of `component_id`.' }),
})
const config = {
  needs: 'nothing',
  validationCode: 'validation.failed',
  headers: { 'X-KBC-ManageApiToken': 'The manage token of a stack admin, or that of the stack (MILLRACE_MANAGE_TOKEN).' },
} as const

export function oauthManageRoutes({ providers, isStackToken, personOf, ...as }: ManageRoutesDeps): FastifyPluginAsyncTypebox {
  async function personWith(token: string): Promise<Person> {
    const person = token === '' ? undefined : await personOf(token)
    if (!person?.isStackAdmin) throw new PlatformError('manageTokenInvalid')
    return person
  }

  const check = async (req: FastifyRequest): Promise<void> => {
    if (!isStackToken(tokenOf(req))) await personWith(tokenOf(req))
  }

  async function changedBy(req: FastifyRequest): Promise<ChangedBy> {
    const token = tokenOf(req)
    const source = isStackToken(token) ? await as.asStack() : await as.asStackAdmin(await personWith(token))
    return { source, origin: req.origin }
  }

  return async (app) => {
    app.addHook('preHandler', check)

    app.get(
      '/oauth/manage',
      {
        config: { ...config, operation: 'oauth.listManaged', summary: 'List applications registered at providers' },
        schema: { response: { 200: Type.Array(View) } },
      },
      async () => (await providers.listManaged()).map(viewOf),
    )

    app.post(
      '/oauth/manage',
      {
        config: { ...config, operation: 'oauth.addManaged', summary: 'Add an application at a provider' },
        schema: { body: NewProvider, response: { 201: View } },
      },
      async (req, reply) => {
        const { component_id, app_secret, ...members } = req.body
        return reply
          .code(201)
          .send(viewOf(await providers.add(await changedBy(req), { id: component_id, ...members }, app_secret)))
      },
    )

    app.get(
      '/oauth/manage/:componentId',
      {
        config: { ...config, operation: 'oauth.managed', summary: 'An application at a provider' },
        schema: { params: ofProvider, response: { 200: View } },
      },
      async (req) => viewOf((await providers.getManaged(req.params.componentId)).definition),
    )

    app.patch(
      '/oauth/manage/:componentId',
      {
        config: { ...config, operation: 'oauth.changeManaged', summary: 'Change an application at a provider' },
        schema: { params: ofProvider, body: Changes, response: { 200: View } },
      },
      async (req) => {
        const { app_secret, ...members } = req.body
        return viewOf(await providers.change(await changedBy(req), req.params.componentId, members, app_secret))
      },
    )

    app.delete(
      '/oauth/manage/:componentId',
      {
        config: { ...config, operation: 'oauth.deleteManaged', summary: 'Remove an application at a provider' },
        schema: { params: ofProvider, response: { 204: Type.Null() } },
      },
      async (req, reply) => {
        await providers.remove(await changedBy(req), req.params.componentId)
        return reply.code(204).send(null)
      },
    )
  }
}

const tokenOf = ({ headers }: FastifyRequest): string => [headers['x-kbc-manageapitoken']].flat()[0] ?? ''

const viewOf = ({ id, ...members }: ProviderDefinition) => ({ component_id: id, ...members })

/** For a token that is the same for the whole stack. */
export const isManageToken =
  (token: string | undefined) =>
  (given: string): boolean =>
    token !== undefined && timingSafeEqual(digestOf(given), digestOf(token))

const digestOf = (text: string): Buffer => createHash('sha256').update(text).digest()
