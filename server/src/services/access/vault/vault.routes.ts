// HTTP for vault variables (spec platform 7).

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { Offset, optionalText } from '../../../http/parameters.ts'
import { PlatformError } from '../../../kit/errors.ts'
import type { Vault } from './vault.ts'

export interface VaultRoutesDeps {
  readonly vault: Vault
  readonly findBranch: (projectId: number, name: string) => Promise<{ readonly id: number } | undefined>
}

const Flag = Type.Union([Type.Literal('encrypted'), Type.Literal('oauthCredentialsId')])
const FLAGS = Type.Array(Flag, {
  maxItems: 10,
  description: '`encrypted`: a secret. `oauthCredentialsId`: the id of an authorisation.',
})
const Attributes = Type.Record(Type.String({ maxLength: 100 }), Type.String({ maxLength: 1000 }), { maxProperties: 20 })
const Body = Type.Object({
  key: Type.String({ pattern: '^[A-Za-z0-9_-]{1,255}$', description: 'Name of the variable.' }),
  value: Type.String({ maxLength: 65_536, description: 'Value; with the flag `encrypted` it is never shown again.' }),
  flags: Type.Optional(FLAGS),
  attributes: Type.Optional(
    Type.Union([Attributes, Type.Array(Type.Never())], { description: 'Scope of the variable, for example `branchId`.' }),
  ),
})
const View = Type.Object({
  hash: Type.String(),
  key: Type.String(),
  value: Type.String(),
  flags: Type.Array(Flag),
  attributes: Type.Record(Type.String(), Type.String()),
})
const Views = Type.Array(View)
const Query = Type.Object({
  key: optionalText('Only the variable of this name.'),
  attributes: Type.Optional(Type.Union([Attributes, Type.String()], { description: 'Only variables with these attributes.' })),
  offset: Offset,
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, description: 'Maximum number of items; 100 by default.' })),
})

export function vaultRoutes({ vault, findBranch }: VaultRoutesDeps): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.post(
      '/vault/variables',
      {
        config: {
          operation: 'vault.save',
          summary: 'Set a variable of the project',
          needs: 'canManageBuckets',
          validationCode: 'validation.failed',
        },
        schema: { body: Body, response: { 201: View } },
      },
      async (req, reply) => {
        const { key, value, flags = [], attributes = {} } = req.body
        const saved = await vault.save(req.actor, {
          key,
          value,
          flags,
          attributes: Array.isArray(attributes) ? {} : attributes, // PHP writes empty objects as lists
        })
        return reply.code(201).send({ ...saved, flags: [...saved.flags] })
      },
    )

    app.get(
      '/vault/variables',
      {
        config: {
          operation: 'vault.list',
          summary: 'Variables of the project',
          needs: 'canManageBuckets',
          validationCode: 'validation.failed',
        },
        schema: { querystring: Query, response: { 200: Views } },
      },
      async (req) => {
        const { key, attributes, offset = 0, limit = 100 } = req.query
        const wanted = Object.entries(typeof attributes === 'object' ? attributes : {})
        const found = (await vault.list(req.actor)).filter(
          (variable) =>
            (key === undefined || variable.key === key) && wanted.every(([name, value]) => variable.attributes[name] === value),
        )
        return found.slice(offset, offset + limit).map((variable) => ({ ...variable, flags: [...variable.flags] }))
      },
    )

    app.get(
      '/vault/variables/scoped/branch/:branchId',
      {
        config: { operation: 'vault.listScoped', summary: 'Variables of a branch', needs: 'canManageBuckets' },
        schema: {
          params: Type.Object({ branchId: Type.String({ maxLength: 64, description: 'Id of the branch.' }) }),
          response: { 200: Views },
        },
      },
      async (req) => {
        const branch = await findBranch(req.actor.projectId, req.params.branchId)
        if (!branch) throw new PlatformError('notFound', { what: `Branch "${req.params.branchId}"` })
        return (await vault.listInBranch(req.actor, branch.id)).map((variable) => ({ ...variable, flags: [...variable.flags] }))
      },
    )

    app.delete(
      '/vault/variables/:hash',
      {
        config: { operation: 'vault.remove', summary: 'Remove a variable of the project', needs: 'canManageBuckets' },
        schema: {
          params: Type.Object({ hash: Type.String({ description: 'Hash of the variable, as the list shows it.' }) }),
          response: { 204: Type.Null() },
        },
      },
      async (req, reply) => {
        await vault.remove(req.actor, req.params.hash)
        return reply.code(204).send(null)
      },
    )
  }
}
