// At the start: the external S3 is reachable, has the bucket and accepts the credentials. Otherwise the first upload of a user would fail.

import { HeadBucketCommand, type S3Client, S3ServiceException } from '@aws-sdk/client-s3'
import { PlatformError } from '../../kit/errors.ts'
import { retry } from '../../kit/retry.ts'
import { createS3Client, type S3Account } from './s3-client.ts'

export interface Bucket {
  readonly endpoint: string
  readonly bucket: string
  /** How long to wait for an S3 that does not answer yet. */
  readonly waitMs?: number
}

export async function reachBucket(client: S3Client, { endpoint, bucket, waitMs = 0 }: Bucket): Promise<void> {
  const deadline = performance.now() + waitMs
  try {
    await retry(() => client.send(new HeadBucketCommand({ Bucket: bucket })), {
      attempts: Number.POSITIVE_INFINITY,
      firstPauseMs: 250,
      longestPauseMs: 2000,
      isWorthRetrying: (error) => (statusOf(error) ?? 500) >= 500 && performance.now() < deadline,
    })
  } catch (cause) {
    client.destroy()
    throw problemOf(cause, endpoint, bucket)
  }
}

/** The same check, once. */
export async function checkBucket(target: Bucket & S3Account): Promise<void> {
  const client = createS3Client(target)
  await reachBucket(client, target)
  client.destroy()
}

/** Undefined if there was no response. */
const statusOf = (error: unknown): number | undefined =>
  error instanceof S3ServiceException ? error.$metadata.httpStatusCode : undefined

function problemOf(cause: unknown, endpoint: string, bucket: string): PlatformError {
  const status = statusOf(cause)
  if (status === 404) return new PlatformError('stack.bucketMissing', { bucket, endpoint }, { cause })
  if (status !== undefined && status >= 400 && status < 500)
    return new PlatformError('stack.bucketRefused', { bucket, endpoint }, { cause })
  const { message, code } = cause as { readonly message?: string; readonly code?: string } // of the SDK or of Node
  const reason = status === undefined ? message || String(code) : `it answers ${status}`
  return new PlatformError('stack.objectStore', { endpoint, reason: reason.replace(/\.$/, '') }, { cause })
}
