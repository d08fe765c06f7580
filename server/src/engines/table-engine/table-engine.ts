// What the table engine does, as types. No HTTP, no rules of the product, no metadata: a snapshot comes in, a snapshot goes out.
// Every operation that writes returns only after its files are durable in the object store; nothing refers to them until the caller
// stores the returned snapshot. A failed operation leaves the given snapshot as valid as before and removes what it wrote; what a
// crash leaves behind is found by comparing the store with `referencedKeys`.

import type { BaseType, Column, TableSnapshot } from './snapshot.ts'

// ---------------------------------------------------------------------------------------------------------------- what it needs

/** The bytes, seen from here; the object store has this shape. `platform.ts` passes it. */
export interface TableObjects {
  /**
   * A local path to the object's bytes, valid until `release`; undefined when there is no such object. On disk the file itself, on
   * S3 a copy in the cache.
   */
  openLocal(key: string): Promise<LocalFile | undefined>
  /** Adopts a finished local file as the object `key`; durable once resolved. The path may be gone afterwards. */
  adopt(key: string, localPath: string): Promise<unknown>
  delete(key: string): Promise<unknown>
}

export interface LocalFile {
  readonly path: string
  release(): Promise<void>
}

export interface TableEngineSettings {
  /** Loads, unloads and other long work at once; each has a process of its own. Default: the number of cores. */
  readonly longWorkers?: number
  /** Previews and counts at once. They never wait for long work. Default 2. */
  readonly shortWorkers?: number
  /** Processes kept warm when idle. */
  readonly warmWorkers?: number
  /** Resident memory one worker may use. 4,000 columns need the default (kit/default-limits.ts), ten columns a third of it. */
  readonly workerMemoryMb?: number
  /** DuckDB threads in a worker. Default 1: several workers scale better than several threads. */
  readonly workerThreads?: number
  /** A row of a CSV file longer than this is refused with `rowTooLarge`. */
  readonly maxRowBytes?: number
  /** Default 4096. */
  readonly maxColumns?: number
  /** A gzip file that unpacks to more than this is refused. */
  readonly maxInflatedBytes?: number
  /** A gzip file that unpacks to more than this many times its size (and more than 256 MiB) is refused. */
  readonly maxInflateRatio?: number
}

export interface TableEngineDeps {
  readonly objects: TableObjects
  /** A folder for work in progress, emptied at start. Inside the `tempDir` of the object store, so that `adopt` is a rename. */
  readonly scratchDir: string
  /** What other engines put before a key to reach the object: `s3://<bucket>/`. Delete files name their segments so. */
  readonly uriPrefix: string
  readonly settings?: TableEngineSettings
  /** A worker ended by itself before DuckDB was loaded. */
  readonly onNotLoaded?: ((reason: string) => void) | undefined
}

// ------------------------------------------------------------------------------------------------------------------- the engine

export interface TableEngine {
  /** The first row of a CSV file, to decide names and columns before `load`. Reads no more than that row (at most 1 MiB). */
  readHeader(source: CsvSource, run?: RunOptions): Promise<readonly string[]>
  /**
   * Passes the file as CSV to `work`, if it is JSON, JSON lines or Parquet; nothing if it is CSV already. The file is gone when `work` has
   * ended. What cannot be read throws `storage.tables.fileUnreadable`.
   */
  withCsv<T>(
    source: { readonly slices: readonly CsvSlice[]; readonly name: string },
    work: (csv: { readonly path: string; readonly bytes: number } | undefined) => Promise<T>,
    run?: RunOptions,
  ): Promise<T>
  /**
   * CSV, or Parquet files of another engine, into the table. Bad input throws `invalidCsv`, `rowTooLarge`, `storage.tables.invalidValue` or
   * `iceberg.fileRefused` and loads nothing.
   */
  load(request: LoadRequest, run?: RunOptions): Promise<LoadResult>
  /** The table, or a part of it, into files in the object store. */
  unload(request: UnloadRequest, run?: RunOptions): Promise<UnloadResult>
  /** The first rows of a query as text, for people. */
  preview(request: PreviewRequest, run?: RunOptions): Promise<Preview>
  /** Rows that match a query. For the whole table `countRows(snapshot)` is free. */
  count(request: QueryRequest, run?: RunOptions): Promise<number>
  /** One example of a key that several rows share, or null: call it before `setPrimaryKey`. */
  findDuplicateKey(request: DuplicateKeyRequest, run?: RunOptions): Promise<DuplicateKey | null>
  /** Values of a column that `rewriteAs` would lose with another type: call it before. */
  findUnfit(request: UnfitRequest, run?: RunOptions): Promise<UnfitValues>
  /** The rows of the table under the columns of another shape of it (`retypeColumn`), each in its place. Values that do not fit become null. */
  rewriteAs(request: RewriteRequest, run?: RunOptions): Promise<TableSnapshot>
  /** Rows that match leave the table. Without filters the table is emptied (the caller checks that this is intended). */
  deleteRows(request: DeleteRowsRequest, run?: RunOptions): Promise<DeleteRowsResult>
  /** A query as a new, independent table: rows keep their load time, columns their definition. */
  materialise(request: MaterialiseRequest, run?: RunOptions): Promise<TableSnapshot>
  /** Figures per column. */
  profile(request: ProfileRequest, run?: RunOptions): Promise<TableProfile>
  /**
   * Rewrites segments that are small or full of deleted rows. Null: nothing worth doing. Rows, order and load times stay. Publish the
   * result only if the table still has the snapshot that was passed (hold its lock, or compare).
   */
  compact(request: CompactRequest, run?: RunOptions): Promise<TableSnapshot | null>
  /** The same rows in files that other engines read right (open-shape.ts). Null: they are so already. Publish it as `compact`. */
  inOpenShape(request: Omit<CompactRequest, 'force'>, run?: RunOptions): Promise<TableSnapshot | null>
  /** Throws `iceberg.fileRefused` for a Parquet file of another engine that the table must not adopt as it is. */
  checkFiles(request: CheckFilesRequest, run?: RunOptions): Promise<void>
  /** Waits for nothing: running work fails with `tableEngine.cancelled`, processes end. */
  close(): Promise<void>
}

export interface RunOptions {
  /** Aborting fails the operation with `tableEngine.cancelled` and ends its process at once. */
  readonly signal?: AbortSignal
  /** Fails the operation with `tableEngine.timeout`. The time in the queue does not count. Default: none. */
  readonly timeoutMs?: number
}

// ------------------------------------------------------------------------------------------------------------------------- load

/** How a CSV file is written. `checkDialect` in csv-dialect.ts gives the errors of spec storage 2.5.5. */
export interface CsvDialect {
  /** One ASCII character; the default is a comma. The spelling `\t` means a tab. */
  readonly delimiter?: string
  /** One ASCII character, by default a double quote; `''` for files without enclosures. */
  readonly enclosure?: string
  /** The character that takes the next one literally. Only without an enclosure; `''` or absent: none. */
  readonly escapedBy?: string
}

export interface CsvSource {
  /** The slices in order; a plain file is one slice. */
  readonly slices: readonly CsvSlice[]
  readonly dialect?: CsvDialect
}

export interface CsvSlice {
  readonly key: string
  readonly gzip: boolean
  /** How messages call this file: `The file orders.csv is ...`. Default: the key. */
  readonly name?: string
}

/** Rows that already lie in the store as Parquet files with the field ids of the table. They are looked into, and stay where they are. */
export interface StoredSource {
  readonly stored: readonly StoredFile[]
}

export interface StoredFile extends ForeignFile {
  readonly bytes: number
}

export interface LoadRequest {
  readonly snapshot: TableSnapshot
  /** `full` replaces all rows. `incremental` appends, and with a primary key replaces rows of the same key. Either way the last row of a key wins. */
  readonly mode: 'full' | 'incremental'
  readonly source: CsvSource | StoredSource
  /**
   * Where each field of a row goes: names of columns of the snapshot in the order of the file; null ignores the field; `_timestamp`
   * takes the load time from the file. Columns of the table that are not named get '' (typed: their default, else null).
   * New columns of the file are added by the caller first: `addColumn`.
   */
  readonly fileColumns: readonly (string | null)[]
  /** The field of the file that marks rows which leave the table by their key; not a column of the table, which must have a primary key. */
  readonly deletedColumn?: string
  /** Lines to pass over at the start of every slice: 1 for a header, 0 for none. */
  readonly skipLines: number
  /** Typed tables: values that mean null. Default `['']`; `[]` for none. Untyped tables have no nulls. */
  readonly nullValues?: readonly string[]
  /** Of typed tables: an empty field without quotes is null, whatever `nullValues` has. */
  readonly bareEmptyIsNull?: boolean
  /** The load time of the rows, epoch milliseconds. */
  readonly loadedAt: number
  /** New objects are named `<keyPrefix><uuid>.parquet`. */
  readonly keyPrefix: string
}

export interface LoadResult {
  /** The table after the load. */
  readonly snapshot: TableSnapshot
  /** Rows in the file. */
  readonly rowsInFile: number
  /** Bytes of CSV, unpacked. */
  readonly bytesInFile: number
  /** Rows that are now new in the table, those that replaced another included. */
  readonly rowsWritten: number
  /** Rows of the table that a newer one replaced. */
  readonly rowsReplaced: number
  /** Rows of the file that were in the table exactly so: they keep their load time. */
  readonly rowsUnchanged: number
  /** Rows of the file with the key of a later row of the file. */
  readonly rowsDuplicate: number
  /** Rows of the table that a row of the file marked as deleted. */
  readonly rowsDeleted: number
}

// ---------------------------------------------------------------------------------------------------------------------- queries

/** `contains` and `startsWith` compare the text of a value, whatever the case; `isEmpty` means null or the empty text. */
export type FilterOperator = 'eq' | 'ne' | 'gt' | 'ge' | 'lt' | 'le' | 'contains' | 'startsWith' | 'isEmpty' | 'isNotEmpty'
/** The data types a filter or an order may read text as. */
export const FILTER_DATA_TYPES = ['INTEGER', 'BIGINT', 'DOUBLE', 'REAL', 'DECIMAL', 'NUMERIC', 'TIMESTAMP'] as const
export type FilterDataType = (typeof FILTER_DATA_TYPES)[number]

/** `eq` and `ne` with several values mean in and not in; `isEmpty` and `isNotEmpty` take none; the others take exactly one. */
export interface Filter {
  readonly column: string
  readonly operator: FilterOperator
  readonly values: readonly string[]
  /** Compare as numbers or times; text that cannot be read so never matches. */
  readonly dataType?: FilterDataType
}

export interface OrderBy {
  readonly column: string
  readonly order: 'ASC' | 'DESC'
  readonly dataType?: FilterDataType
}

/** Filters are joined by AND. */
export interface RowFilter {
  readonly filters?: readonly Filter[]
  /** Epoch milliseconds: loaded at or after. */
  readonly changedSince?: number
  /** Epoch milliseconds: loaded before. */
  readonly changedUntil?: number
  /** Rows with this text in any column, whatever the case. */
  readonly search?: string
  /** Where `search` looks; default all columns. An alias must not find what it does not show. */
  readonly searchColumns?: readonly string[]
}

export interface QueryRequest extends RowFilter {
  readonly snapshot: TableSnapshot
  /** In this order; default all. */
  readonly columns?: readonly string[]
  readonly orderBy?: readonly OrderBy[]
  readonly limit?: number
  /** Rows to pass over first; without filters and an order, whole segments are not opened at all. */
  readonly offset?: number
}

export type TableFormat = 'csv' | 'parquet' | 'jsonl'

export interface UnloadRequest extends QueryRequest {
  /** jsonl: an object per line; strings for untyped tables, JSON numbers, booleans and nulls for typed ones. */
  readonly format: TableFormat
  /** csv and jsonl: each slice is a complete gzip member. */
  readonly gzip?: boolean
  /** Adds `_timestamp`, the load time (UTC, `YYYY-MM-DD hh:mm:ss.SSS`), as the last column. */
  readonly includeLoadTime?: boolean
  /** csv of typed tables: a null is nothing at all, and an empty text is `""`. Otherwise both are `""`. */
  readonly bareNulls?: boolean
  /** One file instead of slices, for people; csv then has a header. */
  readonly merged?: boolean
  /** Bytes of a slice before packing, roughly. Default 64 MiB. */
  readonly sliceBytes?: number
  /** Slices are named `<keyPrefix><000000>.<format>[.gz]` in the order of rows, a merged file `<keyPrefix>` alone. */
  readonly keyPrefix: string
}

export interface UnloadResult {
  /** In the order of rows. An empty result is one empty slice, so that a manifest always has an entry. */
  readonly slices: readonly UnloadedSlice[]
  readonly columns: readonly string[]
  readonly rows: number
}

export interface UnloadedSlice {
  readonly key: string
  readonly bytes: number
}

export interface PreviewRequest extends QueryRequest {
  /** At most 1001: the thousand that are shown, and one that shows that there are more. */
  readonly limit: number
  /** Longer values are cut here and marked. Default: whole values. */
  readonly maxCellChars?: number
  /** Times are written with at least three digits behind the second. */
  readonly withMilliseconds?: boolean
}

export interface Preview {
  readonly columns: readonly string[]
  readonly rows: readonly (readonly PreviewCell[])[]
}

export interface PreviewCell {
  readonly value: string | null
  readonly isTruncated: boolean
}

export interface DuplicateKeyRequest {
  readonly snapshot: TableSnapshot
  readonly columns: readonly string[]
}

export interface DuplicateKey {
  readonly values: readonly (string | null)[]
  readonly rows: number
}

export interface UnfitRequest {
  readonly snapshot: TableSnapshot
  readonly column: string
  readonly to: Column
}

export interface UnfitValues {
  readonly rows: number
  /** A few of them, cut where they are long; null where a column that needs a value has none. */
  readonly examples: readonly (string | null)[]
}

export interface RewriteRequest {
  readonly snapshot: TableSnapshot
  /** The same columns in the same order, by their new definition. */
  readonly shape: TableSnapshot
  readonly keyPrefix: string
}

export interface DeleteRowsRequest extends RowFilter {
  readonly snapshot: TableSnapshot
  readonly keyPrefix: string
}

export interface DeleteRowsResult {
  readonly snapshot: TableSnapshot
  readonly deletedRows: number
}

export interface MaterialiseRequest extends QueryRequest {
  readonly keyPrefix: string
}

export interface ProfileRequest extends RowFilter {
  readonly snapshot: TableSnapshot
  /** Default all. */
  readonly columns?: readonly string[]
  /** Default 10; 0 for none. */
  readonly topValues?: number
  /** Bars of the histogram of each column that holds numbers or times; none by default. */
  readonly bins?: number
  /** About this many rows, spread over the table, represent all of them; every row by default. */
  readonly sampleRows?: number
}

export interface TableProfile {
  readonly rows: number
  /** The rows that the figures of the columns were computed from. */
  readonly readRows: number
  /** Of the whole table; null where a filter leaves only a part of it. */
  readonly bytes: number | null
  readonly columns: readonly ColumnProfile[]
}

export interface ColumnProfile {
  readonly name: string
  readonly type: BaseType
  readonly nulls: number
  readonly empty: number
  readonly distinct: number
  /** Rows whose value another row has too, less one per value: `rows - nulls - distinct`. */
  readonly duplicates: number
  readonly min: string | null
  readonly max: string | null
  readonly top: readonly { readonly value: string; readonly rows: number }[]
  readonly histogram: Histogram | null
}

/** Of a column whose values are numbers or times, also in tables without types. */
export interface Histogram {
  readonly kind: 'number' | 'time'
  /** Equally wide, in order; a value on a border counts to the bar that begins there, the greatest to the last. */
  readonly bins: readonly { readonly from: string; readonly to: string; readonly rows: number }[]
  /** Values that are neither null nor empty and cannot be read as the kind, or are not finite. */
  readonly otherRows: number
}

export interface CompactRequest {
  readonly snapshot: TableSnapshot
  readonly keyPrefix: string
  /** Rewrite even where it is not worth it yet. */
  readonly force?: boolean
}

/** A Parquet file that another engine wrote for the table. */
export interface ForeignFile {
  readonly key: string
  /** As the writer declares it. */
  readonly rows: number
  /** How messages call it. */
  readonly name: string
}

export interface CheckFilesRequest {
  /** The table that takes the files; its own segments are not looked at. */
  readonly snapshot: TableSnapshot
  readonly files: readonly ForeignFile[]
}
