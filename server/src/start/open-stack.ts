// From the environment to an open platform, which main.ts listens with, or to its core, which the command line administers.

import { readFileSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { openMetadataDb } from '../engines/metadata-db/metadata-db.ts'
import { openDiskObjectStore } from '../engines/object-store/disk-object-store.ts'
import { shiftedClock, systemClock } from '../kit/clock.ts'
import { PlatformError } from '../kit/errors.ts'
import { createLog, type Log } from '../kit/log.ts'
import { createSecrets } from '../kit/secrets.ts'
import { type Core, METADATA_FILE, openCore } from '../wiring/core.ts'
import { createPlatform, type Platform } from '../wiring/platform.ts'
import { type BackupOrder, type BackupProgress, type BackupResult, backUp, OBJECTS_FOLDER } from './backup.ts'
import type { Config } from './config.ts'

export interface Stack {
  readonly platform: Platform
  readonly log: Log
  readonly version: string
  /** A consistent copy of everything that must survive, made while the stack works. */
  backUp(order: BackupOrder, onProgress?: (progress: BackupProgress) => void): Promise<BackupResult>
}

export const VERSION: string = (
  JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as { version: string }
).version

/** Opens the data folder and builds every module; nothing listens yet. */
export async function openStack(config: Config): Promise<Stack> {
  const secrets = createSecrets()
  for (const secret of [config.secrets.masterToken, config.s3.external?.secretAccessKey]) if (secret) secrets.add(secret)
  const log = createLog({ level: config.log.level, secrets })
  const clock = shiftedClock(config.clockOffsetMs)
  const platform = await createPlatform({
    version: VERSION,
    dataDir: config.dataDir,
    databaseUrl: config.database.url,
    databaseConnections: config.database.maxConnections,
    encryptionKeys: config.secrets.encryptionKeys,
    publicUrl: config.addresses.publicUrl,
    domain: config.addresses.domain,
    region: config.s3.region,
    bucket: config.s3.bucket,
    s3PublicUrl: config.addresses.s3PublicUrl,
    externalS3: config.s3.external,
    bodyLimitBytes: config.http.bodyLimitBytes,
    maintenance: config.http.maintenance,
    corsOrigins: config.http.corsOrigins,
    requestLimits: config.http.requestLimits,
    trustedProxies: config.http.trustedProxies,
    roles: config.roles,
    worker: { ...config.worker, egressAllow: config.egressAllow },
    tables: config.tables,
    graceMs: config.listen.drainTimeoutMs / 2,
    clock,
    log,
  })
  const { dataDir } = config
  const { metadata, objects } = platform
  return {
    platform,
    log,
    version: VERSION,
    backUp: async (order, onProgress) => {
      if (metadata.dialect !== 'sqlite')
        throw new PlatformError('backup.keptElsewhere', { what: 'The metadata is in PostgreSQL' })
      if (!objects.disk) throw new PlatformError('backup.keptElsewhere', { what: 'The objects are in an external S3' })
      return backUp({ dataDir, metadata, store: objects.disk, clock, version: VERSION }, order, onProgress)
    },
  }
}

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
  // The objects first: their lock says whether a stack runs after all.
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
  }
}
