// One file up to the object store in parts. What is needed to resume is kept by the browser until the upload is complete, so that it survives
// a reload.

import { AwsClient } from 'aws4fetch'
import type { File as StoredFile } from '../../../client/src/operations.ts'
import { api } from '../session.ts'
import { sendParts } from './send-parts.ts'

const PART_BYTES = 8 << 20
const MAX_PARTS = 9000
const KEPT = 'millrace.upload'

/** How far an upload has come. Name, size and time identify a file. */
export interface Pending {
  readonly fileId: number
  readonly uploadId: string
  readonly partBytes: number
  readonly name: string
  readonly sizeBytes: number
  readonly modifiedMs: number
}

export function pendingUpload(): Pending | undefined {
  const text = localStorage.getItem(KEPT)
  return text === null ? undefined : (JSON.parse(text) as Pending) // written below
}

export const forgetUpload = (): void => localStorage.removeItem(KEPT)

export const isSameFile = (file: File, { name, sizeBytes, modifiedMs }: Pending): boolean =>
  file.name === name && file.size === sizeBytes && file.lastModified === modifiedMs

/** Signing needs the cryptography of the browser, which it has at localhost and with TLS; and an object store with the S3 protocol. */
export const canSign = (): boolean => globalThis.crypto?.subtle !== undefined

interface Target {
  readonly url: string
  readonly s3: AwsClient
}

function targetOf({ uploadParams, region }: StoredFile): Target | undefined {
  if (!uploadParams?.credentials || !canSign()) return undefined
  const { AccessKeyId, SecretAccessKey, SessionToken } = uploadParams.credentials
  const key = uploadParams.key.split('/').map(encodeURIComponent).join('/')
  return {
    url: `${uploadParams.endpoint.replace(/\/+$/, '')}/${uploadParams.bucket}/${key}`,
    s3: new AwsClient({
      accessKeyId: AccessKeyId,
      secretAccessKey: SecretAccessKey,
      sessionToken: SessionToken,
      service: 's3',
      region,
    }),
  }
}

/** Ids of the file record, or undefined when the object store cannot be reached from here. */
export async function uploadInParts(
  file: File,
  signal: AbortSignal,
  onSent: (bytes: number) => void,
): Promise<number | undefined> {
  const kept = pendingUpload()
  const resumed = kept && isSameFile(file, kept) ? await resume(kept) : undefined
  const begun = resumed ?? (await begin(file))
  if (!begun) return undefined
  const { pending, target, done } = begun
  const upload = `uploadId=${encodeURIComponent(pending.uploadId)}`
  const sendPart = async (number: number, body: Blob) =>
    (await send(target, 'PUT', `partNumber=${number}&${upload}`, { body, signal })).headers.get('etag') ?? ''
  await sendParts(file, { partBytes: pending.partBytes, done }, sendPart, onSent)
  const parts = [...done].toSorted(([a], [b]) => a - b)
  const body = `<CompleteMultipartUpload>${parts.map(([number, etag]) => `<Part><PartNumber>${number}</PartNumber><ETag>${etag}</ETag></Part>`).join('')}</CompleteMultipartUpload>`
  await send(target, 'POST', upload, { body, signal })
  forgetUpload()
  return pending.fileId
}

interface Begun {
  readonly pending: Pending
  readonly target: Target
  /** Numbers of the parts that are there, with their ETags. */
  readonly done: Map<number, string>
}

async function begin(file: File): Promise<Begun | undefined> {
  const body = { name: file.name, sizeBytes: file.size, federationToken: true, isEncrypted: true, tags: ['console-upload'] }
  const prepared = await api.call('files.prepare', { body })
  const target = targetOf(prepared)
  const headers = { 'x-amz-server-side-encryption': 'AES256', 'x-amz-acl': 'private' }
  const answer = await target?.s3.fetch(`${target.url}?uploads`, { method: 'POST', headers }).catch(() => undefined)
  const uploadId = answer?.ok ? /<UploadId>([^<]+)</.exec(await answer.text())?.[1] : undefined
  if (!target || uploadId === undefined) return undefined
  const pending: Pending = {
    fileId: prepared.id,
    uploadId,
    partBytes: Math.max(PART_BYTES, Math.ceil(file.size / MAX_PARTS)),
    name: file.name,
    sizeBytes: file.size,
    modifiedMs: file.lastModified,
  }
  localStorage.setItem(KEPT, JSON.stringify(pending))
  return { pending, target, done: new Map() }
}

/** Undefined when the stack or its object store no longer has the upload: then it starts over. */
async function resume(pending: Pending): Promise<Begun | undefined> {
  const file = await api.call('files.refresh', { path: { id: String(pending.fileId) } }).catch(() => undefined)
  const target = file && targetOf(file)
  if (!target) return undefined
  const done = new Map<number, string>()
  for (let marker = '0'; marker !== ''; ) {
    const query = `uploadId=${encodeURIComponent(pending.uploadId)}&part-number-marker=${marker}`
    const answer = await target.s3.fetch(`${target.url}?${query}`)
    if (!answer.ok) return undefined
    const list = new DOMParser().parseFromString(await answer.text(), 'application/xml')
    const text = (parent: ParentNode, name: string) => parent.querySelector(name)?.textContent ?? ''
    for (const part of list.querySelectorAll('Part')) done.set(Number(text(part, 'PartNumber')), text(part, 'ETag'))
    marker = text(list, 'IsTruncated') === 'true' ? text(list, 'NextPartNumberMarker') : ''
  }
  return { pending, target, done }
}

async function send(target: Target, method: string, query: string, init: { body: Blob | string; signal: AbortSignal }) {
  const answer = await target.s3.fetch(`${target.url}?${query}`, { method, ...init })
  if (!answer.ok) throw new Error(`The object store answered ${answer.status}: ${(await answer.text()).slice(0, 200)}`)
  return answer
}
