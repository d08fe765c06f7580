// The same suite as for the disk, through the AWS SDK against our own S3 service: both sides of the wire at once.

import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { BUCKET, REGION, startS3 } from '../../../../tests/support/servers/start-s3.ts'
import { objectStoreContract } from './object-store.contract.ts'
import { openS3ObjectStore } from './s3-object-store.ts'

async function openStore() {
  const s3 = await startS3()
  const cacheDir = await mkdtemp(join(tmpdir(), 'millrace-cache-'))
  const store = await openS3ObjectStore({ endpoint: s3.endpoint, region: REGION, bucket: BUCKET, cacheDir, ...s3.sessions.root })
  return {
    store,
    close: async () => {
      await store.close()
      await s3.close()
      await rm(cacheDir, { recursive: true })
    },
  }
}

objectStoreContract('an object store in S3', openStore)

test('an object that is opened while its earlier local file is removed has a file of its own', async (t) => {
  const { store, close } = await openStore()
  t.after(close)
  await store.put('opened', Readable.from([Buffer.from('bytes')]))
  const first = await store.openLocal('opened')
  assert.ok(first)
  const removed = first.release()
  const second = await store.openLocal('opened')
  assert.ok(second)
  await removed
  assert.notEqual(second.path, first.path) // else the removal may come after the download
  assert.equal(await readFile(second.path, 'utf8'), 'bytes')
  await second.release()
  await assert.rejects(readFile(second.path), { code: 'ENOENT' })
})
