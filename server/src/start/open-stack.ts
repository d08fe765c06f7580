// From the environment to an open platform, which main.ts listens with.

import { join } from 'node:path'
import { makeDataFolder } from '../engines/data-dir/data-dir.ts'
import { lockDataFolder } from '../engines/data-dir/folder-lock.ts'
import { type Certificate, openCertificate } from '../engines/tls/certificate.ts'
import { ensureLocalCertificate } from '../engines/tls/local-authority.ts'
import { type Trust, writeTrust } from '../engines/tls/trust.ts'
import { type Clock, shiftedClock } from '../kit/clock.ts'
import { createLog, type Log } from '../kit/log.ts'
import { createSecrets } from '../kit/secrets.ts'
import { createPlatform, type Platform } from '../wiring/platform.ts'
import { type BackupOrder, type BackupProgress, type BackupResult, type BackupSources, backUp } from './backup.ts'
import { createBackupWork } from './backup-work.ts'
import type { Config } from './config.ts'
import { restoredAt } from './restore.ts'
import { BUILD, COMMIT, VERSION } from './version.ts'

export interface Stack {
  readonly platform: Platform
  readonly log: Log
  readonly version: string
  /** A consistent copy of everything that must survive, made while the stack works. */
  backUp(order: BackupOrder, onProgress?: (progress: BackupProgress) => void): Promise<BackupResult | undefined>
}

/** Opens the data folder and builds every module; nothing listens yet. */
export async function openStack(config: Config): Promise<Stack> {
  const secrets = createSecrets()
  const { secrets: given, s3, smtpUrl } = config
  const { masterToken, manageToken, metricsToken } = given
  const secretsGiven = [
    masterToken,
    manageToken,
    metricsToken,
    config.oidc?.clientSecret,
    config.ai?.key,
    smtpPasswordOf(smtpUrl),
  ]
  const templateSecrets = config.templateRepositories.map(({ credentials }) => credentials?.password)
  for (const secret of [...secretsGiven, ...templateSecrets, s3.external?.secretAccessKey, config.backupBucket?.secretAccessKey])
    if (secret) secrets.add(secret)
  const log = createLog({ level: config.log.level, secrets })
  const clock = shiftedClock(config.clockOffsetMs + config.nodeClockOffsetMs)
  await makeDataFolder(config.dataDir)
  lockDataFolder(config.dataDir) // for as long as the process lives
  const { certificate: tls, trust } = await openTls(config, clock, log)
  const platform: Platform = await createPlatform({
    backupWork: createBackupWork(config, () => sources()),
    tls,
    trust,
    version: VERSION,
    commit: COMMIT,
    build: BUILD,
    dataDir: config.dataDir,
    databaseUrl: config.database.url,
    databaseConnections: config.database.maxConnections,
    waitMs: config.startWaitMs,
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
    metricsToken: config.secrets.metricsToken,
    diskReserveBytes: config.diskReserveBytes,
    restoredAt: restoredAt(config.dataDir),
    trustedProxies: config.http.trustedProxies,
    roles: config.roles,
    nodeName: config.nodeName,
    worker: { ...config.worker, egressAllow: config.egressAllow },
    sampleApi: config.sampleApi,
    smtpUrl: config.smtpUrl,
    servers: config.servers,
    spark: config.spark,
    oidc: config.oidc,
    sessions: config.sessions,
    templateFolders: config.templateFolders,
    templateRepositories: config.templateRepositories,
    templateRefreshMs: config.templateRefreshMs,
    manageToken: config.secrets.manageToken,
    apps: config.apps,
    agentCallsPerDay: config.agentCallsPerDay,
    ai: config.ai,
    tables: config.tables,
    sql: config.sql,
    unknownComponents: config.unknownComponents,
    settings: config.settings,
    graceMs: config.listen.drainTimeoutMs / 2,
    clock,
    databaseAheadMs: config.clockOffsetMs,
    log,
  })
  function sources(): BackupSources {
    const { metadata, objects, backups, clock: stackClock } = platform
    const place = { dataDir: config.dataDir, bucket: config.backupBucket }
    return { ...place, metadata, objects, backups, clock: stackClock, version: VERSION }
  }
  return { platform, log, version: BUILD, backUp: (order, onProgress) => backUp(sources(), order, onProgress) }
}

interface Tls {
  readonly certificate?: Certificate
  readonly trust?: Trust
}

/** The certificate of both listeners, and what components need to trust it; neither for plain HTTP. */
async function openTls({ tls, dataDir, listen, addresses }: Config, clock: Clock, log: Log): Promise<Tls> {
  if (tls.mode === 'off') return {}
  const onError = (err: unknown) => log.error({ err }, 'the changed TLS certificate cannot be used; the one before stays in use')
  if (tls.mode === 'files') return { certificate: openCertificate({ ...tls, onError }) }
  const { domain, publicUrl } = addresses
  const names = ['localhost', '127.0.0.1', '::1', listen.host, ...(domain ? [domain, `*.${domain}`] : [])]
  if (publicUrl) names.push(new URL(publicUrl).hostname)
  const named = [...new Set(names)].filter((name) => name !== '0.0.0.0' && name !== '::')
  const files = await ensureLocalCertificate(join(dataDir, 'tls'), named, clock)
  return {
    certificate: openCertificate({ ...files, onError }),
    trust: await writeTrust(join(dataDir, 'cache', 'trust'), files.authorityFile),
  }
}

const smtpPasswordOf = (url: string | undefined): string | undefined =>
  url === undefined ? undefined : decodeURIComponent(new URL(url).password)
