// What belongs into a backup of a stack, and in which order it is copied while the stack works (docs/adr/0023):
// objects are kept from vanishing, then the records, then the index of objects, then the objects. So every record in the backup has its bytes.

import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type BackupFolder, createBackupFolder } from '../engines/backup-folder/backup-folder.ts'
import { restoreBackup } from '../engines/backup-folder/restore-backup.ts'
import type { MetadataDb } from '../engines/metadata-db/metadata-db.ts'
import type { BackupBlob } from '../engines/object-store/disk-backup.ts'
import type { DiskObjectStore } from '../engines/object-store/disk-object-store.ts'
import type { Clock } from '../kit/clock.ts'
import { PlatformError } from '../kit/errors.ts'
import { METADATA_FILE, ROOT_KEYS_FILE } from '../wiring/data-files.ts'

export interface BackupSources {
  readonly dataDir: string
  readonly metadata: MetadataDb
  readonly store: DiskObjectStore
  readonly clock: Clock
  readonly version: string
}

export interface BackupOrder {
  readonly folder: string
  /** Also the secrets: the root key for `#` values and the one that signs links. */
  readonly withKey: boolean
}

export interface BackupProgress {
  readonly doneBytes: number
  readonly totalBytes: number
}

export interface BackupResult {
  readonly folder: string
  readonly files: number
  readonly sizeBytes: number
  readonly withKey: boolean
  /** Keys of objects that are damaged in the stack itself, and are not in the backup. */
  readonly damagedObjects: readonly string[]
}

/** Where the parts of a stack lie in its data folder; what else is there (runs, caches) need not survive. */
export const OBJECTS_FOLDER = 'objects'
const OBJECT_INDEX = `${OBJECTS_FOLDER}/index.sqlite`
const COMPONENTS_FOLDER = 'components'
const SECRETS = [ROOT_KEYS_FILE, `${OBJECTS_FOLDER}/access.key`]
const COPIES_AT_ONCE = 8

export async function backUp(
  { dataDir, metadata, store, clock, version }: BackupSources,
  { folder, withKey }: BackupOrder,
  onProgress: (progress: BackupProgress) => void = () => {},
): Promise<BackupResult> {
  const target = await createBackupFolder(folder)
  const created = clock.now().toISOString()
  const objects = store.beginBackup()
  try {
    await metadata.backupTo(await target.locate(METADATA_FILE))
    await target.seal(METADATA_FILE)
    const blobs = await objects.copyIndex(await target.locate(OBJECT_INDEX))
    await target.seal(OBJECT_INDEX)
    const damagedObjects = await copyBlobs(target, blobs, onProgress)
    for (const path of [COMPONENTS_FOLDER, ...(withKey ? SECRETS : [])]) await target.copy(path, join(dataDir, path))
    const { files, sizeBytes } = await target.finish({ version, created, withKey, damagedObjects })
    return { folder, files, sizeBytes, withKey, damagedObjects }
  } finally {
    await objects.release()
  }
}

/** One damaged object must not cost the backup of all others: it is left out, and named. */
async function copyBlobs(
  target: BackupFolder,
  blobs: readonly BackupBlob[],
  onProgress: (progress: BackupProgress) => void,
): Promise<readonly string[]> {
  const totalBytes = blobs.reduce((sum, blob) => sum + blob.sizeBytes, 0)
  const damaged = new Set<string>()
  const waiting = blobs.values()
  let doneBytes = 0
  const copyNext = async () => {
    for (const blob of waiting) {
      const path = `${OBJECTS_FOLDER}/${blob.path}`
      try {
        await target.write(path, await blob.open())
      } catch (cause) {
        if (!(cause instanceof PlatformError) || cause.code !== 'storage.corrupt') throw cause
        damaged.add(blob.key)
        await target.discard(path)
      }
      doneBytes += blob.sizeBytes
      onProgress({ doneBytes, totalBytes })
    }
  }
  await Promise.all(Array.from({ length: COPIES_AT_ONCE }, copyNext))
  return [...damaged].sort()
}

/** A file of the data folder: while it is there, no schedule fires. */
const PAUSED_FILE = 'schedules-paused'
const PAUSED_TEXT =
  'This data folder was restored from a backup. While this file is here no schedule fires, because the stack the backup was made of may still run. Delete it and start the stack again to let schedules fire.\n'

export const pausedFile = (dataDir: string): string => join(dataDir, PAUSED_FILE)

export const areSchedulesPaused = (dataDir: string): boolean => existsSync(pausedFile(dataDir))

export interface RestoreOrder {
  readonly folder: string
  readonly dataDir: string
  /** The copy takes the place of the stack it was made of. */
  readonly runSchedules: boolean
}

/** Into an empty data folder, the records last: a restore that was stopped half way is not a stack. */
export async function restore({ folder, dataDir, runSchedules }: RestoreOrder, progress: Parameters<typeof restoreBackup>[3]) {
  const outcome = await restoreBackup(folder, dataDir, METADATA_FILE, progress)
  if (outcome.damaged.length === 0 && !runSchedules) await writeFile(pausedFile(dataDir), PAUSED_TEXT, { mode: 0o600 })
  return outcome
}
