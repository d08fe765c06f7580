// What a run read and wrote, and what configurations declare to read, write and run.

import type { Trx } from '../engines/metadata-db/dialects.ts'

/** A column of a table of the project. */
export interface ColumnSource {
  readonly tableId: string
  readonly column: string
}

/** A column of a result, and the columns that its values are made of. */
export interface ColumnOrigin {
  readonly column: string
  readonly from: readonly ColumnSource[]
}

/** Of one run of a stored configuration or of one of its rows. */
export interface TableUse {
  readonly projectId: number
  readonly branchId: number
  readonly componentId: string
  readonly configurationId: string
  readonly rowId: string | null
  readonly jobId: number
  readonly read: readonly string[]
  readonly written: readonly string[]
  /** Of the tables written, as far as the run reports them. */
  readonly columns: Readonly<Record<string, readonly ColumnOrigin[]>>
}

/** In the transaction that publishes what was written. */
export type RecordUse = (trx: Trx, use: TableUse) => Promise<void>

export interface ConfigurationName {
  readonly componentId: string
  readonly configurationId: string
  readonly name: string
}

/** A table that shows another one. */
export interface AliasOfTable {
  readonly aliasId: string
  readonly sourceId: string
}

/** Where the rows of a table are: of an alias or a table of a linked bucket, the table that it shows. */
export interface TablePlace {
  readonly projectId: number
  readonly branchId: number
  readonly tableId: string
}

/** What a configuration, or a row of it, refers to. */
export interface ConfigurationLinks {
  readonly componentId: string
  readonly configurationId: string
  readonly rowId: string | null
  readonly reads: readonly string[]
  readonly writes: readonly string[]
  /** Tasks of a flow. */
  readonly runs: readonly { readonly componentId: string; readonly configurationId: string }[]
}
