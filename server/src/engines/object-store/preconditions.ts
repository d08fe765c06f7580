// `If-Match` and `If-None-Match` of a write, checked inside the commit that writes.

import { PlatformError } from '../../kit/errors.ts'
import type { PutOptions } from './object-store.ts'

export function checkPrecondition(key: string, etag: string | undefined, { ifMatch, ifNoneMatch }: PutOptions): void {
  if (ifNoneMatch === '*' && etag !== undefined)
    throw new PlatformError('storage.preconditionFailed', { key, condition: 'it must not exist yet' })
  if (ifMatch !== undefined && etag !== ifMatch)
    throw new PlatformError('storage.preconditionFailed', { key, condition: `its etag must be ${ifMatch}` })
}
