// HTTP for SQL workspaces (spec storage 2.9.2).

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { JobView, jobView } from '../../../http/job-view.ts'
import { Async, ComponentId, ConfigurationId, numberedId, optionalFlag, optionalText } from '../../../http/parameters.ts'
import { scopeOf } from '../../../http/scope.ts'
import type { Branch } from '../../../http/server.ts'
import { PlatformError } from '../../../kit/errors.ts'
import type { Actor } from '../../../model/actor.ts'
import type { RoutesServer } from '../../../model/module.ts'
import type { CreateJob } from '../../../model/storage-job.ts'
import { byRequest } from './workspace-events.ts'
import type { LoadInput, LoadItem } from './workspace-load.ts'
import type { ReadLoadRequest } from './workspace-load-request.ts'
import { type DeleteObjectsInput, objectsIn } from './workspace-objects.ts'
import type { QueryWorkspace } from './workspace-query.ts'
import type { WorkspaceSessions } from './workspace-sessions.ts'
import type { TableExportInput } from './workspace-unload.ts'
import { type ViewWorkspace, WorkspaceView } from './workspace-view.ts'
import type { Workspace } from './workspaces.store.ts'
import type { OfConfiguration, Workspaces } from './workspaces.ts'

export interface WorkspacesRoutesDeps {
  readonly workspaces: Workspaces
  readonly sessions: Pick<WorkspaceSessions, 'use'>
  readonly readLoadRequest: ReadLoadRequest
  readonly queryWorkspace: QueryWorkspace
  readonly createJob: CreateJob
  readonly view: ViewWorkspace
  /** Refuses a configuration that is not there or that the actor may not see. */
  readonly checkConfiguration: (actor: Actor, branch: Branch, componentId: string, configurationId: string) => Promise<void>
}

const OfConfigurationParams = Type.Object({ componentId: ComponentId, configurationId: ConfigurationId })
const ById = Type.Object({ id: numberedId('workspace') })
const AsyncQuery = Type.Object({ async: Async })

const NewWorkspaceBody = Type.Object({
  backend: optionalText('Name of the backend; that of the project if omitted.'),
  backendSize: optionalText('Share of the memory of a session: xsmall, small, medium or large (default).'),
  readOnlyStorageAccess: optionalFlag('Whether tables of the project can be read as `"in.c-bucket"."table"`; default true.'),
  loginType: optionalText(
    '`default` and `snowflake-legacy-service`: a user with a password. `none`, `snowflake-person-sso`: no login; the workspace is used through the API, or with a token as the password. `snowflake-person-keypair`, `snowflake-service-keypair`: by a key.',
  ),
  statementTimeoutSeconds: Type.Optional(
    Type.Integer({ minimum: 0, description: 'Timeout of a statement; the limit of the operator if omitted or 0.' }),
  ),
  configurationVersion: Type.Optional(
    Type.Integer({ minimum: 0, description: 'Version of the configuration it is created for.' }),
  ),
  networkPolicy: optionalText('Accepted for compatibility; has no effect.'),
  useCase: optionalText('Accepted for compatibility; has no effect.'),
  publicKey: optionalText('Of login types by a key: RSA, EC or Ed25519, as PEM or base64.'),
})

const LoadBody = Type.Object({
  input: Type.Optional(
    Type.Unknown({
      description:
        'List of objects: `source` (a table), `destination`, and optionally `columns`, `rows`, `changedSince`, `changedUntil`, `whereFilters`, `whereColumn`, `whereValues`, `whereOperator`, `incremental`, `overwrite`, `loadType` (COPY, CLONE, VIEW, AUTO), `useView`, `sourceBranchId`.',
      examples: [[{ source: 'in.c-main.orders', destination: 'orders' }]],
    }),
  ),
  preserve: optionalFlag('True: keep the tables of the workspace. False (default): delete them first.'),
})

/** A list has no "input" (corrections-2, W14). */
const refuseList = async ({ body }: FastifyRequest): Promise<void> => {
  if (Array.isArray(body)) throw new PlatformError('workspace.loadRequestInputRequired')
}

const ExportBody = Type.Object({
  tableName: Type.String({ minLength: 1, description: 'A table or view of the workspace.' }),
  fileName: optionalText('Name of the file; the name of the table if omitted.'),
  fileType: Type.Optional(
    Type.Union([Type.Literal('csv'), Type.Literal('parquet')], { description: '`csv` (default) with a header, or `parquet`.' }),
  ),
  gzip: optionalFlag('True: the file is compressed.'),
})

const DryRunView = Type.Object({
  dryRun: Type.Literal(true),
  operationName: Type.String(),
  input: Type.Array(
    Type.Object({
      source: Type.String(),
      destination: Type.String(),
      loadType: Type.String({ description: 'COPY or VIEW' }),
      possibleLoadTypes: Type.Array(Type.String()),
    }),
  ),
})

/** What a load would do. */
const dryRunOf = (items: readonly LoadItem[]): Type.Static<typeof DryRunView> => ({
  dryRun: true,
  operationName: 'workspaceLoad',
  input: items.map(({ source, destination, loadType, possibleLoadTypes }) => ({
    source,
    destination,
    loadType,
    possibleLoadTypes: [...possibleLoadTypes],
  })),
})

export function workspacesRoutes(deps: WorkspacesRoutesDeps): FastifyPluginAsyncTypebox {
  const { workspaces, createJob, view } = deps
  const viewsOf = (list: readonly Workspace[], baseUrl: string) => Promise.all(list.map((one) => view(one, baseUrl)))

  async function create(
    req: FastifyRequest<{ Body: Type.Static<typeof NewWorkspaceBody>; Querystring: Type.Static<typeof AsyncQuery> }>,
    reply: FastifyReply,
    of?: OfConfiguration,
  ) {
    const scope = scopeOf(req)
    const wanted = req.body ?? {}
    await workspaces.check(scope, wanted)
    if (req.query.async) {
      const job = await createJob(req, {
        operationName: 'workspaceCreate',
        input: { scope, wanted, of },
        branchId: req.branch.id,
      })
      return reply.code(202).send(jobView(job, req.baseUrl))
    }
    const { workspace, password } = await workspaces.create(scope, wanted, of, req.origin)
    return reply.code(201).send(await view(workspace, req.baseUrl, workspaces.hasPassword(workspace) ? { password } : {}))
  }

  return async (app) => {
    app.get(
      '/v2/storage/workspaces',
      {
        config: { operation: 'workspaces.list', summary: 'Workspaces of the branch', needs: 'token' },
        schema: { response: { 200: Type.Array(WorkspaceView) } },
      },
      async (req) => viewsOf(await workspaces.list(scopeOf(req)), req.baseUrl),
    )

    app.post(
      '/v2/storage/workspaces',
      {
        config: { operation: 'workspaces.create', summary: 'Create a SQL workspace; returns its password once', needs: 'grant' },
        schema: {
          body: Type.Optional(NewWorkspaceBody),
          querystring: AsyncQuery,
          response: { 201: WorkspaceView, 202: JobView },
        },
      },
      async (req, reply) => create(req as Parameters<typeof create>[0], reply), // the schemas above are those of create
    )

    app.get(
      '/v2/storage/workspaces/:id',
      {
        config: { operation: 'workspaces.get', summary: 'Workspace detail', needs: 'workspace' },
        schema: { params: ById, response: { 200: WorkspaceView } },
      },
      async (req) => view(await workspaces.get(scopeOf(req), req.params.id), req.baseUrl),
    )

    app.delete(
      '/v2/storage/workspaces/:id',
      {
        config: { operation: 'workspaces.delete', summary: 'Delete a workspace and its tables', needs: 'workspace' },
        schema: { params: ById, querystring: AsyncQuery, response: { 202: JobView, 204: Type.Null() } },
      },
      async (req, reply) => {
        const workspace = await workspaces.get(scopeOf(req), req.params.id)
        if (!req.query.async) {
          await workspaces.remove(workspace, byRequest(req))
          return reply.code(204).send(null)
        }
        const job = await createJob(req, {
          operationName: 'workspaceDrop',
          operationParams: { workspaceId: workspace.id },
          input: { projectId: workspace.projectId, id: workspace.id },
          branchId: req.branch.id,
          lockKeys: [lockOf(workspace)],
        })
        return reply.code(202).send(jobView(job, req.baseUrl))
      },
    )

    addLoadRoutes(app, deps)
    addContentRoutes(app, deps)

    app.get(
      '/v2/storage/components/:componentId/configs/:configurationId/workspaces',
      {
        config: { operation: 'configurations.workspaces', summary: 'Workspaces of a configuration', needs: 'component' },
        schema: { params: OfConfigurationParams, response: { 200: Type.Array(WorkspaceView) } },
      },
      async (req) => {
        await deps.checkConfiguration(req.actor, req.branch, req.params.componentId, req.params.configurationId)
        return viewsOf(await workspaces.list(scopeOf(req), req.params), req.baseUrl)
      },
    )

    app.post(
      '/v2/storage/components/:componentId/configs/:configurationId/workspaces',
      {
        config: {
          operation: 'configurations.createWorkspace',
          summary: 'Create a workspace for a configuration',
          needs: 'component',
        },
        schema: {
          params: OfConfigurationParams,
          body: Type.Optional(NewWorkspaceBody),
          querystring: AsyncQuery,
          response: { 201: WorkspaceView, 202: JobView },
        },
      },
      async (req, reply) => {
        const { componentId, configurationId } = req.params
        await deps.checkConfiguration(req.actor, req.branch, componentId, configurationId)
        return create(req as unknown as Parameters<typeof create>[0], reply, { componentId, configurationId }) // as above
      },
    )
  }
}

async function load(
  { workspaces, createJob, readLoadRequest }: WorkspacesRoutesDeps,
  req: FastifyRequest<{ Params: Type.Static<typeof ById>; Body: Type.Static<typeof LoadBody> }>,
  reply: FastifyReply,
  operationName: 'workspaceLoad' | 'workspaceLoadClone',
) {
  const scope = scopeOf(req)
  const body = req.body ?? {}
  const read = () => readLoadRequest(scope, body, operationName === 'workspaceLoad' ? 'load' : 'clone')
  const workspace = await workspaces.get(scope, req.params.id).catch(async (error: unknown) => {
    // A caller who may not read the table is refused for that first (corrections-2, W14).
    await read().catch((ofRequest: unknown) => {
      if (ofRequest instanceof PlatformError && ofRequest.code === 'workspace.tableAccessDenied') throw ofRequest
    })
    throw error
  })
  const items = await read()
  const preserve = body.preserve ?? false
  const input: LoadInput = { workspaceId: workspace.id, preserve, items, ...scope }
  const job = await createJob(req, {
    operationName,
    operationParams: { workspaceId: workspace.id, preserve, input: body.input }, // as it was sent (corrections-2, W14)
    input,
    branchId: req.branch.id,
    lockKeys: [lockOf(workspace)],
  })
  return reply.code(202).send(jobView(job, req.baseUrl))
}

function addLoadRoutes(app: RoutesServer, deps: WorkspacesRoutesDeps): void {
  const { workspaces, createJob } = deps

  app.post(
    '/v2/storage/workspaces/:id/load',
    {
      config: {
        operation: 'workspaces.load',
        summary: 'Load tables of the project into a workspace, as copies or views',
        needs: 'workspace',
      },
      preValidation: refuseList,
      schema: { params: ById, body: LoadBody, response: { 202: JobView } },
    },
    async (req, reply) => load(deps, req as Parameters<typeof load>[1], reply, 'workspaceLoad'),
  )

  app.post(
    '/v2/storage/workspaces/:id/input-mapping-load',
    {
      config: {
        operation: 'workspaces.inputMappingLoad',
        summary: 'Load the input mapping of a configuration into a workspace',
        needs: 'workspace',
      },
      preValidation: refuseList,
      schema: {
        params: ById,
        querystring: Type.Object({ dryRun: optionalFlag('True: dry run; loads nothing.') }),
        body: LoadBody,
        response: { 200: DryRunView, 202: JobView },
      },
    },
    async (req, reply) => {
      if (!req.query.dryRun) return load(deps, req as Parameters<typeof load>[1], reply, 'workspaceLoad')
      const scope = scopeOf(req)
      await workspaces.get(scope, req.params.id)
      return reply.code(200).send(dryRunOf(await deps.readLoadRequest(scope, req.body ?? {}, 'load')))
    },
  )

  app.post(
    '/v2/storage/input-mapping-load/preview',
    {
      config: {
        operation: 'workspaces.inputMappingPreview',
        summary: 'Preview the load of an input mapping',
        needs: 'bucketRead',
      },
      preValidation: refuseList,
      schema: {
        querystring: Type.Object({
          backend: optionalText('Backend of the workspace; that of the project if omitted.'),
        }),
        body: LoadBody,
        response: { 200: DryRunView },
      },
    },
    async (req) => {
      const scope = scopeOf(req)
      await workspaces.check(scope, { backend: req.query.backend })
      return dryRunOf(await deps.readLoadRequest(scope, req.body ?? {}, 'load'))
    },
  )

  app.post(
    '/v2/storage/workspaces/:id/table-export',
    {
      config: {
        operation: 'workspaces.exportTable',
        summary: 'Write a table of a workspace to a file of the project',
        needs: 'workspace',
      },
      schema: { params: ById, body: ExportBody, response: { 202: JobView } },
    },
    async (req, reply) => {
      const scope = scopeOf(req)
      const workspace = await workspaces.get(scope, req.params.id)
      const { tableName, fileType = 'csv', gzip = false } = req.body
      const fileName = req.body.fileName ?? `${tableName}.${fileType}${gzip ? '.gz' : ''}`
      const input: TableExportInput = { workspaceId: workspace.id, tableName, fileName, fileType, gzip, scope }
      const job = await createJob(req, {
        operationName: 'workspaceTableExport',
        operationParams: { workspaceId: workspace.id, tableName, fileName, fileType, gzip },
        input,
        branchId: req.branch.id,
        lockKeys: [lockOf(workspace)],
      })
      return reply.code(202).send(jobView(job, req.baseUrl))
    },
  )

  app.post(
    '/v2/storage/workspaces/:id/unload',
    {
      config: {
        operation: 'workspaces.unload',
        summary: 'Jobs that revoke direct writes of a workspace to tables',
        needs: 'workspace',
      },
      schema: {
        params: ById,
        querystring: Type.Object({
          onlyDirectGrants: optionalFlag('Accepted for compatibility; has no effect.'),
          'only-direct-grants': optionalFlag('Accepted for compatibility; has no effect.'),
        }),
        response: { 202: Type.Array(JobView) },
      },
    },
    async (req, reply) => {
      await workspaces.get(scopeOf(req), req.params.id)
      // No workspace writes tables of the project directly: there is never one to revoke.
      return reply.code(202).send([])
    },
  )

  app.post(
    '/v2/storage/workspaces/:id/load-clone',
    {
      config: { operation: 'workspaces.loadClone', summary: 'Load whole tables into a workspace', needs: 'workspace' },
      preValidation: refuseList,
      schema: { params: ById, body: LoadBody, response: { 202: JobView } },
    },
    async (req, reply) => load(deps, req as Parameters<typeof load>[1], reply, 'workspaceLoadClone'),
  )
}

function addContentRoutes(app: RoutesServer, deps: WorkspacesRoutesDeps): void {
  const { workspaces, sessions, createJob } = deps

  app.post(
    '/v2/storage/workspaces/:id/password',
    {
      config: {
        operation: 'workspaces.resetPassword',
        summary: 'Reset the password of a workspace; the old one stops working',
        needs: 'workspace',
      },
      schema: { params: ById, response: { 201: Type.Object({ password: Type.String() }) } },
    },
    async (req, reply) =>
      reply.code(201).send({
        password: await workspaces.resetPassword(await workspaces.get(scopeOf(req), req.params.id), byRequest(req)),
      }),
  )

  app.post(
    '/v2/storage/workspaces/:id/query',
    {
      config: { operation: 'workspaces.query', summary: 'Run one statement in a workspace', needs: 'workspace' },
      schema: {
        params: ById,
        body: Type.Object({ query: Type.String({ minLength: 1, description: 'One statement in the dialect of DuckDB.' }) }),
        response: { 200: Type.Unknown() },
      },
    },
    async (req) => {
      const scope = scopeOf(req)
      return deps.queryWorkspace(scope, await workspaces.get(scope, req.params.id), req.body.query)
    },
  )

  app.get(
    '/v2/storage/workspaces/:id/objects',
    {
      config: { operation: 'workspaces.objects', summary: 'Tables and views of a workspace', needs: 'workspace' },
      schema: {
        params: ById,
        response: {
          200: Type.Array(Type.Object({ name: Type.String(), type: Type.String({ description: 'table or view' }) })),
        },
      },
    },
    async (req) => {
      const scope = scopeOf(req)
      const workspace = await workspaces.get(scope, req.params.id)
      return sessions.use(scope, workspace, ({ session }) => objectsIn(session))
    },
  )

  app.post(
    '/v2/storage/workspaces/:id/objects/batch-delete',
    {
      config: { operation: 'workspaces.deleteObjects', summary: 'Drop tables and views of a workspace', needs: 'workspace' },
      schema: {
        params: ById,
        body: Type.Object({ objects: Type.Array(Type.String(), { description: 'Names of tables and views.' }) }),
        response: { 202: JobView },
      },
    },
    async (req, reply) => {
      const scope = scopeOf(req)
      const workspace = await workspaces.get(scope, req.params.id)
      const { objects } = req.body
      if (objects.length === 0) throw new PlatformError('validation.failed', { field: 'objects', reason: 'Name at least one.' })
      const input: DeleteObjectsInput = { workspaceId: workspace.id, objects, scope }
      const job = await createJob(req, {
        operationName: 'workspaceBatchDeleteObjects',
        operationParams: { workspaceId: workspace.id, objects },
        input,
        branchId: req.branch.id,
        lockKeys: [lockOf(workspace)],
      })
      return reply.code(202).send(jobView(job, req.baseUrl))
    },
  )
}

/** Jobs on one workspace run one after the other. */
const lockOf = ({ id }: Workspace): string => `workspace:${id}`
