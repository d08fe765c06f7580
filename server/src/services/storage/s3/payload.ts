// The body of a request, checked against everything the request declares: length, hash, MD5, checksum, chunk signatures.
// Every check happens before the last byte is passed on, so a put with a wrong body never becomes an object.

import type { IncomingMessage } from 'node:http'
import type { HashName, HashThread } from '../../../engines/object-store/checksums/background-hash.ts'
import type { Bytes, ObjectChecksum, PutOptions } from '../../../engines/object-store/object-store.ts'
import { UNSIGNED_PAYLOAD } from '../../../engines/object-store/signature-v4.ts'
import { lentChunks } from '../../../kit/chunk-memory.ts'
import type { Authenticated } from './authenticate.ts'
import { decodeAwsChunked } from './aws-chunked.ts'
import { announcedChecksum, createHasher } from './checksums.ts'
import { headerOf, type S3Call } from './s3-call.ts'
import { S3Error } from './s3-errors.ts'

const MAX_PUT_BYTES = 5 * 1024 ** 3
const MAX_MD5_BYTES = 64 * 1024 ** 2

export interface Payload extends Required<Pick<PutOptions, 'etag' | 'checksum'>> {
  readonly body: Bytes
}

/** What an operation needs to read the body of its request. */
export interface PayloadSource {
  readonly call: S3Call
  readonly auth: Authenticated
  readonly message: IncomingMessage
  readonly hashThread: HashThread
  /** Sends `100 Continue` to a client that waits with its body (`Expect: 100-continue`). */
  readonly proceed: () => void
}

export function openPayload({ call, auth, message, hashThread, proceed }: PayloadSource): Payload {
  const announced = announcedChecksum(call)
  const expectedSha256 = sha256Announced(auth.payloadHash)
  const expectedMd5 = contentMd5(call)
  const expectedLength = announcedLength(call)
  if (expectedLength !== undefined && expectedLength > MAX_PUT_BYTES)
    throw new S3Error('EntityTooLarge', 'Your proposed upload exceeds the maximum allowed object size. Upload it in parts.', {
      ProposedSize: String(expectedLength),
      MaxSizeAllowed: String(MAX_PUT_BYTES),
    })

  // The MD5 is the ETag that AWS would give. Of a large body whose bytes another checksum vouches for it is left out: it would cost more
  // than everything else together, and ETags that are no MD5 are part of the protocol (docs/adr/0006).
  const isVouchedFor = announced !== undefined && expectedMd5 === undefined
  const wantsMd5 = !isVouchedFor || expectedLength === undefined || expectedLength <= MAX_MD5_BYTES
  const names: HashName[] = [
    ...(wantsMd5 ? (['md5'] as const) : []),
    ...(expectedSha256 === undefined ? [] : (['sha256'] as const)),
  ]
  const hashes = hashThread.open(names, expectedLength)
  const hasher = announced && createHasher(announced.algorithm)
  let trailers: ReadonlyMap<string, string> = new Map()
  let digests: { md5: Buffer | undefined; checksum: ObjectChecksum | undefined } | undefined

  async function* body(): Bytes {
    proceed()
    let length = 0
    const raw = received(message)
    const plain = auth.payloadHash.startsWith('STREAMING-')
      ? decodeAwsChunked(raw, {
          seed: auth.payloadHash.startsWith('STREAMING-AWS4-HMAC-SHA256-PAYLOAD') ? auth.seed : undefined,
          signedTrailer: auth.payloadHash.endsWith('-TRAILER'),
          onTrailers: (found) => {
            trailers = found
          },
        })
      : raw
    try {
      for await (const chunk of plain) {
        length += chunk.length
        if (length > MAX_PUT_BYTES || (expectedLength !== undefined && length > expectedLength))
          throw new S3Error('IncompleteBody', 'The request body has more bytes than it announced.')
        hasher?.update(chunk)
        await hashes.update(chunk)
        yield chunk
      }
      if (expectedLength !== undefined && length !== expectedLength)
        throw new S3Error('IncompleteBody', `You announced ${expectedLength} bytes and sent ${length}.`)
      const checksum = checkChecksum()
      const found = await hashes.digest()
      const digestOf = (name: HashName) => found[names.indexOf(name)]
      const md5 = digestOf('md5')
      const sha256 = digestOf('sha256')
      if (sha256 && sha256.toString('hex') !== expectedSha256)
        throw new S3Error(
          'XAmzContentSHA256Mismatch',
          "The provided 'x-amz-content-sha256' header does not match what was computed.",
        )
      if (expectedMd5 && !md5?.equals(expectedMd5))
        throw new S3Error('BadDigest', 'The Content-MD5 you specified did not match what we received.')
      digests = { md5, checksum }
    } finally {
      hashes.drop()
    }
  }

  function checkChecksum(): ObjectChecksum | undefined {
    if (!announced || !hasher) return undefined
    const { algorithm } = announced
    const given = announced.value ?? trailers.get(`x-amz-checksum-${algorithm}`)
    const value = hasher.digest()
    if (given === undefined) throw new S3Error('IncompleteBody', `The promised trailer x-amz-checksum-${algorithm} did not come.`)
    if (given !== value)
      throw new S3Error('BadDigest', `The ${algorithm.toUpperCase()} you specified did not match the calculated checksum.`)
    return { algorithm, value, type: 'FULL_OBJECT' }
  }

  return {
    body: body(),
    etag: () => digests?.md5?.toString('hex'),
    checksum: () => digests?.checksum,
  }
}

/** A body that must fit into memory: the XML of a few operations. */
export async function readPayload(source: PayloadSource, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of openPayload(source).body) {
    length += chunk.length
    if (length > maxBytes) throw new S3Error('MalformedXML', `The XML of this request may have ${maxBytes} bytes.`)
    chunks.push(Buffer.from(chunk))
  }
  return Buffer.concat(chunks).toString()
}

/** The bytes off the wire. A client that goes away in the middle has sent an incomplete body. */
async function* received(message: IncomingMessage): Bytes {
  try {
    // Not destroyed on the way out: after a refusal the answer still has to get through.
    yield* lentChunks(message.iterator({ destroyOnReturn: false }))
  } catch (cause) {
    throw new S3Error('IncompleteBody', 'The connection was closed before the whole body had arrived.', {}, cause)
  }
}

function sha256Announced(payloadHash: string): string | undefined {
  if (payloadHash === UNSIGNED_PAYLOAD || payloadHash === 'STREAMING-UNSIGNED-PAYLOAD-TRAILER') return undefined
  if (/^STREAMING-AWS4-HMAC-SHA256-PAYLOAD(-TRAILER)?$/.test(payloadHash)) return undefined
  if (/^[0-9a-f]{64}$/.test(payloadHash)) return payloadHash
  throw new S3Error(
    'InvalidArgument',
    'x-amz-content-sha256 must be UNSIGNED-PAYLOAD, STREAMING-UNSIGNED-PAYLOAD-TRAILER, STREAMING-AWS4-HMAC-SHA256-PAYLOAD, STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER or a valid sha256 value.',
  )
}

function contentMd5(call: S3Call): Buffer | undefined {
  const given = headerOf(call, 'content-md5')
  if (given === undefined) return undefined
  const digest = Buffer.from(given, 'base64')
  if (digest.length !== 16) throw new S3Error('InvalidDigest', 'The Content-MD5 you specified is not valid.')
  return digest
}

/** The length of the plain bytes, where the request declares it. */
function announcedLength(call: S3Call): number | undefined {
  const text = headerOf(call, 'x-amz-decoded-content-length')
  if (text !== undefined) {
    if (!/^\d{1,15}$/.test(text)) throw new S3Error('InvalidArgument', 'x-amz-decoded-content-length must be a number of bytes.')
    return Number(text)
  }
  const streaming = headerOf(call, 'x-amz-content-sha256')?.startsWith('STREAMING-')
  const length = headerOf(call, 'content-length')
  return streaming || length === undefined ? undefined : Number(length)
}
