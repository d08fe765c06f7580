// A table at one moment, as a plain JSON value. The engine never stores one: the tables module keeps the current value (and the older
// ones kept for time travel) in the metadata store. Five things stay true of every snapshot the engine returns:
//  (1) segments and delete files never change once written; a change of the table is a new snapshot naming new files;
//  (2) a segment has at most one delete file, which lists each dead position once, so live rows = rows - deletes.rows;
//  (3) a column is identified by its field id, never by its name or place: ids are not reused, so a column dropped and added again is new;
//  (4) a segment that lacks a column of the table (it was loaded before the column existed) has that column empty;
//  (5) the order of segments, then of rows in them, is the order in which rows were loaded.
// Hence a clone, a snapshot of the product and time travel are copies of this value, and dropping a table is forgetting it.

import { defined } from '../../kit/defined.ts'
import { PlatformError } from '../../kit/errors.ts'

/** The base types of typed tables. In an untyped table every column is STRING and holds no nulls. */
export const BASE_TYPES = ['STRING', 'INTEGER', 'NUMERIC', 'FLOAT', 'BOOLEAN', 'DATE', 'TIMESTAMP'] as const
export type BaseType = (typeof BASE_TYPES)[number]

/** The hidden column every row carries: when it was loaded. Reserved, so no column of a table may have this name. */
export const LOAD_TIME_COLUMN = '_timestamp'
/** Its field id in every segment; the columns of a table start behind it. */
export const LOAD_TIME_FIELD_ID = 1

export interface Column {
  readonly fieldId: number
  readonly name: string
  readonly type: BaseType
  /** NUMERIC: `precision,scale`, for example `18,4`. STRING: how many characters a value may have. */
  readonly length?: string
  /** Typed tables only: whether a value may be absent. */
  readonly nullable: boolean
  /** Typed tables only: used where a loaded file lacks the column, and in rows older than the column. */
  readonly default?: string
  /** Renamed by an earlier version: files may have it under another name that is not known, and another column under this one. */
  readonly isRenamed?: true
}

/** One Parquet file of positions in the Iceberg v2 shape (`file_path`, `pos`): rows of a segment that are no longer part of the table. */
export interface DeleteFile {
  readonly key: string
  readonly rows: number
  readonly bytes: number
  /**
   * The prefix of the key of the segment in `file_path`, for example `s3://millrace/`. Other engines compare the whole text. Absent in files of
   * earlier versions, which name the bare key: only this engine reads them right, because it looks at `pos` alone.
   */
  readonly uriPrefix?: string
}

/** One immutable Parquet file with field ids. */
export interface Segment {
  readonly key: string
  readonly rows: number
  readonly bytes: number
  /** The columns this file has, the hidden load time left out. */
  readonly fieldIds: readonly number[]
  /** By field id: names in this file of columns that were renamed since. */
  readonly formerNames?: Readonly<Record<number, string>>
  /** Epoch milliseconds; the earliest and latest load time of its rows, so that changedSince can pass over whole files. */
  readonly minLoadedAt: number
  readonly maxLoadedAt: number
  readonly deletes: DeleteFile | null
  /** Of a file that another engine wrote: when it was committed. Such files lack the hidden column, and may spell the names of columns in their own way. */
  readonly loadedAt?: number
}

export interface TableSnapshot {
  readonly typed: boolean
  readonly columns: readonly Column[]
  /** Field ids, in the order of the key. Empty: no primary key. */
  readonly primaryKey: readonly number[]
  readonly nextFieldId: number
  readonly segments: readonly Segment[]
}

export interface NewColumn {
  readonly name: string
  /** STRING when left out. */
  readonly type?: BaseType
  readonly length?: string
  readonly nullable?: boolean
  readonly default?: string
}

/** A table without rows. `emptySnapshot([{ name: 'id' }, { name: 'name' }], { primaryKey: ['id'] })` */
export function emptySnapshot(
  columns: readonly NewColumn[],
  options: { readonly primaryKey?: readonly string[]; readonly typed?: boolean } = {},
): TableSnapshot {
  const bare: TableSnapshot = {
    typed: options.typed ?? false,
    columns: [],
    primaryKey: [],
    nextFieldId: LOAD_TIME_FIELD_ID + 1,
    segments: [],
  }
  const withColumns = addColumns(bare, columns)
  return options.primaryKey?.length ? setPrimaryKey(withColumns, options.primaryKey) : withColumns
}

/** Metadata only: existing rows have the new columns empty (typed tables: their default, else null). */
export function addColumns(snapshot: TableSnapshot, columns: readonly NewColumn[]): TableSnapshot {
  const taken = new Set([...snapshot.columns, { name: LOAD_TIME_COLUMN }].map(({ name }) => name.toLowerCase()))
  const added = columns.map((column, at): Column => {
    const key = column.name.toLowerCase() // two names that differ only in case are equal for SQL engines
    if (taken.has(key)) throw new PlatformError('storage.tables.columnAlreadyExists', { column: column.name })
    taken.add(key)
    return {
      fieldId: snapshot.nextFieldId + at,
      name: column.name,
      type: snapshot.typed ? (column.type ?? 'STRING') : 'STRING',
      nullable: snapshot.typed && (column.nullable ?? true),
      ...defined({ length: column.length, default: column.default }),
    }
  })
  return { ...snapshot, columns: [...snapshot.columns, ...added], nextFieldId: snapshot.nextFieldId + added.length }
}

export const addColumn = (snapshot: TableSnapshot, column: NewColumn): TableSnapshot => addColumns(snapshot, [column])

/**
 * The shape of the table with another type of one column, under a new field id: files and older states keep the old one. The engine's `rewriteAs`
 * fills it. An untyped table becomes a typed one whose other columns hold text as before, the empty text included.
 */
export function retypeColumn(snapshot: TableSnapshot, name: string, to: Pick<Column, 'type' | 'length'>): TableSnapshot {
  const { length: _, ...column } = columnNamed(snapshot, name)
  const isKey = snapshot.primaryKey.includes(column.fieldId)
  const fieldId = snapshot.nextFieldId
  const nullable = snapshot.typed ? column.nullable : !isKey
  const changed: Column = { ...column, fieldId, type: to.type, nullable, ...defined({ length: to.length }) }
  return {
    ...snapshot,
    typed: true,
    columns: snapshot.columns.map((one) => (one.fieldId === column.fieldId ? changed : one)),
    primaryKey: snapshot.primaryKey.map((id) => (id === column.fieldId ? fieldId : id)),
    nextFieldId: fieldId + 1,
  }
}

/** Metadata only: files identify a column by its field id. */
export function renameColumn(snapshot: TableSnapshot, name: string, to: string): TableSnapshot {
  const column = columnNamed(snapshot, name)
  const { fieldId } = column
  const isTaken = snapshot.columns.some((c) => c.fieldId !== fieldId && c.name.toLowerCase() === to.toLowerCase())
  if (isTaken) throw new PlatformError('storage.tables.columnAlreadyExists', { column: to })
  const named = (segment: Segment): Segment =>
    segment.fieldIds.includes(fieldId) ? { ...segment, formerNames: { [fieldId]: column.name, ...segment.formerNames } } : segment
  return {
    ...snapshot,
    columns: snapshot.columns.map((c) => (c.fieldId === fieldId ? { ...c, name: to } : c)),
    segments: snapshot.segments.map(named),
  }
}

/** Metadata only: the bytes go when compaction next rewrites their segment. The caller refuses key columns and aliased ones first. */
export function dropColumn(snapshot: TableSnapshot, name: string): TableSnapshot {
  const { fieldId } = columnNamed(snapshot, name)
  return {
    ...snapshot,
    columns: snapshot.columns.filter((c) => c.fieldId !== fieldId),
    primaryKey: snapshot.primaryKey.filter((id) => id !== fieldId),
  }
}

/** Metadata only. Call the engine's `findDuplicateKey` first: nothing checks uniqueness here. */
export function setPrimaryKey(snapshot: TableSnapshot, names: readonly string[]): TableSnapshot {
  const primaryKey = names.map((name) => columnNamed(snapshot, name).fieldId)
  return { ...snapshot, primaryKey }
}

export const dropPrimaryKey = (snapshot: TableSnapshot): TableSnapshot => ({ ...snapshot, primaryKey: [] })

/** All rows gone, columns and key kept. */
export const truncate = (snapshot: TableSnapshot): TableSnapshot => ({ ...snapshot, segments: [] })

/** Exact, without touching a file. */
export const countRows = (snapshot: TableSnapshot): number =>
  snapshot.segments.reduce((sum, segment) => sum + segment.rows - (segment.deletes?.rows ?? 0), 0)

/** Bytes on disk, delete files included. */
export const countBytes = (snapshot: TableSnapshot): number =>
  snapshot.segments.reduce((sum, segment) => sum + segment.bytes + (segment.deletes?.bytes ?? 0), 0)

/** Every object a snapshot needs. What no stored snapshot needs (and no running job is about to publish) may be swept. */
export const referencedKeys = (snapshot: TableSnapshot): readonly string[] =>
  snapshot.segments.flatMap((segment) => (segment.deletes ? [segment.key, segment.deletes.key] : [segment.key]))

export const primaryKeyNames = (snapshot: TableSnapshot): readonly string[] =>
  snapshot.primaryKey.map((id) => columnById(snapshot, id).name)

/** Exact spelling. Throws `storage.tables.columnNotExists`. */
export function columnNamed(snapshot: TableSnapshot, name: string): Column {
  const column = columnIndex(snapshot).get(name)
  if (!column) throw new PlatformError('storage.tables.columnNotExists', { column: name })
  return column
}

/** The columns by name, made once for each list of columns: a load of 4,000 columns looks up every one of them. */
export function columnIndex({ columns }: TableSnapshot): ReadonlyMap<string, Column> {
  let index = indexes.get(columns)
  if (!index) {
    index = new Map(columns.map((column) => [column.name, column]))
    indexes.set(columns, index)
  }
  return index
}

const indexes = new WeakMap<readonly Column[], ReadonlyMap<string, Column>>()

export function columnById(snapshot: TableSnapshot, fieldId: number): Column {
  const column = snapshot.columns.find((c) => c.fieldId === fieldId)
  if (!column) throw new PlatformError('storage.tables.columnNotExists', { column: `#${fieldId}` })
  return column
}
