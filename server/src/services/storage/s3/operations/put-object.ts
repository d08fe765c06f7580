import type { PutOptions } from '../../../../engines/object-store/object-store.ts'
import { defined } from '../../../../kit/defined.ts'
import { demandEncryption } from '../authorize.ts'
import { attributesOf } from '../object-headers.ts'
import type { Operation } from '../operation.ts'
import { sendEmpty } from '../operation.ts'
import { openPayload } from '../payload.ts'
import { headerOf, type S3Call } from '../s3-call.ts'
import { S3Error } from '../s3-errors.ts'

export const putObject: Operation = {
  name: 'PutObject',
  need: ({ key }) => ({ action: 'write', key }),
  async run(context) {
    const { call, auth, store, response } = context
    const attributes = attributesOf(call)
    demandEncryption(auth.principal, attributes.encryption)
    const { body, etag, checksum } = openPayload(context)
    const info = await store.put(call.key, body, { attributes, etag, checksum, ...writeConditions(call) })
    sendEmpty(
      response,
      200,
      defined({
        etag: `"${info.etag}"`,
        'x-amz-server-side-encryption': attributes.encryption,
        ...(info.checksum && {
          [`x-amz-checksum-${info.checksum.algorithm}`]: info.checksum.value,
          'x-amz-checksum-type': info.checksum.type,
        }),
      }),
    )
  },
}

/** If-None-Match: * and If-Match: etag, the two conditions of S3 for writes. */
export function writeConditions(call: S3Call): Pick<PutOptions, 'ifMatch' | 'ifNoneMatch'> {
  const ifNoneMatch = headerOf(call, 'if-none-match')
  const ifMatch = headerOf(call, 'if-match')
  if (ifNoneMatch !== undefined && ifNoneMatch !== '*')
    throw new S3Error('NotImplemented', 'A write can only ask for If-None-Match: *')
  return {
    ...(ifNoneMatch && { ifNoneMatch: '*' as const }),
    ...(ifMatch !== undefined && { ifMatch: ifMatch.replaceAll('"', '') }),
  }
}
