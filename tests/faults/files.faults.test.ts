// kill -9 while objects are put, completed from parts, uploaded through the importer and deleted. After every restart: what was
// acknowledged is there with the right bytes, what was deleted is gone, and what was neither is whole or absent, never half.

import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  type S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3'
import { chance, kills } from '../support/chance.ts'
import { type FileAnswer, s3ClientFor } from '../support/clients/file-client.ts'
import { until } from '../support/until.ts'
import { startStack } from './stack.ts'

const ROUNDS = kills(2, 100)
const Bucket = 'millrace'
const PART_BYTES = 5 * 1024 * 1024

/** Content that can be recognised: its seed, over and over, and its hash follows from the name alone. */
const contentOf = (seed: string, size: number): Buffer => Buffer.alloc(size, `${seed}\n`)
const sha256 = (data: Uint8Array) => createHash('sha256').update(data).digest('hex')

test(`after ${ROUNDS} kills every acknowledged object is whole, and no half of one was ever seen`, async (t) => {
  const stack = await startStack(t)
  const prepare = async (fields: object) =>
    (await stack.post('/v2/storage/files/prepare', { name: 'x', federationToken: 1, ...fields })).body as FileAnswer
  const sliced = await prepare({ isSliced: true })
  const prefix = sliced.uploadParams!.key
  const writer = () => s3ClientFor(sliced.uploadParams!.credentials!, stack.s3Url)
  const reader = async () => {
    const { body } = await stack.get(`/v2/storage/files/${sliced.id}?federationToken=1`)
    return s3ClientFor((body as FileAnswer).credentials!, stack.s3Url)
  }

  const sent = new Map<string, string>() // key: hash of what was sent, acknowledged or not
  const acknowledged = new Set<string>()
  const uploaded = new Map<number, string>() // files of the importer, acknowledged
  const deleted = new Set<number>()
  let counter = 0

  async function putOne(s3: S3Client): Promise<void> {
    const key = `${prefix}/put-${counter++}`
    const body = contentOf(key, 1 + Math.floor(chance() * 3_000_000))
    sent.set(key, sha256(body))
    await s3.send(new PutObjectCommand({ Bucket, Key: key, Body: body }))
    acknowledged.add(key)
  }

  async function putInParts(s3: S3Client): Promise<void> {
    const key = `${prefix}/parts-${counter++}`
    const parts = [contentOf(`${key} 1`, PART_BYTES), contentOf(`${key} 2`, 1000)]
    sent.set(key, sha256(Buffer.concat(parts)))
    const { UploadId } = await s3.send(new CreateMultipartUploadCommand({ Bucket, Key: key }))
    const Parts = []
    for (const [i, Body] of parts.entries()) {
      const { ETag } = await s3.send(new UploadPartCommand({ Bucket, Key: key, UploadId, PartNumber: i + 1, Body }))
      Parts.push({ ETag, PartNumber: i + 1 })
    }
    await s3.send(new CompleteMultipartUploadCommand({ Bucket, Key: key, UploadId, MultipartUpload: { Parts } }))
    acknowledged.add(key)
  }

  async function importOne(): Promise<void> {
    const body = contentOf(`import ${counter++}`, 500_000)
    const form = new FormData()
    form.set('data', new Blob([new Uint8Array(body)]), 'f.csv')
    const answer = await fetch(`${stack.url}/import/upload-file`, {
      method: 'POST',
      body: form,
      headers: { 'x-storageapi-token': stack.masterToken },
    })
    uploaded.set(((await answer.json()) as FileAnswer).id, sha256(body))
  }

  async function deleteOne(): Promise<void> {
    const [id] = [...uploaded.keys()].filter((one) => !deleted.has(one))
    if (id === undefined) return importOne()
    uploaded.delete(id) // requested: from here on it may be there or not
    const { status } = await stack.request('DELETE', `/v2/storage/files/${id}`)
    if (status === 204) deleted.add(id)
  }

  /** Works until the stack dies under it. */
  async function work(task: () => Promise<void>): Promise<void> {
    for (let i = 0; i < 10_000; i++) await task()
  }

  for (let round = 0; round < ROUNDS; round++) {
    const clients = [writer(), writer()] as const
    const workers = [work(() => putOne(clients[0])), work(() => putInParts(clients[1])), work(importOne), work(deleteOne)]
    const settled = Promise.allSettled(workers)
    const before = acknowledged.size
    await until('there is something to lose', () => acknowledged.size > before)
    await sleep(chance() * 600) // the moment of death is the random input of this test
    await stack.kill()
    await settled
    for (const client of clients) client.destroy()
    await stack.start()

    const s3 = await reader()
    const listed = new Set<string>()
    for (let ContinuationToken: string | undefined; ; ) {
      const page = await s3.send(new ListObjectsV2Command({ Bucket, Prefix: prefix, ContinuationToken }))
      for (const { Key } of page.Contents ?? []) listed.add(Key!)
      if (!page.IsTruncated) break
      ContinuationToken = page.NextContinuationToken
    }
    for (const key of acknowledged) assert.ok(listed.has(key), `round ${round}: ${key} was acknowledged and is gone`)
    for (const key of listed) {
      const { Body } = await s3.send(new GetObjectCommand({ Bucket, Key: key }))
      assert.equal(sha256(await Body!.transformToByteArray()), sent.get(key), `round ${round}: ${key} is not what was sent`)
    }
    for (const [id, hash] of uploaded) {
      const { status, body } = await stack.get(`/v2/storage/files/${id}`)
      assert.equal(status, 200, `round ${round}: file ${id}`)
      assert.equal(sha256(new Uint8Array(await (await fetch((body as FileAnswer).url)).arrayBuffer())), hash)
    }
    for (const id of deleted) assert.equal((await stack.get(`/v2/storage/files/${id}`)).status, 404)
    const leftovers = await readdir(join(stack.dataDir, 'objects', 'tmp'), { withFileTypes: true, recursive: true })
    assert.deepEqual(
      leftovers.filter((entry) => entry.isFile()),
      [],
      'a restart leaves no file in tmp',
    )
    s3.destroy()
  }
  assert.ok(acknowledged.size >= ROUNDS, `only ${acknowledged.size} objects were acknowledged`)
  t.diagnostic(`${acknowledged.size} objects, ${uploaded.size + deleted.size} files, ${deleted.size} deletions were acknowledged`)
})

test('a second start on the same folder is refused, and harms nothing', async (t) => {
  const stack = await startStack(t)
  const form = new FormData()
  form.set('data', new Blob([randomBytes(1000)]), 'f')
  await fetch(`${stack.url}/import/upload-file`, {
    method: 'POST',
    body: form,
    headers: { 'x-storageapi-token': stack.masterToken },
  })
  await assert.rejects(startStack(t, { env: { MILLRACE_DATA_DIR: stack.dataDir } }), /is in use by another process/)
  assert.equal(((await stack.get('/v2/storage/files')).body as unknown[]).length, 1)
})
