// HTTP for encryption (spec platform 4.1). No token: any caller that reaches the stack can encrypt, and nothing can be decrypted here.

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { ComponentId } from '../../../http/parameters.ts'
import { PlatformError } from '../../../kit/errors.ts'
import type { Encryption } from './encryption.ts'

const only = (what: string) =>
  Type.Optional(Type.String({ maxLength: 255, description: `The ciphertext can be decrypted for this ${what} only.` }))
const ScopeQuery = Type.Object({
  componentId: only('component'),
  projectId: only('project'),
  configId: only('configuration'),
  branchType: Type.Optional(
    Type.String({
      pattern: '^(default|dev)?$',
      description: '`default` or `dev`: the ciphertext can be decrypted in such branches only.',
    }),
  ),
})
type ScopeQuery = Type.Static<typeof ScopeQuery>

/** Any caller that reaches the stack can send this, without a token. */
const BODY_LIMIT = 2 ** 20
const TYPES = ['application/json', 'text/plain']
const schema = { querystring: ScopeQuery, body: Type.Unknown(), response: { 200: Type.Unknown() } }
const config = (operation: string, summary: string) =>
  ({ operation: `encryption.${operation}`, summary, needs: 'nothing', body: 'text', consumes: TYPES, produces: TYPES }) as const

export function encryptionRoutes(encryption: Encryption): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.post(
      '/encryption/encrypt',
      { config: config('encrypt', 'Encrypt the `#` values of a JSON document, or a string'), bodyLimit: BODY_LIMIT, schema },
      async (req, reply) => await answer(req, reply, scopeOf(req.query)),
    )

    // The addresses this service had in the past.
    app.post(
      '/syrup/docker/encrypt',
      { config: config('encryptOld', 'Older URL of encrypt'), bodyLimit: BODY_LIMIT, schema },
      async (req, reply) => await answer(req, reply, scopeOf(req.query)),
    )
    app.post(
      '/docker-runner/docker/:componentId/configs/encrypt',
      {
        config: config('encryptOldForComponent', 'Older URL of encrypt, for one component'),
        bodyLimit: BODY_LIMIT,
        schema: { ...schema, params: Type.Object({ componentId: ComponentId }) },
      },
      async (req, reply) => await answer(req, reply, { ...scopeOf(req.query), componentId: req.params.componentId }),
    )
  }

  async function answer(req: FastifyRequest, reply: FastifyReply, scope: ReturnType<typeof scopeOf>): Promise<FastifyReply> {
    const type = (req.headers['content-type'] ?? '').split(';')[0]!.trim().toLowerCase()
    const isJson = type === 'application/json' || type.endsWith('+json')
    if (!isJson && type !== 'text/plain') {
      throw new PlatformError('malformedRequest', {
        reason: 'send application/json with # members, or text/plain with one secret.',
      })
    }
    if (typeof req.body !== 'string' || req.body === '') {
      throw new PlatformError('malformedRequest', { reason: 'the body is empty, so there is nothing to encrypt.' })
    }
    const text = await encryption.encryptBody(req.body, isJson, scope)
    return reply.type(isJson ? 'application/json' : 'text/plain').send(text)
  }
}

/** An empty parameter is an absent one. */
const scopeOf = ({ componentId, projectId, configId, branchType }: ScopeQuery) => ({
  componentId: componentId || undefined,
  projectId: projectId || undefined,
  configId: configId || undefined,
  branchType: branchType || undefined,
})
