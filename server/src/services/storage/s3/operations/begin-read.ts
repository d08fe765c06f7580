import type { ByteRange, ObjectInfo } from '../../../../engines/object-store/object-store.ts'
import { checkConditions, checkPartNumber, rangeOf } from '../conditions.ts'
import { noSuchKey, type S3Context, sendEmpty } from '../operation.ts'

/** What GET and HEAD have in common: the object and its requested part. Undefined when the response (304) was already sent. */
export async function beginRead({
  call,
  store,
  response,
}: S3Context): Promise<{ readonly info: ObjectInfo; readonly range: ByteRange | undefined } | undefined> {
  checkPartNumber(call)
  const info = await store.head(call.key)
  if (!info) throw noSuchKey(call.key)
  if (checkConditions(call, info) === 'go-on') return { info, range: rangeOf(call, info) }
  sendEmpty(response, 304, { etag: `"${info.etag}"` })
  return undefined
}
