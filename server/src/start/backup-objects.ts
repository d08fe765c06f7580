// Objects of an external S3 in a backup: a file for each, and a list of their keys and attributes.

import { createHash } from 'node:crypto'
import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import type { BackupFolder } from '../engines/backup-folder/backup-folder.ts'
import type { BackupSource } from '../engines/backup-folder/backup-source.ts'
import type { ObjectAttributes, ObjectInfo, ObjectStore } from '../engines/object-store/object-store.ts'
import { readStored } from '../kit/stored-json.ts'

export const S3_FOLDER = 's3-objects'
const INDEX = `${S3_FOLDER}/index.jsonl`
export const COPIES_AT_ONCE = 8

export interface BackupProgress {
  readonly doneBytes: number
  readonly totalBytes: number
}

interface Entry {
  readonly key: string
  readonly path: string
  readonly attributes: ObjectAttributes
}

/** Answers the keys of objects that are damaged or gone, and not in the backup. */
export async function copyObjects(
  store: ObjectStore,
  target: BackupFolder,
  onProgress: (progress: BackupProgress) => void,
): Promise<readonly string[]> {
  const objects = await listAll(store)
  const totalBytes = objects.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
  const entries: Entry[] = []
  const damaged: string[] = []
  let doneBytes = 0
  const waiting = objects.values()
  const copyNext = async () => {
    for (const listed of waiting) {
      const entry = await copyOne(store, target, listed.key)
      if (entry) entries.push(entry)
      else damaged.push(listed.key)
      doneBytes += listed.sizeBytes
      onProgress({ doneBytes, totalBytes })
    }
  }
  await Promise.all(Array.from({ length: COPIES_AT_ONCE }, copyNext))
  const lines = entries.toSorted((a, b) => (a.key < b.key ? -1 : 1)).map((entry) => `${JSON.stringify(entry)}\n`)
  await target.write(
    INDEX,
    Readable.from(
      lines.map((line) => Buffer.from(line)),
      { objectMode: false },
    ),
  )
  return damaged.sort()
}

async function copyOne(store: ObjectStore, target: BackupFolder, key: string): Promise<Entry | undefined> {
  const found = await store.get(key)
  if (!found) return undefined
  const name = createHash('sha256').update(key).digest('hex')
  const path = `${S3_FOLDER}/${name.slice(0, 2)}/${name}`
  // The SDK compares the checksum of S3 on the way and breaks off the stream when it differs.
  const sizeBytes = await target.write(path, found.body).then(
    (written) => written.sizeBytes,
    () => -1,
  )
  if (sizeBytes === found.info.sizeBytes) return { key, path, attributes: found.info.attributes }
  await target.discard(path)
  return undefined
}

async function listAll(store: ObjectStore): Promise<readonly ObjectInfo[]> {
  const all: ObjectInfo[] = []
  for (let after = ''; ; after = all.at(-1)!.key) {
    const { objects, more } = await store.list({ after })
    all.push(...objects)
    if (!more) return all
  }
}

export async function restoreObjects(
  store: ObjectStore,
  source: BackupSource,
  onProgress: (done: number) => void,
): Promise<void> {
  let done = 0
  for await (const line of createInterface({ input: await source.open(INDEX) })) {
    const { key, path, attributes } = readStored<Entry>(line)
    await store.put(key, await source.open(path), { attributes })
    onProgress(++done)
  }
}

export const isEmptyStore = async (store: ObjectStore): Promise<boolean> => (await store.list({ limit: 1 })).objects.length === 0
