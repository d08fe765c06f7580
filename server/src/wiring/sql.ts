// SQL over tables: the engine and the modules that open its sessions.

import { join } from 'node:path'
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import type { ObjectStore } from '../engines/object-store/object-store.ts'
import { createDatabaseFiles, createResultFiles } from '../engines/sql/database-files.ts'
import { createSqlEngine } from '../engines/sql/engine.ts'
import type { SqlEngineSettings } from '../engines/sql/sql-engine.ts'
import { addRoutes } from '../http/add-routes.ts'
import type { RequestLimits } from '../http/request-limits.ts'
import type { TlsPair } from '../http/tls.ts'
import type { Clock } from '../kit/clock.ts'
import { BACKEND } from '../model/backend.ts'
import type { ProjectLimits } from '../model/project-limits.ts'
import type { Scope } from '../model/scope.ts'
import { createSandboxTasks, SANDBOX_COMPONENT } from '../services/sandboxes/sandbox-tasks.ts'
import { sandboxesRoutes } from '../services/sandboxes/sandboxes.routes.ts'
import { createSandboxes } from '../services/sandboxes/sandboxes.ts'
import { createQueries } from '../services/sql/queries.ts'
import { queryRoutes } from '../services/sql/query.routes.ts'
import { createQueryExport, createSaveResult } from '../services/sql/result-files.ts'
import { createScripts } from '../services/sql/scripts.ts'
import { createSqlPort } from '../services/sql-port/sql-port.ts'
import type { StorageJobsLoop } from '../services/storage-jobs/storage-jobs.loop.ts'
import type { StorageJobs } from '../services/storage-jobs/storage-jobs.ts'
import { queryJobsRoutes } from '../services/workspaces/query-jobs.routes.ts'
import { createQueryJobs } from '../services/workspaces/query-jobs.ts'
import { workspaceCredentialsRoutes } from '../services/workspaces/workspace-credentials.routes.ts'
import { createWorkspaceCredentials } from '../services/workspaces/workspace-credentials.ts'
import { createWorkspaceJobs } from '../services/workspaces/workspace-jobs.ts'
import { createWorkspaceLoad } from '../services/workspaces/workspace-load.ts'
import { createLoadRequestReader } from '../services/workspaces/workspace-load-request.ts'
import { createObjectsDeletion } from '../services/workspaces/workspace-objects.ts'
import { createWorkspaceQuery } from '../services/workspaces/workspace-query.ts'
import { createWorkspaceSessions } from '../services/workspaces/workspace-sessions.ts'
import { createColumnValues, createTableExport, createWorkspaceUnload } from '../services/workspaces/workspace-unload.ts'
import { createWorkspaceViewer } from '../services/workspaces/workspace-view.ts'
import { createWorkspacesLoop } from '../services/workspaces/workspaces.loop.ts'
import { workspacesRoutes } from '../services/workspaces/workspaces.routes.ts'
import { createWorkspaces } from '../services/workspaces/workspaces.ts'
import type { ConfigurationModules } from './configurations.ts'
import type { Core } from './core.ts'
import type { TableModules } from './tables.ts'

export interface SqlModulesDeps extends Core {
  readonly clock: Clock
  readonly log: FastifyBaseLogger
  readonly objects: ObjectStore
  readonly dataDir: string
  readonly tables: TableModules
  readonly configurations: ConfigurationModules
  readonly jobs: StorageJobs
  readonly jobsLoop: StorageJobsLoop
  readonly backendName: (projectId: number) => Promise<string | undefined>
  /** Keeps bytes as a file of the project. */
  readonly saveFile: Parameters<typeof createSaveResult>[0]
  /** Those of the API: wrong passwords count as wrong tokens. */
  readonly limits: RequestLimits
  readonly tls: TlsPair | undefined
  /** A session of a project has ended; `runId` is that of the run it belonged to. */
  readonly onSession: (projectId: number, runId: string | null, ms: number) => void
  readonly limitsOf: (projectId: number) => Promise<ProjectLimits>
  readonly settings?: SqlSettings | undefined
}

export interface SqlSettings extends SqlEngineSettings {
  /** Most megabytes of a workspace. */
  readonly workspaceMb?: number
  /** Days without use after which a workspace is deleted. */
  readonly workspaceDays?: number
  /** Most workspaces of a project that has no limit of its own. */
  readonly workspacesPerProject?: number
  /** Most workspaces of a token that does not manage the project. */
  readonly workspacesPerToken?: number
}

export type SqlModules = Awaited<ReturnType<typeof createSqlModules>>

export async function createSqlModules(deps: SqlModulesDeps) {
  const { metadata, clock, log, objects, dataDir, tables, configurations, jobs, jobsLoop, settings = {} } = deps
  const { db, inTransaction } = metadata
  // On the disk of the objects, so that files are linked instead of copied.
  const scratchDir = join(dataDir, 'sql-scratch')
  const engine = await createSqlEngine({ openLocal: objects.openLocal, scratchDir, settings })
  const findTable = tables.sqlTables.find
  const ofProject = (projectId: number, ms: number) => deps.onSession(projectId, null, ms)
  const files = createDatabaseFiles(join(dataDir, 'workspaces'))
  const results = createResultFiles(join(dataDir, 'query-results'))

  const credentials = createWorkspaceCredentials({ db, inTransaction, clock, recordEvent: deps.events.record })
  const workspaces = createWorkspaces({
    credentials,
    db,
    inTransaction,
    clock,
    recordEvent: deps.events.record,
    backendName: deps.backendName,
    maxStatementSeconds: (settings.timeoutMs ?? 300_000) / 1000,
    removeFiles: (id) => sessions.removeFiles(id),
    maxOfProject: async (projectId) =>
      (await deps.limitsOf(projectId))['storage.maxWorkspaces'] ?? settings.workspacesPerProject ?? 200,
    maxOfToken: settings.workspacesPerToken ?? 20,
  })
  const sessions = createWorkspaceSessions({
    engine,
    files,
    quotaMb: settings.workspaceMb ?? 10_240,
    memoryMb: settings.memoryMb ?? 1536,
    findTable,
    used: workspaces.used,
    onSession: ofProject,
  })
  const queryJobs = createQueryJobs({ workspaces, sessions, results, jobs })
  jobsLoop.registerHandler('workspaceQuery', queryJobs.run)
  const backendName = async (projectId: number) => (await deps.backendName(projectId)) ?? BACKEND
  const loading = createWorkspaceLoad({
    workspaces,
    sessions,
    findTable,
    recordEvent: deps.events.record,
    partOf: tables.sqlTables.part,
  })
  const saveResult = createSaveResult(deps.saveFile)
  jobsLoop.registerHandler('queryExport', createQueryExport({ engine, findTable, saveResult, onSession: ofProject }))
  jobsLoop.registerHandler('workspaceTableExport', createTableExport(workspaces, sessions, saveResult))
  const { create, drop } = createWorkspaceJobs(workspaces, backendName, () => port.number())
  jobsLoop.registerHandler('workspaceCreate', create, 'light')
  jobsLoop.registerHandler('workspaceDrop', drop, 'light')
  jobsLoop.registerHandler('workspaceLoad', loading)
  jobsLoop.registerHandler('workspaceLoadClone', loading)
  jobsLoop.registerHandler('workspaceBatchDeleteObjects', createObjectsDeletion(workspaces, sessions))

  const sandboxes = createSandboxes({
    db,
    inTransaction,
    clock,
    recordEvent: deps.events.record,
    workspaces: {
      create: workspaces.create,
      resetPassword: async (projectId, id) => workspaces.resetPassword(await workspaces.find(projectId, id)),
      remove: async (projectId, id) => workspaces.remove({ projectId, id }),
    },
    encrypt: (projectId, value) => configurations.encryption.encryptBody(value, false, { projectId: String(projectId) }),
    decrypt: configurations.encryption.decryptForProject,
  })

  const port = createSqlPort({
    engine,
    tls: deps.tls,
    limits: deps.limits,
    authenticate: deps.tokens.authenticate,
    findActor: deps.tokens.findActor,
    findBranch: async (projectId, name) => configurations.branches.resolve(projectId, name),
    findWorkspace: workspaces.findById,
    isPassword: credentials.isPassword,
    now: () => clock.now(),
    mayUse: workspaces.mayUse,
    findTable,
    listTables: tables.sqlTables.list,
    useWorkspace: (scope, workspace, work, signal) => sessions.use(scope, workspace, ({ session }) => work(session), { signal }),
    onSession: ofProject,
    onBug: (err) => log.error({ err }, 'a statement of the PostgreSQL port failed by our fault'),
  })

  const runSandboxes = createSandboxTasks({
    sandboxes,
    readConfiguration: async ({ projectId, branchId }, configurationId) =>
      (await configurations.runAccess.find({ projectId, branchId, componentId: SANDBOX_COMPONENT, configurationId }))
        ?.configuration,
    saveConfiguration: async ({ actor, branchId, isDefaultBranch, runId }, configurationId, text) => {
      await configurations.configurations.update(
        { actor, branch: { id: branchId, isDefault: isDefaultBranch }, origin: { runId, remoteAddress: null, userAgent: null } },
        SANDBOX_COMPONENT,
        configurationId,
        { configuration: { text, value: JSON.parse(text) as unknown }, changeDescription: 'Sandbox made by a job' },
      )
    },
  })

  const view = createWorkspaceViewer(backendName, port.number)
  return {
    engine,
    port,
    workspaces,
    workspaceSessions: sessions,
    /** For the job runner. */
    runSandboxes,
    scripts: createScripts({
      engine,
      findTable,
      openPart: tables.sqlTables.ofRun,
      memoryMb: settings.memoryMb ?? 1536,
      onSession: deps.onSession,
    }),
    checkWorkspace: async (scope: Scope, workspaceId: number): Promise<void> => {
      await workspaces.get(scope, String(workspaceId))
    },
    openWorkspaceTable: createWorkspaceUnload(workspaces, sessions, scratchDir),
    readWorkspaceColumn: createColumnValues(workspaces, sessions),
    loop: createWorkspacesLoop({
      workspaces,
      files,
      results,
      removeExpired: sandboxes.removeExpired,
      clock,
      keepDays: settings.workspaceDays ?? 30,
      onError: (err) => log.error({ err }, 'the sweep of workspaces failed; it runs again later'),
    }),
    registerRoutes(app: FastifyInstance): void {
      addRoutes(
        app,
        queryJobsRoutes({
          queryJobs,
          workspaces,
          findBranch: async (projectId, name) => configurations.branches.resolve(projectId, name),
        }),
      )
      addRoutes(
        app,
        queryRoutes(createQueries({ engine, findTable, listTables: tables.sqlTables.list, onSession: ofProject }), jobs.create),
      )
      addRoutes(
        app,
        sandboxesRoutes({
          sandboxes,
          sqlPort: port.number,
          findBranch: configurations.branches.resolveOpen,
        }),
      )
      addRoutes(app, workspaceCredentialsRoutes({ workspaces, credentials, view }))
      addRoutes(
        app,
        workspacesRoutes({
          workspaces,
          sessions,
          createJob: jobs.create,
          view,
          queryWorkspace: createWorkspaceQuery(sessions),
          checkConfiguration: configurations.checkConfiguration,
          readLoadRequest: createLoadRequestReader({
            findBranch: async (projectId, name) => configurations.branches.resolve(projectId, name),
            checkPart: tables.sqlTables.part,
          }),
        }),
      )
    },
    close: async () => {
      await port.close()
      await engine.close()
    },
  }
}
