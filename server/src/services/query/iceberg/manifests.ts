// Manifests and manifest lists of Iceberg v2: which files a state has, in Avro. Values in, bytes out.

import { once } from 'node:events'
import avro from 'avsc'
import { LONG } from '../../../engines/table-engine/formats/avro-files.ts'

/** A file of a state as a manifest names it. */
export interface ManifestEntry {
  /** `s3://bucket/key`. */
  readonly path: string
  readonly rows: number
  readonly bytes: number
  /** The segment of a delete file; undefined for a segment. */
  readonly deletesOf?: string
  /** The state that had the file first. */
  readonly sequence: number
}

export interface ManifestHead {
  readonly content: 'data' | 'deletes'
  /** The schema as JSON text, and its number. */
  readonly schema: string
  readonly schemaId: number
  /** The state that the manifest is written for: entries of it are added, the others were there before. */
  readonly sequence: number
  readonly snapshotIdOf: SnapshotIdOf
}

/** The number of a state as readers see it, in digits: its own, or the one that the program gave that committed it. */
export type SnapshotIdOf = (state: number) => string

/** A manifest as the list of a state names it. */
export interface ManifestFile {
  readonly path: string
  readonly bytes: number
  readonly content: ManifestHead['content']
  readonly sequence: number
  readonly minSequence: number
  readonly addedFiles: number
  readonly addedRows: number
  readonly existingFiles: number
  readonly existingRows: number
}

export interface ListHead {
  readonly sequence: number
  readonly parent: number | undefined
  readonly snapshotIdOf: SnapshotIdOf
}

const optional = (type: avro.Schema, id: number) => ({ type: ['null', type] as avro.Schema, default: null, 'field-id': id })

/** Maps have keys that are no texts, which Avro writes as a list of pairs. */
const boundsType = (name: string, keyId: number, valueId: number): avro.Schema =>
  ({
    type: 'array',
    logicalType: 'map',
    items: {
      type: 'record',
      name,
      fields: [
        { name: 'key', type: 'int', 'field-id': keyId },
        { name: 'value', type: 'bytes', 'field-id': valueId },
      ],
    },
  }) as unknown as avro.Schema // avsc supports the attribute logicalType on arrays, its types lack it

const DATA_FILE = {
  type: 'record',
  name: 'r2',
  fields: [
    { name: 'content', type: 'int', 'field-id': 134 },
    { name: 'file_path', type: 'string', 'field-id': 100 },
    { name: 'file_format', type: 'string', 'field-id': 101 },
    { name: 'partition', type: { type: 'record', name: 'r102', fields: [] }, 'field-id': 102 },
    { name: 'record_count', type: 'long', 'field-id': 103 },
    { name: 'file_size_in_bytes', type: 'long', 'field-id': 104 },
    { name: 'lower_bounds', ...optional(boundsType('k126_v127', 126, 127), 125) },
    { name: 'upper_bounds', ...optional(boundsType('k129_v130', 129, 130), 128) },
    { name: 'referenced_data_file', ...optional('string', 143) },
  ],
}

const ENTRY = {
  type: 'record',
  name: 'manifest_entry',
  fields: [
    { name: 'status', type: 'int', 'field-id': 0 },
    { name: 'snapshot_id', ...optional('long', 1) },
    { name: 'sequence_number', ...optional('long', 3) },
    { name: 'file_sequence_number', ...optional('long', 4) },
    { name: 'data_file', type: DATA_FILE, 'field-id': 2 },
  ],
}

const LIST = {
  type: 'record',
  name: 'manifest_file',
  fields: [
    { name: 'manifest_path', type: 'string', 'field-id': 500 },
    { name: 'manifest_length', type: 'long', 'field-id': 501 },
    { name: 'partition_spec_id', type: 'int', 'field-id': 502 },
    { name: 'content', type: 'int', 'field-id': 517 },
    { name: 'sequence_number', type: 'long', 'field-id': 515 },
    { name: 'min_sequence_number', type: 'long', 'field-id': 516 },
    { name: 'added_snapshot_id', type: 'long', 'field-id': 503 },
    { name: 'added_files_count', type: 'int', 'field-id': 504 },
    { name: 'existing_files_count', type: 'int', 'field-id': 505 },
    { name: 'deleted_files_count', type: 'int', 'field-id': 506 },
    { name: 'added_rows_count', type: 'long', 'field-id': 512 },
    { name: 'existing_rows_count', type: 'long', 'field-id': 513 },
    { name: 'deleted_rows_count', type: 'long', 'field-id': 514 },
  ],
}

const EXISTING = 0
const ADDED = 1
const DATA = 0
const POSITION_DELETES = 1
/** The field `file_path` of delete files: its bounds name the segment of a delete file. */
const FILE_PATH_FIELD = 2147483546

export function writeManifest(entries: readonly ManifestEntry[], head: ManifestHead): Promise<Buffer> {
  const metadata = {
    schema: head.schema,
    'schema-id': String(head.schemaId),
    'partition-spec': '[]',
    'partition-spec-id': '0',
    'format-version': '2',
    content: head.content,
  }
  return encode(
    ENTRY,
    metadata,
    entries.map((entry) => entryRecord(entry, head)),
  )
}

function entryRecord({ path, rows, bytes, deletesOf, sequence }: ManifestEntry, head: ManifestHead) {
  const bounds = deletesOf === undefined ? null : [{ key: FILE_PATH_FIELD, value: Buffer.from(deletesOf) }]
  return {
    status: sequence === head.sequence ? ADDED : EXISTING,
    snapshot_id: { long: BigInt(head.snapshotIdOf(sequence)) },
    sequence_number: { long: BigInt(sequence) },
    file_sequence_number: { long: BigInt(sequence) },
    data_file: {
      content: deletesOf === undefined ? DATA : POSITION_DELETES,
      file_path: path,
      file_format: 'PARQUET',
      partition: {},
      record_count: BigInt(rows),
      file_size_in_bytes: BigInt(bytes),
      lower_bounds: bounds && { array: bounds },
      upper_bounds: bounds && { array: bounds },
      referenced_data_file: deletesOf === undefined ? null : { string: deletesOf },
    },
  }
}

export function writeManifestList(manifests: readonly ManifestFile[], head: ListHead): Promise<Buffer> {
  const { sequence, parent, snapshotIdOf } = head
  const metadata = {
    'snapshot-id': snapshotIdOf(sequence),
    'parent-snapshot-id': parent === undefined ? 'null' : snapshotIdOf(parent),
    'sequence-number': String(sequence),
    'format-version': '2',
  }
  const records = manifests.map((manifest) => ({
    manifest_path: manifest.path,
    manifest_length: BigInt(manifest.bytes),
    partition_spec_id: 0,
    content: manifest.content === 'data' ? DATA : POSITION_DELETES,
    sequence_number: BigInt(manifest.sequence),
    min_sequence_number: BigInt(manifest.minSequence),
    added_snapshot_id: BigInt(snapshotIdOf(manifest.sequence)),
    added_files_count: manifest.addedFiles,
    existing_files_count: manifest.existingFiles,
    deleted_files_count: 0,
    added_rows_count: BigInt(manifest.addedRows),
    existing_rows_count: BigInt(manifest.existingRows),
    deleted_rows_count: 0n,
  }))
  return encode(LIST, metadata, records)
}

async function encode(schema: object, metadata: Readonly<Record<string, string>>, records: readonly object[]): Promise<Buffer> {
  const type = avro.Type.forSchema(schema as avro.Schema, { wrapUnions: true, registry: { long: LONG } })
  const header = Object.fromEntries(Object.entries(metadata).map(([name, value]) => [name, Buffer.from(value)]))
  // This text, with the field ids: the schema that avsc would write itself lacks them.
  header['avro.schema'] = Buffer.from(JSON.stringify(schema))
  const options = { codec: 'deflate', writeHeader: true, metadata: header } // avsc reads metadata, its types do not name it
  const encoder = new avro.streams.BlockEncoder(type, options)
  const chunks: Buffer[] = []
  encoder.on('data', (chunk: Buffer) => chunks.push(chunk))
  for (const record of records) encoder.write(record)
  encoder.end()
  await once(encoder, 'end')
  return Buffer.concat(chunks)
}
