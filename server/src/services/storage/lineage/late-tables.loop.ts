// Looks for tables that became late, for all readers at once: one indexed question every few seconds.

import { repeat } from '../../../kit/repeat.ts'

export interface LateTablesLoopDeps {
  readonly tellLate: () => Promise<number>
  readonly onError: (error: unknown) => void
}

const EVERY_MS = 10_000

export const createLateTablesLoop = ({ tellLate, onError }: LateTablesLoopDeps) =>
  repeat({ everyMs: EVERY_MS, work: tellLate, onError })
