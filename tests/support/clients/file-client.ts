// What a client of the files API does, with the official AWS SDK: prepare, upload, open, download.

import { S3Client } from '@aws-sdk/client-s3'
import type { TestStack } from '../test-stack.ts'

export interface Credentials {
  readonly AccessKeyId: string
  readonly SecretAccessKey: string
  readonly SessionToken: string
  readonly Expiration: string
}

export interface FileAnswer {
  readonly id: number
  readonly name: string
  readonly url: string
  readonly sizeBytes: number
  readonly tags: string[]
  readonly isSliced: boolean
  readonly isEncrypted: boolean
  readonly maxAgeDays: number | null
  readonly region: string
  readonly uploadParams?: {
    readonly key: string
    readonly bucket: string
    readonly endpoint: string
    readonly credentials?: Credentials
  }
  readonly s3Path?: { readonly bucket: string; readonly key: string }
  readonly credentials?: Credentials
  readonly endpoint?: string
  readonly [field: string]: unknown
}

/** The SDK with the credentials of an answer; nothing else of it is changed. */
export function s3ClientFor(credentials: Credentials, endpoint: string, region = 'us-east-1'): S3Client {
  return new S3Client({
    endpoint,
    region,
    forcePathStyle: true,
    maxAttempts: 1,
    credentials: {
      accessKeyId: credentials.AccessKeyId,
      secretAccessKey: credentials.SecretAccessKey,
      sessionToken: credentials.SessionToken,
    },
  })
}

export async function prepareFile(stack: TestStack, fields: Record<string, unknown> = {}, token?: string): Promise<FileAnswer> {
  const json = { name: 'data.csv', federationToken: 1, ...fields }
  const answer = await stack.request('POST', '/v2/storage/files/prepare', { json, ...(token && { token }) })
  if (answer.status !== 201) throw new Error(`prepare answered ${answer.status}: ${answer.text}`)
  return answer.json<FileAnswer>()
}

export const uploadClient = ({ uploadParams }: FileAnswer): S3Client =>
  s3ClientFor(uploadParams!.credentials!, uploadParams!.endpoint)

export async function openFile(stack: TestStack, id: number): Promise<FileAnswer> {
  const answer = await stack.request('GET', `/v2/storage/files/${id}?federationToken=1`)
  if (answer.status !== 200) throw new Error(`detail answered ${answer.status}: ${answer.text}`)
  return answer.json<FileAnswer>()
}
