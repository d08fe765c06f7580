// Blocks of a blob that is uploaded in pieces, as the parts of one upload: Azure names the blob and the block, never the upload.
//  (1) the number of a part is derived from its block id, so that any request finds it without remembering anything;
//  (2) the etag of a part is its block id: should two ids share a number, the list that names the lost one is refused.

import { createHash } from 'node:crypto'
import type { Multipart, ObjectInfo, PutOptions } from '../../../../engines/object-store/object-store.ts'
import type { Payload } from '../payload.ts'

/** Distinguishes these uploads from those of S3 clients to the same key. */
const MARK = { metadata: { blocks: 'azure' } }

const numberOf = (blockId: string): number => createHash('sha256').update(blockId).digest().readUIntBE(0, 6)
const etagOf = (blockId: string): string => Buffer.from(blockId).toString('hex')

const uploadOf = async (multipart: Multipart, key: string): Promise<string | undefined> =>
  (await multipart.listUploads(key)).find((upload) => upload.key === key && upload.attributes.metadata?.blocks === 'azure')
    ?.uploadId

/** Blocks come side by side: the first ones of a blob must not start two uploads. */
const starting = new WeakMap<Multipart, Map<string, Promise<string>>>()

function startedUpload(multipart: Multipart, key: string): Promise<string> {
  const running = starting.get(multipart) ?? new Map<string, Promise<string>>()
  starting.set(multipart, running)
  const known = running.get(key)
  if (known) return known
  const started = (async () => (await uploadOf(multipart, key)) ?? (await multipart.create(key, MARK)))()
  running.set(key, started)
  void started.catch(() => {}).finally(() => running.delete(key))
  return started
}

export async function putBlock(multipart: Multipart, key: string, blockId: string, { body }: Payload): Promise<void> {
  const uploadId = await startedUpload(multipart, key)
  await multipart.putPart(key, uploadId, numberOf(blockId), body, { etag: () => etagOf(blockId) })
}

/** The blob is the blocks in this order. */
export async function commitBlocks(
  multipart: Multipart,
  key: string,
  blockIds: readonly string[],
  conditions: Pick<PutOptions, 'ifMatch' | 'ifNoneMatch'>,
): Promise<ObjectInfo> {
  const uploadId = (await uploadOf(multipart, key)) ?? ''
  const parts = blockIds.map((blockId) => ({ number: numberOf(blockId), etag: etagOf(blockId) }))
  return multipart.complete(key, uploadId, parts, conditions)
}
