// The HTTP part of backups: the command line loads the other entrance, without routes.

import type { Core } from '../../../model/core.ts'
import { defineModule } from '../../../model/module.ts'
import type { PeopleModule } from '../../access/people/people.module.ts'
import { type BackupWork, createBackupOrders } from './backup-orders.ts'
import type { BackupsModule } from './backups.module.ts'
import { backupsRoutes } from './backups.routes.ts'

export type { BackupWork }

export interface BackupsApiModuleDeps {
  readonly core: Core
  readonly people: PeopleModule
  readonly backups: BackupsModule
  readonly work: BackupWork | undefined
  readonly isPausedCopy: boolean
}

export function createBackupsApiModule({ core, people, backups, work, isPausedCopy }: BackupsApiModuleDeps) {
  const { inTransaction, recordEvent, log } = core
  const orders = createBackupOrders({
    ...{ backups, work, isPausedCopy, inTransaction, recordEvent },
    sourceOf: people.asStackAdminOfOldest,
    onError: (err) => log.error({ err }, 'a backup or a restore test on request failed'),
  })
  return defineModule({ name: 'backupsApi', routes: [backupsRoutes(orders)] })
}
