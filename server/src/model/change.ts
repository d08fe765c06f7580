// A change of an object, as the live stream of a project shows it: ids, the new state and a version, never content.

import type { Trx } from '../engines/metadata-db/dialects.ts'

export const CHANGE_KINDS = ['job', 'table', 'configuration', 'schedule', 'file', 'flow'] as const
export type ChangeKind = (typeof CHANGE_KINDS)[number]

export interface NewChange {
  readonly projectId: number
  /** `token`: not shown; it ends the streams of that token. */
  readonly kind: ChangeKind | 'token'
  readonly objectId: string
  /** `created`, `changed`, `deleted`; of a job or a flow its status; `fired` of a schedule. */
  readonly state: string
  readonly version: number | null
  readonly branchId: number | null
  readonly componentId: string | null
  /** Whose file or job it is. */
  readonly tokenId: number | null
}

/** In the transaction of the changes themselves. */
export type RecordChange = (trx: Trx, changes: readonly NewChange[]) => Promise<void>
