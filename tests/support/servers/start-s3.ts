// An object store in a folder of its own, served over S3, and clients with any credentials.

import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { S3Client } from '@aws-sdk/client-s3'
import { createHashThread } from '../../../server/src/engines/object-store/checksums/background-hash.ts'
import type { Disk } from '../../../server/src/engines/object-store/disk.ts'
import { openDiskObjectStore } from '../../../server/src/engines/object-store/disk-object-store.ts'
import type { AccessScope, Grant } from '../../../server/src/engines/object-store/object-access.ts'
import type { ObjectStore } from '../../../server/src/engines/object-store/object-store.ts'
import type { SigningCredentials } from '../../../server/src/engines/object-store/presign.ts'
import { createSessionTokens, type SessionTokens } from '../../../server/src/engines/object-store/session-token.ts'
import { type Clock, systemClock } from '../../../server/src/kit/clock.ts'
import { createS3Server, type S3RequestLine } from '../../../server/src/services/storage/s3/s3.server.ts'

export const BUCKET = 'millrace'
export const REGION = 'us-east-1'

export interface StartedS3 {
  readonly endpoint: string
  readonly store: ObjectStore
  readonly sessions: SessionTokens
  readonly requests: S3RequestLine[]
  /** The real AWS SDK, as the store's owner or with the given credentials. */
  client(credentials?: SigningCredentials): S3Client
  session(
    scope: Partial<Grant> & Pick<Grant, 'action' | 'key'> & Partial<Pick<AccessScope, 'demandEncryption'>>,
    expiresInSeconds?: number,
  ): Required<SigningCredentials>
  close(): Promise<void>
}

export async function startS3({ clock = systemClock, disk }: { clock?: Clock; disk?: Disk } = {}): Promise<StartedS3> {
  const root = await mkdtemp(join(tmpdir(), 'millrace-s3-'))
  const store = await openDiskObjectStore({ root, clock, ...(disk && { disk }) })
  const sessions = createSessionTokens(randomBytes(32))
  const hashThread = createHashThread()
  const requests: S3RequestLine[] = []
  const server = createS3Server({
    store,
    hashThread,
    sessions,
    clock,
    bucket: BUCKET,
    region: REGION,
    onRequest: (line) => requests.push(line),
  })
  const port = await server.listen(0, '127.0.0.1')
  const endpoint = `http://127.0.0.1:${port}`
  const clients: S3Client[] = []
  return {
    endpoint,
    store,
    sessions,
    requests,
    client(credentials = sessions.root) {
      const client = new S3Client({ endpoint, region: REGION, credentials, forcePathStyle: true, maxAttempts: 1 })
      clients.push(client)
      return client
    },
    session: ({ demandEncryption = false, ...grant }, expiresInSeconds = 3600) =>
      sessions.issue(
        { grants: [{ isPrefix: false, ...grant }], demandEncryption },
        clock.now().getTime() + expiresInSeconds * 1000,
      ),
    async close() {
      for (const client of clients) client.destroy()
      await server.close(100)
      await hashThread.close()
      await store.close()
      await rm(root, { recursive: true })
    },
  }
}
