// Objects in any S3, through the AWS SDK. The guarantees of object-store.ts are mostly S3's own; what is added here:
//  - a put whose body breaks off is aborted, so nothing half-written appears (the upload manager does that);
//  - bytes are checked on the way: the SDK sends a CRC-32 with every upload and compares it on every whole read;
//  - objects as local files are downloaded once for the same key and etag, and kept while in use.

import { randomUUID } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, readdir, rm, stat, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { PassThrough, Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateMultipartUploadCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  ListPartsCommand,
  type S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3'
import { Upload } from '@aws-sdk/lib-storage'
import { checkKey } from './keys.ts'
import {
  type Bytes,
  type LocalObject,
  MAX_LIST,
  type Multipart,
  type ObjectAttributes,
  type ObjectInfo,
  type ObjectStore,
  type PutOptions,
} from './object-store.ts'
import { reachBucket } from './reach-bucket.ts'
import { createS3Client, type S3Account } from './s3-client.ts'
import { fromSdk, isAbsent, toS3Attributes, withoutQuotes } from './s3-translation.ts'

export interface S3ObjectStoreOptions extends S3Account {
  readonly bucket: string
  /** Local folder for staged and adopted files; nothing in it must survive. */
  readonly cacheDir: string
  /** How long to wait for an S3 that is not there yet. */
  readonly waitMs?: number
}

export async function openS3ObjectStore(options: S3ObjectStoreOptions): Promise<ObjectStore> {
  const { bucket: Bucket, cacheDir } = options
  const client = createS3Client(options)
  await reachBucket(client, options)
  const tempDir = join(cacheDir, 'tmp')
  const stagedDir = join(cacheDir, 'staged')
  await rm(cacheDir, { recursive: true, force: true })
  for (const folder of [tempDir, stagedDir]) await mkdir(folder, { recursive: true })
  const staged = new Map<string, { readonly path: string; readonly ready: Promise<void>; holders: number }>()

  async function head(key: string): Promise<ObjectInfo | undefined> {
    try {
      return fromSdk.head(key, await client.send(new HeadObjectCommand({ Bucket, Key: key })))
    } catch (cause) {
      if (isAbsent(cause)) return undefined
      throw fromSdk.error(cause, `look for ${key}`)
    }
  }

  async function put(key: string, body: Bytes, { attributes, ifMatch, ifNoneMatch }: PutOptions = {}): Promise<ObjectInfo> {
    checkKey(key)
    const source = watched(body)
    const params = {
      Bucket,
      Key: key,
      Body: source.stream,
      ...toS3Attributes(attributes),
      ...(ifMatch && { IfMatch: ifMatch }),
      ...(ifNoneMatch && { IfNoneMatch: ifNoneMatch }),
    }
    try {
      await new Upload({ client, params }).done()
    } catch (cause) {
      throw source.problem() ?? fromSdk.error(cause, `store ${key}`)
    }
    return (await head(key)) ?? fail(key)
  }

  /** Downloads once for all callers that need the same bytes at the same time; removed when the last one releases it. */
  async function openLocal(key: string): Promise<LocalObject | undefined> {
    const info = await head(key)
    if (!info) return undefined
    const bytes = `${key}\0${info.etag}`
    const entry = staged.get(bytes) ?? stage(key, info.etag)
    staged.set(bytes, entry)
    entry.holders++
    const { path } = entry
    const release = once(async () => {
      if (--entry.holders > 0) return
      staged.delete(bytes)
      await rm(path, { force: true })
    })
    try {
      await entry.ready
    } catch (cause) {
      await release()
      throw fromSdk.error(cause, `stage ${key}`)
    }
    return { path, info, release }
  }

  /** A file of its own, also while the last one with the same bytes is being removed. */
  function stage(key: string, etag: string) {
    const path = join(stagedDir, randomUUID())
    return { path, ready: download(key, etag, path), holders: 0 }
  }

  async function download(key: string, etag: string, path: string): Promise<void> {
    const { Body } = await client.send(new GetObjectCommand({ Bucket, Key: key, IfMatch: etag, ChecksumMode: 'ENABLED' }))
    await pipeline(Body as Readable, createWriteStream(path)) // in Node the SDK returns Node streams
  }

  const multipart: Multipart = createS3Multipart(client, Bucket, tempDir, head)

  return {
    tempDir,
    multipart,
    put,
    head,
    openLocal,

    async get(key, range) {
      try {
        const Range = range && `bytes=${range.start}-${range.end}`
        const found = await client.send(
          new GetObjectCommand({ Bucket, Key: key, Range, ...(!range && { ChecksumMode: 'ENABLED' as const }) }),
        )
        return { info: fromSdk.get(key, found), body: translated(found.Body as Readable, `read ${key}`) } // as in download()
      } catch (cause) {
        if (isAbsent(cause)) return undefined
        throw fromSdk.error(cause, `read ${key}`)
      }
    },

    async delete(keys) {
      const all = [keys].flat()
      for (let at = 0; at < all.length; at += 1000) {
        const Objects = all.slice(at, at + 1000).map((Key) => ({ Key }))
        await client.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects, Quiet: true } })).catch((cause) => {
          throw fromSdk.error(cause, 'delete')
        })
      }
    },

    async list({ prefix = '', after = '', limit = MAX_LIST }) {
      const query = {
        Bucket,
        Prefix: prefix,
        StartAfter: after || undefined,
        MaxKeys: Math.min(limit, MAX_LIST),
        EncodingType: 'url' as const,
      }
      const page = await client.send(new ListObjectsV2Command(query)).catch((cause) => {
        throw fromSdk.error(cause, 'list')
      })
      return { objects: (page.Contents ?? []).map(fromSdk.listed), more: page.IsTruncated ?? false }
    },

    async copy(from, to, attributes) {
      checkKey(to)
      const replaced = attributes && { MetadataDirective: 'REPLACE' as const, ...toS3Attributes(attributes) }
      try {
        await client.send(
          new CopyObjectCommand({ Bucket, Key: to, CopySource: `${Bucket}/${encodeURIComponent(from)}`, ...replaced }),
        )
      } catch (cause) {
        if (isAbsent(cause)) return undefined
        throw fromSdk.error(cause, `copy ${from}`)
      }
      return head(to)
    },

    async adopt(key, localPath, options) {
      const info = await put(key, createReadStream(localPath), options)
      await unlink(localPath)
      return info
    },

    async sweep({ abandonedBefore }) {
      const abandoned = (await multipart.listUploads('')).filter((upload) => upload.startedMs < abandonedBefore.getTime())
      for (const upload of abandoned) await multipart.abort(upload.key, upload.uploadId)
      return { removed: abandoned.length }
    },

    async close() {
      client.destroy()
      for (const name of await readdir(stagedDir)) await rm(join(stagedDir, name), { force: true })
    },
  }
}

/** Uploads in parts, one after the other. A part is spooled to a local file first: S3 requires its length before its first byte. */
function createS3Multipart(client: S3Client, Bucket: string, tempDir: string, head: ObjectStore['head']): Multipart {
  const find: Multipart['find'] = async (key, uploadId) =>
    (await listUploads(key)).find((upload) => upload.key === key && upload.uploadId === uploadId)

  const listUploads: Multipart['listUploads'] = async (prefix) => {
    const uploads = []
    for (let KeyMarker: string | undefined, UploadIdMarker: string | undefined; ; ) {
      const page = await client.send(
        new ListMultipartUploadsCommand({ Bucket, Prefix: prefix, KeyMarker, UploadIdMarker, EncodingType: 'url' }),
      )
      uploads.push(...(page.Uploads ?? []).map(fromSdk.upload))
      if (!page.IsTruncated) return uploads
      KeyMarker = page.NextKeyMarker && decodeURIComponent(page.NextKeyMarker)
      UploadIdMarker = page.NextUploadIdMarker
    }
  }

  return {
    find,
    listUploads,

    async create(key: string, attributes?: ObjectAttributes) {
      checkKey(key)
      const { UploadId } = await client.send(
        new CreateMultipartUploadCommand({ Bucket, Key: key, ...toS3Attributes(attributes) }),
      )
      return UploadId ?? fail(key)
    },

    async putPart(key, uploadId, number, body) {
      const path = join(tempDir, randomUUID())
      try {
        await pipeline(Readable.from(copied(body), { objectMode: false }), createWriteStream(path))
        const { size } = await stat(path)
        const part = { Bucket, Key: key, UploadId: uploadId, PartNumber: number }
        const { ETag = '' } = await client.send(
          new UploadPartCommand({ ...part, Body: createReadStream(path), ContentLength: size }),
        )
        return { number, sizeBytes: size, etag: withoutQuotes(ETag), modifiedMs: 0 }
      } catch (cause) {
        throw fromSdk.error(cause, `store part ${number} of ${key}`, key)
      } finally {
        await rm(path, { force: true })
      }
    },

    async listParts(key, uploadId) {
      const parts = []
      for (let PartNumberMarker: string | undefined; ; ) {
        const page = await client
          .send(new ListPartsCommand({ Bucket, Key: key, UploadId: uploadId, PartNumberMarker }))
          .catch((cause) => {
            throw fromSdk.error(cause, `list the parts of ${key}`, key)
          })
        parts.push(...(page.Parts ?? []).map(fromSdk.part))
        if (!page.IsTruncated) return parts
        PartNumberMarker = page.NextPartNumberMarker
      }
    },

    async complete(key, uploadId, parts, { ifMatch, ifNoneMatch } = {}) {
      const Parts = parts.map(({ number, etag }) => ({ PartNumber: number, ETag: `"${etag}"` }))
      const conditions = { ...(ifMatch && { IfMatch: ifMatch }), ...(ifNoneMatch && { IfNoneMatch: ifNoneMatch }) }
      const command = new CompleteMultipartUploadCommand({
        Bucket,
        Key: key,
        UploadId: uploadId,
        MultipartUpload: { Parts },
        ...conditions,
      })
      await client.send(command).catch((cause) => {
        throw fromSdk.error(cause, `complete the upload of ${key}`, key)
      })
      return (await head(key)) ?? fail(key)
    },

    async abort(key, uploadId) {
      await client.send(new AbortMultipartUploadCommand({ Bucket, Key: key, UploadId: uploadId })).catch((cause) => {
        throw fromSdk.error(cause, `abort the upload of ${key}`, key)
      })
    },
  }
}

function fail(key: string): never {
  throw fromSdk.error(new Error('S3 did not keep its word'), `find ${key} again`)
}

/** The body as a stream for the SDK, noting what its source throws: that error is the sender's and keeps its name. */
function watched(body: Bytes): { readonly stream: Readable; problem(): unknown } {
  let problem: unknown
  async function* passed() {
    try {
      yield* copied(body)
    } catch (cause) {
      problem = cause
      throw cause
    }
  }
  return { stream: Readable.from(passed(), { objectMode: false, highWaterMark: 1024 * 1024 }), problem: () => problem }
}

/** Streams read ahead, and a chunk is valid only until the next is requested. */
async function* copied(body: Bytes): Bytes {
  for await (const chunk of body) yield Buffer.from(chunk)
}

function once(work: () => Promise<void>): () => Promise<void> {
  let done: Promise<void> | undefined
  return () => {
    done ??= work()
    return done
  }
}

/** A connection that is lost in the middle of a body is an error of the store like any other. */
function translated(body: Readable, what: string): Readable {
  const passed = new PassThrough()
  pipeline(body, passed).catch((cause: unknown) => passed.destroy(fromSdk.error(cause, what)))
  return passed
}
