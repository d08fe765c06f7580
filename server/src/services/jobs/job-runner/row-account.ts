// What one row of a job has done, and when: kept while it runs, so that a failed row shows how far it got.

import type { Mask } from '../../../engines/runner/mask.ts'
import { type Clock, formatTimestamp } from '../../../kit/clock.ts'
import { defined } from '../../../kit/defined.ts'
import type { StartedRow } from '../../../model/job-progress.ts'

export interface PhaseFacts {
  /** Of a program. */
  readonly component?: string
  readonly tables?: number
  readonly rows?: number
  readonly bytes?: number
  /** The most that was seen, five times a second: undefined for what ended before the first look. */
  readonly peakMemoryBytes?: number | undefined
  readonly cpuSeconds?: number | undefined
}

/** One of the parts of a run; `startedAt` and `endedAt` in milliseconds. */
interface Phase {
  readonly name: 'input' | 'program' | 'load'
  readonly startedAt: number
  endedAt: number | undefined
  facts: PhaseFacts
}

export interface RowAccount {
  /** Null: the configuration itself. */
  readonly rowId: string | null
  readonly startedAt: number
  endedAt: number | undefined
  status: 'processing' | 'success' | 'error' | 'terminated'
  tables: readonly WrittenTable[]
  error: string | undefined
  readonly phases: Phase[]
}

interface WrittenTable {
  readonly id: string
  readonly importedRowsCount: number
}

export const openRowAccount = (clock: Clock, rowId: string | null): RowAccount => ({
  rowId,
  startedAt: clock.now().getTime(),
  endedAt: undefined,
  status: 'processing',
  tables: [],
  error: undefined,
  phases: [],
})

/** Does the work as a phase of the row; `factsOf` returns its details when it is done. */
export async function inPhase<T>(
  { account, clock }: { readonly account: RowAccount; readonly clock: Clock },
  name: Phase['name'],
  work: () => Promise<T>,
  factsOf: (result: T) => PhaseFacts,
): Promise<T> {
  const phase: Phase = { name, startedAt: clock.now().getTime(), endedAt: undefined, facts: {} }
  account.phases.push(phase)
  try {
    const result = await work()
    phase.facts = factsOf(result)
    return result
  } finally {
    phase.endedAt = clock.now().getTime()
  }
}

export function closeRowAccount(account: RowAccount, clock: Clock, end: Pick<RowAccount, 'status' | 'error'>): void {
  Object.assign(account, end, { endedAt: clock.now().getTime() })
}

/** The account as it will be when its results are published. */
export function publishedAccount(account: RowAccount, clock: Clock, tables: RowAccount['tables']): RowAccount {
  const endedAt = clock.now().getTime()
  const phases = account.phases.map((phase) =>
    phase.endedAt === undefined ? { ...phase, endedAt, facts: loadFacts(tables) } : phase,
  )
  return { ...account, status: 'success', endedAt, tables, phases }
}

export const loadFacts = (tables: readonly (WrittenTable & { readonly bytes?: number })[]): PhaseFacts => ({
  tables: tables.length,
  rows: tables.reduce((sum, { importedRowsCount }) => sum + importedRowsCount, 0),
  bytes: tables.reduce((sum, { bytes = 0 }) => sum + bytes, 0),
})

/** As in `result.rows` (spec platform 2.8). */
export const rowView = (account: RowAccount, mask: Mask) => ({
  rowId: account.rowId,
  status: account.status,
  ...spanOf(account),
  tables: account.tables.map(({ id, importedRowsCount }) => ({ id, importedRowsCount })),
  error: account.error === undefined ? null : mask(account.error),
  phases: account.phases.map((phase) => ({ name: phase.name, ...spanOf(phase), ...defined({ ...phase.facts }) })),
})

/** Enough for a timeline that is read while it grows. */
const MAX_STARTED_ROWS = 20

/** The newest rows of a run that continues. */
export const startedRows = (accounts: readonly RowAccount[]): readonly StartedRow[] =>
  accounts.slice(-MAX_STARTED_ROWS).map(({ rowId, status, phases }) => ({
    rowId,
    status,
    phases: phases.map((phase) => ({ name: phase.name, ...spanOf(phase) })),
  }))

/** `startMs`, in milliseconds since 1970, and `durationMs` are for timelines: times in records are in seconds. */
export const spanOf = ({ startedAt, endedAt }: { readonly startedAt: number; readonly endedAt: number | undefined }) => ({
  startTime: formatTimestamp(new Date(startedAt)),
  endTime: endedAt === undefined ? null : formatTimestamp(new Date(endedAt)),
  startMs: startedAt,
  durationMs: endedAt === undefined ? null : Math.max(0, endedAt - startedAt),
})
