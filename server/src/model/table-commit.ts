// A request to the tables module to publish files that another program wrote.

import type { Column } from '../engines/table-engine/snapshot.ts'

export interface TableCommit {
  /** The state that the writer started from. If one with other rows was published since, nothing is published. */
  readonly base: number
  /** Of the whole request: the same one twice is one commit. */
  readonly digest: string
  /** The number that the writer gave to the new state, in digits: it may have 63 bits. */
  readonly snapshotId?: string | undefined
  readonly addedColumns: readonly Column[]
  readonly addedFiles: readonly CommittedFile[]
  /** Keys of segments that leave the table. */
  readonly removedFiles: readonly string[]
}

/** A Parquet file where its writer put it. */
export interface CommittedFile {
  readonly key: string
  readonly rows: number
  readonly bytes: number
}

/** A table whose first files were written by another engine, or an empty one. */
export interface TableCreation extends Omit<TableCommit, 'base' | 'removedFiles' | 'addedColumns'> {
  readonly columns: readonly Column[]
  /** The id that its writer uses. */
  readonly uuid?: string | undefined
}
