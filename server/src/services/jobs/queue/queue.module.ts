import { once } from '../../../kit/once.ts'
import type { Core } from '../../../model/core.ts'
import { defineModule } from '../../../model/module.ts'
import type { WorkerSettings } from '../../../model/worker-settings.ts'
import type { EncryptionModule } from '../../access/encryption/encryption.module.ts'
import type { TokensModule } from '../../access/tokens/tokens.module.ts'
import type { BranchesModule } from '../../configuration/branches/branches.module.ts'
import type { ComponentsModule } from '../../configuration/components/components.module.ts'
import type { ConfigurationsModule } from '../../configuration/configurations/configurations.module.ts'
import type { EventsApiModule } from '../../stack/events/events-api.module.ts'
import type { NodesModule } from '../../stack/nodes/nodes.module.ts'
import type { UsageModule } from '../../storage/usage/usage.module.ts'
import type { FlowsModule } from '../flows/flows.module.ts'
import type { JobRunnerModule } from '../job-runner/job-runner.module.ts'
import { createFlowQueue, createQueueFlows } from './flow-queue.ts'
import type { JobRecordsModule } from './job-records.module.ts'
import { legacyRoutes } from './legacy.routes.ts'
import { createQueueLoop } from './queue.loop.ts'
import { queueRoutes } from './queue.routes.ts'
import { createQueue, type Queue } from './queue.ts'
import { queuedJob } from './queued-job.ts'
import { createRunningJobs } from './running-jobs.ts'
import { sealStoredJobs } from './sealing.ts'

export interface QueueModuleDeps {
  readonly core: Core
  readonly tokens: TokensModule
  readonly jobRecords: JobRecordsModule
  readonly usage: UsageModule
  readonly nodes: NodesModule
  readonly components: ComponentsModule
  readonly encryption: EncryptionModule
  readonly branches: BranchesModule
  readonly configurations: ConfigurationsModule
  readonly eventsApi: EventsApiModule
  readonly flows: FlowsModule
  readonly jobRunner: JobRunnerModule
  readonly worker: WorkerSettings
  readonly workerId: string
  /** How long running jobs may finish when the node stops. */
  readonly graceMs: number
  /** Set in a restored copy: jobs from before are cancelled, for the original may run them. */
  readonly restoredAt: Date | undefined
  readonly domain: string | undefined
}

export type QueueModule = ReturnType<typeof createQueueModule>

export function createQueueModule(deps: QueueModuleDeps) {
  const { core, tokens, jobRecords, components, encryption, branches, flows, eventsApi, worker, restoredAt } = deps
  const { metadata, inTransaction, clock, log, publish } = core
  const { store, notifier, stateHistory } = jobRecords
  const queueFlows = createQueueFlows(flows)
  const queue: Queue = createQueue({
    store,
    inTransaction,
    clock,
    components: {
      find: (id) => components.forQueue(id, flows.formatOf),
      problemOf: components.problemOf,
      canonicalId: components.canonicalId,
    },
    configurations: { get: deps.configurations.runAccess.get },
    states: stateHistory,
    flows: queueFlows,
    encrypt: async (projectId, componentId, text) => (await encryption.secretsOf(projectId)).encrypt(text, componentId),
    findBranch: branches.resolveOpen,
    isPausedCopy: restoredAt !== undefined,
    onEnd: (trx, job) => publish('job.ended', trx, job),
    onChange: (killed) => {
      loop.nudge(killed)
      flows.loop.nudge()
      killed?.forEach(notifier.notify)
      metadata.hints.send('queue')
    },
  })
  const loop = createQueueLoop({
    store,
    queue: () => queue,
    inTransaction,
    clock,
    log,
    runJob: (handle) => deps.jobRunner.run({ ...handle, job: queuedJob(handle.job) }),
    recordState: stateHistory.record,
    onMoved: (job) => {
      notifier.moved(job)
      flows.loop.nudge()
    },
    openFlow: queueFlows.open,
    rowsOf: (job) => deps.jobRunner.rowIdsOf(queuedJob(job)),
    slots: () => worker.jobs,
    projectLimit: () => worker.projectJobs,
    projectLimits: deps.usage.jobLimits,
    labels: new Set(worker.labels),
    hasWorkerWith: deps.nodes.hasWorkerWith,
    hasComponent: components.isRunnableHere,
    knowsComponent: (id) => components.findRunnable(id) !== undefined,
    findElsewhere: components.findElsewhere,
    isRepeatable: (id) => components.findRunnable(id)?.isRepeatable === true,
    attempts: () => worker.attempts,
    recordEvent: core.recordEvent,
    isAlone: metadata.dialect === 'sqlite',
    worker: deps.workerId,
  })
  const sealing = once(
    (isStopped) => sealStoredJobs({ db: core.db, inTransaction, encrypterOf: encryption.encrypterOf, log }, isStopped),
    (error) => log.warn({ err: error }, 'Stored jobs could not be sealed; it is tried at the next start'),
  )
  const routes = { queue, clock, domain: deps.domain, projectName: async (id: number) => (await tokens.projectName(id)) ?? '' }

  return defineModule({
    name: 'queue',
    routes: [
      legacyRoutes(routes),
      queueRoutes({
        ...routes,
        notifier,
        events: { list: (actor, job, page, baseUrl) => eventsApi.ofJob(actor, job.id, page, baseUrl) },
      }),
    ],
    background: [
      ...(restoredAt ? [{ role: 'worker', start: () => queue.cancelBefore(restoredAt) } as const] : []),
      { role: 'worker', start: sealing.start, stop: sealing.stop },
      { role: 'worker', start: loop.start, stop: () => loop.stop(deps.graceMs) },
      { role: 'worker', start: () => metadata.hints.listen('queue', () => loop.nudge()) },
    ],
    ...queue,
    queue,
    runningJobs: createRunningJobs(store),
    /** Jobs were queued in the transaction of another module. */
    wake: () => {
      loop.nudge()
      metadata.hints.send('queue')
    },
    /** How many run on this node. */
    running: loop.running,
    lost: loop.lost,
    drain: loop.drain,
  })
}

export { createFlowQueue }
