// Which operation a request means: the method, whether there is a key, and the sub-resource in the query.

import type { Operation } from './operation.ts'
import { abortMultipartUpload } from './operations/abort-multipart-upload.ts'
import { createBucket, getBucketLocation, getBucketVersioning, headBucket, listBuckets } from './operations/bucket.ts'
import { completeMultipartUpload } from './operations/complete-multipart-upload.ts'
import { copyObject } from './operations/copy-object.ts'
import { createMultipartUpload } from './operations/create-multipart-upload.ts'
import { deleteObject } from './operations/delete-object.ts'
import { deleteObjects } from './operations/delete-objects.ts'
import { getObject } from './operations/get-object.ts'
import { headObject } from './operations/head-object.ts'
import { listMultipartUploads } from './operations/list-multipart-uploads.ts'
import { listObjects, listObjectsV2 } from './operations/list-objects.ts'
import { listParts } from './operations/list-parts.ts'
import { putObject } from './operations/put-object.ts'
import { uploadPart } from './operations/upload-part.ts'
import { uploadPartCopy } from './operations/upload-part-copy.ts'
import type { S3Call } from './s3-call.ts'
import { S3Error } from './s3-errors.ts'

/** Sub-resources of AWS that mean another operation than the plain one, and that we do not have. */
const UNKNOWN_SUBRESOURCES = [
  'accelerate',
  'acl',
  'analytics',
  'attributes',
  'cors',
  'encryption',
  'intelligent-tiering',
  'inventory',
  'legal-hold',
  'lifecycle',
  'logging',
  'metrics',
  'notification',
  'object-lock',
  'ownershipControls',
  'policy',
  'policyStatus',
  'publicAccessBlock',
  'replication',
  'requestPayment',
  'restore',
  'retention',
  'select',
  'tagging',
  'torrent',
  'versionId',
  'versions',
  'website',
]

export function operationOf(call: S3Call): Operation {
  const unknown = UNKNOWN_SUBRESOURCES.find((name) => call.query.has(name))
  if (unknown) throw new S3Error('NotImplemented', `"${unknown}" is not supported by this object store.`)
  const operation = call.key === '' ? onBucket(call) : onObject(call)
  if (!operation)
    throw new S3Error('MethodNotAllowed', 'The specified method is not allowed against this resource.', { Method: call.method })
  return operation
}

function onBucket({ method, query, bucket }: S3Call): Operation | undefined {
  if (bucket === '') return method === 'GET' ? listBuckets : undefined
  if (method === 'HEAD') return headBucket
  if (method === 'PUT') return createBucket
  if (method === 'POST') return query.has('delete') ? deleteObjects : undefined
  if (method !== 'GET') return undefined
  if (query.has('location')) return getBucketLocation
  if (query.has('versioning')) return getBucketVersioning
  if (query.has('uploads')) return listMultipartUploads
  return query.get('list-type') === '2' ? listObjectsV2 : listObjects
}

function onObject({ method, query, headers }: S3Call): Operation | undefined {
  const copies = headers['x-amz-copy-source'] !== undefined
  switch (method) {
    case 'GET':
      return query.has('uploadId') ? listParts : getObject
    case 'HEAD':
      return headObject
    case 'PUT':
      if (query.has('uploadId') || query.has('partNumber')) return copies ? uploadPartCopy : uploadPart
      return copies ? copyObject : putObject
    case 'POST':
      if (query.has('uploads')) return createMultipartUpload
      return query.has('uploadId') ? completeMultipartUpload : undefined
    case 'DELETE':
      return query.has('uploadId') ? abortMultipartUpload : deleteObject
    default:
      return undefined
  }
}
