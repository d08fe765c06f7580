// The same suite as for the disk, through the AWS SDK against our own S3 service: both sides of the wire at once.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { BUCKET, REGION, startS3 } from '../../../../tests/support/servers/start-s3.ts'
import { objectStoreContract } from './object-store.contract.ts'
import { openS3ObjectStore } from './s3-object-store.ts'

objectStoreContract('an object store in S3', async () => {
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
})
