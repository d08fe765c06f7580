// The name of the storage backend. It is DuckDB over Parquet; a project may report another name to clients that support only some
// (`millrace project set`). The name changes nothing else: SQL stays DuckDB's (spec storage 2.2).

export const BACKEND = 'duckdb'

/** The names that clients expect. */
export const BACKEND_NAMES = [BACKEND, 'snowflake', 'bigquery'] as const

export type BackendName = (typeof BACKEND_NAMES)[number]
