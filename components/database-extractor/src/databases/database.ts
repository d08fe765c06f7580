// What the extractor asks of a database, whichever it is.

/** Types of columns in tables of the project. */
export type BaseType = 'STRING' | 'INTEGER' | 'NUMERIC' | 'FLOAT' | 'BOOLEAN' | 'DATE' | 'TIMESTAMP'

export interface SourceColumn {
  readonly name: string
  /** The type as the database writes it. */
  readonly native: string
  readonly base: BaseType
  /** Precision and scale of NUMERIC. */
  readonly length?: string
  /** Why a type is kept as text although it is not a text; for the log. */
  readonly asText?: string
}

export interface TableName {
  readonly schema: string
  readonly name: string
}

/** What is read: a table, or the result of a query. */
export type Source =
  | {
      readonly kind: 'table'
      readonly table: TableName
      /** Undefined: all. */
      readonly columns: readonly string[] | undefined
      /** A condition in SQL. */
      readonly filter: string | undefined
    }
  | { readonly kind: 'query'; readonly text: string }

/** Rows whose value in a column lies between two others, both included. */
export interface Range {
  readonly column: SourceColumn
  /** Undefined: from the beginning, with rows that have no value. */
  readonly from: string | undefined
  readonly upTo: string
  /** How far before `from` to begin: seconds of a time, or a number. */
  readonly lookback: number
}

export interface Description {
  readonly columns: readonly SourceColumn[]
  /** Of a table. */
  readonly primaryKey: readonly string[]
}

export interface ReadRequest {
  readonly source: Source
  readonly columns: readonly SourceColumn[]
  readonly range: Range | undefined
  /** The file to write: CSV without a header line. */
  readonly path: string
  /** Values that no column of the type can hold become NULL: infinite dates, dates of zeros, NaN of a decimal number. */
  readonly invalidAsNull: boolean
  /** What stands for NULL in it. No text of the data is equal to it. */
  readonly nullMarker: string
}

export interface ListedTable extends TableName {
  readonly kind: 'table' | 'view'
  /** As the statistics of the database have it; undefined when unknown. */
  readonly estimatedRows?: number
}

export interface Database {
  listSchemas(): Promise<readonly string[]>
  listTables(schema: string | undefined): Promise<readonly ListedTable[]>
  describe(source: Source): Promise<Description>
  /** Undefined when no row has a value. */
  greatest(source: Source, column: SourceColumn): Promise<string | undefined>
  /** Answers the number of rows. */
  read(request: ReadRequest): Promise<number>
  preview(source: Source, columns: readonly SourceColumn[], limit: number): Promise<readonly (readonly (string | null)[])[]>
  close(): Promise<void>
}
