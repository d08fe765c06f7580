// What a rehearsal found.

import type { Comparison } from './compare.ts'
import type { Place } from './plan.ts'

export interface Found {
  readonly steps: readonly (Place & { readonly jobId: string; readonly status: string; readonly error: string | null })[]
  readonly tables: readonly ({ readonly id: string } & Comparison)[]
  /** Tables beyond those that were compared. */
  readonly tablesLeftOut: number
}
