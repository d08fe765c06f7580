// The record of a workspace as clients read it (spec storage 2.9.2). Times have exactly the layout that the Go client parses.

import { Type } from 'typebox'
import { formatTimestamp } from '../../../kit/clock.ts'
import { defined } from '../../../kit/defined.ts'
import { BACKEND } from '../../../model/backend.ts'
import type { Workspace } from './workspaces.store.ts'

export const WorkspaceView = Type.Object(
  {
    id: Type.Integer(),
    type: Type.Literal('table'),
    name: Type.String(),
    component: Type.Union([Type.String(), Type.Null()]),
    configurationId: Type.Union([Type.String(), Type.Null()]),
    configurationVersion: Type.Union([Type.Integer(), Type.Null()]),
    created: Type.String(),
    connection: Type.Object({
      backend: Type.String(),
      host: Type.String(),
      port: Type.Optional(Type.Integer({ description: 'Connection for PostgreSQL clients, if the port is enabled.' })),
      database: Type.String(),
      schema: Type.String(),
      region: Type.Optional(Type.String({ description: 'Of a project that reports another backend.' })),
      warehouse: Type.Optional(Type.String({ description: 'Of a project that reports snowflake.' })),
      user: Type.String(),
      loginType: Type.String(),
      ssoLoginAvailable: Type.Boolean(),
      password: Type.Optional(Type.String({ description: 'Returned only when the workspace or the credentials are created.' })),
      credentials: Type.Optional(Type.Object({ id: Type.Integer() }, { description: 'Of a further password.' })),
    }),
    backendSize: Type.Union([Type.String(), Type.Null()]),
    statementTimeoutSeconds: Type.Integer(),
    creatorToken: Type.Object({ id: Type.Integer(), description: Type.String() }),
    readOnlyStorageAccess: Type.Boolean(),
    platformUsageType: Type.String(),
  },
  { title: 'Workspace' },
)

export const SNOWFLAKE = 'snowflake'

const userOf = (workspaceId: number): string => `workspace_${workspaceId}`

export interface WorkspaceViewContext {
  readonly backend: string
  readonly baseUrl: string
  readonly password?: string | undefined
  readonly credentials?: { readonly id: number } | undefined
  /** Of the PostgreSQL port; undefined when it is off. */
  readonly port?: number | undefined
}

export const workspaceView = (
  workspace: Workspace,
  { backend, baseUrl, password, credentials, port }: WorkspaceViewContext,
): Type.Static<typeof WorkspaceView> => ({
  id: workspace.id,
  type: 'table',
  name: userOf(workspace.id),
  component: workspace.componentId,
  configurationId: workspace.configurationId,
  configurationVersion: workspace.configurationVersion,
  created: formatTimestamp(workspace.createdAt),
  connection: {
    backend,
    host: new URL(baseUrl).hostname,
    ...defined({ port }),
    database: 'workspace',
    schema: 'main',
    user: userOf(workspace.id),
    ...(backend !== BACKEND && { region: 'local' }),
    ...(backend === SNOWFLAKE && { warehouse: 'MILLRACE' }),
    loginType: backend === SNOWFLAKE && workspace.loginType === 'default' ? 'snowflake-legacy-service' : workspace.loginType,
    ssoLoginAvailable: false,
    ...defined({ password, credentials }),
  },
  backendSize: workspace.backendSize ?? (backend === SNOWFLAKE ? 'small' : null),
  statementTimeoutSeconds: workspace.statementTimeoutSeconds,
  creatorToken: { id: workspace.creator.tokenId, description: workspace.creator.description },
  readOnlyStorageAccess: workspace.readOnlyStorageAccess,
  platformUsageType: workspace.configurationId === null ? 'user' : 'service',
})

/** With what the stack reports of itself. */
export type ViewWorkspace = ReturnType<typeof createWorkspaceViewer>

export const createWorkspaceViewer =
  (backendName: (projectId: number) => Promise<string>, sqlPort: () => number | undefined) =>
  async (workspace: Workspace, baseUrl: string, shown: Pick<WorkspaceViewContext, 'password' | 'credentials'> = {}) =>
    workspaceView(workspace, { backend: await backendName(workspace.projectId), baseUrl, port: sqlPort(), ...shown })
