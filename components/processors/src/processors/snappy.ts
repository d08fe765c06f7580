// Snappy: the framing format (chunks of at most 64 KiB) and the block format inside it.

import { UserError } from '../../../http-extractor/src/errors.ts'

const COMPRESSED = 0
const PLAIN = 1
const CHECKSUM_BYTES = 4

/** Unpacks framed snappy; a file that starts without the frame mark is taken as one raw block. */
export async function* snappyFrames(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let held = Buffer.alloc(0)
  const raw: Buffer[] = []
  let framed: boolean | undefined
  for await (const chunk of chunks) {
    framed ??= (held[0] ?? chunk[0]) === 0xff
    if (!framed) {
      raw.push(chunk) // joined once: a raw block is as long as its file
      continue
    }
    held = Buffer.concat([held, chunk])
    while (held.length >= 4 && held.length >= 4 + held.readUIntLE(1, 3)) {
      const body = held.subarray(4, 4 + held.readUIntLE(1, 3))
      if (held[0] === COMPRESSED) yield unpackBlock(body.subarray(CHECKSUM_BYTES))
      else if (held[0] === PLAIN) yield body.subarray(CHECKSUM_BYTES)
      else if (held[0]! < 0x80) throw new UserError('it has a part of an unknown kind')
      held = held.subarray(4 + body.length)
    }
  }
  if (held.length > 0) throw new UserError('it ends too early')
  if (raw.length > 0) yield unpackBlock(Buffer.concat(raw))
}

function unpackBlock(block: Buffer): Buffer {
  let at = 0
  let size = 0
  for (let shift = 0; ; shift += 7) {
    const byte = block[at++]
    if (byte === undefined || shift > 28) throw new UserError('it is not snappy data')
    size += (byte & 0x7f) * 2 ** shift
    if (byte < 0x80) break
  }
  if (size > block.length * 64 + 64) throw new UserError('it claims to be larger than it can be')
  const out = Buffer.alloc(size)
  let end = 0
  const take = (bytes: number): number => {
    if (at + bytes > block.length) throw new UserError('it ends too early')
    at += bytes
    return bytes === 0 ? 0 : block.readUIntLE(at - bytes, bytes)
  }
  while (at < block.length) {
    const tag = block[at++]!
    if ((tag & 3) === 0) {
      const short = tag >> 2
      const length = (short < 60 ? short : take(short - 59)) + 1
      if (at + length > block.length || end + length > size) throw new UserError('it is damaged')
      end += block.copy(out, end, at, at + length)
      at += length
      continue
    }
    const near = (tag & 3) === 1
    const length = near ? ((tag >> 2) & 7) + 4 : (tag >> 2) + 1
    const back = near ? ((tag >> 5) << 8) | take(1) : take((tag & 3) === 2 ? 2 : 4)
    if (back === 0 || back > end || end + length > size) throw new UserError('it is damaged')
    for (let i = 0; i < length; i++) out[end + i] = out[end + i - back]! // the copy may run into itself
    end += length
  }
  if (end !== size) throw new UserError('it ends too early')
  return out
}
