// Avro files of other programs. Nothing in them is believed: blocks have a size, and schemas that could make the decoder run for ever are
// refused.

import type { Readable } from 'node:stream'
import { inflateRaw, zstdDecompress } from 'node:zlib'
import avro from 'avsc'
import { unpackSnappy } from './snappy.ts'

/** Unpacked. */
const MAX_BLOCK_BYTES = 64 << 20

/** 64-bit integers as BigInt: ids that Spark makes have 63 bits, and avsc refuses what a number would round. */
export const LONG = avro.types.LongType.__with({
  fromBuffer: (bytes: Buffer) => bytes.readBigInt64LE(),
  toBuffer: (value: bigint) => {
    const bytes = Buffer.alloc(8)
    bytes.writeBigInt64LE(value)
    return bytes
  },
  fromJSON: BigInt,
  toJSON: Number,
  isValid: (value: unknown) => typeof value === 'bigint',
  compare: (a: bigint, b: bigint) => (a === b ? 0 : a < b ? -1 : 1),
})

type Done = (error: Error | null, data?: Buffer) => void
type LogicalTypes = Readonly<Record<string, new (schema: avro.Schema, opts?: unknown) => avro.types.LogicalType>>

const CODECS = {
  null: (data: Buffer, done: Done) => done(null, data),
  deflate: (data: Buffer, done: Done) => inflateRaw(data, { maxOutputLength: MAX_BLOCK_BYTES }, done),
  zstandard: (data: Buffer, done: Done) => zstdDecompress(data, { maxOutputLength: MAX_BLOCK_BYTES }, done),
  // Behind the block are four bytes of a checksum.
  snappy: (data: Buffer, done: Done) => {
    try {
      done(null, unpackSnappy(data.subarray(0, -4), MAX_BLOCK_BYTES))
    } catch (error) {
      done(error as Error) // thrown above
    }
  },
}

/** DuckDB writes `{"type": "long"}` for `"long"`, which the registry does not see. */
const longAsObject = (schema: avro.Schema): avro.Type | undefined =>
  typeof schema === 'object' && 'type' in schema && schema.type === 'long' && !('logicalType' in schema) ? LONG : undefined

/** Records of an Avro file; `onType` gets their type before the first one. */
export async function* avroRecords(
  bytes: Readable,
  logicalTypes: LogicalTypes = {},
  onType: (type: avro.Type) => void = () => {},
): AsyncGenerator<unknown> {
  const options = {
    codecs: CODECS,
    parseHook: (schema: avro.Schema) => {
      const type = avro.Type.forSchema(schema, { registry: { long: LONG }, typeHook: longAsObject, logicalTypes })
      checkBounded(type)
      onType(type)
      return type
    },
  }
  // Typed for another form of codecs than it documents.
  const decoder = new avro.streams.BlockDecoder(options as ConstructorParameters<typeof avro.streams.BlockDecoder>[0])
  bytes.once('error', (error) => decoder.destroy(error))
  yield* bytes.pipe(decoder)
}

/** Items of no length can be counted in billions without a byte: every item of a list must have at least one. */
function checkBounded(type: avro.Type, seen = new Set<avro.Type>()): void {
  if (seen.has(type)) return
  seen.add(type)
  const { itemsType, valuesType, fields, types, underlyingType } = type as Partial<
    avro.types.ArrayType &
      avro.types.MapType &
      avro.types.RecordType &
      avro.types.UnwrappedUnionType & { readonly underlyingType: avro.Type }
  >
  if (itemsType && isEmpty(itemsType)) throw new Error('it has a list of values without a length')
  for (const part of [itemsType, valuesType, underlyingType, ...(fields ?? []).map((field) => field.type), ...(types ?? [])])
    if (part) checkBounded(part, seen)
  if (type instanceof avro.types.RecordType && isEmpty(type) && seen.size === 1) throw new Error('its entries have no members')
}

function isEmpty(type: avro.Type): boolean {
  if (type instanceof avro.types.NullType) return true
  if (type instanceof avro.types.FixedType) return type.size === 0
  return type instanceof avro.types.RecordType && type.fields.every((field) => isEmpty(field.type))
}
