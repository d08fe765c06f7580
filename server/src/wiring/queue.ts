// The queue, the job runner, sync actions and the vault.

import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import { egressPolicyFrom } from '../../../contract/egress-rules.ts'
import type { Trx } from '../engines/metadata-db/dialects.ts'
import { componentBundle } from '../engines/runner/bundle.ts'
import { createCheckpoints } from '../engines/runner/checkpoints.ts'
import { createEngineFinder } from '../engines/runner/container-engine.ts'
import { createIsolation, type IsolationSettings } from '../engines/runner/isolation.ts'
import { createRunner } from '../engines/runner/runner.ts'
import type { Trust } from '../engines/tls/trust.ts'
import { addRoutes } from '../http/add-routes.ts'
import type { Clock } from '../kit/clock.ts'
import { once } from '../kit/once.ts'
import type { JobEndFacts } from '../model/job-end.ts'
import type { NotificationPort } from '../model/notification-port.ts'
import type { RunFiles, RunNamespace, RunOauth, RunSandboxes, RunScope, RunSql, RunTables } from '../model/run-ports.ts'
import { queueComponent } from '../services/components/runnable-component.ts'
import { eventsOfJob } from '../services/events/job-log.ts'
import { flowFormatOf } from '../services/flows/flow-plan.ts'
import { flowsRoutes } from '../services/flows/flows.routes.ts'
import type { NamedFolders } from '../services/job-runner/component-run.ts'
import { resolveConfiguration } from '../services/job-runner/resolve-configuration.ts'
import { runAction } from '../services/job-runner/run-action.ts'
import { type JobRunnerDeps, rowIdsOf } from '../services/job-runner/run-job.ts'
import { runQueuedJob } from '../services/job-runner/run-queued-job.ts'
import { createLineageStore } from '../services/lineage/lineage.store.ts'
import { createJobNotifier } from '../services/queue/job-notifier.ts'
import { legacyRoutes } from '../services/queue/legacy.routes.ts'
import { createQueueLoop } from '../services/queue/queue.loop.ts'
import { queueRoutes } from '../services/queue/queue.routes.ts'
import { createQueueStore } from '../services/queue/queue.store.ts'
import { createQueue } from '../services/queue/queue.ts'
import { queuedJob } from '../services/queue/queued-job.ts'
import { createRunningJobs } from '../services/queue/running-jobs.ts'
import { sealStoredJobs } from '../services/queue/sealing.ts'
import { createStateHistory } from '../services/queue/state-history.store.ts'
import { lastGoodRun } from '../services/queue/usual-duration.ts'
import { createSparkScripts, NO_SPARK, type SparkSettings } from '../services/spark/spark-scripts.ts'
import { createActionSlots } from '../services/sync-actions/action-slots.ts'
import { type Caller, syncActionsRoutes } from '../services/sync-actions/sync-actions.routes.ts'
import { vaultRoutes } from '../services/vault/vault.routes.ts'
import { createVault } from '../services/vault/vault.ts'
import type { ConfigurationModules } from './configurations.ts'
import type { Core } from './core.ts'
import { createFlowModules } from './flows.ts'

export interface QueueModulesDeps extends Core {
  readonly dataDir: string
  readonly clock: Clock
  readonly log: FastifyBaseLogger
  readonly domain: string | undefined
  readonly configurations: ConfigurationModules
  readonly tables: RunTables
  /** Scripts of SQL transformations. */
  readonly sql: RunSql
  readonly spark: SparkSettings | undefined
  /** Tables of the catalogue that live as long as a run. */
  readonly runNamespace: RunNamespace
  readonly sandboxes: RunSandboxes
  readonly oauth: RunOauth
  readonly files: RunFiles
  readonly worker: WorkerSettings
  readonly workerId: string
  readonly notifications: NotificationPort
  /** Of projects that may run another number of jobs at once. */
  readonly projectLimits: (trx: Trx) => Promise<ReadonlyMap<number, number>>
  /** Whether a worker that takes jobs now has all of these labels. */
  readonly hasWorkerWith: (trx: Trx, labels: readonly string[]) => Promise<boolean>
  /** In the transaction in which a job ends. */
  readonly onJobEnd: (trx: Trx, job: JobEndFacts) => Promise<void>
  readonly objectStoreUrl: () => string
  readonly samplePlaces: () => readonly string[]
  readonly trust: Trust | undefined
}

export interface WorkerSettings {
  /** Most jobs this node runs at once. */
  readonly jobs: number
  /** Most jobs one project runs at once, on all nodes (spec platform 2.6). */
  readonly projectJobs: number
  /** Most times a job is started whose worker was lost and whose component may be repeated. */
  readonly attempts: number
  /** What this node has of what components and configurations ask for. */
  readonly labels: readonly string[]
  /** Most sync actions this node runs at once. */
  readonly actions: number
  /** Most sync actions of one project this node runs at once. */
  readonly projectActions: number
  /** Most disk one run may fill. */
  readonly diskBytes: number
  /** Most files one row may leave as results, slices included. */
  readonly results: number
  /** How long what a failed run has left for the next one is kept, and how much of it on this node. */
  readonly checkpointHours: number
  readonly checkpointBytes: number
  /** Where commands are looked for. */
  readonly path: string
  readonly egressAllow: readonly string[]
  /** Folders of this machine that components may read and write, by name. */
  readonly folders: NamedFolders
  /** How components that are commands are isolated. */
  readonly isolation: Pick<IsolationSettings, 'mode' | 'readable' | 'uid'>
}

export const DEFAULT_WORKER: WorkerSettings = {
  jobs: 10,
  projectJobs: 10,
  attempts: 2,
  labels: [],
  actions: 20,
  projectActions: 5,
  diskBytes: 10e9,
  results: 10_000,
  checkpointHours: 24,
  checkpointBytes: 10e9,
  path: '/usr/local/bin:/usr/bin:/bin',
  egressAllow: [],
  folders: { read: {}, write: {} },
  isolation: { mode: 'off', readable: [], uid: 65534 },
}
/** How long an action waits for its turn; it may then still take its 30 seconds. */
const ACTION_WAIT_MS = 5_000
const REPOSITORY = fileURLToPath(new URL('../../..', import.meta.url))

export type QueueModules = ReturnType<typeof createQueueModules>

export function createQueueModules(deps: QueueModulesDeps) {
  const { metadata, events, tokens, clock, log, configurations, dataDir, worker, workerId } = deps
  const { db, inTransaction } = metadata
  const { components, encryption, branches, runAccess } = configurations
  const isolation = createIsolation({ ...worker.isolation, path: worker.path, hidden: [dataDir] })
  const runner = createRunner({
    runsFolder: join(dataDir, 'runs'),
    cacheFolder: join(dataDir, 'cache', 'programs'),
    path: worker.path,
    trust: deps.trust,
    isolation,
  })

  const checkpoints = createCheckpoints({
    folder: join(dataDir, 'checkpoints'),
    clock,
    keepMs: worker.checkpointHours * 3_600_000,
    maxBytes: worker.checkpointBytes,
    onError: (err) => log.error({ err }, 'what failed runs have left could not be removed; it is tried again'),
  })
  const notifier = createJobNotifier()

  const vault = createVault({
    db,
    inTransaction,
    clock,
    encrypt: (projectId, value) => encryption.encryptBody(value, false, { projectId: String(projectId) }),
  })

  const store = createQueueStore(db, deps.changes.record)
  const stateHistory = createStateHistory(db)
  const lineageStore = createLineageStore(db)
  const findContainerEngine = createEngineFinder(clock, worker.path)
  const runnerDeps: JobRunnerDeps = {
    inTransaction,
    clock,
    log,
    tables: deps.tables,
    sql: deps.sql,
    spark: createSparkScripts({
      settings: deps.spark ?? NO_SPARK,
      runner,
      namespace: deps.runNamespace,
      tables: deps.tables,
      issueToken: ({ actor, runId }, buckets, expiresIn) =>
        tokens.issueReader(actor, `Spark run of job ${runId}`, expiresIn, buckets),
      revokeToken: ({ actor }, id) => tokens.revokeOfRun(actor, id),
      driverFolder: join(REPOSITORY, 'components', 'spark-sql'),
      packagesFolder: join(dataDir, 'cache', 'spark'),
    }),
    sandboxes: deps.sandboxes,
    oauth: deps.oauth,
    files: deps.files,
    findBranch: async (projectId, name) => branches.resolve(projectId, name),
    recordEvent: events.record,
    onSaid: (runId) => notifier.notify(Number(runId)),
    onError: (error) => log.error({ err: error }, 'events of a job could not be written'),
    components: { find: components.findRunnable },
    configurations: {
      find: runAccess.find,
      saveState: (trx, place, rowId, state) => runAccess.saveState(trx, place, rowId ?? undefined, state),
    },
    secrets: { decrypt: encryption.decryptForRun, encrypterOf: encryption.encrypterOf },
    vaultValues: vault.valuesIn,
    tokens: {
      issue: ({ actor }, description, expiresIn) => tokens.issueForRun(actor, description, expiresIn),
      revoke: ({ actor }, id) => tokens.revokeOfRun(actor, id),
    },
    changesSince: runAccess.changesSince,
    recordUse: (trx, use) => lineageStore.recordUse(trx, use, clock.now().getTime()),
    recordState: stateHistory.record,
    lastGood: (job) => lastGoodRun(db, job),
    project: async (projectId) => (await tokens.findProject(projectId)) ?? { name: '', features: [] },
    programs: {
      runner,
      findContainerEngine,
      builtinFolder: join(REPOSITORY, 'components'),
      componentBundle,
      readable: [join(REPOSITORY, 'node_modules'), join(REPOSITORY, 'contract')],
      folders: worker.folders,
      commandFolder: configurations.sharedComponents.folderOf,
      get diskBytes() {
        return worker.diskBytes
      },
      get results() {
        return worker.results
      },
      checkpoints,
      egress: egressPolicyFrom(worker.egressAllow),
      objectStoreUrl: deps.objectStoreUrl,
      places: deps.samplePlaces,
    },
  }

  const flows = createFlowModules({
    metadata,
    events,
    clock,
    log,
    runAccess,
    canonicalId: components.canonicalId,
    componentExists: (id) => components.find(id) !== undefined,
    notifications: deps.notifications,
    recordChange: deps.changes.record,
    decrypt: async (flow, text) =>
      (await encryption.decryptForRun({ ...flow, configurationId: flow.configurationId ?? undefined }, text)).text,
    queue: () => queue,
  })
  const queue = createQueue({
    store,
    inTransaction,
    clock,
    components: {
      find: (id) => queueComponent(components.find(id), flowFormatOf),
      problemOf: components.problemOf,
      canonicalId: components.canonicalId,
    },
    configurations: { get: runAccess.get },
    states: stateHistory,
    flows: flows.ofQueue,
    encrypt: async (projectId, componentId, text) => (await encryption.secretsOf(projectId)).encrypt(text, componentId),
    findBranch: branches.resolveOpen,
    onEnd: deps.onJobEnd,
    onChange: (killed) => {
      loop.nudge(killed)
      flows.loop.nudge()
      killed?.forEach(notifier.notify)
      metadata.hints.send('queue')
    },
  })
  const sealing = once(
    (isStopped) => sealStoredJobs({ db: metadata.db, inTransaction, encrypterOf: encryption.encrypterOf, log }, isStopped),
    (error) => log.warn({ err: error }, 'Stored jobs could not be sealed; it is tried at the next start'),
  )
  const loop = createQueueLoop({
    store,
    queue: () => queue,
    inTransaction,
    clock,
    log,
    runJob: (handle) =>
      runQueuedJob(
        { runner: runnerDeps, prepare: runAccess.prepare, holdBranch: branches.hold },
        { ...handle, job: queuedJob(handle.job) },
      ),
    recordState: stateHistory.record,
    onMoved: (job) => {
      notifier.moved(job)
      flows.loop.nudge()
    },
    openFlow: flows.ofQueue.open,
    rowsOf: (job) => rowIdsOf(runnerDeps, queuedJob(job)),
    slots: () => worker.jobs,
    projectLimit: () => worker.projectJobs,
    projectLimits: deps.projectLimits,
    labels: new Set(worker.labels),
    hasWorkerWith: deps.hasWorkerWith,
    hasComponent: components.isRunnableHere,
    knowsComponent: (id) => components.findRunnable(id) !== undefined,
    findElsewhere: configurations.workerComponents.findAlive,
    isRepeatable: (id) => components.findRunnable(id)?.isRepeatable === true,
    attempts: () => worker.attempts,
    recordEvent: events.record,
    isAlone: metadata.dialect === 'sqlite',
    worker: workerId,
  })

  const actionSlots = createActionSlots({
    max: () => worker.actions,
    maxPerProject: () => worker.projectActions,
    waitMs: ACTION_WAIT_MS,
  })

  const scopeOf = ({ actor, branch, baseUrl }: Caller): RunScope => ({
    actor,
    projectId: actor.projectId,
    branchId: branch.id,
    isDefaultBranch: branch.isDefault,
    runId: '',
    baseUrl,
  })

  return {
    queue,
    checkFlow: flows.check,
    flowProblems: flows.contentProblems,
    checkFlowWith: flows.checkWith,
    runningJobs: createRunningJobs(store),
    runningPhases: flows.runningPhases,
    isolation,
    /** Programs, for whoever else starts some. */
    runner,
    findContainerEngine,
    /** Jobs were queued in the transaction of another module. */
    wake: () => {
      loop.nudge()
      metadata.hints.send('queue')
    },
    /** Another node queued jobs. */
    look: () => loop.nudge(),
    registerRoutes(app: FastifyInstance): void {
      const projectName = async (projectId: number) => (await tokens.findProject(projectId))?.name ?? ''
      const routes = { queue, clock, domain: deps.domain, projectName }
      addRoutes(app, legacyRoutes(routes))
      addRoutes(
        app,
        flowsRoutes({ validate: flows.validate, findBranch: async (projectId, name) => branches.resolve(projectId, name) }),
      )
      addRoutes(
        app,
        queueRoutes({
          ...routes,
          notifier,
          events: { list: (actor, job, page, baseUrl) => eventsOfJob(events, actor, job.id, page, baseUrl) },
        }),
      )
      addRoutes(app, vaultRoutes({ vault, findBranch: async (projectId, name) => branches.resolve(projectId, name) }))
      addRoutes(
        app,
        syncActionsRoutes({
          run: (caller, action, signal) =>
            actionSlots.run(caller.actor.projectId, signal, () => runAction(runnerDeps, scopeOf(caller), action, signal)),
          canonicalId: components.canonicalId,
          actionsOf: (id) => components.find(id)?.data.synchronous_actions,
          findBranch: async (projectId, name) => branches.resolve(projectId, name),
          resolve: (caller, request) => resolveConfiguration(runnerDeps, runAccess.findAt, scopeOf(caller), request),
        }),
      )
    },
    cancelBefore: queue.cancelBefore,
    running: loop.running,
    lost: loop.lost,
    drain: loop.drain,
    /** Removes what runs of a killed server left behind. */
    sweep: runner.sweep,
    async startWorker(): Promise<void> {
      checkpoints.start()
      sealing.start()
      await loop.start()
      flows.loop.start()
    },
    async stop(graceMs: number): Promise<void> {
      await sealing.stop()
      await flows.loop.stop()
      await loop.stop(graceMs)
      await checkpoints.stop()
      await runner.close()
    },
  }
}
