// The two ends of the pipe between an engine and its workers. Small messages go over the IPC channel, text of results through a FIFO
// that DuckDB itself writes to.

import type { ErrorCode } from '../../../../contract/error-codes.ts'
import type { ErrorDetails } from '../../kit/errors.ts'
import type { CopyFormat, SqlLimits, SqlValue, StatementEnd, StatementShape } from './sql-engine.ts'

/** The catalog that holds the tables of the project; the session has a database of its own beside it. */
export const PROJECT_CATALOG = 'memory'

export interface OpenMessage {
  readonly type: 'open'
  readonly mode: 'read' | 'write'
  readonly limits: SqlLimits
  /** The only folder that SQL may read. */
  readonly filesDir: string
  readonly spillDir: string
  readonly fifo: string
  readonly database: string | undefined
  /** Of the database, for names without a schema. */
  readonly schema: string | undefined
}

export interface View {
  readonly schema: string
  readonly name: string
  readonly select: string
}

/** Views over tables of the project: those of the session before that are no longer wanted, and new ones. */
export interface BindMessage {
  readonly type: 'bind'
  readonly dropped: readonly Omit<View, 'select'>[]
  readonly views: readonly View[]
}

export interface RunMessage {
  readonly type: 'run'
  readonly sql: string
  /** DuckDB can write the result by itself. */
  readonly isQuery: boolean
  /** Few enough to be decoded and written here. */
  readonly hasFewRows: boolean
  /** `names`: the tree that the statement gives is read, and what it names is the only value. */
  readonly output: 'rows' | 'columns' | 'names' | CopyFormat
  readonly values: readonly SqlValue[]
  readonly limit: number | undefined
  /** Written to the FIFO behind the last byte of text, whatever became of the statement, unless it succeeded without a result. */
  readonly marker: string
}

export type ToWorker =
  | OpenMessage
  | RunMessage
  | BindMessage
  /** Another batch may come. */
  | { readonly type: 'more' }
  | { readonly type: 'cancel' }
  /** A session of the same rights over the DuckDB of the one before: its connection goes, the rest stays. */
  | { readonly type: 'reopen' }
  /** Names without a schema are those of this schema of the database first, which is made if it does not exist, and then those of main. */
  | { readonly type: 'schema'; readonly schema: string }
  /** Writes the log of the database into its file. */
  | { readonly type: 'checkpoint' }
  | { readonly type: 'close' }

export type FromWorker =
  /** Of a statement with a result. */
  | ({ readonly type: 'columns' } & StatementShape)
  | { readonly type: 'rows'; readonly rows: readonly (readonly SqlValue[])[] }
  | { readonly type: 'done'; readonly end?: StatementEnd; readonly rssMb: number }
  | { readonly type: 'failed'; readonly error: WorkerError; readonly rssMb: number }

export interface WorkerError {
  readonly code: ErrorCode
  readonly details: ErrorDetails
  /** In the text that was run, from 0, in bytes of UTF-8; undefined when DuckDB does not report it. */
  readonly position?: number
  /** For the log. */
  readonly cause?: string
}

/** Batches a worker sends before it waits for `more`. */
export const BATCHES_AHEAD = 4
