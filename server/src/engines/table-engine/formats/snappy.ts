// Snappy, as Avro files of Spark use it: no package of ours and no part of Node unpacks it.

const broken = (reason: string) => new Error(`a block is not valid Snappy: ${reason}`)

/** One raw block (without frames): the length as a varint, then literals and copies of what was written before. */
export function unpackSnappy(packed: Uint8Array, maxBytes: number): Buffer {
  let at = 0
  const next = (): number => {
    const byte = packed[at++]
    if (byte === undefined) throw broken('it ends too early')
    return byte
  }
  const littleEndian = (bytes: number): number => {
    let value = 0
    for (let i = 0; i < bytes; i++) value += next() * 2 ** (8 * i)
    return value
  }
  let length = 0
  for (let shift = 0; ; shift += 7) {
    const byte = next()
    length += (byte & 0x7f) * 2 ** shift
    if (byte < 0x80) break
    if (shift >= 28) throw broken('its length has too many bytes')
  }
  if (length > maxBytes) throw broken(`it unpacks to ${length} bytes, more than ${maxBytes}`)
  const out = Buffer.alloc(length)
  let written = 0
  while (at < packed.length) {
    const tag = next()
    if ((tag & 3) === 0) {
      const size = (tag >> 2 < 60 ? tag >> 2 : littleEndian((tag >> 2) - 59)) + 1
      if (at + size > packed.length || written + size > length) throw broken('a literal is too long')
      out.set(packed.subarray(at, at + size), written)
      at += size
      written += size
      continue
    }
    const [size, offset] =
      (tag & 3) === 1
        ? [((tag >> 2) & 7) + 4, ((tag >> 5) << 8) + next()]
        : [(tag >> 2) + 1, littleEndian((tag & 3) === 2 ? 2 : 4)]
    if (offset === 0 || offset > written || written + size > length) throw broken('a copy points outside of it')
    for (let i = 0; i < size; i++) out[written + i] = out[written + i - offset]! // may overlap: bytes repeat
    written += size
  }
  if (written !== length) throw broken('it is shorter than it says')
  return out
}
