// Ciphers of `#` values. What must stay true:
//  (1) a cipher opens only under the scope it was made for: the scope's ids are associated data, so a changed id is a failed tag;
//  (2) every sealing draws a fresh 96-bit nonce; a data key is used for far fewer than 2^32 values;
//  (3) the cipher names its data key, so rotating the root key (which wraps data keys) never touches a cipher.
//
// Layout of the part behind the prefix, base64: version (1 byte) | data key id (8) | nonce (12) | tag (16) | ciphertext.

import { createCipheriv, createDecipheriv, createHash, createSecretKey, type KeyObject, randomBytes } from 'node:crypto'

const ALGORITHM = 'aes-256-gcm'
const VERSION = 1
const KEY_ID_BYTES = 8
const NONCE_BYTES = 12
const TAG_BYTES = 16
const HEADER_BYTES = 1 + KEY_ID_BYTES + NONCE_BYTES + TAG_BYTES

export const KEY_BYTES = 32

export interface DataKey {
  /** 16 hexadecimal digits. */
  readonly id: string
  readonly key: KeyObject
}

export const newKey = (): KeyObject => createSecretKey(randomBytes(KEY_BYTES))

export const newDataKey = (): DataKey => ({ id: randomBytes(KEY_ID_BYTES).toString('hex'), key: newKey() })

/** A short name for a root key that reveals nothing about it. */
export const rootKeyId = (root: KeyObject): string =>
  createHash('sha256').update('millrace root key id\0').update(root.export()).digest('hex').slice(0, 16)

/** Seals a text. `associated` is everything the opener must agree on. */
export function seal({ id, key }: DataKey, plain: string, associated: string, nonce: Buffer = randomBytes(NONCE_BYTES)): string {
  const cipher = createCipheriv(ALGORITHM, key, nonce)
  cipher.setAAD(Buffer.from(associated, 'utf8'))
  const body = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()])
  return Buffer.concat([Buffer.from([VERSION]), Buffer.from(id, 'hex'), nonce, cipher.getAuthTag(), body]).toString('base64')
}

/** The data key of a sealed text; undefined when the key is unknown. */
export function dataKeyIdOf(sealed: string): string | undefined {
  const bytes = Buffer.from(sealed.slice(0, 16), 'base64')
  return bytes[0] === VERSION && bytes.length > KEY_ID_BYTES ? bytes.subarray(1, 1 + KEY_ID_BYTES).toString('hex') : undefined
}

/** The text inside; undefined when the key, the associated data or any bit of the sealed text is wrong. */
export function open({ id, key }: DataKey, sealed: string, associated: string): string | undefined {
  const bytes = Buffer.from(sealed, 'base64')
  // Re-encoding refuses the other spellings of the same bytes that the base64 decoder lets through.
  if (bytes.length < HEADER_BYTES || bytes.toString('base64') !== sealed || dataKeyIdOf(sealed) !== id) return undefined
  const nonceAt = 1 + KEY_ID_BYTES
  const tagAt = nonceAt + NONCE_BYTES
  const decipher = createDecipheriv(ALGORITHM, key, bytes.subarray(nonceAt, tagAt), { authTagLength: TAG_BYTES })
  decipher.setAAD(Buffer.from(associated, 'utf8'))
  decipher.setAuthTag(bytes.subarray(tagAt, HEADER_BYTES))
  try {
    return Buffer.concat([decipher.update(bytes.subarray(HEADER_BYTES)), decipher.final()]).toString('utf8')
  } catch {
    return undefined // the tag does not match; no part of the text is returned
  }
}

/** A data key as it is stored: sealed by the root key, bound to its own id and owner. */
export function wrap(root: KeyObject, { id, key }: DataKey, owner: string): string {
  return seal({ id, key: root }, key.export().toString('base64'), wrapContext(id, owner))
}

export function unwrap(root: KeyObject, id: string, owner: string, wrapped: string): DataKey | undefined {
  const bytes = open({ id, key: root }, wrapped, wrapContext(id, owner))
  return bytes === undefined ? undefined : { id, key: createSecretKey(bytes, 'base64') }
}

const wrapContext = (id: string, owner: string) => JSON.stringify(['millrace data key', id, owner])

/** With whichever of the keys it was sealed with. Throws when none of them opens it. */
export function openWith(keys: ReadonlyMap<string, DataKey>, sealed: string, associated: string): string {
  const key = keys.get(dataKeyIdOf(sealed) ?? '')
  const text = key && open(key, sealed, associated)
  if (text === undefined) throw new Error('A sealed text opens with none of the keys there are.')
  return text
}
