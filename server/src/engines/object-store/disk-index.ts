// Which key holds which bytes: one SQLite file beside the blobs (docs/adr/0005). A commit here is the moment an object exists.
//
//  (1) Every row carries a seal over its own content, so a damaged index is noticed like damaged bytes.
//  (2) Writers that arrive together share one transaction, hence one fsync.
//  (3) The file is locked for this process: two servers on one data folder would sweep each other's uploads.

import { backup, DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { crc32 } from 'node:zlib'
import { PlatformError } from '../../kit/errors.ts'
import { readStored } from '../../kit/stored-json.ts'
import type { Disk } from './disk.ts'
import type { ObjectAttributes, ObjectChecksum, ObjectInfo, PartInfo, UploadInfo } from './object-store.ts'

/** A file below objects/ that holds a run of the object's bytes. */
export interface Blob {
  readonly name: string
  readonly sizeBytes: number
}

/** An object as the index stores it: its bytes are the blobs one after the other. */
export interface StoredObject {
  readonly info: ObjectInfo
  readonly blobs: readonly Blob[]
  /** The block checksums of all blobs, one blob after the other. */
  readonly blocks: Uint32Array
}

export interface StoredPart {
  readonly part: PartInfo
  readonly blob: Blob
  readonly blocks: Uint32Array
}

/** What may be read and written inside a commit. All of it is synchronous: nothing can slip in between. */
export interface IndexTransaction {
  find(key: string): StoredObject | undefined
  save(object: StoredObject): void
  remove(key: string): void
  findUpload(key: string, uploadId: string): UploadInfo | undefined
  saveUpload(upload: UploadInfo): void
  removeUpload(uploadId: string): void
  partsOf(uploadId: string): StoredPart[]
  findPart(uploadId: string, number: number): StoredPart | undefined
  savePart(uploadId: string, part: StoredPart): void
}

export interface DiskIndex extends Pick<IndexTransaction, 'find' | 'findUpload' | 'partsOf'> {
  list(prefix: string, after: string, limit: number): StoredObject[]
  listUploads(prefix: string): UploadInfo[]
  hasBlob(name: string): boolean
  /** Runs `work` in a transaction that may be shared with others; resolves once it is on the disk. */
  commit<T>(work: (tx: IndexTransaction) => T): Promise<T>
  /** Copies the index as it is when the copy is done; commits continue meanwhile. */
  backupTo(path: string): Promise<void>
  close(): void
}

const SCHEMA = `
  create table if not exists objects (
    key text primary key, size integer not null, etag text not null, modified_ms integer not null,
    attributes text not null, checksum text, blobs text not null, blocks blob not null, seal integer not null
  );
  create table if not exists uploads (
    upload_id text primary key, key text not null, started_ms integer not null, attributes text not null
  );
  create index if not exists uploads_by_key on uploads (key);
  create table if not exists parts (
    upload_id text not null references uploads on delete cascade, number integer not null, size integer not null,
    etag text not null, modified_ms integer not null, checksum text, blob text not null, blocks blob not null,
    primary key (upload_id, number)
  );
  create table if not exists blobs (name text primary key) without rowid;
`

interface ObjectRow {
  readonly key: string
  readonly size: number
  readonly etag: string
  readonly modified_ms: number
  readonly attributes: string
  readonly checksum: string | null
  readonly blobs: string
  readonly blocks: Uint8Array
  readonly seal: number
}

interface PartRow extends Omit<ObjectRow, 'key' | 'attributes' | 'blobs' | 'seal'> {
  readonly number: number
  readonly blob: string
}

interface UploadRow {
  readonly upload_id: string
  readonly key: string
  readonly started_ms: number
  readonly attributes: string
}

export function openDiskIndex(path: string, disk: Disk): DiskIndex {
  const db = openLocked(path)
  db.exec(SCHEMA)
  // The casts below are true by the schema above: this file is the only one that writes these tables.
  const sql = {
    find: db.prepare('select * from objects where key = ?'),
    list: db.prepare('select * from objects where key > ? and key >= ? and key < ? order by key limit ?'),
    save: db.prepare(
      'insert into objects values (?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict (key) do update set size = excluded.size, etag = excluded.etag, modified_ms = excluded.modified_ms, attributes = excluded.attributes, checksum = excluded.checksum, blobs = excluded.blobs, blocks = excluded.blocks, seal = excluded.seal',
    ),
    remove: db.prepare('delete from objects where key = ?'),
    findUpload: db.prepare('select * from uploads where upload_id = ? and key = ?'),
    listUploads: db.prepare('select * from uploads where key >= ? and key < ? order by key, started_ms, upload_id'),
    saveUpload: db.prepare('insert into uploads values (?, ?, ?, ?)'),
    removeUpload: db.prepare('delete from uploads where upload_id = ?'),
    parts: db.prepare('select * from parts where upload_id = ? order by number'),
    findPart: db.prepare('select * from parts where upload_id = ? and number = ?'),
    savePart: db.prepare('insert or replace into parts values (?, ?, ?, ?, ?, ?, ?, ?)'),
    hasBlob: db.prepare('select 1 from blobs where name = ?'),
    addBlob: db.prepare('insert or ignore into blobs values (?)'),
    dropBlob: db.prepare('delete from blobs where name = ?'),
  }

  const find = (key: string) => {
    const row = sql.find.get(key) as unknown as ObjectRow | undefined
    return row && objectOf(row)
  }
  const findUpload = (key: string, uploadId: string) => {
    const row = sql.findUpload.get(uploadId, key) as unknown as UploadRow | undefined
    return row && uploadOf(row)
  }
  const partsOf = (uploadId: string) => (sql.parts.all(uploadId) as unknown as PartRow[]).map(partOf)

  const findPart = (uploadId: string, number: number) => {
    const row = sql.findPart.get(uploadId, number) as unknown as PartRow | undefined
    return row && partOf(row)
  }

  /** Also of an entry whose seal is broken: what is damaged must still be replaceable. */
  const forgetBlobs = (key: string) => {
    for (const blob of attemptFind(key)?.blobs ?? []) sql.dropBlob.run(blob.name)
  }
  const attemptFind = (key: string) => {
    try {
      return find(key)
    } catch {
      return undefined
    }
  }

  const tx: IndexTransaction = {
    find,
    save(object) {
      forgetBlobs(object.info.key)
      for (const blob of object.blobs) sql.addBlob.run(blob.name)
      const row = rowOf(object)
      sql.save.run(row.key, row.size, row.etag, row.modified_ms, row.attributes, row.checksum, row.blobs, row.blocks, sealOf(row))
    },
    remove(key) {
      forgetBlobs(key)
      sql.remove.run(key)
    },
    findUpload,
    saveUpload: (upload) => sql.saveUpload.run(upload.uploadId, upload.key, upload.startedMs, JSON.stringify(upload.attributes)),
    removeUpload(uploadId) {
      for (const part of partsOf(uploadId)) sql.dropBlob.run(part.blob.name)
      sql.removeUpload.run(uploadId)
    },
    partsOf,
    findPart,
    savePart(uploadId, { part, blob, blocks }) {
      const replaced = findPart(uploadId, part.number)
      if (replaced) sql.dropBlob.run(replaced.blob.name)
      sql.addBlob.run(blob.name)
      const checksum = part.checksum ? JSON.stringify(part.checksum) : null
      sql.savePart.run(uploadId, part.number, part.sizeBytes, part.etag, part.modifiedMs, checksum, blob.name, bytesOf(blocks))
    },
  }

  return {
    find,
    findUpload,
    partsOf,
    list: (prefix, after, limit) => (sql.list.all(after, prefix, endOf(prefix), limit) as unknown as ObjectRow[]).map(objectOf),
    listUploads: (prefix) => (sql.listUploads.all(prefix, endOf(prefix)) as unknown as UploadRow[]).map(uploadOf),
    hasBlob: (name) => sql.hasBlob.get(name) !== undefined,
    commit: groupCommits(db, disk, tx),
    backupTo: (path) => copyWhileUsed(db, path),
    close: () => db.close(),
  }
}

function openLocked(path: string): DatabaseSync {
  try {
    const db = new DatabaseSync(path)
    db.exec('pragma locking_mode = exclusive; pragma journal_mode = wal; pragma synchronous = full; pragma foreign_keys = on')
    return db
  } catch (cause) {
    const what = /locked/.test(String(cause)) ? 'start: another process uses this data folder' : 'open its index'
    throw new PlatformError('storage.unavailable', { what }, { cause })
  }
}

const COPY_ATTEMPTS = 50
const PAGES_PER_STEP = 500

/** The copy runs on the connection that writes, so commits reach it too. Its first step is refused while a commit runs: then again. */
async function copyWhileUsed(db: DatabaseSync, path: string): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return void (await backup(db, path, { rate: PAGES_PER_STEP }))
    } catch (cause) {
      if (attempt === COPY_ATTEMPTS || !/locked|busy/i.test(String(cause))) throw cause
      await sleep(attempt)
    }
  }
}

/**
 * Collects the work of one turn of the event loop into one transaction. A refusal (PlatformError) of one writer must come
 * before it writes anything, and concerns that writer alone; any other failure undoes and fails the whole batch.
 */
function groupCommits(db: DatabaseSync, disk: Disk, tx: IndexTransaction): DiskIndex['commit'] {
  let batch: { work: (tx: IndexTransaction) => unknown; settle: (outcome: () => unknown) => void }[] = []

  function flush(): void {
    const running = batch
    batch = []
    const outcomes: (() => unknown)[] = []
    try {
      disk.beforeCommit()
      db.exec('begin immediate')
      for (const { work } of running) outcomes.push(attempt(() => work(tx)))
      db.exec('commit')
    } catch (cause) {
      if (db.isOpen && db.isTransaction) db.exec('rollback')
      for (const { settle } of running)
        settle(() => {
          throw cause
        })
      return
    }
    running.forEach(({ settle }, i) => {
      settle(outcomes[i]!)
    })
  }

  return (work) =>
    new Promise((resolve, reject) => {
      if (batch.length === 0) setImmediate(flush)
      const settle = (outcome: () => unknown) => {
        try {
          // The outcome is what this very work returned.
          resolve(outcome() as Awaited<ReturnType<typeof work>>)
        } catch (cause) {
          reject(cause)
        }
      }
      batch.push({ work, settle })
    })
}

function attempt(work: () => unknown): () => unknown {
  try {
    const result = work()
    return () => result
  } catch (cause) {
    if (!(cause instanceof PlatformError)) throw cause
    return () => {
      throw cause
    }
  }
}

/** The first string after everything that starts with the prefix. U+10FFFF sorts last in UTF-8, and no key may hold it twice in a row. */
const endOf = (prefix: string): string => `${prefix}\u{10FFFF}\u{10FFFF}`

const bytesOf = (blocks: Uint32Array): Uint8Array => new Uint8Array(blocks.buffer, blocks.byteOffset, blocks.byteLength)
// A copy, because SQLite returns buffers that need not be aligned to four bytes.
const blocksOf = (bytes: Uint8Array): Uint32Array => new Uint32Array(new Uint8Array(bytes).buffer)

const rowOf = ({ info, blobs, blocks }: StoredObject): Omit<ObjectRow, 'seal'> => ({
  key: info.key,
  size: info.sizeBytes,
  etag: info.etag,
  modified_ms: info.modifiedMs,
  attributes: JSON.stringify(info.attributes),
  checksum: info.checksum ? JSON.stringify(info.checksum) : null,
  blobs: JSON.stringify(blobs.map((blob) => [blob.name, blob.sizeBytes])),
  blocks: bytesOf(blocks),
})

const sealOf = (row: Omit<ObjectRow, 'seal'>): number =>
  crc32(
    row.blocks,
    crc32(JSON.stringify([row.key, row.size, row.etag, row.modified_ms, row.attributes, row.checksum, row.blobs])),
  )

function objectOf(row: ObjectRow): StoredObject {
  if (sealOf(row) !== row.seal) throw new PlatformError('storage.corrupt', { key: row.key, offset: 'its index entry' })
  // True by the seal: rowOf wrote these texts.
  const blobs = readStored<[string, number][]>(row.blobs).map(([name, sizeBytes]) => ({ name, sizeBytes }))
  const checksum = row.checksum === null ? {} : { checksum: readStored<ObjectChecksum>(row.checksum) }
  const attributes = readStored<ObjectAttributes>(row.attributes)
  const info = { key: row.key, sizeBytes: row.size, etag: row.etag, modifiedMs: row.modified_ms, attributes, ...checksum }
  return { info, blobs, blocks: blocksOf(row.blocks) }
}

function partOf(row: PartRow): StoredPart {
  const checksum = row.checksum === null ? {} : { checksum: readStored<ObjectChecksum>(row.checksum) }
  return {
    part: { number: row.number, sizeBytes: row.size, etag: row.etag, modifiedMs: row.modified_ms, ...checksum },
    blob: { name: row.blob, sizeBytes: row.size },
    blocks: blocksOf(row.blocks),
  }
}

const uploadOf = (row: UploadRow): UploadInfo => ({
  uploadId: row.upload_id,
  key: row.key,
  startedMs: row.started_ms,
  attributes: readStored<ObjectAttributes>(row.attributes),
})
