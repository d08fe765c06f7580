// Manifests that other programs wrote, as values. Nothing in them is believed: sizes are bounded, schemas that could make the decoder run for ever
// are refused, and what is missing or of another shape is a 400 with its reason.

import { Readable } from 'node:stream'
import { inflateRaw } from 'node:zlib'
import avro from 'avsc'
import { PlatformError } from '../../../kit/errors.ts'
import { LONG } from './avro-long.ts'

export interface ListedManifest {
  readonly path: string
  readonly content: 'data' | 'deletes'
  readonly partitionSpec: number
}

export interface ReadEntry {
  readonly status: 'existing' | 'added' | 'deleted'
  readonly content: 'data' | 'deletes'
  readonly path: string
  readonly format: string
  readonly rows: number
  readonly bytes: number
  readonly isPartitioned: boolean
  readonly isEncrypted: boolean
}

/** Unpacked; the manifest of ten thousand files has a few megabytes. */
const MAX_BLOCK_BYTES = 64 << 20
const MAX_RECORDS = 200_000

type Fields = Readonly<Record<string, unknown>>

export const readManifestList = async (bytes: Uint8Array, name: string): Promise<ListedManifest[]> =>
  (await decode(bytes, name)).map((record) => ({
    path: textOf(record, 'manifest_path', name),
    content: integerOf(record, 'content', name, 0) === 0 ? 'data' : 'deletes',
    partitionSpec: integerOf(record, 'partition_spec_id', name),
  }))

const STATUSES = ['existing', 'added', 'deleted'] as const

export const readManifest = async (bytes: Uint8Array, name: string): Promise<ReadEntry[]> =>
  (await decode(bytes, name)).map((record) => {
    const file = fieldsOf(record, 'data_file', name)
    const status = STATUSES[integerOf(record, 'status', name)]
    if (!status) throw unreadable(name, 'it has an entry whose status is none of 0, 1 and 2')
    return {
      status,
      content: integerOf(file, 'content', name, 0) === 0 ? 'data' : 'deletes',
      path: textOf(file, 'file_path', name),
      format: textOf(file, 'file_format', name),
      rows: integerOf(file, 'record_count', name),
      bytes: integerOf(file, 'file_size_in_bytes', name),
      isPartitioned: Object.keys(fieldsOf(file, 'partition', name)).length > 0,
      isEncrypted: file.key_metadata !== null && file.key_metadata !== undefined,
    }
  })

async function decode(bytes: Uint8Array, name: string): Promise<Fields[]> {
  const options = {
    codecs: {
      null: (data: Buffer, done: (error: Error | null, data?: Buffer) => void) => done(null, data),
      deflate: (data: Buffer, done: (error: Error | null, data?: Buffer) => void) =>
        inflateRaw(data, { maxOutputLength: MAX_BLOCK_BYTES }, done),
    },
    parseHook: (schema: avro.Schema) => {
      const type = avro.Type.forSchema(schema, { registry: { long: LONG } })
      checkBounded(type)
      return type
    },
  }
  // Typed for another form of codecs than it documents.
  const decoder = new avro.streams.BlockDecoder(options as ConstructorParameters<typeof avro.streams.BlockDecoder>[0])
  const records: Fields[] = []
  try {
    for await (const record of Readable.from([Buffer.from(bytes)]).pipe(decoder)) {
      if (records.length >= MAX_RECORDS) throw new Error(`it has more than ${MAX_RECORDS} entries`)
      records.push(record as Fields) // every member is checked where it is read
    }
  } catch (error) {
    throw unreadable(name, error instanceof Error ? error.message : String(error))
  }
  if (records.some((record) => typeof record !== 'object' || record === null))
    throw unreadable(name, 'its entries are not records')
  return records
}

/** Items of no length can be counted in billions without a byte: every item of a list must have at least one. */
function checkBounded(type: avro.Type, seen = new Set<avro.Type>()): void {
  if (seen.has(type)) return
  seen.add(type)
  const { itemsType, valuesType, fields, types } = type as Partial<
    avro.types.ArrayType & avro.types.MapType & avro.types.RecordType & avro.types.UnwrappedUnionType
  >
  if (itemsType && isEmpty(itemsType)) throw new Error('it has a list of values without a length')
  for (const part of [itemsType, valuesType, ...(fields ?? []).map((field) => field.type), ...(types ?? [])])
    if (part) checkBounded(part, seen)
  if (type instanceof avro.types.RecordType && isEmpty(type) && seen.size === 1) throw new Error('its entries have no members')
}

function isEmpty(type: avro.Type): boolean {
  if (type instanceof avro.types.NullType) return true
  if (type instanceof avro.types.FixedType) return type.size === 0
  return type instanceof avro.types.RecordType && type.fields.every((field) => isEmpty(field.type))
}

function integerOf(fields: Fields, member: string, name: string, fallback?: number): number {
  const value = fields[member] ?? fallback
  if (typeof value !== 'bigint' && typeof value !== 'number') throw unreadable(name, `it lacks the number ${member}`)
  if (!Number.isSafeInteger(Number(value)) || value < 0) throw unreadable(name, `${member} is ${value}, which cannot be`)
  return Number(value)
}

function textOf(fields: Fields, member: string, name: string): string {
  const value = fields[member]
  if (typeof value !== 'string') throw unreadable(name, `it lacks the text ${member}`)
  return value
}

function fieldsOf(fields: Fields, member: string, name: string): Fields {
  const value = fields[member]
  if (typeof value !== 'object' || value === null) throw unreadable(name, `it lacks the record ${member}`)
  return value as Fields // its members are checked where they are read
}

const unreadable = (name: string, reason: string): PlatformError =>
  new PlatformError('iceberg.commitRefused', { reason: `the file ${name} cannot be read: ${reason.slice(0, 200)}` })
