// HTTP for further credentials and public keys of workspaces (spec storage 2.9.2).

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { numberedId } from '../../../http/parameters.ts'
import { scopeOf } from '../../../http/scope.ts'
import type { WorkspaceCredentials } from './workspace-credentials.ts'
import { byRequest, workspaceEvent } from './workspace-events.ts'
import { type ViewWorkspace, WorkspaceView } from './workspace-view.ts'
import type { Workspaces } from './workspaces.ts'

export interface WorkspaceCredentialsRoutesDeps {
  readonly workspaces: Pick<Workspaces, 'get'>
  readonly credentials: WorkspaceCredentials
  readonly view: ViewWorkspace
}

const ById = Type.Object({ id: numberedId('workspace') })
const ByCredentials = Type.Object({ id: numberedId('workspace'), credentialsId: numberedId('credentials') })
const ByKey = Type.Object({
  id: numberedId('workspace'),
  name: Type.String({ minLength: 1, maxLength: 60, description: 'Name of the key: a workspace may have several.' }),
})
const NamedKeyBody = Type.Object({
  publicKey: Type.String({
    minLength: 1,
    maxLength: 10_000,
    description: 'RSA (2048 bits or more), EC (P-256) or Ed25519, as PEM or as the base64 of its SubjectPublicKeyInfo.',
  }),
})
const KeyBody = Type.Object({
  ...NamedKeyBody.properties,
  keyName: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 60,
      description: 'Key to replace, `RSA_PUBLIC_KEY_1` or `RSA_PUBLIC_KEY_2`. By default the older one; the other stays valid.',
    }),
  ),
})

export function workspaceCredentialsRoutes(deps: WorkspaceCredentialsRoutesDeps): FastifyPluginAsyncTypebox {
  const { workspaces, credentials, view } = deps
  return async (app) => {
    app.post(
      '/v2/storage/workspaces/:id/credentials',
      {
        config: {
          operation: 'workspaces.createCredentials',
          summary: 'Create another password for a workspace; returned once',
          needs: 'workspace',
        },
        schema: { params: ById, body: Type.Optional(Type.Object({})), response: { 200: WorkspaceView } },
      },
      async (req) => {
        const workspace = await workspaces.get(scopeOf(req), req.params.id)
        const { id, password } = await credentials.make(workspace, byRequest(req))
        return view(workspace, req.baseUrl, { password, credentials: { id } })
      },
    )

    app.get(
      '/v2/storage/workspaces/:id/credentials/:credentialsId',
      {
        config: {
          operation: 'workspaces.getCredentials',
          summary: 'Check whether another password of a workspace is still valid',
          needs: 'workspace',
          readEvent: ({ params, branch }) => {
            const { id, credentialsId } = params as Type.Static<typeof ByCredentials> // by the schema below
            const workspace = { id: Number(id), branchId: branch.id }
            const names = ['storage.workspaceCredentialsDetail', 'storage.workspaceCredentialsRetrieved'] as const // clients read either
            return names.map((name) => workspaceEvent(name, workspace, { credentialsId: Number(credentialsId) }))
          },
        },
        schema: { params: ByCredentials, response: { 200: WorkspaceView } },
      },
      async (req) => {
        const workspace = await workspaces.get(scopeOf(req), req.params.id)
        const id = await credentials.get(workspace, req.params.credentialsId)
        return view(workspace, req.baseUrl, { credentials: { id } })
      },
    )

    app.delete(
      '/v2/storage/workspaces/:id/credentials/:credentialsId',
      {
        config: {
          operation: 'workspaces.deleteCredentials',
          summary: 'Revoke another password of a workspace, and close its connections',
          needs: 'workspace',
        },
        schema: { params: ByCredentials, response: { 204: Type.Null() } },
      },
      async (req, reply) => {
        await credentials.remove(await workspaces.get(scopeOf(req), req.params.id), req.params.credentialsId, byRequest(req))
        return reply.code(204).send(null)
      },
    )

    app.post(
      '/v2/storage/workspaces/:id/public-key',
      {
        config: {
          operation: 'workspaces.setPublicKey',
          summary: 'Set a public key for logins to a workspace; it then has no password',
          needs: 'workspace',
        },
        schema: { params: ById, body: KeyBody, response: { 200: WorkspaceView } },
      },
      async (req) => {
        const workspace = await workspaces.get(scopeOf(req), req.params.id)
        const { publicKey, keyName } = req.body
        return view(await credentials.setKey(workspace, publicKey, byRequest(req), keyName), req.baseUrl)
      },
    )

    app.post(
      '/v2/storage/workspaces/:id/public-key/:name',
      {
        config: {
          operation: 'workspaces.setNamedPublicKey',
          summary: 'Add or replace a further public key of a workspace',
          needs: 'workspace',
        },
        schema: { params: ByKey, body: NamedKeyBody, response: { 200: WorkspaceView } },
      },
      async (req) => {
        const workspace = await workspaces.get(scopeOf(req), req.params.id)
        return view(await credentials.setKey(workspace, req.body.publicKey, byRequest(req), req.params.name), req.baseUrl)
      },
    )
  }
}
