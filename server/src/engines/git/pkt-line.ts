// Packets of the git protocol: four hexadecimal digits with its length (including themselves), then its bytes.

export const FLUSH = Buffer.from('0000')
/** What fits into one packet, its length and its band left out. */
const BAND_BYTES = 65_515

export function packet(data: string | Uint8Array): Buffer {
  const bytes = Buffer.from(data)
  return Buffer.concat([Buffer.from((bytes.length + 4).toString(16).padStart(4, '0')), bytes])
}

/** The first band carries the requested data. */
export const banded = (bytes: Uint8Array): Buffer => packet(Buffer.concat([Buffer.from([1]), bytes]))

export async function* bands(chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): AsyncGenerator<Buffer> {
  for await (const chunk of chunks)
    for (let at = 0; at < chunk.length; at += BAND_BYTES) yield banded(chunk.subarray(at, at + BAND_BYTES))
}

export interface Packets {
  /** Undefined is a flush. Without the line break at their end. */
  readonly lines: readonly (string | undefined)[]
  /** Where the bytes after the last packet begin. */
  readonly end: number
}

/** Packets until the bytes end, or until the first flush. Undefined: these are not packets. */
export function readPackets(bytes: Buffer, untilFlush = false): Packets | undefined {
  const lines: (string | undefined)[] = []
  let end = 0
  while (end < bytes.length) {
    const digits = bytes.toString('latin1', end, end + 4)
    const length = /^[0-9a-f]{4}$/i.test(digits) ? Number.parseInt(digits, 16) : -1
    if (length === -1 || (length > 0 && length < 4) || end + length > bytes.length) return undefined
    lines.push(length === 0 ? undefined : bytes.toString('utf8', end + 4, end + length).replace(/\n$/, ''))
    end += Math.max(length, 4)
    if (length === 0 && untilFlush) break
  }
  return { lines, end }
}
