// Looks for work and tables that need a notification, and delivers what is due.

import { diskSpaceOf } from '../../../engines/data-dir/data-dir.ts'
import type { Core } from '../../../model/core.ts'
import { defineModule } from '../../../model/module.ts'
import type { BranchesModule } from '../../configuration/branches/branches.module.ts'
import type { DashboardsModule } from '../../query/dashboards/dashboards.module.ts'
import type { TablesModule } from '../../storage/tables/tables.module.ts'
import type { FlowsModule } from '../flows/flows.module.ts'
import type { QueueModule } from '../queue/queue.module.ts'
import { createNotificationsLoop } from './notifications.loop.ts'
import type { NotificationsModule } from './notifications.module.ts'
import { createNotificationsStore } from './notifications.store.ts'
import { createWatches } from './watches.ts'

export interface WatchesModuleDeps {
  readonly core: Core
  readonly notifications: NotificationsModule
  readonly branches: BranchesModule
  readonly tables: TablesModule
  readonly queue: QueueModule
  readonly flows: FlowsModule
  readonly dashboards: DashboardsModule
}

export function createWatchesModule({ core, notifications, branches, tables, queue, flows, dashboards }: WatchesModuleDeps) {
  const { db, inTransaction, clock, log } = core
  const { look } = createWatches({
    db,
    inTransaction,
    clock,
    outbox: notifications.outbox,
    runningJobs: queue.runningJobs,
    runningPhases: flows.runningPhases,
    unchangedTables: async (projectId, range) => tables.listUnchanged(projectId, await branches.defaultId(projectId), range),
    diskSpace: () => diskSpaceOf(core.dataDir),
    figureAlerts: dashboards.figureAlerts,
  })
  const loop = createNotificationsLoop({
    store: createNotificationsStore(db),
    inTransaction,
    clock,
    deliver: notifications.deliver,
    look,
    onError: (err) => log.error({ err }, 'a notification could not be delivered by our fault; it is tried again'),
  })
  return defineModule({
    name: 'watches',
    background: [{ role: 'worker', isOffInCopies: true, start: loop.start, stop: loop.stop }],
  })
}
