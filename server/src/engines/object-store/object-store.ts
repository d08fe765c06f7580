// The operations of an object store. Two implementations (disk and S3) pass one suite,
// object-store.contract.ts, so its callers are independent of the implementation.
//
// What holds for both:
//  (1) a key is readable only once the whole object is there; a reader never sees half of one;
//  (2) when a write has resolved, the object survives kill -9 and power loss;
//  (3) bytes that come back are the bytes that were stored, or the read fails with `storage.corrupt`;
//  (4) keys are plain UTF-8 strings of 1 to 1024 bytes: a slash, `..` or a name of 900 characters means nothing special.

import type { Readable } from 'node:stream'

/** A body to be stored. A chunk is valid only until the reader requests the next one: the sender may free or reuse it then. */
export type Bytes = AsyncIterable<Uint8Array>

/** Metadata from the writer of an object; returned unchanged with every read. */
export interface ObjectAttributes {
  readonly contentType?: string
  readonly contentDisposition?: string
  readonly contentEncoding?: string
  readonly contentLanguage?: string
  readonly cacheControl?: string
  readonly expires?: string
  /** Names in lower case, without the `x-amz-meta-` prefix of the wire. */
  readonly metadata?: Readonly<Record<string, string>>
  /** `AES256` when the writer requested encryption at rest. */
  readonly encryption?: string
  /** Of an upload in parts: how the checksum of the whole shall be formed. */
  readonly checksumType?: ObjectChecksum['type']
}

/** A checksum that the client sent or requested, stored so that it can be returned (`x-amz-checksum-*`). */
export interface ObjectChecksum {
  readonly algorithm: 'crc32' | 'crc32c' | 'crc64nvme' | 'sha1' | 'sha256'
  /** Base64, as on the wire; a composite one ends in `-` and the number of parts. */
  readonly value: string
  readonly type: 'FULL_OBJECT' | 'COMPOSITE'
}

export interface ObjectInfo {
  readonly key: string
  readonly sizeBytes: number
  /** Without quotes. The MD5 of the bytes only when the writer declared it. */
  readonly etag: string
  readonly modifiedMs: number
  readonly attributes: ObjectAttributes
  readonly checksum?: ObjectChecksum
}

export interface PutOptions {
  readonly attributes?: ObjectAttributes
  /** Written by the stack itself: the embedded store reports it as encrypted at rest, an external one as it does by itself. */
  readonly atRest?: true
  /** Called once, after the last byte, which the writer has hashed by then. Without it the store generates one. */
  readonly etag?: () => string | undefined
  readonly checksum?: () => ObjectChecksum | undefined
  /** Write only when the key is free (`*`), else `storage.preconditionFailed`. */
  readonly ifNoneMatch?: '*'
  /** Write only over this etag, else `storage.preconditionFailed`. */
  readonly ifMatch?: string
}

/** Both ends included, as in HTTP. `end` may lie beyond the object. */
export interface ByteRange {
  readonly start: number
  readonly end: number
}

export interface OpenObject {
  readonly info: ObjectInfo
  readonly body: Readable
}

export interface ListQuery {
  readonly prefix?: string
  /** Keys strictly after this one, in the order of their UTF-8 bytes. */
  readonly after?: string
  /** At most 1000, which is also the default. */
  readonly limit?: number
}

export interface ListPage {
  readonly objects: readonly ObjectInfo[]
  readonly more: boolean
}

export interface PartInfo {
  readonly number: number
  readonly sizeBytes: number
  readonly etag: string
  readonly modifiedMs: number
  readonly checksum?: ObjectChecksum
}

export interface UploadInfo {
  readonly uploadId: string
  readonly key: string
  readonly startedMs: number
  readonly attributes: ObjectAttributes
}

/** An upload in parts: parts arrive in any order, a later one of the same number replaces the earlier. */
export interface Multipart {
  create(key: string, attributes?: ObjectAttributes): Promise<string>
  find(key: string, uploadId: string): Promise<UploadInfo | undefined>
  putPart(
    key: string,
    uploadId: string,
    number: number,
    body: Bytes,
    options?: Pick<PutOptions, 'etag' | 'checksum'>,
  ): Promise<PartInfo>
  listParts(key: string, uploadId: string): Promise<readonly PartInfo[]>
  listUploads(prefix: string): Promise<readonly UploadInfo[]>
  /** The object is the named parts in that order; the upload is gone afterwards. */
  complete(
    key: string,
    uploadId: string,
    parts: readonly { readonly number: number; readonly etag: string }[],
    options?: Omit<PutOptions, 'attributes'>,
  ): Promise<ObjectInfo>
  abort(key: string, uploadId: string): Promise<void>
}

/** An object as a file on this machine. The path stays readable, whatever happens to the key, until `release()`. */
export interface LocalObject {
  readonly path: string
  readonly info: ObjectInfo
  release(): Promise<void>
}

export interface ObjectStore {
  put(key: string, body: Bytes, options?: PutOptions): Promise<ObjectInfo>
  head(key: string): Promise<ObjectInfo | undefined>
  /** `undefined` when there is no such object. The body must be read or destroyed. */
  get(key: string, range?: ByteRange): Promise<OpenObject | undefined>
  /** Deleting what is not there is fine. */
  delete(keys: string | readonly string[]): Promise<void>
  list(query: ListQuery): Promise<ListPage>
  /** `undefined` when the source does not exist. Attributes come along unless others are given. */
  copy(from: string, to: string, attributes?: ObjectAttributes): Promise<ObjectInfo | undefined>
  readonly multipart: Multipart

  /**
   * The disk store returns its own file, S3 stages it into a local cache. Read only. The bytes are verified the first time a
   * process opens them. `undefined` when there is no such object.
   */
  openLocal(key: string): Promise<LocalObject | undefined>
  /** Where to write a file that `adopt` shall take without copying. Emptied when the store opens. */
  readonly tempDir: string
  /** Takes a finished file in `tempDir` as the object: it is moved (disk) or uploaded and removed (S3). */
  adopt(key: string, localPath: string, options?: PutOptions): Promise<ObjectInfo>

  /** Removes what no key refers to any more: bytes of crashed writes, abandoned multipart uploads. */
  sweep(options: { readonly abandonedBefore: Date }): Promise<{ readonly removed: number }>
  close(): Promise<void>
}

export const MAX_KEY_BYTES = 1024
export const MAX_LIST = 1000
