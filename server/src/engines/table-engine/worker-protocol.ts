// What crosses the pipe between the engine and a worker process: jobs with local paths in, small results or a named error out.

import type { ErrorCode } from '../../../../contract/error-codes.ts'
import type { ErrorDetails } from '../../kit/errors.ts'
import type { InflateLimits, LocalSlice } from './csv/csv-bytes.ts'
import type { DialectBytes } from './csv/csv-dialect.ts'
import type { FileFormat } from './formats/file-format.ts'
import type { LocalPaths } from './relation.ts'
import type { Column, DeleteFile, Segment, TableSnapshot } from './snapshot.ts'
import type {
  CheckFilesRequest,
  DeleteRowsRequest,
  DuplicateKey,
  DuplicateKeyRequest,
  Preview,
  PreviewRequest,
  ProfileRequest,
  QueryRequest,
  TableProfile,
  UnfitRequest,
  UnfitValues,
  UnloadRequest,
} from './table-engine.ts'

/** One Parquet segment out of one or more CSV slices. */
export interface LoadSlicesJob {
  readonly kind: 'loadSlices'
  readonly snapshot: TableSnapshot
  readonly slices: readonly LocalSlice[]
  readonly dialect: DialectBytes
  readonly fileColumns: readonly (string | null)[]
  readonly skipLines: number
  readonly nullValues: readonly string[]
  readonly bareEmptyIsNull: boolean
  readonly loadedAt: number
  readonly maxRowBytes: number
  readonly limits: InflateLimits
  readonly outPath: string
  /** A folder of the job's own. */
  readonly workDir: string
}

/** One CSV file with a header out of files of another format. */
export interface ConvertFileJob {
  readonly kind: 'convertFile'
  readonly format: Exclude<FileFormat, 'csv'>
  /** What messages call the file. */
  readonly name: string
  readonly files: readonly string[]
  readonly outPath: string
  readonly maxRowBytes: number
  readonly maxBytes: number
}

export interface ConvertedFile {
  readonly bytes: number
}

export interface LoadedSegment {
  readonly rows: number
  readonly csvBytes: number
  readonly bytes: number
  readonly minLoadedAt: number
  readonly maxLoadedAt: number
}

/** Which rows a load replaces, leaves alone or repeats. */
export interface ResolveKeysJob {
  readonly kind: 'resolveKeys'
  /** The table before the load; its segments are not looked at for a full load. */
  readonly snapshot: TableSnapshot
  readonly incremental: boolean
  /** Keep the old row (and its load time) where the new one is the same. */
  readonly keepUnchanged: boolean
  /** A column of the fresh segments only: true in rows that are not added, and whose key leaves the table. */
  readonly deletedMark?: Column
  readonly fresh: readonly FreshSegment[]
  readonly local: LocalPaths
  readonly workDir: string
  readonly uriPrefix: string
}

export interface FreshSegment {
  readonly key: string
  readonly path: string
  readonly rows: number
  /** Of a file that lacks the hidden load time. */
  readonly loadedAt?: number
}

export interface ResolvedKeys {
  /** By key of the segment; those not named stay as they are. */
  readonly existing: Readonly<Record<string, SegmentChange>>
  readonly fresh: Readonly<Record<string, SegmentChange>>
  readonly replaced: number
  readonly unchanged: number
  readonly duplicate: number
  /** Rows of the table that left it, and rows of the load that deleted them. */
  readonly deleted: number
  readonly marked: number
}

/** What becomes of a segment. */
export type SegmentChange =
  | { readonly kind: 'gone' }
  | ({ readonly kind: 'deletes'; readonly path: string } & Omit<DeleteFile, 'key'>)
  | { readonly kind: 'rewritten'; readonly path: string; readonly rows: number; readonly bytes: number }

export interface DeleteRowsJob {
  readonly kind: 'deleteRows'
  readonly request: Omit<DeleteRowsRequest, 'keyPrefix'>
  readonly local: LocalPaths
  readonly workDir: string
  readonly uriPrefix: string
}

/** Delete files of the same positions that name their segments below `uriPrefix`. */
export interface NameDeletesJob {
  readonly kind: 'nameDeletes'
  readonly segments: readonly Segment[]
  readonly local: LocalPaths
  readonly workDir: string
  readonly uriPrefix: string
}

export interface DeletedRows {
  readonly changes: Readonly<Record<string, SegmentChange>>
  readonly deletedRows: number
}

/** A query into one segment with the columns of `request.columns` under the given ids and types: compaction, materialisation, another type. */
export interface WriteSegmentJob {
  readonly kind: 'writeSegment'
  readonly request: QueryRequest
  readonly columns: TableSnapshot['columns']
  readonly local: LocalPaths
  readonly outPath: string
}

export interface UnloadJob {
  readonly kind: 'unload'
  readonly request: Omit<UnloadRequest, 'keyPrefix'>
  readonly local: LocalPaths
  readonly workDir: string
}

export interface UnloadedFiles {
  readonly files: readonly { readonly path: string; readonly bytes: number }[]
  readonly columns: readonly string[]
  readonly rows: number
}

export interface Jobs {
  readonly loadSlices: { readonly job: LoadSlicesJob; readonly result: LoadedSegment }
  readonly convertFile: { readonly job: ConvertFileJob; readonly result: ConvertedFile }
  readonly resolveKeys: { readonly job: ResolveKeysJob; readonly result: ResolvedKeys }
  readonly deleteRows: { readonly job: DeleteRowsJob; readonly result: DeletedRows }
  readonly nameDeletes: { readonly job: NameDeletesJob; readonly result: Readonly<Record<string, SegmentChange>> }
  readonly writeSegment: { readonly job: WriteSegmentJob; readonly result: LoadedSegment }
  readonly unload: { readonly job: UnloadJob; readonly result: UnloadedFiles }
  readonly preview: { readonly job: QueryJob<'preview', PreviewRequest>; readonly result: Preview }
  readonly count: { readonly job: QueryJob<'count', QueryRequest>; readonly result: number }
  readonly findDuplicateKey: {
    readonly job: QueryJob<'findDuplicateKey', DuplicateKeyRequest>
    readonly result: DuplicateKey | null
  }
  readonly findUnfit: { readonly job: QueryJob<'findUnfit', UnfitRequest>; readonly result: UnfitValues }
  readonly checkFiles: { readonly job: CheckFilesJob; readonly result: null }
  readonly profile: { readonly job: QueryJob<'profile', ProfileRequest>; readonly result: TableProfile }
}

export interface QueryJob<Kind extends string, Request> {
  readonly kind: Kind
  readonly request: Request
  readonly local: LocalPaths
}

export type CheckFilesJob = QueryJob<'checkFiles', CheckFilesRequest>

export type JobKind = keyof Jobs
export type WorkerJob = Jobs[JobKind]['job']

export interface WorkerSettings {
  /** Resident memory of the whole process; a job that needs more fails. */
  readonly limitMb: number
  /** DuckDB's part of it. */
  readonly memoryMb: number
  readonly threads: number
  readonly spillDir: string
}

export type ToWorker =
  | { readonly type: 'start'; readonly settings: WorkerSettings }
  | { readonly type: 'job'; readonly job: WorkerJob }

export type FromWorker =
  | { readonly type: 'ready' }
  | { readonly type: 'started' }
  | { readonly type: 'done'; readonly result: unknown; readonly rssMb: number }
  | { readonly type: 'failed'; readonly error: WorkerError; readonly rssMb: number }

export interface WorkerError {
  readonly code: ErrorCode
  readonly details: ErrorDetails
  readonly params?: Readonly<Record<string, unknown>>
  /** For the log. */
  readonly cause?: string
}
