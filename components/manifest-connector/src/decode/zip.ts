// The files of a zip archive, from its central directory.

import { ConnectorError } from '../errors.ts'

const END = 0x06054b50
const ENTRY = 0x02014b50
const MAX_ENTRIES = 10_000

export function* zipEntries(archive: Buffer, inflate: (data: Buffer, size: number) => Buffer): Iterable<Buffer> {
  const bad = () => new ConnectorError('The answer is not a valid zip archive.')
  let end = archive.length - 22
  while (end >= 0 && archive.readUInt32LE(end) !== END) end--
  if (end < 0) throw bad()
  const count = archive.readUInt16LE(end + 10)
  let at = archive.readUInt32LE(end + 16)
  if (count > MAX_ENTRIES) throw new ConnectorError(`The zip archive has more than ${MAX_ENTRIES} files.`)
  for (let i = 0; i < count; i++) {
    if (at + 46 > archive.length || archive.readUInt32LE(at) !== ENTRY) throw bad()
    const method = archive.readUInt16LE(at + 10)
    const packed = archive.readUInt32LE(at + 20)
    const size = archive.readUInt32LE(at + 24)
    const nameLength = archive.readUInt16LE(at + 28)
    const name = archive.toString('utf8', at + 46, at + 46 + nameLength)
    const local = archive.readUInt32LE(at + 42)
    at += 46 + nameLength + archive.readUInt16LE(at + 30) + archive.readUInt16LE(at + 32)
    if (name.endsWith('/')) continue
    if (local + 30 > archive.length) throw bad()
    const from = local + 30 + archive.readUInt16LE(local + 26) + archive.readUInt16LE(local + 28)
    const data = archive.subarray(from, from + packed)
    if (method !== 0 && method !== 8)
      throw new ConnectorError(`The file '${name}' of the zip archive uses the unsupported compression method ${method}.`)
    yield method === 0 ? data : inflate(data, size + 1)
  }
}
