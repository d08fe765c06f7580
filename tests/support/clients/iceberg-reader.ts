// A small reader of Iceberg tables independent of Millrace: metadata from the catalogue, manifests by avsc, bytes from S3 with the
// keys that the catalogue vended, rows by the rules of the format (fields by id, dead positions by the whole path, absent columns null).

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { GetObjectCommand, S3Client } from '@aws-sdk/client-s3'
import { DuckDBInstance } from '@duckdb/node-api'
import avro from 'avsc'

/** Integers of Avro as numbers while these are exact, else as BigInt: ids of other engines have 63 bits. */
export const LONG = avro.types.LongType.__with({
  fromBuffer: (bytes: Buffer) => {
    const value = bytes.readBigInt64LE()
    return Number.isSafeInteger(Number(value)) ? Number(value) : value
  },
  toBuffer: (value: bigint | number) => {
    const bytes = Buffer.alloc(8)
    bytes.writeBigInt64LE(BigInt(value))
    return bytes
  },
  fromJSON: BigInt,
  toJSON: Number,
  isValid: (value: unknown) => typeof value === 'bigint' || Number.isSafeInteger(value),
  compare: (a: bigint, b: bigint) => (a === b ? 0 : a < b ? -1 : 1),
})

export interface Loaded {
  readonly 'metadata-location': string
  readonly metadata: IcebergMetadata
  readonly config: Readonly<Record<string, string>>
  readonly 'storage-credentials': readonly { readonly prefix: string }[]
}

export interface IcebergMetadata {
  readonly 'table-uuid': string
  readonly location: string
  readonly properties?: Readonly<Record<string, string>>
  readonly 'current-snapshot-id': number | bigint
  readonly 'current-schema-id': number
  readonly 'last-sequence-number': number
  readonly 'last-updated-ms': number
  readonly schemas: readonly { readonly 'schema-id': number; readonly fields: readonly Field[] }[]
  readonly snapshots: readonly {
    readonly 'snapshot-id': number | bigint
    readonly 'sequence-number': number
    readonly 'manifest-list': string
    readonly 'schema-id': number
  }[]
}

interface Field {
  readonly id: number
  readonly name: string
  readonly type: string
}

export interface ManifestListEntry {
  readonly manifest_path: string
  readonly manifest_length: number
  readonly content: number
  readonly added_files_count: number
  readonly existing_files_count: number
}

export interface ReadEntry {
  readonly status: number
  readonly sequence_number: number
  readonly data_file: {
    readonly content: number
    readonly file_path: string
    readonly record_count: number
    readonly referenced_data_file: string | null
  }
}

export const s3Of = (config: Loaded['config']): S3Client =>
  new S3Client({
    endpoint: config['s3.endpoint']!,
    region: config['client.region']!,
    forcePathStyle: true,
    maxAttempts: 1,
    credentials: {
      accessKeyId: config['s3.access-key-id']!,
      secretAccessKey: config['s3.secret-access-key']!,
      sessionToken: config['s3.session-token']!,
    },
  })

export function icebergReader({ metadata, config }: Loaded) {
  const s3 = s3Of(config)

  async function bytes(uri: string): Promise<Uint8Array> {
    const { hostname, pathname } = new URL(uri)
    const { Body } = await s3.send(new GetObjectCommand({ Bucket: hostname, Key: decodeURIComponent(pathname.slice(1)) }))
    return Body!.transformToByteArray()
  }

  const snapshotOf = (id = metadata['current-snapshot-id']) => metadata.snapshots.find((one) => one['snapshot-id'] === id)!

  const manifests = async (id?: number | bigint): Promise<ManifestListEntry[]> =>
    decode<ManifestListEntry>(await bytes(snapshotOf(id)['manifest-list']))

  const entries = async (id?: number | bigint): Promise<ReadEntry[]> => {
    const all = await Promise.all((await manifests(id)).map(async (one) => decode<ReadEntry>(await bytes(one.manifest_path))))
    return all.flat().filter(({ status }) => status !== 2)
  }

  /** Rows as texts, in no order. */
  async function rows(id?: number | bigint): Promise<(string | null)[][]> {
    const schema = metadata.schemas.find((one) => one['schema-id'] === snapshotOf(id)['schema-id'])!
    const folder = await mkdtemp(join(tmpdir(), 'iceberg-reader-'))
    const db = await (await DuckDBInstance.create()).connect()
    try {
      const files = await entries(id)
      const local = async (path: string, name: string) => {
        await writeFile(join(folder, name), await bytes(path))
        return join(folder, name)
      }
      await db.run('CREATE TABLE dead (file_path VARCHAR, pos BIGINT)')
      for (const [i, { data_file: file }] of files.filter((one) => one.data_file.content === 1).entries())
        await db.run(`INSERT INTO dead SELECT file_path, pos FROM read_parquet('${await local(file.file_path, `d${i}`)}')`)
      const found: (string | null)[][] = []
      for (const [i, { data_file: file }] of files.filter((one) => one.data_file.content === 0).entries()) {
        const path = await local(file.file_path, `f${i}`)
        const fields = schema.fields.map((f) => `${f.id}: {name: 'f${f.id}', type: 'VARCHAR', default_value: NULL}`)
        const names = schema.fields.map((f) => `f${f.id}`).join(', ')
        const live = `SELECT ${names} FROM read_parquet('${path}', schema = MAP {${fields.join(', ')}}) s
          WHERE NOT EXISTS (FROM dead d WHERE d.file_path = '${file.file_path}' AND d.pos = s.file_row_number)`
        found.push(...((await db.runAndReadAll(live)).getRows() as (string | null)[][])) // every column is read as text
      }
      return found.sort((a, b) => (a.join() < b.join() ? -1 : 1))
    } finally {
      db.closeSync()
      await rm(folder, { recursive: true })
    }
  }

  return { bytes, manifests, entries, rows, close: () => s3.destroy() }
}

async function decode<T>(bytes: Uint8Array): Promise<T[]> {
  const records: T[] = []
  const options = { parseHook: (schema: avro.Schema) => avro.Type.forSchema(schema, { registry: { long: LONG } }) }
  const decoder = Readable.from([Buffer.from(bytes)]).pipe(new avro.streams.BlockDecoder(options))
  for await (const record of decoder) records.push(record as T)
  return records
}
