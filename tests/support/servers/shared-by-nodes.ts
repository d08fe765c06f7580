// What the nodes of one stack share, as their environment: a PostgreSQL and an S3 of their own, and the key of its secrets.

import { randomBytes } from 'node:crypto'
import { migratedPostgres } from '../fresh-databases.ts'
import type { TestScope } from '../test-stack.ts'
import { BUCKET, REGION, startS3 } from './start-s3.ts'

export async function sharedByNodes(t: TestScope) {
  const database = await migratedPostgres()
  t.after(database.remove)
  const s3 = await startS3()
  t.after(() => s3.close())
  return {
    MILLRACE_DATABASE_URL: (database.location as { url: string }).url, // of PostgreSQL
    MILLRACE_S3_ENDPOINT: s3.endpoint,
    MILLRACE_S3_REGION: REGION,
    MILLRACE_S3_BUCKET: BUCKET,
    MILLRACE_S3_ACCESS_KEY_ID: s3.sessions.root.accessKeyId,
    MILLRACE_S3_SECRET_ACCESS_KEY: s3.sessions.root.secretAccessKey,
    MILLRACE_ENCRYPTION_KEY: randomBytes(32).toString('hex'),
  }
}
