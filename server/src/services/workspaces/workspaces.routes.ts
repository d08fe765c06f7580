// HTTP for workspaces, which are not built yet (spec storage 2.9): there are none, and none can be made.

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { ComponentId, ConfigurationId, numberedId } from '../../http/parameters.ts'
import type { Branch } from '../../http/server.ts'
import { PlatformError } from '../../kit/errors.ts'
import type { Actor } from '../../model/actor.ts'

export interface WorkspacesRoutesDeps {
  /** Refuses a configuration that is not there or that the actor may not see. */
  readonly checkConfiguration: (actor: Actor, branch: Branch, componentId: string, configurationId: string) => Promise<void>
}

const None = Type.Array(Type.Never())
const OfConfiguration = Type.Object({ componentId: ComponentId, configurationId: ConfigurationId })
const ById = Type.Object({ id: numberedId('workspace') })

export function workspacesRoutes({ checkConfiguration }: WorkspacesRoutesDeps): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.get(
      '/v2/storage/workspaces',
      {
        config: { operation: 'workspaces.list', summary: 'Workspaces: there are none yet' },
        schema: { response: { 200: None } },
      },
      async () => [],
    )

    app.post(
      '/v2/storage/workspaces',
      {
        config: { operation: 'workspaces.create', summary: 'Not built: make a workspace' },
        schema: { response: { 501: Type.Unknown() } },
      },
      async () => refuse(),
    )

    app.get(
      '/v2/storage/workspaces/:id',
      {
        config: { operation: 'workspaces.get', summary: 'Workspace detail: there are none yet' },
        schema: { params: ById, response: { 200: Type.Object({}) } },
      },
      async (req) => {
        throw new PlatformError('workspace.workspaceNotFound', { id: req.params.id.slice(0, 40) })
      },
    )

    app.get(
      '/v2/storage/components/:componentId/configs/:configurationId/workspaces',
      {
        config: { operation: 'configurations.workspaces', summary: 'Workspaces of a configuration: there are none yet' },
        schema: { params: OfConfiguration, response: { 200: None } },
      },
      async (req) => {
        await checkConfiguration(req.actor, req.branch, req.params.componentId, req.params.configurationId)
        return []
      },
    )

    app.post(
      '/v2/storage/components/:componentId/configs/:configurationId/workspaces',
      {
        config: { operation: 'configurations.createWorkspace', summary: 'Not built: make a workspace for a configuration' },
        schema: { params: OfConfiguration, response: { 501: Type.Unknown() } },
      },
      async (req) => {
        await checkConfiguration(req.actor, req.branch, req.params.componentId, req.params.configurationId)
        return refuse()
      },
    )
  }
}

function refuse(): never {
  throw new PlatformError('notImplemented', {
    what: 'Workspaces are not built yet. Export tables as files instead, or read them with a component.',
  })
}
