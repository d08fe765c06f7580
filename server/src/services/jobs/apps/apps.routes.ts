// HTTP for data apps, at the addresses `data-science` and `sandboxes` (spec platform 6.4).

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { Nullable, numberedId, Offset, optionalFlag, optionalText } from '../../../http/parameters.ts'
import { formatTimestamp } from '../../../kit/clock.ts'
import { PlatformError } from '../../../kit/errors.ts'
import type { RoutesServer } from '../../../model/module.ts'
import { appPath, linkPath, repositoryPath } from './app-paths.ts'
import type { RunRow } from './apps.store.ts'
import type { App, AppCaller, Apps } from './apps.ts'
import type { GitCredentialRow } from './repositories.store.ts'
import type { Repositories } from './repositories.ts'

export interface AppsRoutesDeps {
  readonly apps: Apps
  readonly repositories: Pick<Repositories, 'createCredential' | 'listCredentials' | 'removeCredential'>
  readonly findBranch: (
    projectId: number,
    name: string,
  ) => Promise<{ readonly id: number; readonly isDefault: boolean } | undefined>
}

const BranchName = Type.Optional(
  Type.Union([Type.String(), Type.Integer()], { description: 'Id of the branch; the default branch if omitted.' }),
)
const CreateBody = Type.Object({
  type: Type.Optional(
    Type.String({
      maxLength: 60,
      description: 'Runtime: `node` (default), `python`, `streamlit`, `jupyter`, or `python-js` (the code of a git repository).',
      examples: ['node'],
    }),
  ),
  name: Type.Optional(Type.String({ maxLength: 255, description: 'Name of the created configuration.' })),
  description: optionalText('Description of the created configuration.'),
  branchId: BranchName,
  useManagedGitRepo: optionalFlag('True: the stack hosts a git repository for the code, and the app runs its latest commit.'),
  componentId: Type.Optional(
    Type.String({ maxLength: 255, description: 'A component of the type data-app; keboola.data-apps if omitted.' }),
  ),
  configId: Type.Optional(Type.String({ maxLength: 255, description: 'An existing configuration; by default one is created.' })),
  config: Type.Optional(
    Type.Record(Type.String(), Type.Unknown(), {
      description:
        'The created configuration: `parameters` with `script` or `dataApp.git`, `size`, `autoSuspendAfterSeconds`, `dataApp.secrets`.',
      examples: [{ parameters: { script: "import { createServer } from 'node:http'\n..." } }],
    }),
  ),
})
const ChangeBody = Type.Object({
  desiredState: Type.Optional(
    Type.Union([Type.Literal('running'), Type.Literal('stopped')], {
      description:
        '`running` deploys a version of the configuration and starts it, `stopped` stops it until the next deployment.',
    }),
  ),
  configVersion: Type.Optional(
    Type.Union([Type.String(), Type.Integer()], { description: 'Version to deploy; the latest if omitted.' }),
  ),
  restartIfRunning: optionalFlag('Whether to restart an app that already runs this version.'),
  updateDependencies: optionalFlag('Accepted for compatibility; has no effect, because no packages are installed.'),
})
const LinkBody = Type.Object({
  expiresInSeconds: Type.Optional(
    Type.Integer({ minimum: 60, maximum: 86_400, description: 'Validity of the link in seconds; 12 hours if omitted.' }),
  ),
})
const ListQuery = Type.Object({
  offset: Offset,
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 500, description: 'Maximum number of items; 100 by default.' })),
  componentId: optionalText('Only apps of this component.'),
  type: Type.Optional(
    Type.Union([Type.String(), Type.Array(Type.String())], {
      description: 'Only apps of these types: node, python, streamlit, jupyter, python-js.',
    }),
  ),
  branchId: optionalText('Only apps of this branch.'),
})
const TailQuery = Type.Object({
  lines: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, description: 'Number of lines; 100 by default.' })),
  since: optionalText('Only lines since this time (ISO 8601).'),
})
const RunsQuery = Type.Object({
  offset: Offset,
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, description: 'Maximum number of items; 50 by default.' })),
})
const ById = Type.Object({ id: numberedId('app') })
const AppView = Type.Object(
  {
    id: Type.String(),
    projectId: Type.String(),
    componentId: Type.String(),
    branchId: Type.String(),
    configId: Type.String(),
    configVersion: Type.String(),
    latestConfigVersion: Type.String(),
    name: Type.String(),
    type: Type.String(),
    size: Nullable(Type.String()),
    state: Type.String(),
    desiredState: Type.String(),
    url: Type.String(),
    autoSuspendAfterSeconds: Type.Integer(),
    autoRestartEnabled: Type.Boolean(),
    provisioningStrategy: Type.String(),
    createdTimestamp: Type.String(),
    lastRequestTimestamp: Nullable(Type.String()),
    lastStartTimestamp: Nullable(Type.String()),
  },
  { title: 'DataApp' },
)
const RunView = Type.Object(
  {
    id: Type.String(),
    appId: Type.String(),
    state: Type.String(),
    configVersion: Type.String(),
    node: Type.String(),
    startTimestamp: Type.String(),
    endTimestamp: Nullable(Type.String()),
    reason: Nullable(Type.String()),
    createdAt: Type.String(),
    startedAt: Type.String(),
    stoppedAt: Nullable(Type.String()),
    failureReason: Nullable(Type.Object({ reason: Type.String(), message: Type.String() })),
  },
  { title: 'DataAppRun' },
)
const RepositoryView = Type.Object(
  { sshUrl: Nullable(Type.String()), httpsUrl: Nullable(Type.String()), isManagedGitRepo: Type.Boolean() },
  { title: 'DataAppRepository' },
)
const Permission = Type.Union([Type.Literal('readWrite'), Type.Literal('readOnly')], {
  description: 'Permission; `readWrite` if omitted.',
})
const CredentialBody = Type.Object({
  type: Type.Optional(
    Type.Literal('http_token', {
      description: 'Only a password for git over HTTP is supported, no SSH keys.',
    }),
  ),
  name: Type.Optional(Type.String({ maxLength: 255, description: 'Purpose, shown in the list of credentials.' })),
  permissions: Type.Optional(Permission),
  expiresInSeconds: Type.Optional(
    Type.Integer({ minimum: 60, maximum: 31_536_000, description: 'Validity in seconds; 90 days if omitted.' }),
  ),
})
const CredentialParams = Type.Object({ id: numberedId('app'), credentialId: numberedId('credential') })
const CredentialView = Type.Object(
  {
    id: Type.String(),
    type: Type.String(),
    name: Type.String(),
    permissions: Type.String(),
    ownerAdminId: Nullable(Type.String()),
    createdAt: Type.String(),
    expiresAt: Type.String(),
  },
  { title: 'GitCredential' },
)
const CreatedCredentialView = Type.Object(
  { ...CredentialView.properties, secret: Type.String() },
  { title: 'CreatedGitCredential' },
)
const LinkView = Type.Object({ url: Type.String(), expiresAt: Type.String() }, { title: 'DataAppLink' })
const PreviewLinkView = Type.Object({ url: Type.String(), linkExpiresAt: Type.String() }, { title: 'DataAppPreviewLink' })
/** The link is part of every address of the app, so it has to last as long as the visit. */
const PREVIEW_SECONDS = 4 * 3600
/** Two names of one service, and one name for each operation. */
const ADDRESSES = { sandboxes: 'sandboxes', 'data-science': 'dataScience' } as const

/** The path and the name of its operations. */
type Service = readonly [path: string, name: string]

interface AppCalls extends Pick<AppsRoutesDeps, 'apps' | 'repositories'> {
  /** In the branch of this id; in the default branch without one. */
  readonly callerOf: (req: FastifyRequest, branchId?: string | number) => Promise<AppCaller>
}

export function appsRoutes({ apps, repositories, findBranch }: AppsRoutesDeps): FastifyPluginAsyncTypebox {
  async function callerOf({ actor, origin }: FastifyRequest, branchId: string | number = 'default'): Promise<AppCaller> {
    const branch = await findBranch(actor.projectId, String(branchId))
    if (!branch) throw new PlatformError('notFound', { what: `Branch "${String(branchId).slice(0, 60)}"` })
    return { actor, branch, origin }
  }
  const calls = { apps, repositories, callerOf }

  return async (app) => {
    for (const service of Object.entries(ADDRESSES)) {
      addAppRoutes(app, service, calls)
      addRepositoryRoutes(app, service, calls)
      addLogAndLinkRoutes(app, service, calls)
    }
  }
}

function addAppRoutes(app: RoutesServer, [address, name]: Service, { apps, callerOf }: AppCalls): void {
  app.post(
    `/${address}/apps`,
    {
      config: {
        operation: `${name}.createApp`,
        summary: 'Create a data app: a configuration with a program that serves pages',
        needs: 'component',
      },
      schema: { body: CreateBody, response: { 201: AppView } },
    },
    async (req, reply) => {
      const { branchId, ...wanted } = req.body
      return reply.code(201).send(appView(await apps.create(await callerOf(req, branchId), wanted), req.baseUrl))
    },
  )

  app.get(
    `/${address}/apps`,
    {
      config: { operation: `${name}.listApps`, summary: 'Data apps of the project', needs: 'token' },
      schema: { querystring: ListQuery, response: { 200: Type.Array(AppView) } },
    },
    async (req) => {
      const { offset = 0, limit = 100, componentId, type, branchId } = req.query
      const branch = branchId === undefined ? undefined : (await callerOf(req, branchId)).branch.id
      const found = await apps.list(req.actor, { offset, limit, componentId, branchId: branch })
      const types = type === undefined ? undefined : [type].flat()
      return found.map((one) => appView(one, req.baseUrl)).filter((one) => types === undefined || types.includes(one.type))
    },
  )

  app.get(
    `/${address}/apps/:id`,
    {
      config: { operation: `${name}.getApp`, summary: 'A data app', needs: 'component' },
      schema: { params: ById, response: { 200: AppView } },
    },
    async (req) => appView(await apps.get(req.actor, req.params.id), req.baseUrl),
  )

  app.patch(
    `/${address}/apps/:id`,
    {
      config: { operation: `${name}.changeApp`, summary: 'Deploy or stop a data app', needs: 'component' },
      schema: { params: ById, body: ChangeBody, response: { 200: AppView } },
    },
    async (req) => appView(await apps.change(await callerOf(req), req.params.id, req.body), req.baseUrl),
  )

  app.delete(
    `/${address}/apps/:id`,
    {
      config: {
        operation: `${name}.deleteApp`,
        summary: 'Delete a data app; its configuration goes to the trash',
        needs: 'component',
      },
      schema: { params: ById, response: { 204: Type.Null() } },
    },
    async (req, reply) => {
      await apps.remove(await callerOf(req), req.params.id)
      return reply.code(204).send(null)
    },
  )

  app.get(
    `/${address}/apps/:id/runs`,
    {
      config: {
        operation: `${name}.listAppRuns`,
        summary: 'Latest runs of a data app, newest first',
        needs: 'component',
      },
      schema: { params: ById, querystring: RunsQuery, response: { 200: Type.Array(RunView) } },
    },
    async (req) => {
      const { offset = 0, limit = 50 } = req.query
      return (await apps.runs(req.actor, req.params.id)).slice(offset, offset + limit).map(runView)
    },
  )

  app.get(
    `/${address}/apps/:id/password`,
    {
      config: {
        operation: `${name}.appPassword`,
        summary: 'The password that opens the data app without an account',
        needs: 'component',
        role: 'editor',
        answersCredentials: true,
      },
      schema: { params: ById, response: { 200: Type.Object({ password: Type.String() }) } },
    },
    async (req) => ({ password: await apps.password(req, req.params.id) }),
  )
}

function addRepositoryRoutes(app: RoutesServer, [address, name]: Service, { apps, repositories }: AppCalls): void {
  app.get(
    `/${address}/apps/:id/git-repo`,
    {
      config: {
        operation: `${name}.appRepository`,
        summary: 'The git repository with the code of a data app',
        needs: 'component',
      },
      schema: { params: ById, response: { 200: RepositoryView } },
    },
    async (req) => {
      const { id } = req.params
      const address = await apps.repositoryOf(req.actor, id)
      return repositoryView(address ?? `${req.baseUrl}${repositoryPath(id)}`, address === undefined)
    },
  )

  app.post(
    `/${address}/apps/:id/git-repo/credentials`,
    {
      config: {
        operation: `${name}.createAppGitCredential`,
        summary: 'Create a credential for the hosted git repository of a data app; returns its secret once',
        needs: 'component',
      },
      schema: { params: ById, body: CredentialBody, response: { 201: CreatedCredentialView } },
    },
    async (req, reply) => {
      const { row, secret } = await repositories.createCredential(req, req.params.id, req.body)
      return reply
        .code(201)
        .header('cache-control', 'no-store')
        .send({ ...credentialView(row), secret })
    },
  )

  app.get(
    `/${address}/apps/:id/git-repo/credentials`,
    {
      config: {
        operation: `${name}.listAppGitCredentials`,
        summary: 'List credentials of the git repository, without secrets',
        needs: 'component',
      },
      schema: { params: ById, response: { 200: Type.Array(CredentialView) } },
    },
    async (req) => (await repositories.listCredentials(req.actor, req.params.id)).map(credentialView),
  )

  app.delete(
    `/${address}/apps/:id/git-repo/credentials/:credentialId`,
    {
      config: {
        operation: `${name}.deleteAppGitCredential`,
        summary: 'Revoke a credential of the repository',
        needs: 'component',
      },
      schema: { params: CredentialParams, response: { 204: Type.Null() } },
    },
    async (req, reply) => {
      await repositories.removeCredential(req, req.params.id, req.params.credentialId)
      return reply.code(204).send(null)
    },
  )
}

function addLogAndLinkRoutes(app: RoutesServer, [address, name]: Service, { apps }: AppCalls): void {
  app.get(
    `/${address}/apps/:id/logs/tail`,
    {
      config: {
        operation: `${name}.tailAppLog`,
        summary: 'The last log lines of a data app',
        needs: 'component',
        produces: ['text/plain'],
      },
      schema: { params: ById, querystring: TailQuery, response: { 200: Type.String() } },
    },
    async (req, reply) => {
      const lines = await apps.tail(req.actor, req.params.id, req.query.lines ?? 100, sinceOf(req.query.since))
      const text = lines
        .map(({ at, level, text: said }) => `${new Date(at).toISOString()} ${level.toUpperCase()} ${said}\n`)
        .join('')
      return reply.type('text/plain; charset=utf-8').send(text)
    },
  )

  app.post(
    `/${address}/apps/:id/links`,
    {
      config: {
        operation: `${name}.createAppLink`,
        onlyReads: true,
        answersCredentials: true,
        summary: 'Create a link that opens the data app for anyone who has it, for some hours',
        needs: 'component',
      },
      schema: { params: ById, body: LinkBody, response: { 201: LinkView } },
    },
    async (req, reply) => {
      const row = await apps.find(req.actor, req.params.id)
      const { value, expiresAt } = await apps.createLink(req, row, req.body.expiresInSeconds)
      return reply.code(201).send({ url: `${req.baseUrl}${linkPath(row.id, value)}`, expiresAt: expiresAt.toISOString() })
    },
  )

  app.post(
    `/${address}/apps/:id/preview-link`,
    {
      config: {
        operation: `${name}.createAppPreviewLink`,
        onlyReads: true,
        answersCredentials: true,
        summary: 'A link that opens the data app for four hours, in the format for agents',
        needs: 'component',
      },
      schema: { params: ById, response: { 201: PreviewLinkView } },
    },
    async (req, reply) => {
      const row = await apps.find(req.actor, req.params.id)
      const { value, expiresAt } = await apps.createLink(req, row, PREVIEW_SECONDS)
      const linkExpiresAt = expiresAt.toISOString()
      return reply.code(201).send({ url: `${req.baseUrl}${linkPath(row.id, value)}`, linkExpiresAt })
    },
  )
}

function sinceOf(text: string | undefined): Date | undefined {
  if (text === undefined || text === '') return undefined
  const at = new Date(text)
  if (Number.isNaN(at.getTime()))
    throw new PlatformError('validation.failed', { field: 'since', reason: `"${text.slice(0, 60)}" is not a time of ISO 8601.` })
  return at
}

const appView = ({ row, state, name, latestVersion, type, settings }: App, baseUrl: string): Type.Static<typeof AppView> => ({
  id: String(row.id),
  projectId: String(row.project_id),
  componentId: row.component_id,
  branchId: String(row.branch_id),
  configId: row.configuration_id,
  configVersion: String(row.config_version ?? latestVersion),
  latestConfigVersion: String(latestVersion),
  name,
  type,
  size: settings?.size ?? null,
  state,
  desiredState: row.desired_state,
  url: `${baseUrl}${appPath(row.id)}/`,
  autoSuspendAfterSeconds: row.auto_suspend_seconds,
  autoRestartEnabled: row.auto_restart === 1,
  provisioningStrategy: 'process',
  createdTimestamp: formatTimestamp(new Date(row.created_at)),
  lastRequestTimestamp: timestamp(row.last_request_at),
  lastStartTimestamp: timestamp(row.last_start_at),
})

const runView = (run: RunRow): Type.Static<typeof RunView> => ({
  id: String(run.id),
  appId: String(run.app_id),
  state: run.state,
  configVersion: String(run.config_version),
  node: run.node,
  startTimestamp: formatTimestamp(new Date(run.started_at)),
  endTimestamp: timestamp(run.ended_at),
  reason: run.reason,
  // The same by the names that clients of the data-science service read.
  createdAt: formatTimestamp(new Date(run.started_at)),
  startedAt: formatTimestamp(new Date(run.started_at)),
  stoppedAt: timestamp(run.ended_at),
  failureReason: run.state === 'failed' ? { reason: 'RunFailed', message: run.reason ?? '' } : null,
})

const repositoryView = (repository: string, isManagedGitRepo: boolean): Type.Static<typeof RepositoryView> => {
  const isHttp = /^https?:/.test(repository)
  return { sshUrl: isHttp ? null : repository, httpsUrl: isHttp ? repository : null, isManagedGitRepo }
}

const credentialView = (row: GitCredentialRow): Type.Static<typeof CredentialView> => ({
  id: String(row.id),
  type: 'http_token',
  name: row.name,
  permissions: row.permissions,
  ownerAdminId: null,
  createdAt: formatTimestamp(new Date(row.created_at)),
  expiresAt: formatTimestamp(new Date(row.expires_at)),
})

const timestamp = (at: number | null): string | null => (at === null ? null : formatTimestamp(new Date(at)))
