// How the rows of a job went.

import type { Job } from '../../../client/src/operations.ts'

export interface RowResult {
  readonly rowId: string
  readonly status: string
  readonly endTime: string | null
  readonly error: string | null
  readonly tables?: readonly { readonly id: string }[]
}

export const rowsOf = (job: Job): readonly RowResult[] => (job.result as { readonly rows?: readonly RowResult[] }).rows ?? []
