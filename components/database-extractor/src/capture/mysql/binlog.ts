// Events of the binary log of MySQL and MariaDB, as far as the keys of changed rows need them. Values that are no keys are passed over.

export interface TableMap {
  readonly schema: string
  readonly table: string
  readonly types: readonly ColumnType[]
}

interface ColumnType {
  readonly type: number
  readonly meta: number
}

export type BinlogEvent =
  | { readonly kind: 'rotate'; readonly file: string; readonly position: number }
  | { readonly kind: 'rows'; readonly map: TableMap; readonly keys: () => Iterable<readonly Buffer[]> }
  /** A statement; the end of a transaction of tables without transactions is one, too. */
  | { readonly kind: 'query'; readonly schema: string; readonly sql: string }
  | { readonly kind: 'commit' }
  /** The position of the log behind it is no end of a transaction. */
  | { readonly kind: 'begin' }
  | { readonly kind: 'unreadable'; readonly why: string }
  | { readonly kind: 'other' }

const HEADER_BYTES = 19
const CHECKSUM_BYTES = 4
const DESCRIPTION = 15
const UPDATES: ReadonlySet<number> = new Set([24, 31])
const ROWS: ReadonlySet<number> = new Set([23, 24, 25, 30, 31, 32])
const SECOND_VERSION = 30
const COMPRESSED = 'it is compressed (log_bin_compress, binlog_transaction_compression)'
const UNREADABLE: Readonly<Record<number, string>> = {
  ...{ 40: COMPRESSED, 165: COMPRESSED, 166: COMPRESSED, 167: COMPRESSED, 168: COMPRESSED, 169: COMPRESSED, 170: COMPRESSED },
  ...{ 171: COMPRESSED, 39: 'it has parts of JSON values only (binlog_row_value_options)' },
}

export interface BinlogReader {
  /** `endsAt`: the position in the file behind the event; 0 for events that are not in it. */
  read(bytes: Buffer): { readonly event: BinlogEvent; readonly endsAt: number }
}

/** `keyOf`: places of the key columns of a table; undefined: it is not captured. */
export function createBinlogReader(keyOf: (map: TableMap) => readonly number[] | undefined): BinlogReader {
  const maps = new Map<string, TableMap>()
  let hasChecksums = false

  function bodyOf(type: number, body: Buffer): BinlogEvent {
    if (type === 4) return { kind: 'rotate', position: Number(body.readBigUInt64LE(0)), file: body.toString('utf8', 8) }
    if (type === 16) return { kind: 'commit' }
    if (type === 2) return queryOf(body)
    if (type === 19) {
      maps.set(body.toString('hex', 0, 6), tableMapOf(body))
      return { kind: 'begin' }
    }
    if (UNREADABLE[type] !== undefined) return { kind: 'unreadable', why: UNREADABLE[type] }
    if (!ROWS.has(type)) return { kind: 'other' }
    const map = maps.get(body.toString('hex', 0, 6))
    if (!map) return { kind: 'unreadable', why: 'rows of an unknown table are in it' }
    const places = keyOf(map)
    return places ? { kind: 'rows', map, keys: () => keysOf(type, body, map, places) } : { kind: 'begin' }
  }

  return {
    read(bytes) {
      const [type, endsAt] = [bytes.readUInt8(4), bytes.readUInt32LE(13)]
      // The description of a log defines whether what follows ends with a checksum.
      if (type === DESCRIPTION) hasChecksums = bytes.at(-1 - CHECKSUM_BYTES) === 1
      const end = hasChecksums ? bytes.length - CHECKSUM_BYTES : bytes.length
      return { event: bodyOf(type, bytes.subarray(HEADER_BYTES, end)), endsAt }
    },
  }
}

function queryOf(body: Buffer): BinlogEvent {
  const schemaLength = body.readUInt8(8)
  const at = 13 + body.readUInt16LE(11)
  const sql = body.toString('utf8', at + schemaLength + 1).trim()
  if (/^(BEGIN|START TRANSACTION)$/i.test(sql)) return { kind: 'begin' }
  if (/^(COMMIT|ROLLBACK)$/i.test(sql)) return { kind: 'commit' }
  if (/^(SAVEPOINT|ROLLBACK TO|RELEASE SAVEPOINT)\b/i.test(sql)) return { kind: 'begin' }
  return { kind: 'query', schema: body.toString('utf8', at, at + schemaLength), sql }
}

/** A number of one to nine bytes. */
function lengthAt(bytes: Buffer, at: number): readonly [value: number, next: number] {
  const first = bytes.readUInt8(at)
  if (first < 0xfb) return [first, at + 1]
  if (first === 0xfc) return [bytes.readUInt16LE(at + 1), at + 3]
  if (first === 0xfd) return [bytes.readUIntLE(at + 1, 3), at + 4]
  return [Number(bytes.readBigUInt64LE(at + 1)), at + 9]
}

const META_BYTES: Readonly<Record<number, number>> = {
  ...{ 4: 1, 5: 1, 15: 2, 16: 2, 17: 1, 18: 1, 19: 1, 140: 1, 141: 2, 245: 1, 246: 2, 247: 2, 248: 2 },
  ...{ 249: 1, 250: 1, 251: 1, 252: 1, 253: 2, 254: 2, 255: 1 },
}

function tableMapOf(body: Buffer): TableMap {
  const schemaLength = body.readUInt8(8)
  const schema = body.toString('utf8', 9, 9 + schemaLength)
  const nameAt = 10 + schemaLength
  const nameLength = body.readUInt8(nameAt)
  const table = body.toString('utf8', nameAt + 1, nameAt + 1 + nameLength)
  const [count, typesAt] = lengthAt(body, nameAt + nameLength + 2)
  let [, at] = lengthAt(body, typesAt + count)
  const types = Array.from({ length: count }, (_, column): ColumnType => {
    const type = body.readUInt8(typesAt + column)
    const size = META_BYTES[type] ?? 0
    const bytes = body.subarray(at, at + size)
    at += size
    // The first byte of texts and decimal numbers is the more significant one.
    const isBigEndian = type === 254 || type === 246 || type === 247 || type === 248
    return {
      type,
      meta: size === 0 ? 0 : size === 1 ? bytes.readUInt8(0) : isBigEndian ? bytes.readUInt16BE(0) : bytes.readUInt16LE(0),
    }
  })
  return { schema, table, types }
}

const FIXED: Readonly<Record<number, number>> = {
  ...{ 0: 5, 1: 1, 2: 2, 3: 4, 4: 4, 5: 8, 6: 0, 7: 4, 8: 8, 9: 3, 10: 3, 11: 3, 12: 8, 13: 1, 14: 3 },
}
const DIGIT_BYTES = [0, 1, 1, 2, 2, 3, 3, 4, 4, 4]

/** Where a value begins behind its length, and where it ends. */
function extentOf({ type, meta }: ColumnType, bytes: Buffer, at: number): readonly [from: number, to: number] {
  const prefixed = (size: number): readonly [number, number] => {
    const length = size === 0 ? 0 : bytes.readUIntLE(at, size)
    return [at + size, at + size + length]
  }
  const fixed = FIXED[type]
  if (fixed !== undefined) return [at, at + fixed]
  switch (type) {
    case 17:
      return [at, at + 4 + Math.ceil(meta / 2)]
    case 18:
      return [at, at + 5 + Math.ceil(meta / 2)]
    case 19:
      return [at, at + 3 + Math.ceil(meta / 2)]
    case 16:
      return [at, at + Math.ceil(((meta & 0xff) + (meta >> 8) * 8) / 8)]
    case 246: {
      const [precision, scale] = [meta >> 8, meta & 0xff]
      const half = (digits: number) => Math.floor(digits / 9) * 4 + (DIGIT_BYTES[digits % 9] ?? 0)
      return [at, at + half(precision - scale) + half(scale)]
    }
    case 15:
    case 141:
    case 253:
      return prefixed(meta < 256 ? 1 : 2)
    case 254: {
      const [high, low] = [meta >> 8, meta & 0xff]
      const isLong = (high & 0x30) !== 0x30
      const real = isLong ? high | 0x30 : high
      if (real === 247 || real === 248) return [at, at + low]
      const length = isLong ? low | (((high & 0x30) ^ 0x30) << 4) : low
      return prefixed(length > 255 ? 2 : 1)
    }
    case 247:
    case 248:
      return [at, at + (meta & 0xff)]
    default:
      return prefixed(meta) // blobs, JSON, geometry
  }
}

const isSet = (bits: Buffer, at: number): boolean => ((bits[at >> 3] ?? 0) & (1 << (at & 7))) !== 0

/** Keys of all rows, of an update before and after it. */
function* keysOf(type: number, body: Buffer, { types }: TableMap, places: readonly number[]): Generator<readonly Buffer[]> {
  const start = type >= SECOND_VERSION ? 8 + body.readUInt16LE(8) : 8
  let [count, at] = lengthAt(body, start)
  const size = (count + 7) >> 3
  const present = [body.subarray(at, at + size)]
  at += size
  if (UPDATES.has(type)) {
    present.push(body.subarray(at, at + size))
    at += size
  }
  for (let image = 0; at < body.length; image++) {
    const bits = present[image % present.length]! // there is one at least
    const columns = Array.from({ length: count }, (_, column) => column).filter((column) => isSet(bits, column))
    const nulls = body.subarray(at, at + ((columns.length + 7) >> 3))
    at += nulls.length
    const found = new Map<number, Buffer>()
    for (const [index, column] of columns.entries()) {
      if (isSet(nulls, index)) continue
      const [from, to] = extentOf(types[column]!, body, at) // as many as columns
      if (places.includes(column)) found.set(column, body.subarray(from, to))
      at = to
    }
    const key = places.map((place) => found.get(place))
    // The image after an update has the columns that were changed only, if the server is set so: the key is then the one before.
    if (key.every((value) => value !== undefined)) yield key
    else if (image % present.length === 0) throw new Error('a row of the binary log has no key')
  }
}
