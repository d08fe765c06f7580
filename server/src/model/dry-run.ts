// Dry runs: a change is made as it would be made, with all its checks, in a transaction that is undone.

import type { Trx } from '../engines/metadata-db/dialects.ts'
import type { Scope } from './scope.ts'
import type { NewStorageJob, Requester } from './storage-job.ts'

/** A place in a configuration or a row that names something. */
export interface NamingConfiguration {
  readonly componentId: string
  readonly configurationId: string
  readonly rowId: string | null
  readonly name: string
}

export interface DryRunAnswer {
  readonly isDryRun: true
  readonly operationName: string
  readonly tableId: string | null
  /** What the change would answer or its job would result in. */
  readonly results: unknown
  /** Of all tables it works on; null where rows have nothing to do with it. */
  readonly rows: { readonly before: number; readonly after: number } | null
  /** Tables it works on, and aliases that show them. */
  readonly tables: readonly string[]
  /** Configurations that name what would change. */
  readonly configurations: readonly NamingConfiguration[]
  /** Runs that would follow, or would find it changed. */
  readonly nextRuns: readonly { readonly configurationId: string; readonly executionTime: string }[]
}

/** For routes whose change is a storage job. */
export type DryRunJob = (requester: Requester & Scope, job: NewStorageJob, signal: AbortSignal) => Promise<DryRunAnswer>

type InTransaction = <T>(work: (trx: Trx) => Promise<T>) => Promise<T>

/** Transactions that never commit: they answer what their work answered. */
export const undone =
  (inTransaction: InTransaction): InTransaction =>
  async <T>(work: (trx: Trx) => Promise<T>): Promise<T> => {
    let done: { readonly value: T } | undefined
    const undo = new Error('a dry run ends here')
    await inTransaction(async (trx) => {
      done = { value: await work(trx) }
      throw undo
    }).catch((error: unknown) => {
      if (error !== undo) throw error
    })
    return done!.value // set before the error that ends the transaction
  }
