// The check of tables before they publish a new state: the tests on their data.

import type { Trx } from '../engines/metadata-db/dialects.ts'
import type { TableSnapshot } from '../engines/table-engine/snapshot.ts'
import type { StorageJob } from './storage-job.ts'

/** A state of a table that a job is about to publish; its files are stored, and no record names them. */
export interface LoadCandidate {
  readonly job: StorageJob
  readonly signal: AbortSignal
  readonly branchId: number
  readonly tableId: string
  /** Undefined for a new table. */
  readonly before: TableSnapshot | undefined
  readonly after: TableSnapshot
}

export interface CheckedLoad {
  /** A sentence for each test that failed without stopping the load. */
  readonly warnings: readonly string[]
  /** Stores the results, in the transaction that publishes the state. */
  record(trx: Trx): Promise<void>
}

/** Throws `storage.dataTests.failed` if the state must not be published. */
export type CheckLoad = (candidate: LoadCandidate) => Promise<CheckedLoad>
