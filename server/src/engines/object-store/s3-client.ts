// The AWS SDK for an S3 of any maker.

import { S3Client } from '@aws-sdk/client-s3'

export interface S3Account {
  readonly endpoint: string
  readonly region: string
  readonly accessKeyId: string
  readonly secretAccessKey: string
}

export const createS3Client = ({ endpoint, region, accessKeyId, secretAccessKey }: S3Account): S3Client =>
  new S3Client({ endpoint, region, forcePathStyle: true, credentials: { accessKeyId, secretAccessKey } })
