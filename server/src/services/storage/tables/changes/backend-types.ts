// Names, default lengths and defaults of types as the backend that a project reports would return them (spec storage 2.2). Only what is
// reported differs: the engine stores the same base types for every name.

import type { BaseType } from '../../../../engines/table-engine/snapshot.ts'
import { PlatformError } from '../../../../kit/errors.ts'

/** A type as a request writes it, and the base type behind it. */
export interface WrittenType {
  readonly native: string
  readonly base: BaseType
  readonly length: string | undefined
  /** Whether the request names a native type, not a base type only. */
  readonly isNative: boolean
}

/** A type as metadata and definitions report it. */
export interface ReportedType {
  readonly native: string
  readonly base: BaseType
  readonly length: string | undefined
}

/** `name length`; without a length the type has none unless the request sets one. */
type Names = Readonly<Record<string, string>>

const SNOWFLAKE: Names = {
  ...sameFor('VARCHAR 16777216', 'STRING TEXT VARCHAR NVARCHAR NVARCHAR2 CLOB UUID JSON'),
  ...sameFor('VARCHAR 1', 'CHAR CHARACTER NCHAR'),
  ...sameFor('NUMBER 38,0', 'INT INTEGER INT64 BIGINT SMALLINT TINYINT BYTEINT NUMBER DECIMAL DEC NUMERIC BIGNUMERIC'),
  ...sameFor('FLOAT', 'FLOAT DOUBLE REAL FLOAT4 FLOAT8 FLOAT64'),
  'DOUBLE PRECISION': 'FLOAT',
  ...sameFor('BOOLEAN', 'BOOLEAN BOOL BIT'),
  ...sameFor('TIMESTAMP_NTZ 9', 'TIMESTAMP DATETIME TIMESTAMP_NTZ'),
  ...sameFor('TIMESTAMP_TZ 9', 'TIMESTAMP_TZ TIMESTAMPTZ'),
  TIMESTAMP_LTZ: 'TIMESTAMP_LTZ 9',
  TIME: 'TIME 9',
  ...sameFor('BINARY 8388608', 'BINARY VARBINARY BYTES'),
}
/** Of columns with a base type only. */
const SNOWFLAKE_BASE: Names = { NUMERIC: 'NUMBER 38,9', TIMESTAMP: 'TIMESTAMP_LTZ 9' }

const BIGQUERY: Names = {
  ...sameFor('INTEGER', 'INT INTEGER INT64 BIGINT SMALLINT TINYINT BYTEINT'),
  ...sameFor('FLOAT', 'FLOAT DOUBLE REAL FLOAT4 FLOAT8 FLOAT64'),
  'DOUBLE PRECISION': 'FLOAT',
  ...sameFor('BOOLEAN', 'BOOLEAN BOOL BIT'),
  ...sameFor('NUMERIC', 'NUMERIC NUMBER DECIMAL DEC'),
  ...sameFor('STRING', 'STRING TEXT VARCHAR NVARCHAR NVARCHAR2 CLOB CHAR CHARACTER NCHAR UUID'),
  ...sameFor('BYTES', 'BYTES BINARY VARBINARY'),
  ...sameFor('TIMESTAMP', 'TIMESTAMP TIMESTAMP_TZ TIMESTAMP_LTZ TIMESTAMPTZ'),
  TIMESTAMP_NTZ: 'DATETIME',
}

/** As the backend reports it; as it was written where the project reports none of its own. */
export function reportedType(backend: string | undefined, written: WrittenType): ReportedType {
  const { native, base, length, isNative } = written
  if (backend === 'bigquery') return { native: named(BIGQUERY, native).name, base, length }
  if (backend !== 'snowflake') return { native, base, length }
  const type = named({ ...SNOWFLAKE, ...(!isNative && SNOWFLAKE_BASE) }, native)
  if (type.name === 'FLOAT') return { native: 'FLOAT', base, length: undefined }
  if (type.name !== 'NUMBER') return { native: type.name, base, length: length ?? type.length }
  // Snowflake keeps whole numbers as numbers without digits behind the point.
  return { native: 'NUMBER', base: 'NUMERIC', length: isWhole(length) ? `${length},0` : (length ?? type.length) }
}

/** The length that the engine keeps; snowflake's numbers have no digits behind the point unless the request has them. */
export const storedLength = (backend: string | undefined, { base, length, isNative }: WrittenType): string | undefined =>
  length ?? (backend === 'snowflake' && base === 'NUMERIC' && isNative ? '38,0' : undefined)

/** Defaults of both backends are SQL: a text is quoted. */
export function storedDefault(backend: string | undefined, fallback: string | undefined): string | undefined {
  if (backend !== 'snowflake' && backend !== 'bigquery') return fallback
  const quoted = /^'((?:[^']|'')*)'$/.exec(fallback ?? '')?.[1]
  return quoted === undefined ? fallback : quoted.replaceAll("''", "'")
}

function named(names: Names, native: string): { readonly name: string; readonly length: string | undefined } {
  const [name = native, length] = (Object.hasOwn(names, native) ? names[native] : native)?.split(' ') ?? []
  return { name, length }
}

const isWhole = (length: string | undefined): boolean => /^\s*\d+\s*$/.test(length ?? '')

function sameFor(reported: string, natives: string): Names {
  return Object.fromEntries(natives.split(' ').map((native) => [native, reported]))
}

const SNOWFLAKE_VALUES: Readonly<Record<string, string>> = { BOOLEAN: 'Boolean value', DATE: 'Date', TIMESTAMP: 'Timestamp' }
const BIGQUERY_TYPES: Readonly<Record<string, string>> = { INTEGER: 'INT64', FLOAT: 'DOUBLE', BOOLEAN: 'BOOL' }

/** What the backend would report for a value that its column does not take, before the place of the value. */
function valueProblem(backend: string, { value, type = '', column }: { [name: string]: string }): string {
  const base = type.replace(/\(.*/, '')
  if (value === undefined)
    return backend === 'snowflake' ? 'NULL result in a non-nullable column' : `Required field ${column} cannot be null`
  if (backend !== 'snowflake') return `Could not parse '${value}' as ${BIGQUERY_TYPES[base] ?? base} for field ${column}`
  if (base === 'STRING') return `String '${value}' is too long and would be truncated`
  if (SNOWFLAKE_VALUES[base]) return `${SNOWFLAKE_VALUES[base]} '${value}' is not recognized`
  return /^\s*[+-]?\d+(\.\d*)?\s*$/.test(value)
    ? `Numeric value '${value}' is out of range`
    : `Numeric value '${value}' is not recognized`
}

/** The error of a load in the words of the backend, which clients of that backend compare; the place of the value follows them. */
export function errorOfBackend(backend: string | undefined, error: unknown): unknown {
  const isOfValue =
    error instanceof PlatformError && ['storage.tables.invalidValue', 'storage.tables.nullValue'].includes(error.code)
  if (!isOfValue || (backend !== 'snowflake' && backend !== 'bigquery')) return error
  const shown = Object.fromEntries(Object.entries(error.params ?? {}).map(([name, value]) => [name, String(value)]))
  const place = `Row ${shown.row} of ${shown.file}, column "${shown.column}": correct the value, or change the column.`
  return new PlatformError(error.code, error.details, {
    text: `Load error: ${valueProblem(backend, shown)}. ${place}`,
    params: error.params ?? {},
    cause: error,
  })
}
