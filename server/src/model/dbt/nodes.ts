// What a run of dbt did, as far as several modules share it.

/** A node of the run: a model, seed, snapshot or test. */
export interface DbtNode {
  readonly id: string
  readonly name: string
  readonly kind: string
  readonly materialized: string | null
  /** As dbt has it: success, error, skipped, pass, fail, warn. */
  readonly status: string
  readonly startMs: number | null
  readonly durationMs: number | null
  /** As the database reports them; null where it does not. */
  readonly rows: number | null
  /** Rows that failed a test. */
  readonly failures: number | null
  readonly message: string | null
  /** The table of the project that it is stored as. */
  readonly tableId: string | null
}

/** The result of a test of dbt, for the list of data tests. */
export interface DbtTestResult {
  readonly tableId: string
  readonly id: string
  readonly name: string
  /** not_null, unique ...; `sql` for a test that is a query. */
  readonly check: string
  readonly column: string | null
  readonly severity: 'warn' | 'stop'
  readonly status: 'passed' | 'failed' | 'error'
  readonly failures: number | null
  readonly message: string | null
}
