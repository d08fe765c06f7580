// Does a backup become a stack again? The copy is made in a folder of its own, opened as a start opens it, and looked through. Nothing in
// it starts by itself, it is unreachable, and it is removed.

import { existsSync } from 'node:fs'
import { copyFile, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { BackupSource } from '../engines/backup-folder/backup-source.ts'
import { type BackupManifest, readManifest } from '../engines/backup-folder/manifest.ts'
import type { RestoreProgress } from '../engines/backup-folder/restore-backup.ts'
import { type Damage, type Verified, verifyBackup } from '../engines/backup-folder/verify-backup.ts'
import { writeDrill } from '../engines/data-dir/drill-record.ts'
import { isDataFolder } from '../engines/data-dir/folder-lock.ts'
import { openMetadataDb } from '../engines/metadata-db/metadata-db.ts'
import { openDiskObjectStore } from '../engines/object-store/disk-object-store.ts'
import type { ObjectStore, OpenObject } from '../engines/object-store/object-store.ts'
import { systemClock } from '../kit/clock.ts'
import { PlatformError } from '../kit/errors.ts'
import { createLog } from '../kit/log.ts'
import { createSecrets } from '../kit/secrets.ts'
import { NO_ORIGIN } from '../model/event.ts'
import { ROOT_KEYS_FILE } from '../wiring/data-files.ts'
import { createPlatform, type Platform } from '../wiring/platform.ts'
import { OBJECTS_FOLDER, ROWS_FOLDER } from './backup.ts'
import { restoreObjects, S3_FOLDER } from './backup-objects.ts'
import type { Config } from './config.ts'
import { isIn, pause, restoreFiles, restoreMetadata } from './restore.ts'
import { VERSION } from './version.ts'

/** What of the configuration a drill needs. */
export interface DrillConfig extends Pick<Config, 'dataDir' | 'unknownComponents'> {
  readonly secrets: Pick<Config['secrets'], 'encryptionKeys'>
  readonly s3: Pick<Config['s3'], 'region' | 'bucket'>
  readonly http: Pick<Config['http'], 'bodyLimitBytes'>
}

export interface DrillOrder {
  readonly source: BackupSource
  readonly config: DrillConfig
  /** An empty PostgreSQL for the rows of a backup that has such; it is not emptied afterwards. */
  readonly databaseUrl: string | undefined
}

export interface DrillResult extends Verified {
  /** What was seen in the copy; undefined when it was not opened, which `reason` explains. */
  readonly copy: CopySeen | undefined
  readonly reason: string | undefined
}

interface CopySeen {
  readonly projects: number
  readonly objects: number
  readonly tables: number
  readonly tablesRead: number
}

/** Tables whose rows are read, spread over all of them. */
const MAX_TABLES_READ = 50

/** The result is stored in the data folder of the stack, if there is one: its status shows it. */
export async function drill(order: DrillOrder, progress: RestoreProgress): Promise<DrillResult> {
  const result = await tryOut(order, progress)
  const { copy, damaged, reason, manifest } = result
  if (reason === undefined && isDataFolder(order.config.dataDir))
    await writeDrill(order.config.dataDir, {
      at: systemClock.now().toISOString(),
      backupOf: manifest.created,
      isGood: damaged.length === 0 && copy !== undefined,
      tablesRead: copy?.tablesRead ?? 0,
    })
  return result
}

async function tryOut(order: DrillOrder, progress: RestoreProgress): Promise<DrillResult> {
  const { source, config, databaseUrl } = order
  const scratch = await mkdtemp(join(tmpdir(), 'millrace-drill-'))
  const dataDir = join(scratch, 'data')
  try {
    if (hasRows(await readManifest(source)) && databaseUrl === undefined)
      return { ...(await verifyBackup(source, progress.verified)), copy: undefined, reason: NO_DATABASE }
    const outcome = await restoreFiles(source, dataDir, async () => {}, progress)
    if (outcome.damaged.length > 0) return { ...outcome, copy: undefined, reason: undefined }
    await fill(source, dataDir, outcome.manifest, databaseUrl)
    if (!outcome.manifest.withKey && existsSync(rootKeys(config))) await copyFile(rootKeys(config), join(dataDir, ROOT_KEYS_FILE))
    return { ...outcome, ...(await lookThrough(dataDir, order, outcome.manifest.damagedObjects)) }
  } finally {
    await rm(scratch, { recursive: true, force: true })
  }
}

const rootKeys = ({ dataDir }: DrillConfig): string => join(dataDir, ROOT_KEYS_FILE)

const hasRows = ({ files }: BackupManifest): boolean => files.some(({ path }) => isIn(ROWS_FOLDER, path))
const NO_DATABASE = 'its records are rows of a PostgreSQL: name an empty one with --database'

/** What the stack kept outside of its data folder. Objects of an S3 lie in the embedded store for as long as the drill lasts. */
async function fill(
  source: BackupSource,
  dataDir: string,
  manifest: BackupManifest,
  databaseUrl: string | undefined,
): Promise<void> {
  await pause(dataDir)
  if (manifest.files.some(({ path }) => isIn(S3_FOLDER, path))) {
    const store = await openDiskObjectStore({ root: join(dataDir, OBJECTS_FOLDER), clock: systemClock })
    await restoreObjects(store, source, () => {}).finally(() => store.close())
  }
  if (databaseUrl === undefined || !hasRows(manifest)) return
  const metadata = await openMetadataDb({ url: databaseUrl })
  await restoreMetadata(metadata, source, manifest, false).finally(() => metadata.close())
}

async function lookThrough(
  dataDir: string,
  { config, databaseUrl }: DrillOrder,
  knownDamage: readonly string[],
): Promise<Pick<DrillResult, 'copy' | 'damaged' | 'reason'>> {
  const open = createPlatform({
    version: VERSION,
    dataDir,
    databaseUrl,
    encryptionKeys: config.secrets.encryptionKeys,
    region: config.s3.region,
    bucket: config.s3.bucket,
    bodyLimitBytes: config.http.bodyLimitBytes,
    corsOrigins: [],
    restoredAt: systemClock.now(),
    roles: ['api'],
    unknownComponents: config.unknownComponents,
    log: createLog({ level: 'silent', secrets: createSecrets() }),
  })
  const platform = await open.catch((error: unknown) => (error instanceof Error ? error : new Error(String(error))))
  if (platform instanceof PlatformError && platform.code === 'encryption.rootKeyMissing')
    return {
      copy: undefined,
      damaged: [],
      reason: `the root key is neither in it nor in ${config.dataDir}: set MILLRACE_ENCRYPTION_KEY, or MILLRACE_DATA_DIR`,
    }
  if (platform instanceof Error) {
    const damaged = [{ file: 'The restored copy', reason: `does not open: ${platform.message}` }]
    return { copy: undefined, damaged, reason: undefined }
  }
  try {
    const objects = await openEach(platform.objects.store, new Set(knownDamage))
    const tables = await readSomeTables(platform)
    const { projects, count, read } = tables
    return {
      copy: { projects, objects: objects.count, tables: count, tablesRead: read },
      damaged: [...objects.damaged, ...tables.damaged],
      reason: undefined,
    }
  } finally {
    await platform.close()
  }
}

/** What was damaged in the stack already is named in the manifest, and is no fault of the backup. */
async function openEach(
  store: ObjectStore,
  knownDamage: ReadonlySet<string>,
): Promise<{ readonly count: number; readonly damaged: readonly Damage[] }> {
  const damaged: Damage[] = []
  let count = 0
  for (let after = ''; ; ) {
    const { objects, more } = await store.list({ after })
    for (const { key } of objects) {
      if (knownDamage.has(key)) continue
      const found = await store.get(key).catch((error: unknown) => error)
      if (found instanceof Error) damaged.push({ file: `The object ${key}`, reason: `does not open: ${found.message}` })
      else (found as OpenObject | undefined)?.body.destroy() // an object or nothing, since it is no error
      count++
    }
    if (!more) return { count, damaged }
    after = objects.at(-1)!.key
  }
}

/** Through the public routes, with a token that is deleted with the copy. */
async function readSomeTables({ app, tokens }: Platform) {
  const found: { readonly id: string; readonly token: string }[] = []
  const projects = await tokens.listProjects()
  const get = (url: string, token: string) => app.inject({ url, headers: { 'x-storageapi-token': token } })
  for (const { id } of projects) {
    const { value } = await tokens.create(await tokens.masterActor(id), { canManageBuckets: true }, NO_ORIGIN)
    const listed = await get('/v2/storage/tables', value)
    for (const table of listed.json<{ id: string }[]>()) found.push({ id: table.id, token: value })
  }
  const step = Math.max(1, Math.ceil(found.length / MAX_TABLES_READ))
  const sample = found.filter((_, i) => i % step === 0)
  const damaged: Damage[] = []
  for (const { id, token } of sample) {
    const rows = await get(`/v2/storage/tables/${encodeURIComponent(id)}/data-preview?format=json&limit=100`, token)
    if (rows.statusCode !== 200) damaged.push({ file: `The table ${id}`, reason: `cannot be read: ${rows.body.slice(0, 300)}` })
  }
  return { projects: projects.length, count: found.length, read: sample.length - damaged.length, damaged }
}
