// Backups on request in a stack of a test, with what the program does for one that it starts.

import { systemClock } from '../../../server/src/kit/clock.ts'
import type { BackupWork } from '../../../server/src/services/stack/backups/backups-api.module.ts'
import { createBackupWork } from '../../../server/src/start/backup-work.ts'
import { readConfig } from '../../../server/src/start/config.ts'
import type { TestStack } from '../test-stack.ts'

/** The work is an option of the stack, which has to exist before it is done: `connect` comes between. */
export function backupWorkOf(folder: string, keep = 3): { backupWork: BackupWork; connect: (stack: TestStack) => void } {
  const config = (dataDir: string) =>
    readConfig({ MILLRACE_DATA_DIR: dataDir, MILLRACE_BACKUP_FOLDER: folder, MILLRACE_BACKUP_KEEP: String(keep) })
  let work: BackupWork | undefined
  return {
    backupWork: {
      plan: createBackupWork(config(folder), () => { throw new Error('only its plan is asked for') }).plan, // biome-ignore format: one thought
      backUp: (onBegun) => work!.backUp(onBegun),
      drill: (place) => work!.drill(place),
    },
    connect({ dataDir, platform: { metadata, objects, backups } }) {
      work = createBackupWork(config(dataDir), () => ({ dataDir, metadata, objects, backups, clock: systemClock, version: '0' }))
    },
  }
}
