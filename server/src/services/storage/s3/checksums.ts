// The x-amz-checksum-* family: which one a request carries or announces, and computing it on the way through.

import { createHash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import type { ObjectChecksum } from '../../../engines/object-store/object-store.ts'
import { createCrc32c, createCrc64Nvme } from './crc.ts'
import { headerOf, type S3Call } from './s3-call.ts'
import { S3Error } from './s3-errors.ts'

export type Algorithm = ObjectChecksum['algorithm']

export interface Hasher {
  update(chunk: Uint8Array): void
  /** Base64. */
  digest(): string
}

const DIGEST_BYTES: Readonly<Record<Algorithm, number>> = { crc32: 4, crc32c: 4, crc64nvme: 8, sha1: 20, sha256: 32 }
export const ALGORITHMS = Object.keys(DIGEST_BYTES) as readonly Algorithm[]

const isAlgorithm = (name: string): name is Algorithm => Object.hasOwn(DIGEST_BYTES, name)

export function createHasher(algorithm: Algorithm): Hasher {
  if (algorithm === 'crc32') return createCrc32()
  if (algorithm === 'sha1' || algorithm === 'sha256') {
    const hash = createHash(algorithm)
    return { update: (chunk) => void hash.update(chunk), digest: () => hash.digest('base64') }
  }
  const crc = algorithm === 'crc32c' ? createCrc32c() : createCrc64Nvme()
  return { update: (chunk) => crc.update(chunk), digest: () => crc.digest().toString('base64') }
}

function createCrc32(): Hasher {
  let value = 0
  return {
    update(chunk) {
      value = crc32(chunk, value)
    },
    digest() {
      const out = Buffer.alloc(4)
      out.writeUInt32BE(value)
      return out.toString('base64')
    },
  }
}

export interface AnnouncedChecksum {
  readonly algorithm: Algorithm
  /** In the header; `undefined` when it comes in the trailer. */
  readonly value: string | undefined
}

/** The checksum this request carries in a header or promises in its trailer. */
export function announcedChecksum(call: S3Call): AnnouncedChecksum | undefined {
  const given = ALGORITHMS.filter((algorithm) => headerOf(call, `x-amz-checksum-${algorithm}`) !== undefined)
  if (given.length > 1)
    throw new S3Error('InvalidRequest', 'Expecting a single x-amz-checksum- header. Multiple checksum types are not allowed.')
  const [algorithm] = given
  if (algorithm) {
    const value = headerOf(call, `x-amz-checksum-${algorithm}`)!
    if (Buffer.from(value, 'base64').length !== DIGEST_BYTES[algorithm])
      throw new S3Error('InvalidRequest', `Value for x-amz-checksum-${algorithm} header is invalid.`)
    return { algorithm, value }
  }
  const trailer = headerOf(call, 'x-amz-trailer')?.trim().toLowerCase()
  if (!trailer) return undefined
  const promised = trailer.startsWith('x-amz-checksum-') ? trailer.slice('x-amz-checksum-'.length) : ''
  if (!isAlgorithm(promised))
    throw new S3Error('InvalidRequest', 'The value specified in the x-amz-trailer header is not supported')
  return { algorithm: promised, value: undefined }
}

/** `x-amz-checksum-algorithm` of an upload in parts. */
export function requestedAlgorithm(call: S3Call): Algorithm | undefined {
  const name = headerOf(call, 'x-amz-checksum-algorithm')?.toLowerCase()
  if (name === undefined) return undefined
  if (!isAlgorithm(name))
    throw new S3Error(
      'InvalidRequest',
      'Checksum algorithm provided is unsupported. Please try again with any of the valid types: [CRC32, CRC32C, CRC64NVME, SHA1, SHA256]',
    )
  return name
}
