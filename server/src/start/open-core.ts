// What the command line administers: projects and tokens beside a running stack, and the backup of one that does not run. It imports none
// of the routes, so that a command starts fast.

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { lockDataFolder } from '../engines/data-dir/folder-lock.ts'
import { openMetadataDb } from '../engines/metadata-db/metadata-db.ts'
import { MIN_POSTGRES } from '../engines/metadata-db/reach-postgres.ts'
import { openDiskObjectStore } from '../engines/object-store/disk-object-store.ts'
import { shiftedClock, systemClock } from '../kit/clock.ts'
import { defined } from '../kit/defined.ts'
import { PlatformError } from '../kit/errors.ts'
import { createLog } from '../kit/log.ts'
import { createSecrets } from '../kit/secrets.ts'
import { createBackupsModule } from '../services/stack/backups/backups.module.ts'
import { type OpenCore, openCore } from '../wiring/core.ts'
import { METADATA_FILE } from '../wiring/data-files.ts'
import { type BackupOrder, type BackupProgress, type BackupResult, backUp, OBJECTS_FOLDER } from './backup.ts'
import type { Config } from './config.ts'
import { withTargets } from './restore.ts'
import { VERSION } from './version.ts'

/** Opens projects and tokens only, beside a running stack if there is one: what the command line administers. */
export async function withCore<T>(config: Config, work: (core: OpenCore) => Promise<T>): Promise<T> {
  const log = createLog({ level: 'silent', secrets: createSecrets() })
  const core = await openCore({
    dataDir: config.dataDir,
    databaseUrl: config.database.url,
    databaseConnections: config.database.maxConnections,
    encryptionKeys: config.secrets.encryptionKeys,
    clock: shiftedClock(config.clockOffsetMs + config.nodeClockOffsetMs),
    databaseAheadMs: config.clockOffsetMs,
    log,
  })
  try {
    return await work(core)
  } finally {
    await core.metadata.close()
  }
}

/** What the next start of this version would find and run on the database. Nothing is changed, and a stack may run. */
export const upgradeOf = (config: Config) =>
  withTargets({ ...config, s3: { ...config.s3, external: undefined } }, async (targets) => {
    const metadata = targets.metadata ?? (await openMetadataDb({ path: join(config.dataDir, METADATA_FILE) }))
    try {
      await metadata.reach({ waitMs: 0 })
      const migrations = (await metadata.pending()).map(({ name, changesOld = false }) => ({ name, changesOld }))
      const found = await metadata.serverVersion()
      return { migrations, postgres: found === undefined ? undefined : { found, minimum: MIN_POSTGRES } }
    } finally {
      if (!targets.metadata) await metadata.close()
    }
  })

/** A backup without a running stack: none runs on this data folder. Nodes elsewhere may, on a PostgreSQL and an S3 that they share. */
export async function backUpStopped(
  config: Config,
  order: BackupOrder,
  onProgress: (progress: BackupProgress) => void,
): Promise<BackupResult> {
  const { dataDir, database, s3 } = config
  if (!existsSync(database.url === undefined ? join(dataDir, METADATA_FILE) : dataDir))
    throw new PlatformError('backup.nothingThere', { folder: dataDir })
  const unlock = lockDataFolder(dataDir) // a stack may run after all
  try {
    return await withTargets(config, async (targets) => {
      const disk = s3.external
        ? undefined
        : await openDiskObjectStore({ root: join(dataDir, OBJECTS_FOLDER), clock: systemClock })
      const metadata = targets.metadata ?? (await openMetadataDb({ path: join(dataDir, METADATA_FILE) }))
      try {
        const objects = { store: targets.store ?? disk!, disk } // one of the two is there
        const backups = targets.metadata && createBackupsModule({ db: metadata.db, clock: metadata.clock })
        const place = { dataDir, bucket: config.backupBucket }
        const sources = { ...place, metadata, objects, clock: metadata.clock, version: VERSION, ...defined({ backups }) }
        return (await backUp(sources, order, onProgress))! // this one is not scheduled
      } finally {
        if (!targets.metadata) await metadata.close()
        await disk?.close()
      }
    })
  } finally {
    unlock()
  }
}
