// What an object key may be. Keys never become paths: the disk store names its files by itself.

import { PlatformError } from '../../kit/errors.ts'
import { MAX_KEY_BYTES } from './object-store.ts'

export function checkKey(key: string): void {
  const length = Buffer.byteLength(key)
  if (length === 0) throw new PlatformError('storage.invalidKey', { reason: 'is empty' })
  if (length > MAX_KEY_BYTES) throw new PlatformError('storage.invalidKey', { reason: `has ${length} bytes` })
  if (key.includes('\0')) throw new PlatformError('storage.invalidKey', { reason: 'contains NUL' })
  if (!key.isWellFormed()) throw new PlatformError('storage.invalidKey', { reason: 'is not valid Unicode' })
}
