// What the extractor needs of a database, whichever it is.

import type { Dialect } from '../compare/dialect.ts'
import type { Source, SourceColumn, TableName } from './columns.ts'

/** Values of a column between two others, both included. */
export interface Bounds {
  readonly column: SourceColumn
  /** The greatest value of the last run; undefined: it had none. */
  readonly from: string | undefined
  /** Undefined: no row has a value. */
  readonly upTo: string | undefined
  /** How far before `from` to begin: seconds of a time, or a number. */
  readonly lookback: number
}

/** Rows that are new by at least one of their columns. */
export interface Increment {
  readonly columns: readonly Bounds[]
  /** Everything is new, also rows without a value. */
  readonly isFirst: boolean
}

export interface Description {
  readonly columns: readonly SourceColumn[]
  /** Of a table. */
  readonly primaryKey: readonly string[]
}

export interface ReadRequest {
  readonly source: Source
  readonly columns: readonly SourceColumn[]
  readonly increment: Increment | undefined
  /** The file to write: CSV without a header line. */
  readonly path: string
  /** Values that no column of the type can hold become NULL: infinite dates, dates of zeros, NaN of a decimal number. */
  readonly invalidAsNull: boolean
  /** What stands for NULL in it. No text of the data is equal to it. */
  readonly nullMarker: string
  /** A condition in SQL, beside the increment. */
  readonly where?: string
  /** Last fields that are the same in every row. */
  readonly constants?: readonly (string | null)[]
  /** The rows follow what the file has already. */
  readonly isAppended?: boolean
}

export interface ListedTable extends TableName {
  readonly kind: 'table' | 'view'
  /** As the statistics of the database have it; undefined when unknown. */
  readonly estimatedRows?: number
}

export interface Database {
  /** Statements see states of their own, so a table is read by one. */
  readonly isReadWhole?: true
  listSchemas(): Promise<readonly string[]>
  listTables(schema: string | undefined): Promise<readonly ListedTable[]>
  describe(source: Source): Promise<Description>
  /** Undefined when no row has a value. */
  greatest(source: Source, column: SourceColumn): Promise<string | undefined>
  /** Answers the number of rows. */
  read(request: ReadRequest): Promise<number>
  preview(source: Source, columns: readonly SourceColumn[], limit: number): Promise<readonly (readonly (string | null)[])[]>
  /** Any statement that reads, with texts as its result. */
  ask(sql: string): Promise<readonly (readonly (string | null)[])[]>
  /** For FROM. */
  relation(source: Source): string
  /** `invalidAsNull`: as in ReadRequest. */
  dialect(invalidAsNull: boolean): Dialect
  /** Of PostgreSQL: the rows in the binary format of COPY, each value in the type of its column; answers nothing but the file. */
  copyBinary?(request: ReadRequest): Promise<void>
  /** Of MySQL: a statement for the rows, each value as the text that `read` writes. */
  textStatement?(request: ReadRequest): string
  close(): Promise<void>
}
