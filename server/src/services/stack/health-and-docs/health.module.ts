// Health, readiness and metrics of a node.

import { diskSpaceOf } from '../../../engines/data-dir/data-dir.ts'
import { createDiskRoom } from '../../../engines/data-dir/disk-room.ts'
import { createEventLoopWatch } from '../../../kit/event-loop-watch.ts'
import type { FinishedRequest } from '../../../kit/log.ts'
import type { Core } from '../../../model/core.ts'
import { defineModule } from '../../../model/module.ts'
import type { QueueModule } from '../../jobs/queue/queue.module.ts'
import type { SchedulerModule } from '../../jobs/scheduler/scheduler.module.ts'
import type { FilesModule } from '../../storage/files/files.module.ts'
import type { ObjectsModule } from '../../storage/s3/s3.module.ts'
import type { StorageJobsModule } from '../../storage/storage-jobs/storage-jobs.module.ts'
import type { TablesModule } from '../../storage/tables/tables.module.ts'
import type { UsageModule } from '../../storage/usage/usage.module.ts'
import type { BackupsModule } from '../backups/backups.module.ts'
import type { NodesModule } from '../nodes/nodes.module.ts'
import { elsewhereRoutes, probesRoutes } from './health-and-docs.routes.ts'
import { createMetrics } from './metrics.ts'
import { createStoreProbe } from './store-probe.ts'

export interface HealthModuleDeps {
  readonly core: Core
  readonly objects: ObjectsModule
  readonly backups: BackupsModule
  readonly nodes: NodesModule
  readonly usage: UsageModule
  readonly files: FilesModule
  readonly storageJobs: StorageJobsModule
  readonly tables: TablesModule
  readonly queue: QueueModule
  readonly scheduler: SchedulerModule
  readonly version: string
  readonly commit: string | undefined
  readonly metricsToken: string | undefined
  /** Not ready when the disk with the data folder has less. */
  readonly diskReserveBytes: number
  readonly isRestoredCopy: boolean
  /** Whether the node serves the API. */
  readonly isApi: boolean
}

export function createHealthModule(deps: HealthModuleDeps) {
  const { core, objects, usage, files, storageJobs, tables, queue, version, commit, metricsToken } = deps
  const { metadata, db, clock, log, dataDir } = core
  let isStopping = false
  const diskRoom = createDiskRoom({ dataDir, reserveBytes: deps.diskReserveBytes, clock })
  const storeProbe = createStoreProbe({ ask: objects.probe })
  const metrics = createMetrics({
    version,
    workloads: { jobs: queue.workload, storage: storageJobs.workload },
    lostJobs: queue.lost,
    scheduleLagMs: deps.scheduler.lagMs,
    clockDifferenceMs: metadata.clock.differenceMs,
    isObjectStoreUp: storeProbe.isUp,
    nodes: deps.nodes.byRole,
    databaseConnections: metadata.connections,
    areSchedulesPaused: deps.isRestoredCopy,
    lastBackupAt: deps.backups.lastGoodAt,
    disk: () => diskSpaceOf(dataDir),
    storageBytes: { files: files.store.totalBytes, tables: tables.totalBytes },
    tableWork: tables.engine.workload,
    usage: usage.totals,
  })
  const eventLoop = createEventLoopWatch({
    onDelay: metrics.eventLoopDelayed,
    onLongDelay: (delay) => log.warn(delay, 'the event loop was held; all other requests waited'),
  })
  const problems = async (): Promise<string[]> => {
    await db.selectNoFrom((e) => e.lit(1).as('one')).execute()
    return [...(isStopping ? ['it is stopping'] : []), ...(await diskRoom.problems()), ...(await storeProbe.problems())]
  }
  return defineModule({
    name: 'health',
    routesOfEveryNode: [
      probesRoutes({ version, commit, problems, metrics: metrics.read, metricsToken }),
      ...(deps.isApi ? [] : [elsewhereRoutes]),
    ],
    background: [{ start: eventLoop.start, stop: eventLoop.stop }],
    eventLoop,
    requestFinished: (request: FinishedRequest): void => {
      metrics.requestFinished(request)
      diskRoom.requestFinished(request)
    },
    /** From now on the node is not ready. */
    stopping: (): void => {
      isStopping = true
    },
  })
}
