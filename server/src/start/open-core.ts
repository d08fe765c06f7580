// What the command line administers: projects and tokens beside a running stack, and the backup of one that does not run. It imports none
// of the routes, so that a command starts fast.

import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { lockDataFolder } from '../engines/data-dir/folder-lock.ts'
import { openMetadataDb } from '../engines/metadata-db/metadata-db.ts'
import { openDiskObjectStore } from '../engines/object-store/disk-object-store.ts'
import { systemClock } from '../kit/clock.ts'
import { PlatformError } from '../kit/errors.ts'
import { createLog } from '../kit/log.ts'
import { createSecrets } from '../kit/secrets.ts'
import { type Core, openCore } from '../wiring/core.ts'
import { METADATA_FILE } from '../wiring/data-files.ts'
import { type BackupOrder, type BackupProgress, type BackupResult, backUp, OBJECTS_FOLDER } from './backup.ts'
import type { Config } from './config.ts'
import { VERSION } from './version.ts'

/** Opens projects and tokens only, beside a running stack if there is one: what the command line administers. */
export async function withCore<T>(config: Config, work: (core: Core) => Promise<T>): Promise<T> {
  const log = createLog({ level: 'silent', secrets: createSecrets() })
  const core = await openCore({
    dataDir: config.dataDir,
    databaseUrl: config.database.url,
    databaseConnections: config.database.maxConnections,
    encryptionKeys: config.secrets.encryptionKeys,
    log,
  })
  try {
    return await work(core)
  } finally {
    await core.metadata.close()
  }
}

/** A backup of a stack that does not run. */
export async function backUpStopped(
  { dataDir }: Config,
  order: BackupOrder,
  onProgress: (progress: BackupProgress) => void,
): Promise<BackupResult> {
  const path = join(dataDir, METADATA_FILE)
  if (!(await stat(path).catch(() => undefined))) throw new PlatformError('backup.nothingThere', { folder: dataDir })
  const unlock = lockDataFolder(dataDir) // a stack may run after all
  const store = await openDiskObjectStore({ root: join(dataDir, OBJECTS_FOLDER), clock: systemClock })
  try {
    const metadata = await openMetadataDb({ path })
    try {
      return await backUp({ dataDir, metadata, store, clock: systemClock, version: VERSION }, order, onProgress)
    } finally {
      await metadata.close()
    }
  } finally {
    await store.close()
    unlock()
  }
}
