// Whether a statement failed because of the values in a row: they do not fit the type, or break a rule of the table.

const SQLITE_CONSTRAINT = 19
const SQLITE_MISMATCH = 20

/** Values of MySQL that have no SQLSTATE of their own. */
const MYSQL =
  /^(ER_TRUNCATED_WRONG_VALUE|WARN_DATA_TRUNCATED|ER_CONSTRAINT_FAILED|ER_CHECK_CONSTRAINT_VIOLATED|ER_NO_DEFAULT_FOR_FIELD)/

const DUCKDB = /^DUCKDB_(CONVERSION|CONSTRAINT|OUT_OF_RANGE)$/

export function isRowProblem(error: unknown): boolean {
  const { code, sqlState, errcode } = error as {
    readonly code?: unknown
    readonly sqlState?: unknown
    readonly errcode?: unknown
  } // each is looked at
  if (typeof errcode === 'number') return [SQLITE_CONSTRAINT, SQLITE_MISMATCH].includes(errcode & 0xff)
  if (typeof sqlState === 'string' && /^2[23]/.test(sqlState)) return true
  return typeof code === 'string' && (/^2[23]\w{3}$/.test(code) || MYSQL.test(code) || DUCKDB.test(code))
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
