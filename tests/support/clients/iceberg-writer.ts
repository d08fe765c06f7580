// A small writer of Iceberg tables independent of Millrace: Parquet by DuckDB, manifests by avsc, bytes to S3 with the keys that the
// catalogue vended. Its manifests can be made wrong on purpose.

import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PutObjectCommand } from '@aws-sdk/client-s3'
import { DuckDBInstance } from '@duckdb/node-api'
import avro from 'avsc'
import { LONG, type Loaded, s3Of } from './iceberg-reader.ts'

export interface DataFile {
  readonly path: string
  readonly rows: number
  readonly bytes: number
  readonly status?: number
  readonly content?: number
  readonly format?: string
  readonly keyMetadata?: Buffer
}

export interface SnapshotOptions {
  readonly id?: bigint
  /** Manifests of the state before that stay. */
  readonly kept?: readonly object[]
  readonly partitionSpec?: number
  readonly partition?: boolean
  /** Types of the schemas as objects, as DuckDB writes them: `{"type": "long"}` for `"long"`. */
  readonly typesAsObjects?: boolean
}

const optional = (type: unknown, id: number) => ({ type: ['null', type], default: null, 'field-id': id })

const entrySchema = (partition: boolean) => ({
  type: 'record',
  name: 'manifest_entry',
  fields: [
    { name: 'status', type: 'int', 'field-id': 0 },
    { name: 'snapshot_id', ...optional('long', 1) },
    { name: 'sequence_number', ...optional('long', 3) },
    { name: 'file_sequence_number', ...optional('long', 4) },
    {
      name: 'data_file',
      'field-id': 2,
      type: {
        type: 'record',
        name: 'r2',
        fields: [
          { name: 'content', type: 'int', 'field-id': 134 },
          { name: 'file_path', type: 'string', 'field-id': 100 },
          { name: 'file_format', type: 'string', 'field-id': 101 },
          {
            name: 'partition',
            'field-id': 102,
            type: { type: 'record', name: 'r102', fields: partition ? [{ name: 'day', ...optional('int', 1000) }] : [] },
          },
          { name: 'record_count', type: 'long', 'field-id': 103 },
          { name: 'file_size_in_bytes', type: 'long', 'field-id': 104 },
          { name: 'key_metadata', ...optional('bytes', 131) },
        ],
      },
    },
  ],
})

const LIST = {
  type: 'record',
  name: 'manifest_file',
  fields: [
    ['manifest_path', 'string', 500],
    ['manifest_length', 'long', 501],
    ['partition_spec_id', 'int', 502],
    ['content', 'int', 517],
    ['sequence_number', 'long', 515],
    ['min_sequence_number', 'long', 516],
    ['added_snapshot_id', 'long', 503],
    ['added_files_count', 'int', 504],
    ['existing_files_count', 'int', 505],
    ['deleted_files_count', 'int', 506],
    ['added_rows_count', 'long', 512],
    ['existing_rows_count', 'long', 513],
    ['deleted_rows_count', 'long', 514],
  ].map(([name, type, id]) => ({ name, type, 'field-id': id })),
}

export function icebergWriter({ metadata, config }: Loaded) {
  const s3 = s3Of(config)
  const properties = metadata.properties ?? {}
  const dataPath = properties['write.data.path'] ?? `${metadata.location}/data`
  const metadataPath = properties['write.metadata.path'] ?? `${metadata.location}/metadata`

  async function put(path: string, bytes: Uint8Array): Promise<void> {
    const { hostname, pathname } = new URL(path)
    await s3.send(new PutObjectCommand({ Bucket: hostname, Key: pathname.slice(1), Body: bytes }))
  }

  /** The rows of a select as a data file; `ids` by default those of the current schema, by name. */
  async function dataFile(select: string, ids: Record<string, number> = fieldIds(), options = ''): Promise<DataFile> {
    const folder = await mkdtemp(join(tmpdir(), 'iceberg-writer-'))
    const db = await (await DuckDBInstance.create()).connect()
    try {
      const local = join(folder, 'data.parquet')
      const named = Object.entries(ids).map(([name, id]) => `"${name}": ${id}`)
      const copied = await db.runAndReadAll(
        `COPY (${select}) TO '${local}' (FORMAT parquet, FIELD_IDS {${named.join(', ')}}${options})`,
      )
      const bytes = await readFile(local)
      const path = `${dataPath}/${randomUUID()}.parquet`
      await put(path, bytes)
      return { path, rows: Number(copied.getRows()[0]?.[0]), bytes: bytes.length }
    } finally {
      db.closeSync()
      await rm(folder, { recursive: true })
    }
  }

  const fieldIds = () => {
    const schema = metadata.schemas.find((one) => one['schema-id'] === metadata['current-schema-id'])
    return Object.fromEntries((schema?.fields ?? []).map(({ name, id }) => [name, id]))
  }

  /** Puts a manifest with the files and a list with it and the manifests that stay; answers the update that adds the snapshot. */
  async function snapshot(files: readonly DataFile[], options: SnapshotOptions = {}) {
    const { id = randomId(), kept = [], partitionSpec = 0, partition = false, typesAsObjects = false } = options
    const manifest = `${metadataPath}/${randomUUID()}-m0.avro`
    const records = files.map((file) => ({
      status: file.status ?? 1,
      snapshot_id: id,
      sequence_number: null,
      file_sequence_number: null,
      data_file: {
        content: file.content ?? 0,
        file_path: file.path,
        file_format: file.format ?? 'PARQUET',
        partition: partition ? { day: 1 } : {},
        record_count: BigInt(file.rows),
        file_size_in_bytes: BigInt(file.bytes),
        key_metadata: file.keyMetadata ?? null,
      },
    }))
    const bytes = await encode(entrySchema(partition), records, typesAsObjects)
    await put(manifest, bytes)
    const listed = {
      manifest_path: manifest,
      manifest_length: BigInt(bytes.length),
      partition_spec_id: partitionSpec,
      content: files.some(({ content }) => content === 1) ? 1 : 0,
      sequence_number: 0n,
      min_sequence_number: 0n,
      added_snapshot_id: id,
      added_files_count: files.length,
      existing_files_count: 0,
      deleted_files_count: 0,
      added_rows_count: 0n,
      existing_rows_count: 0n,
      deleted_rows_count: 0n,
    }
    const list = `${metadataPath}/snap-${randomUUID()}.avro`
    await put(list, await encode(LIST, files.length > 0 ? [...kept, listed] : [...kept], typesAsObjects))
    return { id, list }
  }

  /** The body of a commit that adds the snapshot to the state that was loaded. */
  function commitOf({ id, list }: { readonly id: bigint; readonly list: string }, also: readonly object[] = []): string {
    const parent = metadata['current-snapshot-id']
    const body = {
      requirements: [
        { type: 'assert-table-uuid', uuid: metadata['table-uuid'] },
        { type: 'assert-ref-snapshot-id', ref: 'main', 'snapshot-id': parent ?? null },
      ],
      updates: [
        ...also,
        {
          action: 'add-snapshot',
          snapshot: {
            'snapshot-id': id,
            'parent-snapshot-id': parent,
            'sequence-number': metadata['last-sequence-number'] + 1,
            'timestamp-ms': Date.now(),
            'manifest-list': list,
            summary: { operation: 'append' },
          },
        },
        { action: 'set-snapshot-ref', 'ref-name': 'main', type: 'branch', 'snapshot-id': id },
      ],
    }
    return exact(body)
  }

  return { put, dataFile, snapshot, commitOf, dataPath, metadataPath, close: () => s3.destroy() }
}

/** As engines make them: 63 bits. */
export const randomId = (): bigint => BigInt(`0x${randomUUID().replaceAll('-', '').slice(0, 16)}`) >> 1n

/** JSON with BigInts digit by digit. */
export const exact = (value: unknown): string =>
  JSON.stringify(value, (_, inner) => (typeof inner === 'bigint' ? `#${inner}#` : inner)).replace(/"#(\d+)#"/g, '$1')

const withObjects = (schema: string): string => schema.replace(/"type":"(long|int|string|bytes)"/g, '"type":{"type":"$1"}')

async function encode(schema: object, records: readonly object[], typesAsObjects: boolean): Promise<Buffer> {
  const type = avro.Type.forSchema(schema as avro.Schema, { registry: { long: LONG } })
  const text = JSON.stringify(schema)
  const metadata = { 'avro.schema': Buffer.from(typesAsObjects ? withObjects(text) : text) }
  const options = { codec: 'deflate', writeHeader: true, metadata }
  const encoder = new avro.streams.BlockEncoder(type, options)
  const chunks: Buffer[] = []
  encoder.on('data', (chunk: Buffer) => chunks.push(chunk))
  for (const record of records) encoder.write(record)
  encoder.end()
  await once(encoder, 'end')
  return Buffer.concat(chunks)
}
