// Backups that the stack makes by itself: at full multiples of an interval, and at the start when one was missed. One node makes each.

import { backupName } from '../engines/backup-folder/retention.ts'
import type { BackupsModule } from '../services/stack/backups/backups.module.ts'
import type { BackupOrder, BackupResult } from './backup.ts'
import { placeOf } from './backup-place.ts'
import { removeOld } from './backup-work.ts'
import type { BackupBucket, BackupPlan } from './config.ts'

export interface PlannedBackupsDeps {
  readonly plan: BackupPlan
  /** Of a plan without a folder. */
  readonly bucket?: BackupBucket | undefined
  readonly backups: Pick<BackupsModule, 'lastDueAt' | 'markRemoved'>
  readonly backUp: (order: BackupOrder) => Promise<BackupResult | undefined>
  readonly now: () => Date
  readonly log: { info(details: object, text: string): void; error(details: object, text: string): void }
}

const LOOK_MS = 60_000

export function createPlannedBackups({ plan, bucket, backups, backUp, now, log }: PlannedBackupsDeps) {
  let timer: NodeJS.Timeout | undefined
  let isRunning = false

  /** Makes the backup that is due, if one is. A failure is logged, and the next one comes at its time. */
  async function tick(): Promise<void> {
    try {
      const dueAt = Math.floor(now().getTime() / plan.everyMs) * plan.everyMs
      if (dueAt <= ((await backups.lastDueAt()) ?? 0)) return
      const folder = placeOf(plan, backupName(new Date(dueAt)))
      const made = await backUp({ folder, withKey: plan.withKey, dueAt })
      if (!made) return
      const removed = await removeOld(plan, bucket, backups)
      log.info({ ...made, removed }, 'a planned backup was made')
    } catch (err) {
      log.error({ err, folder: plan.folder ?? 's3' }, 'a planned backup failed')
    }
  }

  const look = async (): Promise<void> => {
    if (isRunning) return
    isRunning = true
    await tick()
    isRunning = false
  }

  return {
    tick,
    start(): void {
      void look()
      timer = setInterval(() => void look(), LOOK_MS).unref()
    },
    stop: () => clearInterval(timer),
  }
}
