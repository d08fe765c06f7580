// Rows of Avro files. Whole numbers, decimal numbers and times keep all their digits.

import { inflateRawSync, zstdDecompressSync } from 'node:zlib'
import avro from 'avsc'
import { snappyUncompress } from 'hyparquet'
import { decimalText, microsText } from './exact-text.ts'
import type { Values } from './parquet.ts'

/** As the format has them: 64 bits do not fit into a number of JavaScript. */
const long = avro.types.LongType.__with({
  fromBuffer: (bytes: Buffer) => bytes.readBigInt64LE(),
  toBuffer: (value: bigint) => {
    const bytes = Buffer.alloc(8)
    bytes.writeBigInt64LE(value)
    return bytes
  },
  fromJSON: BigInt,
  toJSON: String,
  isValid: (value: unknown) => typeof value === 'bigint',
  compare: (a: bigint, b: bigint) => (a < b ? -1 : a > b ? 1 : 0),
})

const wholeOf = (bytes: Buffer): bigint =>
  bytes.length === 0 ? 0n : BigInt.asIntN(bytes.length * 8, BigInt(`0x${bytes.toString('hex')}`))

/** A type that is read as a text. */
function textType(textOf: (value: never, attributes: { readonly scale?: number }) => string) {
  return class extends avro.types.LogicalType {
    readonly attributes: { readonly scale?: number }
    constructor(attributes: object, options?: object) {
      super(attributes as never, options as never)
      this.attributes = attributes
    }
    override _fromValue(value: unknown): string {
      return textOf(value as never, this.attributes)
    }
  }
}

const logicalTypes = {
  decimal: textType((bytes: Buffer, { scale = 0 }) => decimalText(wholeOf(bytes), scale)),
  date: textType((days: number) => microsText(BigInt(days) * 86_400_000_000n).slice(0, -9)),
  'timestamp-millis': textType((value: number) => microsText(BigInt(value) * 1000n)),
  'timestamp-micros': textType((value: number) => microsText(BigInt(value))),
  'local-timestamp-millis': textType((value: number) => microsText(BigInt(value) * 1000n)),
  'local-timestamp-micros': textType((value: number) => microsText(BigInt(value))),
}

type Unpacked = (error: Error | null, bytes?: Buffer) => void

const codecs = {
  null: (bytes: Buffer, done: Unpacked) => done(null, bytes),
  deflate: (bytes: Buffer, done: Unpacked) => done(null, inflateRawSync(bytes)),
  zstandard: (bytes: Buffer, done: Unpacked) => done(null, zstdDecompressSync(bytes)),
  /** A checksum of four bytes follows. */
  snappy: (bytes: Buffer, done: Unpacked) => {
    const packed = bytes.subarray(0, -4)
    let [length, shift, at] = [0, 0, 0]
    for (let byte = 0x80; byte & 0x80; shift += 7) {
      byte = packed[at++] ?? 0
      length += (byte & 0x7f) * 2 ** shift
    }
    const plain = new Uint8Array(length)
    snappyUncompress(packed, plain)
    done(null, Buffer.from(plain))
  },
}

/** Also where it is written as an object. */
function longOf(schema: unknown): avro.Type | undefined {
  const { type, logicalType } = (typeof schema === 'object' && schema !== null ? schema : { type: schema }) as Record<
    string,
    unknown
  >
  return type === 'long' && logicalType === undefined ? long : undefined
}

export async function* avroRows(path: string): AsyncGenerator<Values> {
  const options = {
    codecs,
    parseHook: (schema: avro.Schema) =>
      avro.Type.forSchema(schema, { typeHook: longOf, logicalTypes, wrapUnions: false } as never),
  }
  for await (const value of avro.createFileDecoder(path, options as never) as AsyncIterable<unknown>)
    yield typeof value === 'object' && value !== null ? (value as Values) : { value }
}
