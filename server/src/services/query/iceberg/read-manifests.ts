// Manifests that other programs wrote, as values. Nothing in them is believed: sizes are bounded, schemas that could make the decoder run for ever
// are refused, and what is missing or of another shape is a 400 with its reason.

import { Readable } from 'node:stream'
import { avroRecords } from '../../../engines/table-engine/formats/avro-files.ts'
import { PlatformError } from '../../../kit/errors.ts'

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
  const records: Fields[] = []
  try {
    for await (const record of avroRecords(Readable.from([Buffer.from(bytes)]))) {
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
