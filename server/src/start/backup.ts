// What belongs into a backup of a stack, and in which order it is copied while the stack works (docs/adr/0023):
// objects are kept from vanishing, then the records, then the index of objects, then the objects. So every record in the backup has its bytes.

import { join } from 'node:path'
import { Readable } from 'node:stream'
import type { BackupFolder } from '../engines/backup-folder/backup-folder.ts'
import type { MetadataDb } from '../engines/metadata-db/metadata-db.ts'
import type { BackupBlob, ObjectsBackup } from '../engines/object-store/disk-backup.ts'
import type { DiskObjectStore } from '../engines/object-store/disk-object-store.ts'
import type { ObjectStore } from '../engines/object-store/object-store.ts'
import type { Clock } from '../kit/clock.ts'
import { PlatformError } from '../kit/errors.ts'
import type { BackupsModule } from '../services/stack/backups/backups.module.ts'
import { METADATA_FILE, ROOT_KEYS_FILE } from '../wiring/data-files.ts'
import { type BackupProgress, COPIES_AT_ONCE, copyObjects } from './backup-objects.ts'
import { withBackupTarget } from './backup-place.ts'
import type { BackupBucket } from './config.ts'

export type { BackupProgress }

export interface BackupSources {
  readonly dataDir: string
  readonly metadata: MetadataDb
  readonly objects: { readonly store: ObjectStore; readonly disk: DiskObjectStore | undefined }
  /** Left out: the stack is not in use, and the backup is not counted. */
  readonly backups?: BackupsModule
  /** Where backups named `s3:NAME` go. */
  readonly bucket?: BackupBucket | undefined
  readonly clock: Clock
  readonly version: string
}

export interface BackupOrder {
  /** A new or empty folder, or `s3:NAME`. */
  readonly folder: string
  /** Also the secrets: the root key for `#` values and the one that signs links. */
  readonly withKey: boolean
  /** Of a planned backup; one node makes it. */
  readonly dueAt?: number
  /** The backup is recorded, and the copying begins. */
  readonly onBegun?: () => void
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
/** The rows of a PostgreSQL, a file for each table. */
export const ROWS_FOLDER = 'metadata'
const COMPONENTS_FOLDER = 'components'
const SECRETS = [ROOT_KEYS_FILE, `${OBJECTS_FOLDER}/access.key`]

/** Undefined when another node makes the backup that was planned. */
export async function backUp(
  sources: BackupSources,
  order: BackupOrder,
  onProgress: (progress: BackupProgress) => void = () => {},
): Promise<BackupResult | undefined> {
  const { backups, objects } = sources
  if (!backups) return copyStack(sources, order, onProgress)
  const run = await backups.begin(order.folder, order.dueAt)
  if (!run) return undefined
  order.onBegun?.()
  try {
    const result = await copyStack(sources, order, onProgress)
    await run.end()
    return result
  } catch (error) {
    await run.end(error)
    throw error
  } finally {
    if (!objects.disk) await backups.removeHeld(objects.store)
  }
}

async function copyStack(
  sources: BackupSources,
  order: BackupOrder,
  onProgress: (progress: BackupProgress) => void,
): Promise<BackupResult> {
  return withBackupTarget(order.folder, sources.bucket, (target) => copyInto(target, sources, order, onProgress))
}

async function copyInto(
  target: BackupFolder,
  { dataDir, metadata, objects, clock, version }: BackupSources,
  { folder, withKey }: BackupOrder,
  onProgress: (progress: BackupProgress) => void,
): Promise<BackupResult> {
  const created = clock.now().toISOString()
  const kept = objects.disk?.beginBackup()
  try {
    await metadata.backUp({
      file: (write) => putFile(target, METADATA_FILE, write),
      rows: async ({ table, lines }) => {
        await target.write(`${ROWS_FOLDER}/${table}.jsonl`, Readable.from(lines, { objectMode: false }))
      },
    })
    const damagedObjects = kept
      ? await copyEmbedded(target, kept, onProgress)
      : await copyObjects(objects.store, target, onProgress)
    for (const path of [COMPONENTS_FOLDER, ...(withKey ? SECRETS : [])]) await target.copy(path, join(dataDir, path))
    const { files, sizeBytes } = await target.finish({ version, created, withKey, damagedObjects })
    return { folder, files, sizeBytes, withKey, damagedObjects }
  } finally {
    await kept?.release()
  }
}

async function copyEmbedded(target: BackupFolder, objects: ObjectsBackup, onProgress: (progress: BackupProgress) => void) {
  let blobs: readonly BackupBlob[] = []
  await putFile(target, OBJECT_INDEX, async (path) => {
    blobs = await objects.copyIndex(path)
  })
  return copyBlobs(target, blobs, onProgress)
}

async function putFile(target: BackupFolder, name: string, write: (path: string) => Promise<void>): Promise<void> {
  await write(await target.locate(name))
  await target.seal(name)
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
