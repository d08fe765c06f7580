// The aws-chunked body: `<hex size>[;chunk-signature=<hex>]CRLF <bytes> CRLF`, a chunk of size 0 at the end, then trailers.
// Signed chunks form a chain: each signature covers the one before it, so chunks cannot be dropped, swapped or changed.
//
// Bytes are passed on before their chunk is verified. That is safe because a put becomes visible only after the last byte,
// and an error thrown here makes it fail as a whole.

import { createHash, type Hash } from 'node:crypto'
import type { Bytes } from '../../../engines/object-store/object-store.ts'
import { EMPTY_SHA256, scopeText, sha256Hex, signatureOf } from '../../../engines/object-store/signature-v4.ts'
import type { SeedSignature } from './authenticate.ts'
import { S3Error } from './s3-errors.ts'

export interface ChunkedOptions {
  /** The signature of the request, when chunks are signed. */
  readonly seed: SeedSignature | undefined
  /** The trailer is signed too. */
  readonly signedTrailer: boolean
  /** The trailers, in lower case, once the last chunk has arrived. */
  readonly onTrailers: (trailers: ReadonlyMap<string, string>) => void
}

const MAX_LINE_BYTES = 16 * 1024
/** No client sends single chunks near this; a size beyond it is a mistake or an attack. */
const MAX_CHUNK_BYTES = 5 * 1024 ** 3

const malformed = (why: string) => new S3Error('IncompleteBody', `The aws-chunked body is malformed: ${why}.`)

export async function* decodeAwsChunked(body: Bytes, { seed, signedTrailer, onTrailers }: ChunkedOptions): Bytes {
  const reader = createReader(body)
  let previous = seed?.signature ?? ''
  for (;;) {
    const { size, signature } = parseChunkHeader(await reader.line())
    const hash = seed ? createHash('sha256') : undefined
    yield* counted(reader.take(size), hash)
    if (seed) previous = checkChunk(seed, previous, hash!, signature)
    if (size === 0) break
    if ((await reader.line()) !== '') throw malformed('a chunk is longer than its declared size')
  }
  onTrailers(await readTrailers(reader, signedTrailer ? seed : undefined, previous))
}

async function* counted(chunks: Bytes, hash: Hash | undefined): Bytes {
  for await (const chunk of chunks) {
    hash?.update(chunk)
    yield chunk
  }
}

function parseChunkHeader(line: string): { size: number; signature: string } {
  const [hex = '', ...extensions] = line.split(';')
  const size = /^[0-9a-f]{1,12}$/i.test(hex.trim()) ? Number.parseInt(hex, 16) : Number.NaN
  if (Number.isNaN(size) || size > MAX_CHUNK_BYTES) throw malformed('a chunk size is not a hexadecimal number')
  const signature =
    extensions.find((extension) => extension.startsWith('chunk-signature='))?.slice('chunk-signature='.length) ?? ''
  return { size, signature }
}

function checkChunk(seed: SeedSignature, previous: string, hash: Hash, signature: string): string {
  const text = ['AWS4-HMAC-SHA256-PAYLOAD', seed.amzDate, scopeText(seed.scope), previous, EMPTY_SHA256, hash.digest('hex')].join(
    '\n',
  )
  if (signatureOf(seed.key, text) !== signature)
    throw new S3Error('SignatureDoesNotMatch', 'A chunk does not match its signature.')
  return signature
}

async function readTrailers(
  reader: ChunkReader,
  seed: SeedSignature | undefined,
  previous: string,
): Promise<ReadonlyMap<string, string>> {
  const trailers = new Map<string, string>()
  const lines: string[] = []
  for (;;) {
    const line = await reader.lineOrEnd()
    if (line === undefined || line === '') break
    const colon = line.indexOf(':')
    if (colon < 1 || lines.length > 20) throw malformed('a trailer is not "name:value"')
    const name = line.slice(0, colon).trim().toLowerCase()
    trailers.set(name, line.slice(colon + 1).trim())
    if (name !== 'x-amz-trailer-signature') lines.push(`${name}:${trailers.get(name)}\n`)
  }
  if (seed && lines.length > 0) {
    const text = ['AWS4-HMAC-SHA256-TRAILER', seed.amzDate, scopeText(seed.scope), previous, sha256Hex(lines.join(''))].join('\n')
    if (signatureOf(seed.key, text) !== trailers.get('x-amz-trailer-signature'))
      throw new S3Error('SignatureDoesNotMatch', 'The trailer does not match its signature.')
  }
  await reader.skipToEnd()
  return trailers
}

interface ChunkReader {
  line(): Promise<string>
  lineOrEnd(): Promise<string | undefined>
  take(size: number): Bytes
  skipToEnd(): Promise<void>
}

/** Lines and runs of bytes out of a stream, without copying the runs. */
function createReader(body: Bytes): ChunkReader {
  const source = body[Symbol.asyncIterator]()
  let buffered: Buffer = Buffer.alloc(0)

  async function more(): Promise<boolean> {
    const kept = Buffer.from(buffered) // the rest of a line at most; its chunk is invalid once the next is requested
    const { value, done } = await source.next()
    if (done) return false
    const chunk = Buffer.from(value.buffer, value.byteOffset, value.byteLength)
    buffered = kept.length === 0 ? chunk : Buffer.concat([kept, chunk])
    return true
  }

  async function lineOrEnd(): Promise<string | undefined> {
    for (;;) {
      const end = buffered.indexOf('\r\n')
      if (end >= 0) {
        const line = buffered.toString('latin1', 0, end)
        buffered = buffered.subarray(end + 2)
        return line
      }
      if (buffered.length > MAX_LINE_BYTES) throw malformed('a line is too long')
      if (!(await more())) {
        if (buffered.length > 0) throw malformed('it breaks off in the middle of a line')
        return undefined
      }
    }
  }

  return {
    lineOrEnd,
    async line() {
      const line = await lineOrEnd()
      if (line === undefined) throw malformed('it breaks off')
      return line
    },
    async *take(size) {
      for (let left = size; left > 0; ) {
        if (buffered.length === 0 && !(await more())) throw malformed('it breaks off inside a chunk')
        const taken = buffered.subarray(0, left)
        buffered = buffered.subarray(taken.length)
        left -= taken.length
        if (taken.length > 0) yield taken
      }
    },
    async skipToEnd() {
      if (buffered.length > 0 || (await more())) throw malformed('there is something after its end')
    },
  }
}
