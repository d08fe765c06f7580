// Settings that change while the stack runs, and what operators see of it.

import { diskSpaceOf } from '../../../engines/data-dir/data-dir.ts'
import { readDrill } from '../../../engines/data-dir/drill-record.ts'
import type { TlsPair } from '../../../http/tls.ts'
import type { LiveValues } from '../../../kit/live-values.ts'
import type { Core } from '../../../model/core.ts'
import { defineModule } from '../../../model/module.ts'
import type { StackSetting } from '../../../model/stack-setting.ts'
import type { PeopleModule } from '../../access/people/people.module.ts'
import type { ComponentsModule } from '../../configuration/components/components.module.ts'
import type { QueueModule } from '../../jobs/queue/queue.module.ts'
import type { SchedulerModule } from '../../jobs/scheduler/scheduler.module.ts'
import type { ObjectsModule } from '../../storage/s3/s3.module.ts'
import type { StorageJobsModule } from '../../storage/storage-jobs/storage-jobs.module.ts'
import type { BackupsModule } from '../backups/backups.module.ts'
import type { EventsModule } from '../events/events.module.ts'
import type { NodesModule } from '../nodes/nodes.module.ts'
import { operationsRoutes } from './operations.routes.ts'
import { settingsRoutes } from './settings.routes.ts'
import { createSettingsStore } from './settings.store.ts'
import { createSettings } from './settings.ts'
import { createStatus } from './status.ts'

export interface SettingsModuleDeps {
  readonly core: Core
  readonly people: PeopleModule
  readonly known: readonly StackSetting[]
  readonly live: LiveValues
}

/** Reads what was changed before it returns, so that all modules start with it. */
export async function createSettingsModule({ core, people, known, live }: SettingsModuleDeps) {
  const { metadata, log } = core
  const initialLogLevel = log.level
  const settings = createSettings({
    store: createSettingsStore(core.db),
    known,
    live,
    clock: core.clock,
    log,
    inTransaction: core.inTransaction,
    recordEvent: core.recordEvent,
    sourceOf: people.asStackAdminOfOldest,
    apply: {
      MILLRACE_LOG_LEVEL: (level) => {
        log.level = String(level ?? initialLogLevel)
      },
    },
    onChange: () => metadata.hints.send('settings'),
  })
  await settings.look()
  return defineModule({
    name: 'settings',
    routes: [settingsRoutes(settings)],
    background: [
      { start: settings.start, stop: settings.stop },
      { start: () => metadata.hints.listen('settings', settings.lookAgain) },
    ],
  })
}

export interface OperationsModuleDeps {
  readonly core: Core
  readonly events: EventsModule
  readonly objects: ObjectsModule
  readonly backups: BackupsModule
  readonly nodes: NodesModule
  readonly components: ComponentsModule
  readonly storageJobs: StorageJobsModule
  readonly queue: QueueModule
  readonly scheduler: SchedulerModule
  readonly version: string
  readonly restoredAt: Date | undefined
  readonly tls: TlsPair | undefined
}

export function createOperationsModule(deps: OperationsModuleDeps) {
  const { core, events, storageJobs, queue, scheduler, version, restoredAt, tls } = deps
  const status = createStatus({
    version,
    restoredAt,
    clock: core.clock,
    disk: () => diskSpaceOf(core.dataDir),
    database: {
      dialect: core.metadata.dialect,
      ask: () => core.db.selectNoFrom((e) => e.lit(1).as('one')).execute(),
    },
    objectStore: deps.objects.probe,
    workloads: { jobs: queue.workload, storage: storageJobs.workload },
    clocks: deps.nodes.clocks,
    lastBackupAt: deps.backups.lastGoodAt,
    lastDrill: () => readDrill(core.dataDir),
    scheduleLagMs: scheduler.lagMs,
    stoppedSchedules: scheduler.stopped,
    componentProblems: deps.components.problems,
    certificate: () => tls?.current().cert,
  })
  return defineModule({
    name: 'operations',
    routes: [operationsRoutes({ now: core.clock.now, listAudit: events.listOfStack, status })],
  })
}
