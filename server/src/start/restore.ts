// A backup becomes a stack again: files in an empty data folder, rows in an empty PostgreSQL, objects in an empty bucket.

import { statSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { createInterface } from 'node:readline'
import type { BackupSource } from '../engines/backup-folder/backup-source.ts'
import type { BackupManifest } from '../engines/backup-folder/manifest.ts'
import { type RestoreProgress, restoreBackup } from '../engines/backup-folder/restore-backup.ts'
import type { Verified } from '../engines/backup-folder/verify-backup.ts'
import { type MetadataDb, openMetadataDb } from '../engines/metadata-db/metadata-db.ts'
import { openExternalStore } from '../engines/object-store/external-s3.ts'
import type { ObjectStore } from '../engines/object-store/object-store.ts'
import { PlatformError } from '../kit/errors.ts'
import { readStored } from '../kit/stored-json.ts'
import { createBackupsModule } from '../services/stack/backups/backups.module.ts'
import { METADATA_FILE } from '../wiring/data-files.ts'
import { ROWS_FOLDER } from './backup.ts'
import { isEmptyStore, restoreObjects, S3_FOLDER } from './backup-objects.ts'
import type { Config } from './config.ts'
import { isNewerVersion, VERSION } from './version.ts'

/** A file of the data folder: while it is there, nothing starts by itself. */
const PAUSED_FILE = 'schedules-paused'
const PAUSED_TEXT =
  'This data folder was restored from a backup. While this file is here no schedule fires and no notification is sent, because the stack the backup was made of may still run. `millrace resume` removes it; start the stack again afterwards.\n'

const pausedFile = (dataDir: string): string => join(dataDir, PAUSED_FILE)

/** Undefined if the data folder is not a copy, or may run as a stack of its own. */
export const restoredAt = (dataDir: string): Date | undefined => statSync(pausedFile(dataDir), { throwIfNoEntry: false })?.mtime

export interface RestoreOrder {
  readonly source: BackupSource
  readonly config: Config
  /** The copy takes the place of the stack it was made of. */
  readonly runSchedules: boolean
}

/** The records last: a restore that was stopped half way is not a stack. */
export async function restore({ source, config, runSchedules }: RestoreOrder, progress: RestoreProgress): Promise<Verified> {
  const { dataDir } = config
  return withTargets(config, async ({ metadata, store }) => {
    const outcome = await restoreFiles(
      source,
      dataDir,
      (manifest) => checkPlaces(manifest, source, config, { metadata, store }),
      progress,
    )
    if (outcome.damaged.length > 0) return outcome
    const { files } = outcome.manifest
    if (store) await restoreObjects(store, source, (done) => progress.copied(done, files.length))
    if (!runSchedules) await pause(dataDir)
    if (metadata) await restoreMetadata(metadata, source, outcome.manifest, runSchedules)
    return outcome
  })
}

/** What lies in the data folder; rows and objects of other stores stay where they are. */
export const restoreFiles = (
  source: BackupSource,
  target: string,
  check: (manifest: BackupManifest) => Promise<void>,
  progress: RestoreProgress,
): Promise<Verified> =>
  restoreBackup(
    { source, target, last: METADATA_FILE, isElsewhere: (path) => isIn(ROWS_FOLDER, path) || isIn(S3_FOLDER, path), check },
    progress,
  )

export const pause = (dataDir: string): Promise<void> => writeFile(pausedFile(dataDir), PAUSED_TEXT, { mode: 0o600 })

export const isIn = (folder: string, path: string): boolean => path.startsWith(`${folder}/`)

/** This program must be able to read the records. What is kept outside of the data folder must be outside in the backup, too, and the place for it must be empty. */
async function checkPlaces(
  { version, files }: BackupManifest,
  source: BackupSource,
  { database, s3 }: Config,
  { metadata, store }: Targets,
): Promise<void> {
  if (isNewerVersion(version, VERSION)) throw new PlatformError('backup.newerVersion', { backup: version, program: VERSION })
  const hasRows = files.some(({ path }) => isIn(ROWS_FOLDER, path))
  if (hasRows !== (database.url !== undefined))
    throw new PlatformError(hasRows ? 'backup.needsDatabase' : 'backup.needsNoDatabase')
  const hasS3 = files.some(({ path }) => isIn(S3_FOLDER, path))
  if (hasS3 !== (s3.external !== undefined)) throw new PlatformError(hasS3 ? 'backup.needsS3' : 'backup.needsNoS3')
  if (store && !(await isEmptyStore(store))) throw new PlatformError('backup.bucketNotEmpty', { bucket: s3.bucket })
  await metadata?.checkRestore(await migrationsOf(source))
}

export async function restoreMetadata(
  metadata: MetadataDb,
  source: BackupSource,
  { files }: BackupManifest,
  runSchedules: boolean,
): Promise<void> {
  const tables = files
    .filter(({ path }) => isIn(ROWS_FOLDER, path))
    .map(({ path }) => ({ table: basename(path, '.jsonl'), lines: linesOf(source, path) }))
  await metadata.restore(tables, await migrationsOf(source))
  // Other nodes have data folders of their own; it is marked in what they share, too.
  if (!runSchedules) await createBackupsModule({ db: metadata.db, clock: metadata.clock }).markRestored()
}

async function migrationsOf(source: BackupSource): Promise<string[]> {
  const names: string[] = []
  for await (const line of linesOf(source, `${ROWS_FOLDER}/migration.jsonl`)) names.push(readStored<{ name: string }>(line).name)
  return names
}

/** Opens the file when the first line is read: a reader that waits for its turn would lose what it has read. */
async function* linesOf(source: BackupSource, path: string): AsyncIterable<string> {
  yield* createInterface({ input: await source.open(path) })
}

interface Targets {
  readonly metadata: MetadataDb | undefined
  readonly store: ObjectStore | undefined
}

/** What the configuration keeps outside of the data folder, open for the time of the work. */
export async function withTargets<T>({ database, s3 }: Config, work: (targets: Targets) => Promise<T>): Promise<T> {
  const cacheDir = await mkdtemp(join(tmpdir(), 'millrace-cache-'))
  const metadata = database.url === undefined ? undefined : await openMetadataDb({ url: database.url })
  try {
    await metadata?.reach({ waitMs: 0 })
    const { external, region, bucket } = s3
    const store = external && (await openExternalStore({ ...external, region, bucket, cacheDir }))
    return await work({ metadata, store }).finally(() => store?.close())
  } finally {
    await metadata?.close()
    await rm(cacheDir, { recursive: true, force: true })
  }
}

/** The copy becomes a stack like any other at its next start; false when it was one already. */
export async function resume(config: Config): Promise<boolean> {
  const { dataDir } = config
  return withTargets({ ...config, s3: { ...config.s3, external: undefined } }, async ({ metadata }) => {
    const backups = metadata && createBackupsModule({ db: metadata.db, clock: metadata.clock })
    const wasPaused = (restoredAt(dataDir) ?? (await backups?.restoredAt())) !== undefined
    await backups?.forgetRestored()
    await rm(pausedFile(dataDir), { force: true })
    return wasPaused
  })
}
