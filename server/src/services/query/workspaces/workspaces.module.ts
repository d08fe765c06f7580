import { join } from 'node:path'
import { createDatabaseFiles, createResultFiles } from '../../../engines/sql/database-files.ts'
import { DEFAULT_LIMITS } from '../../../kit/default-limits.ts'
import { BACKEND } from '../../../model/backend.ts'
import type { Core } from '../../../model/core.ts'
import { defineModule } from '../../../model/module.ts'
import type { Scope } from '../../../model/scope.ts'
import type { TokensModule } from '../../access/tokens/tokens.module.ts'
import type { BranchesModule } from '../../configuration/branches/branches.module.ts'
import type { ConfigurationsModule } from '../../configuration/configurations/configurations.module.ts'
import type { StorageJobsModule } from '../../storage/storage-jobs/storage-jobs.module.ts'
import type { TablesModule } from '../../storage/tables/tables.module.ts'
import type { UsageModule } from '../../storage/usage/usage.module.ts'
import type { SqlModule } from '../sql/sql.module.ts'
import { queryJobsRoutes } from './query-jobs.routes.ts'
import { createQueryJobs } from './query-jobs.ts'
import { workspaceCredentialsRoutes } from './workspace-credentials.routes.ts'
import { createWorkspaceCredentials } from './workspace-credentials.ts'
import { createWorkspaceJobs } from './workspace-jobs.ts'
import { createWorkspaceLoad } from './workspace-load.ts'
import { createLoadRequestReader } from './workspace-load-request.ts'
import { createObjectsDeletion } from './workspace-objects.ts'
import { createWorkspaceQuery } from './workspace-query.ts'
import { createWorkspaceSessions } from './workspace-sessions.ts'
import { createColumnValues, createTableExport, createWorkspaceUnload } from './workspace-unload.ts'
import { createWorkspaceViewer } from './workspace-view.ts'
import { createWorkspacesLoop } from './workspaces.loop.ts'
import { workspacesRoutes } from './workspaces.routes.ts'
import { createWorkspacesStore } from './workspaces.store.ts'
import { createWorkspaces } from './workspaces.ts'

export interface WorkspaceSettings {
  /** Max megabytes of a workspace. */
  readonly workspaceMb?: number
  /** Days without use after which a workspace is deleted. */
  readonly workspaceDays?: number
  /** Max workspaces of a project that has no limit of its own. */
  readonly workspacesPerProject?: number
  /** Max workspaces of a token that does not manage the project. */
  readonly workspacesPerToken?: number
  /** Max milliseconds of a statement. */
  readonly timeoutMs?: number
}

export interface WorkspacesModuleDeps {
  readonly core: Core
  readonly tokens: TokensModule
  readonly usage: UsageModule
  readonly branches: BranchesModule
  readonly configurations: ConfigurationsModule
  readonly storageJobs: StorageJobsModule
  readonly tables: TablesModule
  readonly sql: SqlModule
  /** Of the PostgreSQL port, which is created later; undefined while it does not listen. */
  readonly sqlPort: () => number | undefined
  readonly settings: WorkspaceSettings
}

export type WorkspacesModule = ReturnType<typeof createWorkspacesModule>

export function createWorkspacesModule(deps: WorkspacesModuleDeps) {
  const { core, tokens, usage, branches, configurations, storageJobs, tables, sql, sqlPort } = deps
  const settings = { ...DEFAULT_LIMITS.workspaces, ...DEFAULT_LIMITS.sql, ...deps.settings }
  const { db, inTransaction, clock, log, recordEvent, publish, dataDir } = core
  const { find: findTable, part } = tables.sqlTables
  const files = createDatabaseFiles(join(dataDir, 'workspaces'))
  const results = createResultFiles(join(dataDir, 'query-results'))
  const backendName = async (projectId: number) => (await tokens.backendName(projectId)) ?? BACKEND

  const credentials = createWorkspaceCredentials({
    db,
    inTransaction,
    clock,
    recordEvent,
    setLoginType: createWorkspacesStore(db).setLoginType,
  })
  const workspaces = createWorkspaces({
    credentials,
    db,
    inTransaction,
    clock,
    recordEvent,
    backendName: tokens.backendName,
    hasToken: async (projectId, tokenId) => (await tokens.findActor(projectId, tokenId)) !== undefined,
    maxStatementSeconds: settings.timeoutMs / 1000,
    removeFiles: (id) => sessions.removeFiles(id),
    maxOfProject: async (projectId) =>
      (await usage.limitsOf(projectId))['storage.maxWorkspaces'] ?? settings.workspacesPerProject,
    maxOfToken: settings.workspacesPerToken,
  })
  const sessions = createWorkspaceSessions({
    engine: sql.engine,
    files,
    quotaMb: settings.workspaceMb,
    memoryMb: sql.memoryMb,
    findTable,
    used: workspaces.used,
    onSession: sql.onSession,
  })
  const queryJobs = createQueryJobs({ workspaces, sessions, results, jobs: storageJobs })
  const load = createWorkspaceLoad({ workspaces, sessions, findTable, recordEvent, exported: usage.port.exported, partOf: part })
  const jobs = createWorkspaceJobs(workspaces, backendName, sqlPort)
  const view = createWorkspaceViewer(backendName, sqlPort)
  const loop = createWorkspacesLoop({
    workspaces,
    files,
    results,
    removeExpired: () => publish('workspaces.sweeping'),
    clock,
    keepDays: settings.workspaceDays,
    onError: (err) => log.error({ err }, 'the sweep of workspaces failed; it runs again later'),
  })

  return defineModule({
    name: 'workspaces',
    routes: [
      queryJobsRoutes({ queryJobs, workspaces, findBranch: branches.findByName }),
      workspaceCredentialsRoutes({ workspaces, credentials, view }),
      workspacesRoutes({
        workspaces,
        sessions,
        createJob: storageJobs.create,
        view,
        queryWorkspace: createWorkspaceQuery(sessions, backendName),
        checkConfiguration: configurations.checkReadable,
        readLoadRequest: createLoadRequestReader({ findBranch: branches.findByName, checkPart: part }),
      }),
    ],
    jobHandlers: {
      workspaceQuery: queryJobs.run,
      workspaceTableExport: createTableExport(workspaces, sessions, sql.saveResult),
      workspaceLoad: load,
      workspaceLoadClone: load,
      workspaceBatchDeleteObjects: createObjectsDeletion(workspaces, sessions),
    },
    lightJobHandlers: { workspaceCreate: jobs.create, workspaceDrop: jobs.drop },
    background: [{ role: 'worker', start: loop.start, stop: loop.stop }],
    ...workspaces,
    workspaces,
    sessions,
    isPassword: credentials.isPassword,
    describeLogin: credentials.describeLogin,
    /** As the API shows it; undefined when it was deleted. */
    describe: async (projectId: number, id: number, baseUrl: string) => {
      const found = await createWorkspacesStore(db).find(projectId, id)
      return found && view(found, baseUrl)
    },
    check: async (scope: Scope, workspaceId: number): Promise<void> => {
      await workspaces.getForUnload(scope, workspaceId)
    },
    openTable: createWorkspaceUnload(workspaces, sessions, sql.scratchDir),
    readColumn: createColumnValues(workspaces, sessions),
    loop,
  })
}
