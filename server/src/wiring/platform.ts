// The wiring: builds each module and hands it what it needs. No rules here; read it top to bottom to know who talks to whom.

import { randomUUID } from 'node:crypto'
import { hostname, loadavg } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { FastifyInstance } from 'fastify'
import { egressPolicyFrom } from '../../../contract/egress-rules.ts'
import { diskSpaceOf } from '../engines/data-dir/data-dir.ts'
import { createDiskRoom } from '../engines/data-dir/disk-room.ts'
import { readDrill } from '../engines/data-dir/drill-record.ts'
import { nodeIdOf } from '../engines/data-dir/node-id.ts'
import { createEgress } from '../engines/egress/egress.ts'
import type { GitAddress } from '../engines/git/fetch-repository.ts'
import { createGuideFolder } from '../engines/guide-folder/guide-folder.ts'
import type { MetadataDb } from '../engines/metadata-db/metadata-db.ts'
import type { Isolation } from '../engines/runner/isolation.ts'
import { readStaticFiles } from '../engines/static-files/static-files.ts'
import type { Trust } from '../engines/tls/trust.ts'
import { addRoutes } from '../http/add-routes.ts'
import { linkBaseUrl, SERVICE_IDS, type ServiceId, thisMachine } from '../http/addresses.ts'
import { clientAddresses } from '../http/client-address.ts'
import { collectRoutes } from '../http/openapi.ts'
import { createRequestLimits, NO_LIMITS, type RequestLimitSettings } from '../http/request-limits.ts'
import { createHttpServer } from '../http/server.ts'
import type { TlsPair } from '../http/tls.ts'
import type { Clock } from '../kit/clock.ts'
import { createEventLoopWatch } from '../kit/event-loop-watch.ts'
import { type BackgroundPart, startInOrder, stopInReverse } from '../kit/lifecycle.ts'
import { createLiveValues, withLive } from '../kit/live-values.ts'
import type { Log } from '../kit/log.ts'
import type { StackSetting } from '../model/stack-setting.ts'
import type { InstanceSettings } from '../services/apps/instances.ts'
import { type Backups, createBackups } from '../services/backups/backups.ts'
import { createChangeFeed } from '../services/changes/change-feed.ts'
import { changesRoutes } from '../services/changes/changes.routes.ts'
import type { UnknownComponents } from '../services/components/components.ts'
import { consoleRoutes } from '../services/console/console.routes.ts'
import { eventViews, type FileStates } from '../services/events/event-view.ts'
import { eventsRoutes } from '../services/events/events.routes.ts'
import { createFetchFile } from '../services/files/fetch-file.ts'
import { fileHeadRoutes } from '../services/files/file-head.routes.ts'
import { createFileHeads } from '../services/files/file-head.ts'
import { createFileSlices } from '../services/files/file-slices.ts'
import { fileView } from '../services/files/file-view.ts'
import { createFilesLoop, type FilesLoop } from '../services/files/files.loop.ts'
import { filesRoutes } from '../services/files/files.routes.ts'
import { createFiles, type Files } from '../services/files/files.ts'
import { importerRoutes } from '../services/files/importer.routes.ts'
import { createRunFiles } from '../services/files/run-files.ts'
import { guidesRoutes } from '../services/guides/guides.routes.ts'
import { createGuides } from '../services/guides/guides.ts'
import { elsewhereRoutes, pagesRoutes, probesRoutes } from '../services/health-and-docs/health-and-docs.routes.ts'
import { createMetrics } from '../services/health-and-docs/metrics.ts'
import { createStoreProbe } from '../services/health-and-docs/store-probe.ts'
import { icebergRoutes } from '../services/iceberg/iceberg.routes.ts'
import { createRunRule } from '../services/job-runner/content-rule.ts'
import { nameRulesRoutes } from '../services/name-rules/name-rules.routes.ts'
import { nodesRoutes } from '../services/nodes/nodes.routes.ts'
import { createNodesStore } from '../services/nodes/nodes.store.ts'
import { createNodes } from '../services/nodes/nodes.ts'
import { operationsRoutes } from '../services/operations/operations.routes.ts'
import { settingsRoutes } from '../services/operations/settings.routes.ts'
import { createSettingsStore } from '../services/operations/settings.store.ts'
import { createSettings } from '../services/operations/settings.ts'
import { createStatus } from '../services/operations/status.ts'
import type { People } from '../services/people/people.ts'
import { DEFAULT_SESSIONS } from '../services/people/sessions.ts'
import { createOwnMlflow } from '../services/registered-servers/own-mlflow.ts'
import { registeredServersRoutes } from '../services/registered-servers/registered-servers.routes.ts'
import { createRegisteredServers, type ServerAddresses } from '../services/registered-servers/registered-servers.ts'
import { sampleApiRoutes } from '../services/sample-api/sample-api.routes.ts'
import { createSampleApi } from '../services/sample-api/sample-api.ts'
import type { SparkSettings } from '../services/spark/spark-scripts.ts'
import { stackIndexRoutes } from '../services/stack-index/stack-index.routes.ts'
import { runStatsRoutes } from '../services/storage-jobs/run-stats.routes.ts'
import { createStorageJobsLoop } from '../services/storage-jobs/storage-jobs.loop.ts'
import { storageJobsRoutes } from '../services/storage-jobs/storage-jobs.routes.ts'
import { createStorageJobs, type StorageJobs } from '../services/storage-jobs/storage-jobs.ts'
import { tokensRoutes } from '../services/tokens/tokens.routes.ts'
import type { Tokens } from '../services/tokens/tokens.ts'
import { unavailableServicesRoutes } from '../services/unavailable-services/unavailable-services.routes.ts'
import type { Usage } from '../services/usage/usage.ts'
import { createAppModules } from './apps.ts'
import { createConfigurationModules } from './configurations.ts'
import { type CoreOptions, openCore } from './core.ts'
import { createLineageModules } from './lineage.ts'
import { createNotificationModules } from './notifications.ts'
import { createOauthModules } from './oauth.ts'
import { type ExternalS3, type Objects, openObjectStore } from './object-store.ts'
import { createPeopleModules, type OidcOptions } from './people.ts'
import { createQueueModules, DEFAULT_WORKER, type WorkerSettings } from './queue.ts'
import { createScheduleModules } from './schedules.ts'
import { registerSearch, registerWordSearch } from './search.ts'
import { createSqlModules, type SqlModules, type SqlSettings } from './sql.ts'
import { createStreamModules } from './streams.ts'
import { createTableModules, type TableModules, type TableSettings } from './tables.ts'
import { createTemplateModules } from './templates.ts'
import { createUsageModules } from './usage.ts'

const ROLES = ['api', 'worker', 'scheduler'] as const
type Role = (typeof ROLES)[number]

export interface PlatformOptions extends CoreOptions {
  readonly log: Log
  readonly version: string
  /** Of the sources that run; left out where it is not known. */
  readonly commit?: string | undefined
  /** What components need to trust the stack's own authority. */
  readonly trust?: Trust | undefined
  /** Version and commit; the version when left out. */
  readonly build?: string
  readonly publicUrl?: string | undefined
  readonly domain?: string | undefined
  readonly region: string
  readonly bucket: string
  /** The address clients use for the embedded object store, when it is not the host of the API. */
  readonly s3PublicUrl?: string | undefined
  readonly externalS3?: ExternalS3 | undefined
  /** Both listeners over TLS with HTTP/2; plain HTTP without it. */
  readonly tls?: TlsPair | undefined
  readonly bodyLimitBytes: number
  readonly maintenance?: { readonly reason: string } | undefined
  readonly corsOrigins: readonly string[]
  /** Set: the stack is a copy, and the one it was copied from may still run. Nothing starts by itself, and nothing goes out. */
  readonly restoredAt?: Date | undefined
  /** Left out: everybody who reaches the stack reads the metrics. */
  readonly metricsToken?: string | undefined
  /** Where people sign in with a provider; left out: with passwords and links only. */
  readonly oidc?: OidcOptions | undefined
  /** Left out: nobody is limited. */
  readonly requestLimits?: RequestLimitSettings
  /** Not ready when the disk with the data folder has less. */
  readonly diskReserveBytes?: number
  /** Proxies whose X-Forwarded-For is believed. */
  readonly trustedProxies?: readonly string[]
  /** What people call this node; the name of its machine when left out. */
  readonly nodeName?: string | undefined
  /** What this node does; everything by default. */
  readonly roles?: readonly Role[]
  readonly worker?: Partial<WorkerSettings>
  /** Whether the sample shop is served; it is when left out. */
  readonly sampleApi?: boolean
  /** Where mail is sent through; without it none is. */
  readonly smtpUrl?: string | undefined
  /** Servers beside the stack: Spark and MLflow. */
  /** The cluster of `platform.spark-sql`, and what its drivers run with. */
  readonly spark?: SparkSettings | undefined
  readonly servers?: ServerAddresses | undefined
  /** Who presents it manages the OAuth providers; without it nobody does. */
  readonly manageToken?: string | undefined
  /** Folders of templates besides the one that comes with the stack. */
  readonly templateFolders?: readonly string[] | undefined
  /** And git repositories of templates, fetched now and then; 0: only when somebody asks for it. */
  readonly templateRepositories?: readonly GitAddress[] | undefined
  readonly templateRefreshMs?: number | undefined
  /** How much tables may take; the defaults of the table engine where nothing is said. */
  readonly tables?: TableSettings | undefined
  /** How many data apps run, and how long they may take to start. */
  readonly apps?: Partial<InstanceSettings> | undefined
  /** How much SQL may take; the defaults of the SQL engine where nothing is said. */
  readonly sql?: SqlSettings | undefined
  /** Configurations of components that the stack does not know; refused when left out. */
  readonly unknownComponents?: UnknownComponents | undefined
  /** What the environment says, for those who run the stack to read and, in part, to change. */
  readonly settings?: readonly StackSetting[]
  /** How long running work may finish when the platform closes. */
  readonly graceMs?: number
}

export interface Platform {
  readonly app: FastifyInstance
  readonly metadata: MetadataDb
  /** The time of the stack: on PostgreSQL that of the database. */
  readonly clock: Clock
  readonly tokens: Tokens
  readonly people: People
  readonly objects: Objects
  readonly files: Files
  readonly filesLoop: FilesLoop
  /** How components that are commands are isolated on this node. */
  isolation(): Promise<Isolation>
  readonly backups: Backups
  /** A restored copy in which nothing starts by itself. */
  readonly isPausedCopy: boolean
  /** What is wrong with the descriptions in the components folder, by file. */
  componentProblems(): readonly string[]
  /** The address clients reach the object store at; empty until it listens. */
  s3Url(): string
  /** On an empty stack: makes the first project and answers its master token. Undefined ever after. */
  firstStart(masterToken: string | undefined): Promise<string | undefined>
  readonly storageJobs: StorageJobs
  /** Tests drive schedules by its tick. */
  readonly schedulerLoop: { tick(now: Date): Promise<number> }
  /** And scheduled merges by this one. */
  readonly mergeRequestsLoop: { tick(): Promise<void> }
  /** And deleted projects by this one. */
  readonly projectsLoop: { tick(): Promise<void> }
  readonly lastUseLoop: { tick(): Promise<void> }
  /** And new components by this one. */
  readonly componentsLoop: { tick(): Promise<void> }
  /** Tells of tables that are late by then; answers how many. */
  readonly tellLateTables: (now: Date) => Promise<number>
  readonly tableModules: TableModules
  readonly sqlModules: SqlModules
  readonly usage: Usage
  /** Takes no more jobs and waits for those that run; the API goes on. Answers how many still run after `maxMs`. */
  drain(maxMs: number): Promise<number>
  /** Starts the background loops; until then nothing runs by itself. */
  start(): Promise<void>
  close(): Promise<void>
}

const hoursToMs = (hours: number): number => hours * 3_600_000

/** Where the build of the console is. */
const CONSOLE_FOLDER = fileURLToPath(new URL('../../../console/dist', import.meta.url))

/** Services that exist; the others are described by unavailable-services. */
const BUILT: ReadonlySet<ServiceId> = new Set<ServiceId>([
  'billing',
  'data-science',
  'editor',
  'docker-runner',
  'encryption',
  'iceberg',
  'import',
  'mlflow',
  'notification',
  'oauth',
  'query',
  'queue',
  'sandboxes',
  'scheduler',
  'spark',
  'stream',
  'sync-actions',
  'syrup',
  'templates',
  'vault',
])

export async function createPlatform(options: PlatformOptions): Promise<Platform> {
  const { version, build = version, log } = options
  const has = (role: Role): boolean => options.roles?.includes(role) ?? true

  const live = createLiveValues()
  const givenLimits = { ...NO_LIMITS, ...options.requestLimits }
  const requestLimits = withLive(givenLimits, live, {
    perAddress: 'MILLRACE_RATE_PER_ADDRESS',
    perToken: 'MILLRACE_RATE_PER_TOKEN',
    wrongTokens: 'MILLRACE_WRONG_TOKENS',
  })
  const core = await openCore({
    ...options,
    sessions: withLive(options.sessions ?? DEFAULT_SESSIONS, live, {
      idleMs: ['MILLRACE_SESSION_IDLE_HOURS', hoursToMs],
      maxMs: ['MILLRACE_SESSION_HOURS', hoursToMs],
    }),
  })
  await core.keyRing.check()
  const { metadata, events, tokens, clock } = core
  const { db, inTransaction } = metadata
  const initialLogLevel = log.level
  const settings = createSettings({
    store: createSettingsStore(db),
    known: options.settings ?? [],
    live,
    clock,
    log,
    inTransaction,
    recordEvent: events.record,
    sourceOf: core.people.asStackAdminOfOldest,
    apply: {
      MILLRACE_LOG_LEVEL: (level) => {
        log.level = String(level ?? initialLogLevel)
      },
    },
    onChange: () => metadata.hints.send('settings'),
  })
  await settings.look()
  const workerId = randomUUID()
  const lease = has('worker') ? await metadata.holdWorkerLease(workerId) : undefined

  const backups = createBackups({ db, clock })
  const limits = createRequestLimits(requestLimits, clock)
  const s3Limits = createRequestLimits(requestLimits, clock) // uploads count for themselves
  const clientOf = clientAddresses(options.trustedProxies ?? [])
  const objects = await openObjectStore({
    ...options,
    publicUrl: options.s3PublicUrl,
    external: options.externalS3,
    keeping: backups.keeping,
    limits: { waitOf: (message) => s3Limits.address(clientOf(message))?.seconds },
    clock,
  })
  const { store, access } = objects
  const restoredAt = options.restoredAt ?? (await backups.restoredAt())

  // Modules
  const usageModules = createUsageModules({
    ...core,
    clock,
    log,
    tablesOf: (projectId, at) => tableModules.tables.usageOfProject(projectId, at),
    filesOf: (projectId, at) => files.store.usageOfProject(projectId, at),
    findJob: (projectId, id, at) => queueModules.queue.find(projectId, id, at),
    asStackAdmin: core.people.asStackAdmin,
  })
  const files = createFiles({
    db,
    inTransaction,
    clock,
    objects: store,
    access,
    recordEvent: events.record,
    providerOf: core.tokens.fileProviderOf,
    usage: usageModules.usage.port,
  })
  const filesLoop = createFilesLoop({
    files,
    objects: store,
    inTransaction,
    clock,
    onError: (err) => log.error({ err }, 'the sweep of files failed; it runs again later'),
  })

  const peopleModules = createPeopleModules({
    core,
    clock,
    log,
    files,
    oidc: options.oidc,
    smtpUrl: options.smtpUrl,
    linkBase: (asked) =>
      linkBaseUrl(asked, {
        publicUrl: options.publicUrl,
        domain: options.domain,
        listening: app.listeningOrigin,
        machine: thisMachine(),
      }),
    removeTracking: (projectId) => ownMlflow.removeProject(projectId),
  })

  const fileStates: FileStates = (actor, ids, baseUrl) => files.statesOf(actor, ids, access.endpointFor(baseUrl))

  const storageJobs = createStorageJobs({ db, inTransaction, clock })
  const storageJobsLoop = createStorageJobsLoop({
    jobs: storageJobs,
    inTransaction,
    clock,
    log,
    onlyNode: metadata.dialect === 'sqlite',
    worker: workerId,
  })
  storageJobs.internal.onCreated.add(() => metadata.hints.send('storage'))
  storageJobs.internal.onFinished.add(() => metadata.hints.send('storage-ended'))
  const configurationModules = await createConfigurationModules({
    ...core,
    dataDir: options.dataDir,
    objects: store,
    unknownComponents: options.unknownComponents,
    worker: lease && workerId,
    clock,
    log,
    createJob: storageJobs.create,
    insertJob: storageJobs.insert,
    wakeJobs: storageJobs.wake,
    checkContent: (place, configurationId, configuration) => queueModules.checkFlow(place, configurationId, configuration),
    contentRules: [
      ({ actor, branch }, { componentId, configurationId }, _content, text) =>
        queueModules.flowProblems({ projectId: actor.projectId, branchId: branch.id, componentId }, configurationId, text),
      ({ actor }, { componentId }, content) => scheduleModules.contentRule(actor.projectId, componentId, content),
      ({ actor, branch }, _place, content) => runRule({ actor, branch }, content),
    ],
    nextRunsOf: (actor, componentId, configurationId) => scheduleModules.nextRunsOf(actor, componentId, configurationId),
    afterBranchRemoval: files.removeBytesOfBranch,
    emptyBranch: (trx, branch) => tableModules.emptyBranch(trx, branch.projectId, branch.id),
  })
  const runRule = createRunRule({
    tableExists: (scope, id) => tableModules.tables.exists(scope, id),
    componentExists: (id) => configurationModules.components.find(id) !== undefined,
  })
  storageJobsLoop.registerHandler('fileDelete', files.runDelete, 'light')
  for (const [operation, run] of Object.entries(configurationModules.jobs))
    storageJobsLoop.registerHandler(operation, run, 'light')
  const backendName = async (projectId: number) => (await tokens.findProject(projectId))?.settings.backend
  const tableModules = await createTableModules({
    db,
    inTransaction,
    clock,
    log,
    recordEvent: events.record,
    objects: store,
    access,
    authenticate: async (token) => tokens.authenticate(token),
    scratchDir: join(options.dataDir, 'table-scratch'),
    files,
    jobs: storageJobs,
    jobsLoop: storageJobsLoop,
    configurationsNaming: configurationModules.configurationsNaming,
    defaultBranchId: async (projectId) => (await configurationModules.branches.get(projectId, 'default')).id,
    findBranch: async (projectId, name) => configurationModules.branches.resolve(projectId, name),
    findProject: tokens.findProject,
    backendName,
    workspaces: {
      check: (scope, workspaceId) => sqlModules.checkWorkspace(scope, workspaceId),
      openTable: (...table) => sqlModules.openWorkspaceTable(...table),
      readColumn: (...column) => sqlModules.readWorkspaceColumn(...column),
    },
    usage: usageModules.usage.port,
    freshnessAt: (place) => lineageModules.freshnessAt(place),
    settings: withLive(options.tables ?? {}, live, { retentionDays: 'MILLRACE_TABLE_RETENTION_DAYS' }),
    bucketPermissions: { forget: tokens.forgetBucket, forgotten: tokens.forgetKnown },
    findAdmin: tokens.findAdmin,
    findAdminOfStack: async (user) => (await core.people.findAdmin(user)) ?? tokens.findMaster(user),
    listEvents: async (actor, query, scope, baseUrl) =>
      eventViews(await events.list(actor, query, scope), { actor, baseUrl }, fileStates),
  })
  const lineageModules = createLineageModules({
    ...core,
    clock,
    log,
    canonicalId: configurationModules.components.canonicalId,
    getTable: tableModules.tables.get,
    placeOf: tableModules.tables.placeOf,
    aliases: tableModules.tables.listAliases,
  })
  const sqlModules = await createSqlModules({
    ...core,
    clock,
    log,
    objects: store,
    dataDir: options.dataDir,
    tables: tableModules,
    configurations: configurationModules,
    jobs: storageJobs,
    jobsLoop: storageJobsLoop,
    backendName,
    limits,
    limitsOf: usageModules.usage.limitsOf,
    tls: options.tls,
    onSession: usageModules.onSession,
    saveFile: async ({ actor, branch }, name, bytes, origin) =>
      (await files.upload(actor, name, bytes, async () => ({ name, branch }), origin)).id,
    settings: options.sql,
  })
  const worker = withLive({ ...DEFAULT_WORKER, ...options.worker }, live, {
    jobs: 'MILLRACE_WORKER_JOBS',
    projectJobs: 'MILLRACE_PROJECT_JOBS',
    attempts: 'MILLRACE_JOB_ATTEMPTS',
    actions: 'MILLRACE_ACTIONS',
    projectActions: 'MILLRACE_PROJECT_ACTIONS',
    diskBytes: 'MILLRACE_RUN_DISK_BYTES',
    results: 'MILLRACE_RUN_RESULTS',
  })
  const sample = createSampleApi({ clock, isServed: options.sampleApi ?? true })
  const baseUrl = () => options.publicUrl ?? app.listeningOrigin
  const notificationModules = createNotificationModules({
    ...core,
    clock,
    log,
    configurations: configurationModules,
    egressAllow: worker.egressAllow,
    smtpUrl: options.smtpUrl,
    baseUrl,
    runningJobs: (projectIds) => queueModules.runningJobs(projectIds),
    runningPhases: (projectIds) => queueModules.runningPhases(projectIds),
    unchangedTables: async (projectId, range) =>
      tableModules.tables.listUnchanged(projectId, await configurationModules.branches.defaultId(projectId), range),
    diskSpace: () => diskSpaceOf(options.dataDir),
  })
  const fileSlices = createFileSlices(store, access)
  const fetchFile = createFetchFile({
    open: createEgress({ policy: egressPolicyFrom(worker.egressAllow) }).open,
    upload: files.upload,
  })
  const oauthModules = createOauthModules({
    ...core,
    dataDir: options.dataDir,
    clock,
    log,
    configurations: configurationModules,
    egressAllow: worker.egressAllow,
    corsOrigins: options.corsOrigins,
    manageToken: options.manageToken,
    baseUrl,
  })
  const queueModules = createQueueModules({
    ...core,
    dataDir: options.dataDir,
    clock,
    log,
    domain: options.domain,
    configurations: configurationModules,
    tables: tableModules.runTables,
    sql: sqlModules.scripts,
    spark: options.spark,
    runNamespace: tableModules.runNamespace,
    sandboxes: sqlModules.runSandboxes,
    files: createRunFiles({ files, access, slices: fileSlices, objects: store }),
    oauth: oauthModules.forRuns,
    workerId,
    notifications: notificationModules.outbox,
    worker,
    projectLimits: usageModules.usage.jobLimits,
    hasWorkerWith: (trx, labels) => nodes.hasWorkerWith(trx, labels),
    onJobEnd: async (trx, job) => {
      await notificationModules.outbox.jobEnded(trx, job)
      await usageModules.usage.jobEnded(trx, job)
    },
    objectStoreUrl: objects.url,
    trust: options.trust,
    samplePlaces: () => sample.places(app.listeningOrigin, options.publicUrl),
  })
  const ownMlflow = createOwnMlflow({
    runner: queueModules.runner,
    python: options.servers?.mlflowPython,
    folder: join(options.dataDir, 'mlflow'),
  })
  const scheduleModules = createScheduleModules({
    ...core,
    clock,
    log,
    configurations: configurationModules,
    queueModules,
    tableModules,
    notifications: notificationModules.outbox,
    baseUrl,
  })
  const templateModules = await createTemplateModules({
    ...core,
    clock,
    log,
    configurations: configurationModules,
    queueModules,
    scheduleModules,
    folders: options.templateFolders ?? [],
    repositories: options.templateRepositories ?? [],
    refreshMs: options.templateRefreshMs ?? 0,
    egressAllow: worker.egressAllow,
    dataDir: options.dataDir,
    baseUrl,
  })
  const appModules = createAppModules({
    ...core,
    dataDir: options.dataDir,
    clock,
    log,
    configurations: configurationModules,
    queueModules,
    worker,
    settings: options.apps,
    objects: store,
    sqlPort: sqlModules.port.number,
    workspaces: sqlModules.workspaces,
    baseUrl,
  })
  const streamModules = createStreamModules({
    ...core,
    dataDir: options.dataDir,
    clock,
    log,
    configurations: configurationModules,
    tables: tableModules.runTables,
    baseUrl,
  })
  const changeFeed = createChangeFeed({
    store: core.changes.store,
    clock,
    canonicalId: configurationModules.components.canonicalId,
    onError: (err) => log.error({ err }, 'changes could not be read; they are looked at again'),
  })
  const nodes = createNodes({
    store: createNodesStore(db),
    dataFolder: nodeIdOf(options.dataDir),
    clock,
    node: {
      id: workerId,
      name: options.nodeName ?? hostname(),
      version: build,
      roles: options.roles ?? ROLES,
      labels: worker.labels,
    },
    load: () => ({
      jobs: queueModules.running(),
      slots: has('worker') ? worker.jobs : 0,
      storageJobs: storageJobsLoop.running(),
      memoryBytes: process.memoryUsage.rss(),
      loadAverage: loadavg()[0]!, // of three
      clockDifferenceMs: metadata.clock.differenceMs(),
    }),
    onError: (err) => log.warn({ err }, 'this node could not say that it is there; it tries again'),
  })
  const diskRoom = createDiskRoom({ dataDir: options.dataDir, reserveBytes: options.diskReserveBytes ?? 0, clock })
  let isClosing = false
  let isDraining = false
  const storeProbe = createStoreProbe({ ask: () => store.list({ prefix: 'tables/', limit: 1 }) })
  const metrics = createMetrics({
    version,
    workloads: { jobs: queueModules.queue.workload, storage: storageJobs.workload },
    lostJobs: queueModules.lost,
    scheduleLagMs: scheduleModules.lagMs,
    clockDifferenceMs: metadata.clock.differenceMs,
    isObjectStoreUp: storeProbe.isUp,
    nodes: nodes.byRole,
    databaseConnections: metadata.connections,
    areSchedulesPaused: restoredAt !== undefined,
    lastBackupAt: backups.lastGoodAt,
    disk: () => diskSpaceOf(options.dataDir),
    storageBytes: { files: files.store.totalBytes, tables: tableModules.tables.totalBytes },
    tableWork: tableModules.engine.workload,
    usage: usageModules.usage.totals,
  })

  const eventLoop = createEventLoopWatch({
    onDelay: metrics.eventLoopDelayed,
    onLongDelay: (delay) => log.warn(delay, 'the event loop was held; all other requests waited'),
  })

  // HTTP
  const app = createHttpServer({
    log,
    tls: options.tls,
    bodyLimitBytes: options.bodyLimitBytes,
    maintenance: options.maintenance,
    corsOrigins: options.corsOrigins,
    limits,
    trustedProxies: options.trustedProxies ?? [],
    publicUrl: options.publicUrl,
    domain: options.domain,
    authenticate: tokens.authenticate,
    people: core.people.finder,
    findBranch: configurationModules.branches.resolve,
    isBranchLocked: configurationModules.isMerging,
    databaseVersion: metadata.version,
    upgrades: appModules.upgrades,
    onRead: events.recordRead,
    running: eventLoop,
    onFinished: (request) => {
      metrics.requestFinished(request)
      diskRoom.requestFinished(request)
      log.request(request)
    },
  })
  const routes = collectRoutes(app)
  const consoleFiles = await readStaticFiles(CONSOLE_FOLDER)
  addRoutes(
    app,
    probesRoutes({
      version,
      commit: options.commit,
      problems: async () => {
        await db.selectNoFrom((e) => e.lit(1).as('one')).execute()
        return [
          ...(isClosing || isDraining ? ['it is stopping'] : []),
          ...(await diskRoom.problems()),
          ...(await storeProbe.problems()),
        ]
      },
      metrics: metrics.read,
      metricsToken: options.metricsToken,
    }),
  )
  const registerApi = () => {
    addRoutes(app, pagesRoutes({ version, routes, component: configurationModules.components.find }))
    addRoutes(app, consoleRoutes({ files: consoleFiles, s3Url: objects.url }))
    addRoutes(app, guidesRoutes(createGuides(createGuideFolder())))
    addRoutes(
      app,
      stackIndexRoutes({
        revision: build,
        domain: options.domain,
        sqlPort: sqlModules.port.number,
        components: configurationModules.publishedComponents,
      }),
    )
    addRoutes(app, unavailableServicesRoutes(SERVICE_IDS, BUILT))
    addRoutes(
      app,
      tokensRoutes({
        tokens,
        region: options.region,
        limits: {
          get 'components.jobsParallelism'() {
            return worker.jobs
          },
        },
        limitsOf: usageModules.usage.limitsOf,
        usageOf: tableModules.tables.usageOfProject,
        eventsOfToken: async (req, tokenId, query) =>
          eventViews(await events.list(req.actor, query, { branch: req.branch, tokenId }), req, fileStates),
      }),
    )
    peopleModules.registerRoutes(app)
    addRoutes(app, eventsRoutes(events, fileStates))
    addRoutes(
      app,
      operationsRoutes({
        now: clock.now,
        listAudit: events.listOfStack,
        status: createStatus({
          version,
          clock,
          disk: () => diskSpaceOf(options.dataDir),
          database: { dialect: metadata.dialect, ask: () => db.selectNoFrom((e) => e.lit(1).as('one')).execute() },
          objectStore: () => store.list({ prefix: 'tables/', limit: 1 }),
          workloads: { jobs: queueModules.queue.workload, storage: storageJobs.workload },
          clocks: nodes.clocks,
          lastBackupAt: backups.lastGoodAt,
          restoredAt,
          lastDrill: () => readDrill(options.dataDir),
          scheduleLagMs: scheduleModules.lagMs,
          stoppedSchedules: scheduleModules.stopped,
          componentProblems: configurationModules.components.problems,
          certificate: () => options.tls?.current().cert,
        }),
      }),
    )
    addRoutes(app, settingsRoutes(settings))
    addRoutes(app, nodesRoutes(nodes))
    addRoutes(app, nameRulesRoutes)
    addRoutes(app, registeredServersRoutes(createRegisteredServers(options.servers ?? {}, ownMlflow)))
    addRoutes(app, storageJobsRoutes(storageJobs, clock))
    addRoutes(
      app,
      runStatsRoutes({
        jobs: storageJobs,
        filesOfRun: (actor, runId) => files.list(actor, { runId, limit: 10_000, showExpired: true }),
      }),
    )
    configurationModules.registerRoutes(app)
    registerSearch(app, core, configurationModules, tableModules)
    registerWordSearch(app, core, configurationModules, tableModules, { file: files.findNamed, schedule: scheduleModules.find })
    tableModules.registerRoutes(app)
    sqlModules.registerRoutes(app)
    app.register(icebergRoutes(tableModules.catalogue))
    addRoutes(app, filesRoutes({ files, access, createJob: storageJobs.create }))
    addRoutes(app, fileHeadRoutes({ heads: createFileHeads({ getFile: files.get, slices: fileSlices, objects: store }) }))
    addRoutes(
      app,
      importerRoutes({
        uploadFile: async ({ actor, origin, baseUrl }, { filename, body, fields }) => {
          const file = await files.upload(actor, filename, body, fields, origin)
          return fileView(file, files.link(file, access.endpointFor(baseUrl)), access.region)
        },
        getBranch: configurationModules.branches.get,
        fetchFile: async ({ actor, origin, baseUrl }, body, gone) => {
          const file = await fetchFile(actor, body, origin, gone)
          return fileView(file, files.link(file, access.endpointFor(baseUrl)), access.region)
        },
      }),
    )
    queueModules.registerRoutes(app)
    scheduleModules.registerRoutes(app)
    notificationModules.registerRoutes(app)
    streamModules.registerRoutes(app)
    oauthModules.registerRoutes(app)
    usageModules.registerRoutes(app)
    templateModules.registerRoutes(app)
    appModules.registerRoutes(app)
    lineageModules.registerRoutes(app)
    addRoutes(app, changesRoutes(changeFeed))
  }
  // On every node: what a worker reads at the public address of the stack may be itself, as in containers that all listen on one port.
  addRoutes(app, sampleApiRoutes(sample))
  const register = { api: registerApi, elsewhere: () => void addRoutes(app, elsewhereRoutes) }
  register[has('api') ? 'api' : 'elsewhere']()
  await app.ready()

  const background: readonly (BackgroundPart & { readonly role?: Role })[] = [
    { start: eventLoop.start, stop: eventLoop.stop },
    { stop: metadata.close },
    { stop: events.stop },
    { start: settings.start, stop: settings.stop },
    { start: () => metadata.hints.listen('settings', settings.lookAgain) },
    { stop: () => lease?.release() },
    { start: nodes.start, stop: nodes.stop },
    { stop: objects.close },
    { start: filesLoop.start, stop: filesLoop.stop },
    { role: 'worker', start: peopleModules.loop.start, stop: peopleModules.loop.stop },
    { role: 'api', start: peopleModules.lastUseLoop.start, stop: peopleModules.lastUseLoop.stop },
    { start: oauthModules.start },
    { start: configurationModules.start, stop: configurationModules.stop },
    { stop: tableModules.close },
    { stop: sqlModules.close },
    { role: 'worker', start: tableModules.start, stop: tableModules.stop },
    { role: 'worker', start: sqlModules.loop.start, stop: sqlModules.loop.stop },
    { role: 'worker', start: storageJobsLoop.start, stop: storageJobsLoop.stop },
    { role: 'worker', start: usageModules.loop.start, stop: usageModules.loop.stop },
    { role: 'worker', start: lineageModules.loop.start, stop: lineageModules.loop.stop },
    { role: 'worker', start: () => objects.removeHeld(backups) },
    { role: 'worker', ...(restoredAt ? {} : { start: notificationModules.loop.start }), stop: notificationModules.loop.stop },
    { start: queueModules.sweep, stop: () => queueModules.stop(options.graceMs ?? 0) },
    { role: 'worker', ...(restoredAt && { start: () => queueModules.cancelBefore(restoredAt) }) },
    { role: 'worker', start: queueModules.startWorker },
    { stop: ownMlflow.close },
    { start: () => metadata.hints.listen('storage-ended', storageJobs.lookNow) },
    { role: 'worker', start: () => metadata.hints.listen('queue', queueModules.look) },
    { role: 'worker', start: () => metadata.hints.listen('storage', storageJobsLoop.wake) },
    { role: 'api', start: streamModules.loop.start, stop: streamModules.loop.stop },
    { role: 'api', ...(restoredAt ? {} : { start: templateModules.start }), stop: templateModules.stop },
    { role: 'api', start: appModules.start, stop: appModules.stop },
    { role: 'api', start: changeFeed.start, stop: changeFeed.stop },
    {
      role: 'scheduler',
      ...(restoredAt ? {} : { start: scheduleModules.loop.start }),
      stop: scheduleModules.loop.stop,
    },
  ]

  return {
    app,
    metadata,
    clock,
    tokens,
    people: core.people,
    objects,
    files,
    filesLoop,
    s3Url: objects.url,
    isolation: queueModules.isolation,
    backups,
    isPausedCopy: restoredAt !== undefined,
    componentProblems: configurationModules.components.problems,
    firstStart: async (masterToken) => (await tokens.createFirstProject('Millrace', masterToken))?.master.value,
    storageJobs,
    schedulerLoop: scheduleModules.loop,
    componentsLoop: configurationModules.componentsLoop,
    projectsLoop: peopleModules.loop,
    lastUseLoop: peopleModules.lastUseLoop,
    tellLateTables: lineageModules.tellLate,
    mergeRequestsLoop: { tick: configurationModules.merging.tick },
    tableModules,
    sqlModules,
    usage: usageModules.usage,
    start: () => startInOrder(background.filter(({ role }) => role === undefined || has(role))),
    drain: async (maxMs) => {
      isDraining = true
      await nodes.drain()
      await scheduleModules.loop.stop()
      await queueModules.drain(maxMs)
      return queueModules.running()
    },
    close: async () => {
      isClosing = true
      await metadata.stopWithin(async () => {
        await app.close()
        await stopInReverse(background, (err) => log.error({ err }, 'a part of the node could not be stopped; the others are'))
      })
    },
  }
}
