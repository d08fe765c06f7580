// One file up to the stack: small ones in one request, large ones in parts that survive an interruption. What is needed to resume is kept
// beside the file (NAME.millrace-upload) until the upload is complete.

import { createReadStream } from 'node:fs'
import { open, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { Readable } from 'node:stream'
import type { S3Client } from '@aws-sdk/client-s3'
import type { Client } from '../client.ts'
import { UserError } from '../output.ts'

export interface Credentials {
  readonly AccessKeyId: string
  readonly SecretAccessKey: string
  readonly SessionToken: string
}

export interface SharedAccess {
  readonly SASConnectionString: string
}

/** The address of a blob, with the signature that opens it. */
export function blobUrl({ SASConnectionString }: SharedAccess, container: string, name: string): string {
  const [, endpoint = '', signature = ''] = /BlobEndpoint=([^;]*).*SharedAccessSignature=([^;]*)/.exec(SASConnectionString) ?? []
  return `${endpoint.replace(/\/+$/, '')}/${container}/${name.split('/').map(encodeURIComponent).join('/')}?${signature}`
}

/** A file of the stack, as far as the command line looks into it. */
export interface StackFile {
  readonly id: number
  readonly name: string
  readonly created: string
  readonly sizeBytes: number
  readonly tags: readonly string[]
  readonly isSliced: boolean
  readonly maxAgeDays: number | null
  readonly url: string
  readonly region: string
  readonly uploadParams?: {
    readonly key: string
    readonly bucket: string
    readonly endpoint: string
    readonly credentials?: Credentials
  }
  /** In place of `uploadParams`, `s3Path` and `credentials` when the provider of the project is azure. */
  readonly absUploadParams?: {
    readonly blobName: string
    readonly container: string
    readonly accountName: string
    readonly absCredentials: SharedAccess
  }
  readonly absPath?: { readonly container: string; readonly name: string }
  readonly absCredentials?: SharedAccess
  readonly s3Path?: { readonly bucket: string; readonly key: string }
  readonly credentials?: Credentials
  readonly endpoint?: string
}

export interface UploadOptions {
  readonly name?: string | undefined
  readonly tags?: readonly string[] | undefined
  readonly isPermanent?: boolean | undefined
  readonly onProgress: (doneBytes: number, totalBytes: number) => void
  readonly onResume: (doneBytes: number) => void
}

/** How far an upload in parts has come. `modifiedMs` and `sizeBytes` identify the file. */
interface Resume {
  readonly fileId: number
  readonly stack: string
  readonly uploadId: string
  readonly partBytes: number
  readonly sizeBytes: number
  readonly modifiedMs: number
}

const ONE_REQUEST_BYTES = 8 * 1024 * 1024
const MAX_PARTS = 9000
const PARALLEL_PARTS = 4

/** Loaded when bytes move: the other commands should not wait for it. */
export const loadSdk = () => import('@aws-sdk/client-s3')

/** Without an endpoint of its own the store is Amazon's. */
export const s3ClientOf = async (credentials: Credentials, endpoint: string | undefined, region: string): Promise<S3Client> =>
  new (await loadSdk()).S3Client({
    ...(endpoint !== undefined && { endpoint, forcePathStyle: true }),
    region,
    credentials: {
      accessKeyId: credentials.AccessKeyId,
      secretAccessKey: credentials.SecretAccessKey,
      sessionToken: credentials.SessionToken,
    },
  })

export async function uploadFile(client: Client, path: string, options: UploadOptions): Promise<StackFile> {
  const found = await stat(path).catch(() => undefined)
  if (!found?.isFile()) throw new UserError(`File ${path} does not exist.`)
  const resumed = await readResume(path, client.url, found)
  const file = resumed ? await refresh(client, resumed) : undefined
  if (resumed && file) {
    await sendParts(path, file, resumed, options)
    return client.request<StackFile>('GET', `/v2/storage/files/${file.id}`)
  }
  const fresh = await prepare(client, path, found.size, options)
  if (fresh.absUploadParams) await sendBlob(path, found.size, fresh.absUploadParams)
  else if (found.size <= ONE_REQUEST_BYTES) await sendWhole(path, fresh, options)
  else await sendParts(path, fresh, await beginParts(client, path, fresh, found), options)
  return client.request<StackFile>('GET', `/v2/storage/files/${fresh.id}`)
}

/** A sliced file: its slices in order, those that are packed under names with the suffix, then the manifest that lists them. */
export async function uploadSlices(client: Client, paths: readonly string[], options: UploadOptions): Promise<StackFile> {
  const fresh = await prepare(client, 'slices', undefined, options)
  const { absUploadParams } = fresh
  const upload = absUploadParams ? sliceToBlob(absUploadParams) : await sliceToS3(fresh)
  const entries = []
  for (const [i, path] of paths.entries()) {
    const suffix = `part${String(i).padStart(5, '0')}${path.endsWith('.gz') ? '.gz' : ''}`
    entries.push({ url: await upload(suffix, createReadStream(path), (await stat(path)).size) })
  }
  const manifest = Buffer.from(JSON.stringify({ entries }))
  await upload('manifest', Readable.from([manifest]), manifest.length)
  return client.request<StackFile>('GET', `/v2/storage/files/${fresh.id}`)
}

/** Sends one object of a sliced file; answers how the manifest names it. */
type SendSlice = (suffix: string, body: Readable, sizeBytes: number) => Promise<string>

async function sliceToS3(file: StackFile): Promise<SendSlice> {
  const { s3, target } = await targetOf(file)
  const { PutObjectCommand } = await loadSdk()
  return async (suffix, Body, ContentLength) => {
    const Key = target.Key + suffix
    await s3.send(new PutObjectCommand({ ...target, Key, Body, ContentLength, ServerSideEncryption: 'AES256' }))
    return `s3://${target.Bucket}/${Key}`
  }
}

function sliceToBlob(target: NonNullable<StackFile['absUploadParams']>): SendSlice {
  const { absCredentials, accountName, container, blobName } = target
  return async (suffix, body, sizeBytes) => {
    await putBlob(blobUrl(absCredentials, container, blobName + suffix), body, sizeBytes)
    return `azure://${accountName}.blob.core.windows.net/${container}/${blobName}${suffix}`
  }
}

/** Without a size it is a sliced file. */
const prepare = (
  client: Client,
  path: string,
  sizeBytes: number | undefined,
  { name, tags, isPermanent }: UploadOptions,
): Promise<StackFile> =>
  client.request<StackFile>('POST', '/v2/storage/files/prepare', {
    json: {
      name: name ?? basename(path),
      ...(sizeBytes === undefined ? { isSliced: true } : { sizeBytes }),
      federationToken: 1,
      isEncrypted: true,
      tags: tags ?? [],
      isPermanent: isPermanent ?? false,
    },
  })

/** Undefined when the file is gone on the stack: then there is nothing to resume. */
const refresh = (client: Client, { fileId }: Resume): Promise<StackFile | undefined> =>
  client.request<StackFile>('PUT', `/v2/storage/files/${fileId}/refresh`).catch(() => undefined)

async function targetOf({ uploadParams, region }: StackFile) {
  if (!uploadParams?.credentials) throw new Error('The stack gave no credentials.')
  const s3 = await s3ClientOf(uploadParams.credentials, uploadParams.endpoint, region)
  return { s3, target: { Bucket: uploadParams.bucket, Key: uploadParams.key } }
}

async function sendWhole(path: string, file: StackFile, { onProgress }: UploadOptions): Promise<void> {
  const { s3, target } = await targetOf(file)
  const { PutObjectCommand } = await loadSdk()
  const Body = await readFile(path)
  await s3.send(new PutObjectCommand({ ...target, Body, ACL: 'private', ServerSideEncryption: 'AES256' }))
  onProgress(Body.length, Body.length)
}

const sendBlob = (
  path: string,
  sizeBytes: number,
  { absCredentials, container, blobName }: NonNullable<StackFile['absUploadParams']>,
): Promise<void> => putBlob(blobUrl(absCredentials, container, blobName), createReadStream(path), sizeBytes)

/** In one request, as a stream: an interrupted upload starts over. */
async function putBlob(url: string, body: Readable, sizeBytes: number): Promise<void> {
  const response = await fetch(url, {
    method: 'PUT',
    headers: { 'x-ms-blob-type': 'BlockBlob', 'content-length': String(sizeBytes) },
    body: Readable.toWeb(body) as ReadableStream, // the same stream by another name in the types of Node
    duplex: 'half',
  } as RequestInit)
  if (!response.ok) throw new UserError(`The object store answered ${response.status}: ${(await response.text()).slice(0, 200)}`)
}

async function beginParts(
  client: Client,
  path: string,
  file: StackFile,
  { size, mtimeMs }: { size: number; mtimeMs: number },
): Promise<Resume> {
  const { s3, target } = await targetOf(file)
  const { CreateMultipartUploadCommand } = await loadSdk()
  const { UploadId } = await s3.send(
    new CreateMultipartUploadCommand({ ...target, ACL: 'private', ServerSideEncryption: 'AES256' }),
  )
  if (!UploadId) throw new Error('The object store began no upload.')
  const partBytes = Math.max(ONE_REQUEST_BYTES, Math.ceil(size / MAX_PARTS))
  const resume = { fileId: file.id, stack: client.url, uploadId: UploadId, partBytes, sizeBytes: size, modifiedMs: mtimeMs }
  await writeFile(resumePath(path), JSON.stringify(resume))
  return resume
}

async function sendParts(path: string, file: StackFile, resume: Resume, { onProgress, onResume }: UploadOptions): Promise<void> {
  const { s3, target } = await targetOf(file)
  const { CompleteMultipartUploadCommand, UploadPartCommand } = await loadSdk()
  const upload = { ...target, UploadId: resume.uploadId }
  const done = await partsThere(s3, upload)
  const count = Math.ceil(resume.sizeBytes / resume.partBytes)
  const lengthOf = (number: number) => Math.min(resume.partBytes, resume.sizeBytes - (number - 1) * resume.partBytes)
  let sent = [...done.keys()].reduce((sum, number) => sum + lengthOf(number), 0)
  if (sent > 0) onResume(sent)
  const missing = Array.from({ length: count }, (_, i) => i + 1).filter((number) => !done.has(number))
  const source = await open(path)
  try {
    const worker = async () => {
      for (let number = missing.shift(); number !== undefined; number = missing.shift()) {
        const Body = Buffer.alloc(lengthOf(number))
        await source.read(Body, 0, Body.length, (number - 1) * resume.partBytes)
        const { ETag } = await s3.send(new UploadPartCommand({ ...upload, PartNumber: number, Body }))
        done.set(number, ETag ?? '')
        sent += Body.length
        onProgress(sent, resume.sizeBytes)
      }
    }
    await Promise.all(Array.from({ length: PARALLEL_PARTS }, worker))
  } finally {
    await source.close()
  }
  const Parts = [...done].sort(([a], [b]) => a - b).map(([PartNumber, ETag]) => ({ PartNumber, ETag }))
  await s3.send(new CompleteMultipartUploadCommand({ ...upload, MultipartUpload: { Parts } }))
  await rm(resumePath(path), { force: true })
}

/** Etags of the parts that have arrived. */
async function partsThere(s3: S3Client, upload: { Bucket: string; Key: string; UploadId: string }): Promise<Map<number, string>> {
  const { ListPartsCommand } = await loadSdk()
  const found = new Map<number, string>()
  for (let PartNumberMarker: string | undefined; ; ) {
    const page = await s3.send(new ListPartsCommand({ ...upload, PartNumberMarker }))
    for (const { PartNumber, ETag } of page.Parts ?? []) if (PartNumber && ETag) found.set(PartNumber, ETag)
    if (!page.IsTruncated) return found
    PartNumberMarker = page.NextPartNumberMarker
  }
}

const resumePath = (path: string): string => `${path}.millrace-upload`

async function readResume(path: string, stack: string, found: { size: number; mtimeMs: number }): Promise<Resume | undefined> {
  const text = await readFile(resumePath(path), 'utf8').catch(() => undefined)
  if (text === undefined) return undefined
  const resume = parse(text)
  const isSame = resume?.stack === stack && resume.sizeBytes === found.size && resume.modifiedMs === found.mtimeMs
  return isSame ? resume : undefined
}

function parse(text: string): Resume | undefined {
  try {
    return JSON.parse(text) as Resume // beginParts wrote it; a broken one restarts the upload
  } catch {
    return undefined
  }
}
