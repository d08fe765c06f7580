// Where a backup goes to and comes from: a folder, or `s3:NAME` in the bucket of the variables MILLRACE_BACKUP_S3_*.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createBackupInBucket, keepNewestInBucket, listBackups } from '../engines/backup-folder/backup-bucket.ts'
import { type BackupFolder, createBackupFolder } from '../engines/backup-folder/backup-folder.ts'
import { type BackupSource, bucketSource, folderSource } from '../engines/backup-folder/backup-source.ts'
import type { BackupObjects } from '../engines/backup-folder/bucket-objects.ts'
import { keepNewest } from '../engines/backup-folder/retention.ts'
import { openExternalStore } from '../engines/object-store/external-s3.ts'
import { PlatformError } from '../kit/errors.ts'
import type { BackupBucket, BackupPlan } from './config.ts'

const IN_BUCKET = /^s3:(.*)$/s

/** True: a name in the bucket, not a path of this machine. */
export const isInBucket = (place: string): boolean => IN_BUCKET.test(place)

/** Where a planned backup of this name goes. */
export const placeOf = ({ folder }: BackupPlan, name: string): string =>
  folder === undefined ? `s3:${name}` : join(folder, name)

export async function withBackupTarget<T>(
  place: string,
  bucket: BackupBucket | undefined,
  work: (target: BackupFolder) => Promise<T>,
): Promise<T> {
  const name = nameIn(place)
  if (name === undefined) return work(await createBackupFolder(place))
  return withBucket(bucket, async (objects, prefix) => {
    const target = await createBackupInBucket(objects, `${prefix}${name}/`, place)
    return work(target).finally(target.close)
  })
}

/** `s3:latest` is the newest one. */
export async function withBackupSource<T>(
  place: string,
  bucket: BackupBucket | undefined,
  work: (source: BackupSource) => Promise<T>,
): Promise<T> {
  const name = nameIn(place)
  if (name === undefined) return work(folderSource(place))
  return withBucket(bucket, async (objects, prefix) => {
    const found = await listBackups(objects, prefix)
    const chosen = name === 'latest' ? found.at(-1) : name
    if (chosen === undefined || !found.includes(chosen))
      throw new PlatformError('backup.notInBucket', { name, found: found.slice(-10).join(', ') || 'none' })
    return work(bucketSource(objects, `${prefix}${chosen}/`, `s3:${chosen}`))
  })
}

export const keepNewestOf = ({ folder, keep }: BackupPlan, bucket: BackupBucket | undefined): Promise<readonly string[]> =>
  folder === undefined
    ? withBucket(bucket, (objects, prefix) => keepNewestInBucket(objects, prefix, keep))
    : keepNewest(folder, keep)

/** A name becomes part of keys: a plain one. */
function nameIn(place: string): string | undefined {
  const name = IN_BUCKET.exec(place)?.[1]
  if (name !== undefined && !/^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/.test(name))
    throw new PlatformError('backup.wrongName', { name: name.slice(0, 100) })
  return name
}

async function withBucket<T>(
  bucket: BackupBucket | undefined,
  work: (objects: BackupObjects, prefix: string) => Promise<T>,
): Promise<T> {
  if (!bucket) throw new PlatformError('backup.noBucket')
  const cacheDir = await mkdtemp(join(tmpdir(), 'millrace-cache-'))
  try {
    const store = await openExternalStore({ ...bucket, cacheDir })
    return await work(store, bucket.prefix).finally(() => store.close())
  } finally {
    await rm(cacheDir, { recursive: true, force: true })
  }
}
