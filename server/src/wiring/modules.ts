// All modules of the platform in the order of their dependencies: read it from top to bottom to see which module uses which. What is
// called of a module that is created later is in `Later` or marked so.

import { loadavg } from 'node:os'
import { linkBaseUrl, thisMachine } from '../http/addresses.ts'
import type { RequestLimits } from '../http/request-limits.ts'
import { type LiveValues, withLive } from '../kit/live-values.ts'
import type { CheckLoad } from '../model/load-check.ts'
import { ROLES } from '../model/module.ts'
import { DEFAULT_WORKER, type WorkerSettings } from '../model/worker-settings.ts'
import { createAgentGuardsModule } from '../services/access/agent-guards/agent-guards.module.ts'
import { createAgentSignInModule } from '../services/access/agent-sign-in/agent-sign-in.module.ts'
import { createEncryptionModule } from '../services/access/encryption/encryption.module.ts'
import { createOauthModule } from '../services/access/oauth/oauth.module.ts'
import { createPeopleApiModule } from '../services/access/people/people-api.module.ts'
import { createTokensApiModule } from '../services/access/tokens/tokens-api.module.ts'
import { createVaultModule } from '../services/access/vault/vault.module.ts'
import { createBranchesModule } from '../services/configuration/branches/branches.module.ts'
import { createBranchesApiModule } from '../services/configuration/branches/branches-api.module.ts'
import { createComponentsModule } from '../services/configuration/components/components.module.ts'
import { createComponentsApiModule } from '../services/configuration/components/components-api.module.ts'
import { createConfigurationsModule } from '../services/configuration/configurations/configurations.module.ts'
import { createMergeRequestsModule } from '../services/configuration/merge-requests/merge-requests.module.ts'
import { createProposalsModule, type JobsOfProposals } from '../services/configuration/proposals/proposals.module.ts'
import { createTemplatesModule } from '../services/configuration/templates/templates.module.ts'
import { createAppsModule } from '../services/jobs/apps/apps.module.ts'
import { createFlowsModule } from '../services/jobs/flows/flows.module.ts'
import { createJobRunnerModule } from '../services/jobs/job-runner/job-runner.module.ts'
import { createProgramsModule } from '../services/jobs/job-runner/programs.module.ts'
import { createNotificationsModule } from '../services/jobs/notifications/notifications.module.ts'
import { createWatchesModule } from '../services/jobs/notifications/watches.module.ts'
import { createJobRecordsModule } from '../services/jobs/queue/job-records.module.ts'
import { createFlowQueue, createQueueModule } from '../services/jobs/queue/queue.module.ts'
import { createRegisteredServersModule } from '../services/jobs/registered-servers/registered-servers.module.ts'
import { createRehearsalsModule } from '../services/jobs/rehearsals/rehearsals.module.ts'
import { createSchedulerModule } from '../services/jobs/scheduler/scheduler.module.ts'
import { createSparkModule } from '../services/jobs/spark/spark.module.ts'
import { createSyncActionsModule } from '../services/jobs/sync-actions/sync-actions.module.ts'
import { createTriggersModule } from '../services/jobs/triggers/triggers.module.ts'
import { createDashboardsModule } from '../services/query/dashboards/dashboards.module.ts'
import { createFullTextSearchModule } from '../services/query/full-text-search/full-text-search.module.ts'
import { createGlobalSearchModule } from '../services/query/global-search/global-search.module.ts'
import { createIcebergModule } from '../services/query/iceberg/iceberg.module.ts'
import { createRunWorkspacesModule } from '../services/query/run-workspaces/run-workspaces.module.ts'
import { createSandboxesModule } from '../services/query/sandboxes/sandboxes.module.ts'
import { createSavedQueriesModule } from '../services/query/saved-queries/saved-queries.module.ts'
import { createSqlModule } from '../services/query/sql/sql.module.ts'
import { createSqlPortModule } from '../services/query/sql-port/sql-port.module.ts'
import { createWorkspacesModule } from '../services/query/workspaces/workspaces.module.ts'
import { createAiModule } from '../services/stack/ai/ai.module.ts'
import type { BackupsModule } from '../services/stack/backups/backups.module.ts'
import { createBackupsApiModule } from '../services/stack/backups/backups-api.module.ts'
import { createChangesApiModule } from '../services/stack/changes/changes-api.module.ts'
import { createConsoleModule } from '../services/stack/console/console.module.ts'
import { createEventsApiModule } from '../services/stack/events/events-api.module.ts'
import { createGuidesModule } from '../services/stack/guides/guides.module.ts'
import { createHealthModule } from '../services/stack/health-and-docs/health.module.ts'
import { createMcpModule } from '../services/stack/mcp/mcp.module.ts'
import { createNameRulesModule } from '../services/stack/name-rules/name-rules.module.ts'
import { createNodesModule } from '../services/stack/nodes/nodes.module.ts'
import { createOperationsModule } from '../services/stack/operations/operations.module.ts'
import { createSampleApiModule } from '../services/stack/sample-api/sample-api.module.ts'
import { createStackIndexModule } from '../services/stack/stack-index/stack-index.module.ts'
import { createUnavailableServicesModule } from '../services/stack/unavailable-services/unavailable-services.module.ts'
import { createBucketsModule } from '../services/storage/buckets/buckets.module.ts'
import { createBucketsApiModule } from '../services/storage/buckets/buckets-api.module.ts'
import { createDataTestsModule } from '../services/storage/data-tests/data-tests.module.ts'
import { createFilesModule } from '../services/storage/files/files.module.ts'
import { createFreshnessModule } from '../services/storage/lineage/freshness.module.ts'
import { createLineageModule } from '../services/storage/lineage/lineage.module.ts'
import type { ObjectsModule } from '../services/storage/s3/s3.module.ts'
import { createRunStatsModule } from '../services/storage/storage-jobs/run-stats.module.ts'
import { createStorageJobsModule } from '../services/storage/storage-jobs/storage-jobs.module.ts'
import { createStorageMetadataModule } from '../services/storage/storage-metadata/storage-metadata.module.ts'
import { createStreamsModule } from '../services/storage/streams/streams.module.ts'
import { createTableCommentsModule } from '../services/storage/table-comments/table-comments.module.ts'
import { createTableHistoryModule } from '../services/storage/table-history/table-history.module.ts'
import { createTableUsage } from '../services/storage/tables/table-usage.module.ts'
import { createTablesModule, type WorkspacesOfTables } from '../services/storage/tables/tables.module.ts'
import { createUsageModule } from '../services/storage/usage/usage.module.ts'
import type { OpenCore } from './core.ts'
import type { PlatformOptions } from './platform-options.ts'

export interface Foundation extends OpenCore {
  readonly live: LiveValues
  readonly objects: ObjectsModule
  readonly backups: BackupsModule
  readonly limits: RequestLimits
  readonly workerId: string
  readonly restoredAt: Date | undefined
  /** The address this node listens at. */
  readonly listeningOrigin: () => string
}

export type Modules = Awaited<ReturnType<typeof createModules>>

export async function createModules(options: PlatformOptions, foundation: Foundation) {
  const { publicUrl } = options
  const given: Given = {
    ...foundation,
    baseUrl: () => publicUrl ?? foundation.listeningOrigin(),
    worker: workerSettings(options, foundation.live),
  }
  const storage = await createStorageModules(options, given, {
    runningJobs: () => work.queue.running(),
    workspaces: {
      check: (...args) => work.workspaces.check(...args),
      openTable: (...args) => work.workspaces.openTable(...args),
      readColumn: (...args) => work.workspaces.readColumn(...args),
    },
    checkLoad: (candidate) => work.dataTests.check(candidate),
    jobs: { prepareLater: (...args) => work.queue.prepareLater(...args), wake: () => work.queue.wake() },
  })
  const work = await createWorkModules(options, given, storage)
  const surface = await createSurfaceModules(options, given, storage, work)
  const { events, changes, tokens, people, objects, backups } = foundation
  return { events, changes, tokens, people, objects, backups, ...storage, ...work, ...surface }
}

interface Given extends Foundation {
  readonly baseUrl: () => string
  readonly worker: WorkerSettings
}

/** What storage modules call of modules that are created after them. */
interface Later {
  readonly runningJobs: () => number
  readonly workspaces: WorkspacesOfTables
  readonly checkLoad: CheckLoad
  readonly jobs: Pick<JobsOfProposals, 'prepareLater' | 'wake'>
}

type StorageModules = Awaited<ReturnType<typeof createStorageModules>>
type WorkModules = Awaited<ReturnType<typeof createWorkModules>>

/** Configurations, files and tables, and what they need. */
async function createStorageModules(options: PlatformOptions, given: Given, later: Later) {
  const { core, events, tokens, people, keyRing, live, objects, workerId, worker, listeningOrigin } = given
  const { version, build = version, roles = ROLES, domain, publicUrl, smtpUrl } = options
  const { egressAllow } = worker

  const jobRecords = createJobRecordsModule({ core })
  const usage = createUsageModule({ core, tokens, people, findJob: jobRecords.find })
  const storageJobs = createStorageJobsModule({ core, workerId, storeWaitMs: worker.storeWaitMs })
  const nodes = createNodesModule({
    core,
    id: workerId,
    nodeName: options.nodeName,
    version: build,
    roles,
    labels: worker.labels,
    load: () => ({
      jobs: later.runningJobs(),
      slots: roles.includes('worker') ? worker.jobs : 0,
      storageJobs: storageJobs.running(),
      memoryBytes: process.memoryUsage.rss(),
      loadAverage: loadavg()[0]!, // of three
      clockDifferenceMs: core.metadata.clock.differenceMs(),
    }),
  })
  const componentsWorker = roles.includes('worker') ? workerId : undefined
  const { unknownComponents } = options
  const components = await createComponentsModule({ core, objects, keyRing, unknownComponents, worker: componentsWorker })
  const encryption = createEncryptionModule({ keyRing, components })
  const branches = createBranchesModule({ core })
  const configurations = createConfigurationsModule({ core, components, encryption, branches, tokens })
  const agentGuards = createAgentGuardsModule({ core, branches, configurations })
  const agentSignIn = createAgentSignInModule({ core, tokens, people, keyRing, egressAllow })
  const mergeRequests = createMergeRequestsModule({ core, branches, configurations, storageJobs, tokens })
  const proposals = createProposalsModule({
    ...{ core, agentGuards, encryption, tokens, jobRecords, components, branches, configurations, mergeRequests },
    jobs: { ...later.jobs, baseUrl: given.baseUrl },
  })
  const branchesApi = createBranchesApiModule({ core, branches, configurations, storageJobs })
  const componentsApi = createComponentsApiModule({ components, configurations })

  const files = createFilesModule({
    core,
    objects,
    tokens,
    usage,
    branches,
    storageJobs,
    egressAllow,
    storeWaitMs: worker.storeWaitMs,
  })
  const runStats = createRunStatsModule({ storageJobs, files })
  const eventsApi = createEventsApiModule({ events, files })
  const storageMetadata = createStorageMetadataModule({ core })
  const freshness = createFreshnessModule({ core })
  const tableUsage = createTableUsage(core)
  const buckets = createBucketsModule({ core, branches, tokens, people, storageMetadata, tableUsage })
  const tables = await createTablesModule({
    ...{
      core,
      objects,
      tokens,
      usage,
      branches,
      files,
      storageJobs,
      storageMetadata,
      freshness,
      buckets,
      configurations,
      eventsApi,
    },
    workspaces: later.workspaces,
    checkLoad: later.checkLoad,
    settings: withLive(options.tables ?? {}, live, { retentionDays: 'MILLRACE_TABLE_RETENTION_DAYS' }),
  })
  const bucketsApi = createBucketsApiModule({ buckets, tables, storageMetadata, storageJobs, eventsApi })
  const iceberg = createIcebergModule({ core, objects, tokens, branches, tables })
  const tokensApi = createTokensApiModule({ core, tokens, people, usage, tables, eventsApi, worker, region: options.region })
  const peopleApi = createPeopleApiModule({
    ...{ core, people, tokens, smtpUrl },
    oidc: options.oidc,
    linkBase: (requestUrl) =>
      linkBaseUrl(requestUrl, { publicUrl, domain, listening: listeningOrigin(), machine: thisMachine() }),
  })

  return {
    ...{
      jobRecords,
      usage,
      storageJobs,
      nodes,
      components,
      encryption,
      branches,
      configurations,
      agentGuards,
      agentSignIn,
      mergeRequests,
      proposals,
    },
    ...{ branchesApi, componentsApi, files, runStats, eventsApi, storageMetadata, freshness, buckets, tables, bucketsApi },
    ...{ iceberg, tokensApi, peopleApi },
  }
}

/** SQL, and everything that runs: jobs, flows, schedules, apps and streams. */
async function createWorkModules(options: PlatformOptions, given: Given, storage: StorageModules) {
  const { core, tokens, people, objects, limits, workerId, worker, restoredAt, baseUrl, listeningOrigin } = given
  const { jobRecords, usage, storageJobs, nodes, components, encryption, branches, configurations, files, eventsApi } = storage
  const { freshness, buckets, tables, iceberg } = storage
  const { domain, publicUrl, smtpUrl, tls } = options
  const { egressAllow } = worker

  const sqlSettings = options.sql ?? {}
  const sql = await createSqlModule({ core, objects, tables, files, storageJobs, usage, settings: sqlSettings })
  const savedQueries = createSavedQueriesModule({ core, sql })
  const tableHistory = createTableHistoryModule({ core, branches, tables, sql, baseUrl })
  const tableComments = createTableCommentsModule({ core, branches, buckets, tables })
  const lineage = createLineageModule({ core, freshness, components, configurations, tables, jobRecords })
  const dashboards = createDashboardsModule({ core, tokens, branches, savedQueries })
  const dataTests = await createDataTestsModule({
    ...{ core, objects, branches, buckets, tables, files, storageJobs, components, jobRecords, events: given.events, lineage },
    settings: sqlSettings,
  })
  const workspaces = createWorkspacesModule({
    ...{ core, tokens, usage, branches, configurations, storageJobs, tables, sql },
    sqlPort: () => sqlPort.number(), // later
    settings: sqlSettings,
  })
  const sqlPort = createSqlPortModule({ core, tokens, branches, tables, sql, workspaces, limits, tls })
  const sandboxes = createSandboxesModule({ core, tokens, branches, encryption, configurations, workspaces, sqlPort })

  const configured = { core, tokens, components, encryption, branches, configurations }
  const notifications = createNotificationsModule({ ...configured, egressAllow, smtpUrl, baseUrl })
  const oauth = createOauthModule({
    ...{ ...configured, people, egressAllow, baseUrl },
    corsOrigins: options.corsOrigins,
    manageToken: options.manageToken,
  })
  const vault = createVaultModule({ core, encryption, branches })
  const programs = createProgramsModule({ core, worker, trust: options.trust })
  const spark = createSparkModule({ core, tokens, programs, tables, iceberg, settings: options.spark })
  const sampleApi = createSampleApiModule({ core, isServed: options.sampleApi ?? true })
  const runWorkspaces = createRunWorkspacesModule({ sql, tables, workspaces, sqlPort })
  const jobRunner = createJobRunnerModule({
    ...{ ...configured, jobRecords, objects, files, tables, freshness, sql, sandboxes, oauth, vault, spark, programs, worker },
    ...{ runWorkspaces, dataTests },
    samplePlaces: () => sampleApi.places(listeningOrigin(), publicUrl),
  })
  const flows = createFlowsModule({
    ...{ core, components, encryption, branches, configurations, notifications },
    queue: createFlowQueue(() => queue.queue), // later
  })
  const queue = createQueueModule({
    ...{ ...configured, jobRecords, usage, nodes, eventsApi, flows, jobRunner, worker, workerId, restoredAt, domain },
    graceMs: options.graceMs ?? 0,
  })
  const syncActions = createSyncActionsModule({ components, branches, jobRunner, worker })
  const watches = createWatchesModule({ core, notifications, branches, tables, queue, flows, dashboards })
  const rehearsals = createRehearsalsModule({
    ...{ core, tokens, branches, components, configurations, storageJobs, tables, sql, lineage, jobRunner, queue },
    proposals: storage.proposals,
  })
  const triggers = createTriggersModule({ core, tokens, components, branches, tables, queue, baseUrl })
  const scheduler = createSchedulerModule({
    ...{ core, tokens, components, branches, configurations, notifications, queue, triggers, baseUrl },
  })
  const templates = await createTemplatesModule({
    ...{ core, encryption, branches, configurations, flows, scheduler, egressAllow, baseUrl },
    folders: options.templateFolders ?? [],
    repositories: options.templateRepositories ?? [],
    refreshMs: options.templateRefreshMs ?? 0,
  })
  const apps = createAppsModule({
    ...{ ...configured, people, objects, buckets, workspaces, sqlPort, programs, worker, baseUrl },
    settings: options.apps,
  })
  const streams = createStreamsModule({ core, encryption, branches, tables, baseUrl })
  const registeredServers = createRegisteredServersModule({ core, programs, servers: options.servers ?? {} })

  return {
    ...{
      sql,
      savedQueries,
      dashboards,
      dataTests,
      tableHistory,
      tableComments,
      workspaces,
      sqlPort,
      runWorkspaces,
      sandboxes,
      notifications,
      oauth,
      vault,
      programs,
      spark,
      sampleApi,
      jobRunner,
      flows,
    },
    ...{ queue, syncActions, watches, lineage, rehearsals, triggers, scheduler, templates, apps, streams, registeredServers },
  }
}

/** What people and operators see of all of it. */
async function createSurfaceModules(options: PlatformOptions, given: Given, storage: StorageModules, work: WorkModules) {
  const { core, events, changes, tokens, people, objects, backups, restoredAt } = given
  const { jobRecords, usage, storageJobs, nodes, components, componentsApi, branches, configurations, files } = storage
  const { buckets, tables } = storage
  const { queue, scheduler, sqlPort, templates } = work
  const { version, build = version, roles = ROLES, domain, tls } = options

  const search = createFullTextSearchModule({ people, jobRecords, components, configurations, files, tables, scheduler })
  const globalSearch = createGlobalSearchModule({ tokens, components, branches, configurations, buckets, tables })
  const changesApi = createChangesApiModule({ core, changes, components })
  const operations = createOperationsModule({
    ...{ core, events, objects, backups, nodes, components, storageJobs, queue, scheduler, restoredAt, tls },
    version: build,
  })
  const backupsApi = createBackupsApiModule({
    ...{ core, people, backups },
    work: options.backupWork,
    isPausedCopy: restoredAt !== undefined,
  })
  const health = createHealthModule({
    ...{ core, objects, backups, nodes, usage, files, storageJobs, tables, queue, scheduler, version },
    commit: options.commit,
    metricsToken: options.metricsToken,
    diskReserveBytes: options.diskReserveBytes ?? 0,
    isRestoredCopy: restoredAt !== undefined,
    isApi: roles.includes('api'),
  })
  const stackIndex = createStackIndexModule({ componentsApi, sqlPort, revision: build, domain })
  const unavailableServices = createUnavailableServicesModule()
  const nameRules = createNameRulesModule()
  const guides = createGuidesModule({ version })
  const mcp = createMcpModule({
    ...{ clock: core.clock, guides, version, guards: storage.agentGuards, agentSignIn: storage.agentSignIn },
    recordLater: events.recordRead,
    callsPerDay: options.agentCallsPerDay,
    origins: [...options.corsOrigins, ...(options.publicUrl === undefined ? [] : [options.publicUrl])],
  })
  const ai = createAiModule({
    ...{ core, guides, components, templates, settings: options.ai },
    budget: storage.agentGuards.budget,
    recordLater: events.recordRead,
  })
  const console = await createConsoleModule({ objects })

  return {
    ...{
      search,
      globalSearch,
      changesApi,
      operations,
      backupsApi,
      health,
      stackIndex,
      unavailableServices,
      nameRules,
      guides,
      mcp,
      ai,
      console,
    },
  }
}

/** What can be changed while the stack runs is read each time. */
const workerSettings = (options: PlatformOptions, live: LiveValues) =>
  withLive({ ...DEFAULT_WORKER, ...options.worker }, live, {
    jobs: 'MILLRACE_WORKER_JOBS',
    projectJobs: 'MILLRACE_PROJECT_JOBS',
    attempts: 'MILLRACE_JOB_ATTEMPTS',
    actions: 'MILLRACE_ACTIONS',
    projectActions: 'MILLRACE_PROJECT_ACTIONS',
    diskBytes: 'MILLRACE_RUN_DISK_BYTES',
    results: 'MILLRACE_RUN_RESULTS',
  })
