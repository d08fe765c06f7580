// From the environment to an open platform, which main.ts listens with.

import { shiftedClock } from '../kit/clock.ts'
import { PlatformError } from '../kit/errors.ts'
import { createLog, type Log } from '../kit/log.ts'
import { createSecrets } from '../kit/secrets.ts'
import { createPlatform, type Platform } from '../wiring/platform.ts'
import { areSchedulesPaused, type BackupOrder, type BackupProgress, type BackupResult, backUp } from './backup.ts'
import type { Config } from './config.ts'
import { VERSION } from './open-core.ts'

export interface Stack {
  readonly platform: Platform
  readonly log: Log
  readonly version: string
  /** A consistent copy of everything that must survive, made while the stack works. */
  backUp(order: BackupOrder, onProgress?: (progress: BackupProgress) => void): Promise<BackupResult>
}

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
    schedulesPaused: areSchedulesPaused(config.dataDir),
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
