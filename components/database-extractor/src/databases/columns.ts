// What is read of a database, and its columns.

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
