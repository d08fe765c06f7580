// The metadata of a table as Iceberg writes it (format version 2): schema, snapshots, where the files are. Values in, JSON out.

import { createHash } from 'node:crypto'
import type { BaseType, Column } from '../../../engines/table-engine/snapshot.ts'
import { numericLength } from '../../../engines/table-engine/sql.ts'
import { exactInteger } from '../../../kit/text/exact-json.ts'

export interface IcebergSchema {
  readonly type: 'struct'
  readonly 'schema-id': number
  readonly fields: readonly { readonly id: number; readonly name: string; readonly required: boolean; readonly type: string }[]
}

/** All values are texts, as Iceberg requires. */
export type SnapshotSummary = Readonly<Record<string, string>>

export interface MetadataSnapshot {
  /** Digits. */
  readonly id: string
  readonly sequence: number
  readonly createdAtMs: number
  readonly manifestList: string
  readonly schemaId: number
  readonly summary: SnapshotSummary
}

export interface MetadataInput {
  readonly uuid: string
  readonly location: string
  readonly lastColumnId: number
  readonly schemas: readonly IcebergSchema[]
  /** The oldest first; the last one is the current state. */
  readonly snapshots: readonly MetadataSnapshot[]
  readonly properties: Readonly<Record<string, string>>
}

/** Columns are optional in the files, and stay so here. The hidden load time is in the files only: engines would require it on every insert. */
export const schemaFields = (columns: readonly Column[]): IcebergSchema['fields'] =>
  columns.map((column) => ({ id: column.fieldId, name: column.name, required: false, type: icebergType(column) }))

const TYPES: Readonly<Record<Exclude<BaseType, 'NUMERIC'>, string>> = {
  STRING: 'string',
  INTEGER: 'long',
  FLOAT: 'double',
  BOOLEAN: 'boolean',
  DATE: 'date',
  TIMESTAMP: 'timestamp',
}

export const icebergType = (column: Column): string =>
  column.type === 'NUMERIC' ? `decimal(${numericLength(column.length).replace(',', ', ')})` : TYPES[column.type]

/** The write mode for other engines: copy-on-write, because the table accepts no delete files. */
const WRITING = {
  'write.parquet.compression-codec': 'zstd',
  'write.delete.mode': 'copy-on-write',
  'write.update.mode': 'copy-on-write',
  'write.merge.mode': 'copy-on-write',
}

export function tableMetadata({ uuid, location, lastColumnId, schemas, snapshots, properties }: MetadataInput) {
  const times = rising(snapshots.map(({ createdAtMs }) => createdAtMs))
  const ids = snapshots.map(({ id }) => exactInteger(id))
  const listed = snapshots.map((snapshot, i) => ({
    'snapshot-id': ids[i],
    ...(i > 0 && { 'parent-snapshot-id': ids[i - 1] }),
    'sequence-number': snapshot.sequence,
    'timestamp-ms': times[i] ?? 0,
    'manifest-list': snapshot.manifestList,
    'schema-id': snapshot.schemaId,
    summary: snapshot.summary,
  }))
  const current = listed.at(-1)
  return {
    'format-version': 2,
    'table-uuid': uuid,
    location,
    'last-sequence-number': current?.['sequence-number'] ?? 0,
    'last-updated-ms': current?.['timestamp-ms'] ?? 0,
    'last-column-id': lastColumnId,
    'current-schema-id': current?.['schema-id'] ?? 0,
    schemas,
    'default-spec-id': 0,
    'partition-specs': [{ 'spec-id': 0, fields: [] }],
    'last-partition-id': 999,
    'default-sort-order-id': 0,
    'sort-orders': [{ 'order-id': 0, fields: [] }],
    properties: { ...WRITING, ...properties },
    ...(current && {
      'current-snapshot-id': current['snapshot-id'],
      refs: { main: { 'snapshot-id': current['snapshot-id'], type: 'branch' } },
    }),
    snapshots: listed,
    'snapshot-log': listed.map((one) => ({ 'snapshot-id': one['snapshot-id'], 'timestamp-ms': one['timestamp-ms'] })),
    'metadata-log': [],
  }
}

/** Clocks of several nodes differ; readers refuse a log whose times go back. */
function rising(times: readonly number[]): number[] {
  let latest = 0
  return times.map((time) => {
    latest = Math.max(latest, time)
    return latest
  })
}

/** The same for the same table, for every caller and at any time; an alias has its own. */
export function tableUuid(bucket: string, projectId: number, tableKey: number): string {
  const hash = createHash('sha256').update(`millrace table ${bucket}/${projectId}/${tableKey}`).digest()
  hash[6] = ((hash[6] ?? 0) & 0x0f) | 0x80
  hash[8] = ((hash[8] ?? 0) & 0x3f) | 0x80
  const hex = hash.toString('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join('-')
}
