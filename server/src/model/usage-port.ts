// What modules report of the work they do for a project, in the transaction of that work. Work beyond a limit of the project is refused.

import type { Trx } from '../engines/metadata-db/dialects.ts'

export interface LoadUsage {
  readonly projectId: number
  /** Of the run that loads; null outside of runs. */
  readonly runId: string | null
  readonly rows: number
  /** Bytes of CSV. */
  readonly bytes: number
  /** How much larger the table has become; negative when it shrinks. */
  readonly grownBytes: number
}

export interface UsagePort {
  /** To be called when the table has its new size. */
  loaded(trx: Trx, load: LoadUsage): Promise<void>
  exported(trx: Trx, projectId: number, runId: string | null, bytes: number): Promise<void>
  /** A file of this announced or known size is about to be in the project. */
  fileAdded(trx: Trx, projectId: number, bytes: number): Promise<void>
}
