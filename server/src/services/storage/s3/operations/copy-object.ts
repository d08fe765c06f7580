import type { ObjectInfo } from '../../../../engines/object-store/object-store.ts'
import { defined } from '../../../../kit/defined.ts'
import { authorize, demandEncryption } from '../authorize.ts'
import { checkConditions } from '../conditions.ts'
import { attributesOf } from '../object-headers.ts'
import { noSuchKey, type Operation, type S3Context, sendXml } from '../operation.ts'
import { headerOf } from '../s3-call.ts'
import { S3Error } from '../s3-errors.ts'
import { answer, element } from '../xml.ts'

export const copyObject: Operation = {
  name: 'CopyObject',
  need: ({ key }) => ({ action: 'write', key }),
  async run(context) {
    const { call, auth, store, response } = context
    const source = await copySource(context)
    const replace = headerOf(call, 'x-amz-metadata-directive')?.toUpperCase() === 'REPLACE'
    if (source.key === call.key && !replace)
      throw new S3Error(
        'InvalidRequest',
        'This copy request is illegal because it is trying to copy an object to itself without changing its metadata.',
      )
    const given = attributesOf(call)
    demandEncryption(auth.principal, given.encryption)
    const { encryption } = given
    const attributes = replace ? given : { ...source.attributes, ...(encryption && { encryption }) }
    const info = await store.copy(source.key, call.key, attributes)
    if (!info) throw noSuchKey(source.key)
    sendXml(
      response,
      answer('CopyObjectResult', [
        element('LastModified', new Date(info.modifiedMs).toISOString()),
        element('ETag', `"${info.etag}"`),
      ]),
      defined({ 'x-amz-server-side-encryption': attributes.encryption }),
    )
  },
}

/** The object that x-amz-copy-source names, if these credentials may read it and its conditions hold. */
export async function copySource({ call, auth, store, bucket }: S3Context): Promise<ObjectInfo> {
  const [path = ''] = (headerOf(call, 'x-amz-copy-source') ?? '').split('?')
  const [, from, key] = /^\/?([^/]+)\/(.+)$/s.exec(decodePath(path)) ?? []
  if (!from || !key)
    throw new S3Error('InvalidArgument', 'Copy Source must mention the source bucket and key: sourcebucket/sourcekey')
  if (from !== bucket) throw new S3Error('NoSuchBucket', 'The specified bucket does not exist.', { BucketName: from })
  authorize(auth.principal, { action: 'read', key })
  const info = await store.head(key)
  if (!info) throw noSuchKey(key)
  if (checkConditions(call, info, 'x-amz-copy-source-') === 'not-modified')
    throw new S3Error('PreconditionFailed', 'At least one of the pre-conditions you specified did not hold')
  return info
}

function decodePath(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    throw new S3Error('InvalidArgument', 'The copy source is not percent-encoded UTF-8.')
  }
}
