// HTTP for sandboxes, at the addresses `sandboxes` and `data-science`, and for sessions of the SQL editor (spec platform 6.4).

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { numberedId, optionalFlag, optionalText } from '../../../http/parameters.ts'
import { formatTimestamp } from '../../../kit/clock.ts'
import { PlatformError } from '../../../kit/errors.ts'
import type { Scope } from '../../../model/scope.ts'
import type { Sandbox, Sandboxes } from './sandboxes.ts'

export interface SandboxesRoutesDeps {
  readonly sandboxes: Sandboxes
  readonly findBranch: (
    projectId: number,
    name: string,
  ) => Promise<{ readonly id: number; readonly isDefault: boolean } | undefined>
  /** Of PostgreSQL clients; undefined when the stack does not listen for them. */
  readonly sqlPort: () => number | undefined
  /** The backend that the project reports. */
  readonly backendName: (projectId: number) => Promise<string>
  /** Users by the id of their own token. */
  readonly adminOwners: (projectId: number) => Promise<ReadonlyMap<number, { readonly id: number }>>
  readonly describeWorkspace: (projectId: number, id: number, baseUrl: string) => Promise<DescribedWorkspace | undefined>
}

interface DescribedWorkspace {
  readonly connection: { readonly database: string; readonly schema: string; readonly loginType: string }
  readonly backendSize: string | null
  readonly readOnlyStorageAccess: boolean
}

const Hours = Type.Optional(
  Type.Integer({ minimum: 0, maximum: 24 * 365, description: 'Hours until it is deleted; 168 if omitted, 0 for never.' }),
)
const CreateFields = {
  size: optionalText('Share of the memory of a session: xsmall, small, medium or large (default).'),
  branchId: Type.Optional(
    Type.Union([Type.String(), Type.Integer()], { description: 'Id of the branch; the default branch if omitted.' }),
  ),
  expirationAfterHours: Hours,
}
const CreateBody = Type.Object({
  type: Type.String({ maxLength: 60, description: 'Kind of sandbox: `sql`, or the name of an SQL backend that clients send.' }),
  shared: optionalFlag('Whether every token of the project sees it with its credentials.'),
  configurationId: Type.Optional(Type.String({ maxLength: 255, description: 'Configuration it is created for.' })),
  ...CreateFields,
})
const ChangeBody = Type.Object({
  shared: optionalFlag('Whether every token of the project sees it with its credentials.'),
  expirationAfterHours: Hours,
})
const SessionBody = Type.Object({
  componentId: Type.Optional(Type.String({ maxLength: 255, description: 'Component of the configuration.' })),
  configurationId: Type.Optional(Type.String({ maxLength: 255, description: 'Configuration that the session edits.' })),
  backendSize: optionalText('As `size` of a sandbox.'),
  branchId: CreateFields.branchId,
  expirationAfterHours: Hours,
})
const Text = Type.Union([Type.String(), Type.Null()])
const Connection = {
  user: Type.String(),
  password: Type.String(),
  host: Type.String(),
  port: Type.Union([Type.Integer(), Type.Null()]),
}
const SandboxView = Type.Object(
  {
    id: Type.String(),
    projectId: Type.String(),
    tokenId: Type.String(),
    branchId: Type.String(),
    type: Type.String(),
    size: Text,
    active: Type.Boolean(),
    shared: Type.Boolean(),
    configurationId: Text,
    physicalId: Type.String(),
    ...Connection,
    stagingWorkspaceId: Type.String(),
    workspaceDetails: Type.Object({ connection: Type.Object({ database: Type.String(), schema: Type.String() }) }),
    packages: Type.Array(Type.String()),
    expirationAfterHours: Type.Integer(),
    createdTimestamp: Type.String(),
    updatedTimestamp: Type.String(),
    expirationTimestamp: Text,
  },
  { title: 'Sandbox' },
)
const SessionView = Type.Object(
  {
    id: Type.String(),
    projectId: Type.String(),
    branchId: Type.String(),
    tokenId: Type.String(),
    userId: Type.Union([Type.String(), Type.Null()], {
      description: 'Id of the user or master token that opened it; null for other tokens.',
    }),
    componentId: Text,
    configurationId: Text,
    shared: Type.Boolean(),
    workspaceId: Type.String(),
    workspaceCreateJobId: Type.Null({ description: 'The workspace is created with the session, without a job.' }),
    workspaceDatabase: Type.String(),
    workspaceSchema: Type.String(),
    workspaceLoginType: Type.String(),
    workspaceLoadJobs: Type.Array(Type.String(), { description: 'Always empty: loads of the workspace are not recorded here.' }),
    readOnlyStorageAccess: Type.Boolean(),
    snowflakePrivateKey: Type.Null({ description: 'Sessions have a password instead.' }),
    backendType: Type.String({ description: 'The backend that the project reports.' }),
    backendSize: Text,
    status: Type.String(),
    lastError: Type.Null(),
    lastLoadedAt: Type.Null(),
    connection: Type.Object(Connection),
    createdAt: Type.String(),
    updatedAt: Type.String(),
    createdTimestamp: Type.String({ description: 'As `createdAt`.' }),
    expirationTimestamp: Text,
  },
  { title: 'EditorSession' },
)
const ById = Type.Object({ id: numberedId('sandbox') })
const BySession = Type.Object({ id: numberedId('session') })
/** Two names of one service, and one name for each operation. */
const ADDRESSES = { sandboxes: 'sandboxes', 'data-science': 'dataScience' } as const

export function sandboxesRoutes(deps: SandboxesRoutesDeps): FastifyPluginAsyncTypebox {
  const { sandboxes, findBranch, sqlPort } = deps
  async function scopeOf({ actor }: FastifyRequest, branchId: string | number = 'default'): Promise<Scope> {
    const branch = await findBranch(actor.projectId, String(branchId))
    if (!branch) throw new PlatformError('notFound', { what: `Branch "${String(branchId).slice(0, 60)}"` })
    return { actor, branch }
  }

  const connectionOf = (one: Sandbox, baseUrl: string) => ({
    user: `workspace_${one.workspace_id}`,
    password: one.password,
    host: new URL(baseUrl).hostname,
    port: sqlPort() ?? null,
  })

  const sandboxView = (one: Sandbox, { baseUrl }: FastifyRequest): Type.Static<typeof SandboxView> => ({
    id: String(one.id),
    projectId: String(one.project_id),
    tokenId: String(one.token_id),
    branchId: String(one.branch_id),
    type: one.type,
    size: one.size,
    active: one.is_active === 1,
    shared: one.is_shared === 1,
    configurationId: one.configuration_id,
    physicalId: String(one.workspace_id),
    ...connectionOf(one, baseUrl),
    stagingWorkspaceId: String(one.workspace_id),
    workspaceDetails: { connection: { database: 'workspace', schema: 'main' } },
    packages: [],
    expirationAfterHours: one.expiration_hours,
    createdTimestamp: timestamp(one.created_at),
    updatedTimestamp: timestamp(one.updated_at),
    expirationTimestamp: one.expires_at === null ? null : timestamp(one.expires_at),
  })

  /** A session whose workspace was deleted is shown until its time ends, as it was made. */
  async function sessionViews(
    sessions: readonly Sandbox[],
    { actor: { projectId }, baseUrl }: FastifyRequest,
  ): Promise<Type.Static<typeof SessionView>[]> {
    const [backend, owners] = await Promise.all([deps.backendName(projectId), deps.adminOwners(projectId)])
    return Promise.all(
      sessions.map(async (one) => {
        const workspace = await deps.describeWorkspace(projectId, one.workspace_id, baseUrl)
        return sessionView(one, baseUrl, { backend, userId: owners.get(one.token_id)?.id, workspace })
      }),
    )
  }

  const shown = async (session: Sandbox, req: FastifyRequest) => (await sessionViews([session], req))[0]!

  const sessionView = (
    one: Sandbox,
    baseUrl: string,
    { backend, userId, workspace }: { backend: string; userId: number | undefined; workspace: DescribedWorkspace | undefined },
  ): Type.Static<typeof SessionView> => ({
    id: String(one.id),
    projectId: String(one.project_id),
    branchId: String(one.branch_id),
    tokenId: String(one.token_id),
    userId: userId === undefined ? null : String(userId),
    componentId: one.component_id,
    configurationId: one.configuration_id,
    shared: one.is_shared === 1,
    workspaceId: String(one.workspace_id),
    workspaceCreateJobId: null,
    workspaceDatabase: workspace?.connection.database ?? 'workspace',
    workspaceSchema: workspace?.connection.schema ?? 'main',
    workspaceLoginType: workspace?.connection.loginType ?? 'default',
    workspaceLoadJobs: [],
    readOnlyStorageAccess: workspace?.readOnlyStorageAccess ?? true,
    snowflakePrivateKey: null,
    backendType: backend,
    backendSize: workspace?.backendSize ?? one.size,
    status: 'ready',
    lastError: null,
    lastLoadedAt: null,
    connection: connectionOf(one, baseUrl),
    createdAt: timestamp(one.created_at),
    updatedAt: timestamp(one.updated_at),
    createdTimestamp: timestamp(one.created_at),
    expirationTimestamp: one.expires_at === null ? null : timestamp(one.expires_at),
  })

  return async (app) => {
    for (const [address, name] of Object.entries(ADDRESSES)) {
      app.post(
        `/${address}/sandboxes`,
        {
          config: {
            operation: `${name}.create`,
            summary: 'Create a sandbox: a workspace whose credentials can be read again',
            needs: 'grant',
          },
          schema: { body: CreateBody, response: { 201: SandboxView } },
        },
        async (req, reply) => {
          const { branchId, ...wanted } = req.body
          const made = await sandboxes.create(await scopeOf(req, branchId), 'sandbox', wanted, req.origin)
          return reply.code(201).send(sandboxView(made, req))
        },
      )
      app.get(
        `/${address}/sandboxes`,
        {
          config: { operation: `${name}.list`, summary: 'List sandboxes that the token can read', needs: 'token' },
          schema: { response: { 200: Type.Array(SandboxView) } },
        },
        async (req) => (await sandboxes.list(req.actor, 'sandbox')).map((one) => sandboxView(one, req)),
      )
      app.get(
        `/${address}/sandboxes/:id`,
        {
          config: { operation: `${name}.get`, summary: 'A sandbox', needs: 'sandbox' },
          schema: { params: ById, response: { 200: SandboxView } },
        },
        async (req) => sandboxView(await sandboxes.get(req.actor, 'sandbox', req.params.id), req),
      )
      app.patch(
        `/${address}/sandboxes/:id`,
        {
          config: { operation: `${name}.change`, summary: 'Share a sandbox, or change when it expires', needs: 'sandbox' },
          schema: { params: ById, body: ChangeBody, response: { 200: SandboxView } },
        },
        async (req) => sandboxView(await sandboxes.change(req.actor, req.params.id, req.body, req.origin), req),
      )
      app.delete(
        `/${address}/sandboxes/:id`,
        {
          config: { operation: `${name}.delete`, summary: 'Delete a sandbox with its tables', needs: 'sandbox' },
          schema: { params: ById, response: { 204: Type.Null() } },
        },
        async (req, reply) => {
          await sandboxes.remove(req.actor, 'sandbox', req.params.id, req.origin)
          return reply.code(204).send(null)
        },
      )
      app.post(
        `/${address}/sandboxes/:id/activate`,
        {
          config: { operation: `${name}.activate`, summary: 'Activate logins again, with new credentials', needs: 'sandbox' },
          schema: { params: ById, response: { 200: SandboxView } },
        },
        async (req) => sandboxView(await sandboxes.resetCredentials(req.actor, 'sandbox', req.params.id, req.origin), req),
      )
      app.post(
        `/${address}/sandboxes/:id/deactivate`,
        {
          config: {
            operation: `${name}.deactivate`,
            summary: 'Disable logins until it is activated; keeps its tables',
            needs: 'sandbox',
          },
          schema: { params: ById, response: { 200: SandboxView } },
        },
        async (req) => sandboxView(await sandboxes.deactivate(req.actor, req.params.id, req.origin), req),
      )
      app.get(
        `/${address}/projects/current`,
        {
          config: {
            operation: `${name}.project`,
            summary: 'The project, in the format for clients of sandboxes',
            needs: 'token',
          },
          schema: { response: { 200: Type.Object({ id: Type.String(), persistentStorageReady: Type.Boolean() }) } },
        },
        async ({ actor }) => ({ id: String(actor.projectId), persistentStorageReady: false }),
      )
    }

    app.post(
      '/editor/sql/sessions',
      {
        config: {
          operation: 'editor.create',
          summary: 'Open a session of the SQL editor with a separate workspace',
          needs: 'grant',
        },
        schema: { body: SessionBody, response: { 201: SessionView } },
      },
      async (req, reply) => {
        const { branchId, backendSize, ...wanted } = req.body
        const made = await sandboxes.create(
          await scopeOf(req, branchId),
          'session',
          {
            ...wanted,
            type: 'duckdb',
            size: backendSize,
          },
          req.origin,
        )
        return reply.code(201).send(await shown(made, req))
      },
    )
    app.get(
      '/editor/sql/sessions',
      {
        config: { operation: 'editor.list', summary: 'List sessions of the SQL editor that the token can read', needs: 'token' },
        schema: { response: { 200: Type.Array(SessionView) } },
      },
      async (req) => sessionViews(await sandboxes.list(req.actor, 'session'), req),
    )
    app.get(
      '/editor/sql/sessions/:id',
      {
        config: { operation: 'editor.get', summary: 'A session of the SQL editor', needs: 'sandbox' },
        schema: { params: BySession, response: { 200: SessionView } },
      },
      async (req) => shown(await sandboxes.get(req.actor, 'session', req.params.id), req),
    )
    app.delete(
      '/editor/sql/sessions/:id',
      {
        config: {
          operation: 'editor.delete',
          summary: 'Close a session of the SQL editor and delete its workspace',
          needs: 'sandbox',
        },
        schema: { params: BySession, response: { 204: Type.Null() } },
      },
      async (req, reply) => {
        await sandboxes.remove(req.actor, 'session', req.params.id, req.origin)
        return reply.code(204).send(null)
      },
    )
    app.post(
      '/editor/sql/sessions/:id/reset-credentials',
      {
        config: {
          operation: 'editor.resetCredentials',
          summary: 'New credentials for a session of the SQL editor',
          needs: 'sandbox',
        },
        schema: { params: BySession, response: { 200: SessionView } },
      },
      async (req) => shown(await sandboxes.resetCredentials(req.actor, 'session', req.params.id, req.origin), req),
    )
  }
}

const timestamp = (at: number): string => formatTimestamp(new Date(at))
