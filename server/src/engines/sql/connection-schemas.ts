// Schemas in the database of a workspace with the temporary tables of one connection each. No client can write their names by accident.

const PREFIX = 'pg_temp of connection '

export const connectionSchema = (connection: number): string => `${PREFIX}${connection}`

/** As DuckDB compares names, in any case of their letters. */
export const isConnectionSchema = (schema: string): boolean => schema.toLowerCase().startsWith(PREFIX)

/** A condition of SQL on the name of a schema. */
export const isNoConnectionSchema = (column: string): string => `NOT starts_with(${column}, '${PREFIX}')`

export const CONNECTION_SCHEMAS = `SELECT schema_name FROM duckdb_schemas() WHERE database_name = 'workspace' AND starts_with(schema_name, '${PREFIX}')`
