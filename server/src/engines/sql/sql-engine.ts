// The types of the SQL engine. It has no notion of projects and snapshots: the caller that opens a session provides its tables, each
// as a select over files.

import type { StatementNames } from './statement-names.ts'
import type { TableName } from './statements.ts'

/** A table of a session: files in the object store and the select that reads them. */
export interface SqlTable {
  /** Changes with the state: the session then binds the table again before its next statement. */
  readonly version: string
  /** Objects the select reads. */
  readonly keys: readonly string[]
  /** The select, given the local paths of the objects by key. */
  readonly select: (local: Readonly<Record<string, string>>) => string
}

export interface SqlLimits {
  /** Resident memory of the process; DuckDB gets what the runtime leaves. */
  readonly memoryMb: number
  readonly threads: number
  /** Temporary files of one session. */
  readonly diskMb: number
  /** One statement, from its start to its last row. */
  readonly timeoutMs: number
}

export interface SqlEngineSettings extends Partial<SqlLimits> {
  /** Max concurrent sessions; each has a process. */
  readonly sessions?: number
  /** Of them for one token, and for one project: the rest is for others. Default half of them, and all but one. */
  readonly tokenSessions?: number
  readonly projectSessions?: number
  /** How long `open` waits for a free one. Default 10 s. */
  readonly waitMs?: number
}

export interface SqlEngineDeps {
  /** A local path of an object while it is held; undefined when there is none. */
  readonly openLocal: (key: string) => Promise<{ readonly path: string; release(): Promise<void> } | undefined>
  /** A folder for work in progress on the disk of the objects, emptied at start. */
  readonly scratchDir: string
  readonly settings?: SqlEngineSettings
}

export interface SessionOptions {
  /** `read`: nothing can be changed. `write`: the tables of `database` can. */
  readonly mode: 'read' | 'write'
  /** A DuckDB file of its own for the session, made when it is not there. One session at a time. */
  readonly database?: string
  /** The schema of the database for names without one. Short names of the project are searched after its tables. Default `main`, without short names. */
  readonly schema?: string
  /** A table of the project by the names SQL uses; undefined when there is none the asker may read. */
  readonly findTable: (schema: string, name: string) => Promise<SqlTable | undefined>
  /** Threads within those of the engine. */
  readonly limits?: Partial<SqlLimits>
  /**
   * The reader and its rights. A session may reuse the DuckDB of one that has ended and was opened with the same text and
   * database: it starts at once and finds what was read of files in memory, and nothing else of the session before.
   */
  readonly reader?: string
  /** Whose share of the sessions it takes; without one, as for jobs, which have limits of their own, only the number of all counts. */
  readonly owner?: SessionOwner
  readonly signal?: AbortSignal
  /** How long the session was open, when it has ended. */
  readonly onClosed?: (ms: number) => void
}

export interface SessionOwner {
  readonly projectId: number
  readonly tokenId: number
}

export interface SqlEngine {
  /** Throws `sql.busy` when no process became free in time, `sql.shareInUse` when none of the owner did. Close every session. */
  open(options: SessionOptions): Promise<SqlSession>
  /** Process ids of the workers, for fault tests and benches. */
  workerPids(): readonly number[]
  /** Waits for nothing: what runs fails, processes end. */
  close(): Promise<void>
}

export interface StatementOptions {
  /** Aborting fails the statement with `sql.cancelled`; the session stays usable. */
  readonly signal?: AbortSignal
  /** Less than the limit of the session. */
  readonly timeoutMs?: number
  /** At most so many rows. */
  readonly limit?: number
  /** Tables of the project that the statement may name without their schema, by that name. */
  readonly shortNames?: Readonly<Record<string, TableName>>
}

/** One statement at a time: read a result to its end, or `cancel` it, before the next. */
export interface SqlSession extends AsyncDisposable {
  /** Typed rows in batches. `values` are for `?` or `$1`. */
  query(sql: string, options?: StatementOptions & { readonly values?: readonly SqlValue[] }): Promise<SqlRows>
  /** The result as text that DuckDB writes itself: several times faster than rows. */
  copy(sql: string, format: CopyFormat, options?: StatementOptions): Promise<SqlBytes>
  /** Runs to the end and drops the rows. */
  execute(sql: string, options?: StatementOptions): Promise<StatementEnd>
  /** What the statement takes and gives, without running it. */
  describe(sql: string, options?: Pick<StatementOptions, 'shortNames'>): Promise<StatementShape>
  /** What a query names, without running or binding it. `unreadable`: it is not SQL to DuckDB; `other`: it is, and not a query. */
  names(sql: string): Promise<StatementNames | 'unreadable' | 'other'>
  /** A file in the folder of the session, for rows that are added to a table. */
  csvFile(): Promise<CsvFile>
  /** Of a session with a database: names without a schema are those of this schema of it first, which is made if it does not exist. */
  useSchema(schema: string): Promise<void>
  /** Of a session with a database, outside of a transaction: writes what was committed from the log into the file. */
  checkpoint(): Promise<void>
  close(): Promise<void>
}

/** Lines of CSV: a first column that is not read, then the values in double quotes, null as nothing at all. */
export interface CsvFile {
  /** `longest`: at least the bytes of the longest line among them. */
  write(bytes: Buffer, longest: number): Promise<void>
  /** Adds the rows to a table, and removes the file. `into` and `values` are SQL of the caller's own; values name c0, c1 ... */
  insert(into: string, values: readonly string[], options?: StatementOptions): Promise<void>
  discard(): Promise<void>
}

/**
 * csv: with a header, values quoted where they must be, null empty and the empty text `""`. json: an array per line; integers up to
 * 64 bits and floats are numbers, decimals, times and what is no number to JSON are texts, lists and structs are arrays and objects.
 * parquet: a whole file.
 * postgres: the text format of PostgreSQL's COPY, values written as PostgreSQL writes them, lists and structs as JSON. Its pieces are
 * lent: each is overwritten when the next is requested.
 */
export type CopyFormat = 'csv' | 'json' | 'postgres' | 'parquet'

export interface StatementShape {
  /** None for a statement without a result. */
  readonly columns: readonly SqlColumn[]
  /** Types of `$1`, `$2` ...; UNKNOWN where it does not follow from the statement. */
  readonly parameters: readonly string[]
}

export interface SqlColumn {
  readonly name: string
  /** DuckDB's: BIGINT, DECIMAL(18,3), VARCHAR, TIMESTAMP, INTEGER[] ... */
  readonly type: string
}

/** 64-bit integers and larger are bigint, smaller ones and floats number; decimals, times and nested values their text. */
export type SqlValue = string | number | bigint | boolean | null

export interface StatementEnd {
  /** Rows of the result; null for a statement that has none. */
  readonly rows: number | null
  /** Rows that INSERT, UPDATE or DELETE changed; null for others. */
  readonly changedRows: number | null
  /** Rows of CREATE TABLE AS. */
  readonly createdRows?: number
}

interface Result {
  readonly columns: readonly SqlColumn[]
  /** Settles when the result was read to its end, failed or was cancelled. */
  readonly end: Promise<StatementEnd>
  /** Cancels the statement; its reader gets `sql.cancelled`. Resolves when the session is free again. */
  cancel(): Promise<void>
}

export interface SqlRows extends Result {
  readonly batches: AsyncIterable<readonly (readonly SqlValue[])[]>
}

export interface SqlBytes extends Result {
  readonly bytes: AsyncIterable<Buffer>
}
