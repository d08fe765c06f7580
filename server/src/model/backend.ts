// The name of what keeps the tables. It is DuckDB over Parquet; a project may report another name to clients that know only some
// (`millrace project set`). The name changes nothing else: SQL stays DuckDB's (spec storage 2.2).

export const BACKEND = 'duckdb'

/** What clients of the kind ask for by name. */
export const BACKEND_NAMES = [BACKEND, 'snowflake', 'bigquery'] as const

export type BackendName = (typeof BACKEND_NAMES)[number]
