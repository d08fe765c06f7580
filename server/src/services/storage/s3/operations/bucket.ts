// Operations on the bucket itself that clients call before they start. There is one bucket; it cannot be changed.

import { type Operation, sendEmpty, sendXml } from '../operation.ts'
import { S3Error } from '../s3-errors.ts'
import { answer, element } from '../xml.ts'

const seen = () => ({ action: 'see-bucket' }) as const

export const headBucket: Operation = {
  name: 'HeadBucket',
  need: seen,
  async run({ response, region }) {
    sendEmpty(response, 200, { 'x-amz-bucket-region': region })
  },
}

/** The one bucket always exists; programs that create it before an upload continue after this response. */
export const createBucket: Operation = {
  name: 'CreateBucket',
  need: seen,
  async run({ bucket }) {
    throw new S3Error('BucketAlreadyOwnedByYou', 'The bucket already exists and is owned by you.', { BucketName: bucket })
  },
}

export const getBucketLocation: Operation = {
  name: 'GetBucketLocation',
  need: seen,
  async run({ response, region }) {
    // us-east-1 is the empty constraint, for historical reasons of AWS.
    sendXml(response, answer('LocationConstraint', region === 'us-east-1' ? [] : [{ text: region }]))
  },
}

export const getBucketVersioning: Operation = {
  name: 'GetBucketVersioning',
  need: seen,
  async run({ response }) {
    sendXml(response, answer('VersioningConfiguration', []))
  },
}

export const listBuckets: Operation = {
  name: 'ListBuckets',
  need: () => ({ action: 'administer' }),
  async run({ response, bucket }) {
    const entry = element('Bucket', [element('Name', bucket), element('CreationDate', '2026-01-01T00:00:00.000Z')])
    sendXml(
      response,
      answer('ListAllMyBucketsResult', [element('Owner', [element('ID', 'millrace')]), element('Buckets', [entry])]),
    )
  },
}
