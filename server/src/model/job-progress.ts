// How far a running job is, and what its rows remembered.

import type { Trx } from '../engines/metadata-db/dialects.ts'

/** One part of the run of a row, and how much of it is done where that is known. */
export interface ProgressOfRow {
  readonly phase: 'input' | 'program' | 'load'
  /** Of a program. */
  readonly component?: string
  readonly done?: number
  readonly total?: number
  readonly unit?: 'bytes' | 'statements'
}

export interface JobProgress extends ProgressOfRow {
  readonly rowsDone: number
  readonly rowsTotal: number
  /** Null: the configuration itself. */
  readonly rowId: string | null
  /** The newest rows that have started, in order. */
  readonly rows?: readonly StartedRow[]
}

export interface StartedRow {
  readonly rowId: string | null
  readonly status: string
  readonly phases: readonly {
    readonly name: string
    readonly startTime: string
    readonly endTime: string | null
    readonly startMs: number
    readonly durationMs: number | null
  }[]
}

/** What a configuration or a row remembered before a run and after it, as stored: `#` values are encrypted. */
export interface StateOfRun {
  readonly projectId: number
  readonly jobId: number
  readonly rowId: string | null
  readonly before: string
  /** Null: the run saved none. */
  readonly after: string | null
}

/** In the transaction that saves the state. */
export type RecordState = (trx: Trx, state: StateOfRun) => Promise<void>
