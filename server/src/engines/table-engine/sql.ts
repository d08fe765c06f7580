// SQL text for DuckDB. COPY takes no bound parameters, so values become literals here and nowhere else.

import { doubleQuoted } from '../../kit/text/double-quoted.ts'
import type { BaseType, Column } from './snapshot.ts'

/** A NUL would end the statement for the parser; no value of a table has one, but a filter may contain it. */
export const literal = (text: string): string => {
  const quoted = `'${text.replaceAll("'", "''")}'`
  return quoted.includes('\0') ? `(${quoted.replaceAll('\0', "' || chr(0) || '")})` : quoted
}
export const identifier = doubleQuoted

/** Columns are called by field id in every query: user names never meet SQL scoping, case folding or `file_row_number`. */
export const fieldName = (fieldId: number): string => `c${fieldId}`

/** What has to be equal for a value to be the same: 0 and -0 are equal, and are not the same. */
export const sameness = ({ type, fieldId }: Column, alias: string): string[] => {
  const value = `${alias}.${fieldName(fieldId)}`
  return type === 'FLOAT' ? [value, `signbit(${value})`] : [value]
}

export const list = (items: readonly string[]): string => `[${items.join(', ')}]`
export const paths = (files: readonly string[]): string => list(files.map(literal))
export const timestamp = (epochMs: number): string => `epoch_ms(${Math.trunc(epochMs)})`

const DEFAULT_NUMERIC = '38,9'

/** The DuckDB (and Parquet) type a base type is kept in. */
export function sqlType(column: Pick<Column, 'type' | 'length'>): string {
  const types: Record<BaseType, string> = {
    STRING: 'VARCHAR',
    INTEGER: 'BIGINT',
    NUMERIC: `DECIMAL(${numericLength(column.length)})`,
    FLOAT: 'DOUBLE',
    BOOLEAN: 'BOOLEAN',
    DATE: 'DATE',
    TIMESTAMP: 'TIMESTAMP',
  }
  return types[column.type]
}

/** `precision,scale` as the files have it. */
export function numericLength(length: string | undefined): string {
  const match = /^(\d{1,2})(?:\s*,\s*(\d{1,2}))?$/.exec(length ?? '')
  if (!match) return DEFAULT_NUMERIC
  const precision = Math.min(38, Math.max(1, Number(match[1])))
  return `${precision},${Math.min(precision, Number(match[2] ?? 0))}`
}

/** `10:00:00 +0000` as DuckDB reads it: `10:00:00+00:00`. */
const withColonInOffset = (text: string): string =>
  `regexp_replace(${text}, '(:[0-9.]+)\\s*([+-][0-9]{2})([0-9]{2})\\s*$', '\\1\\2:\\3')`

/**
 * Text as a value of the column's type, or null where it is none. Stricter than a cast: 1.5 is not an INTEGER, `yes` not a DATE. What DuckDB reads
 * slowly has a fast way for the usual spellings first; `sql.test.ts` compares it with the definition.
 */
export function tryConvert(column: Pick<Column, 'type' | 'length'>, text: string): string {
  switch (column.type) {
    case 'STRING':
      return column.length === undefined ? text : `CASE WHEN length(${text}) <= ${Number(column.length)} THEN ${text} END`
    case 'INTEGER':
      return `CASE WHEN regexp_full_match(${text}, '\\s*[+-]?[0-9]+\\s*') THEN TRY_CAST(${text} AS BIGINT) END`
    case 'BOOLEAN':
      return `CASE ${text} ${USUAL_BOOLEANS} ELSE CASE lower(trim(${text})) ${BOOLEANS} END END`
    case 'DATE':
      return `CASE WHEN ${startsWithYear(text)} THEN TRY_CAST(${text} AS DATE) END`
    case 'TIMESTAMP':
      return `CASE WHEN ${startsWithYear(text)} THEN coalesce(${withoutOffset(text)}, CASE WHEN NOT ${nearLimitInZone(text)} THEN ${withOffset(text)} END) END`
    case 'NUMERIC':
      return decimal(column, text)
    default:
      return `TRY_CAST(${text} AS ${sqlType(column)})`
  }
}

const cases = (words: readonly string[], value: boolean): string =>
  words.map((word) => `WHEN ${literal(word)} THEN ${value}`).join(' ')
/** PostgreSQL writes single letters. */
const USUAL_BOOLEANS = `${cases(['true', 't'], true)} ${cases(['false', 'f'], false)}`
const BOOLEANS = `${cases(['true', 't', '1', 'yes', 'y'], true)} ${cases(['false', 'f', '0', 'no', 'n'], false)}`

/**
 * DuckDB also reads words such as `infinity` and `epoch`; a date starts with its year, in one to six digits. If the first character is a digit
 * and the fifth a dash, DuckDB reads no date that starts otherwise.
 */
const startsWithYear = (text: string): string =>
  `(${text} >= '0' AND ${text} < ':' AND ${text} LIKE '____-%' OR regexp_matches(${text}, '^\\s*[0-9]{1,6}-'))`

/**
 * Null where an offset may follow the time, which this cast would ignore, or the name of a zone. It also keeps times apart from those zones: DuckDB
 * reads a time without an offset in the zone that the row before it named.
 */
const withoutOffset = (text: string): string =>
  `CASE WHEN NOT contains(${text}, '+') AND NOT contains(substring(${text}, 9), '-') OR regexp_full_match(${text}, '${ONLY_DATE_DASHES}') THEN TRY_CAST(${text} AS TIMESTAMP) END`

/** Also after spaces, and with years of more digits. */
const ONLY_DATE_DASHES = '[^+-]*-[^+-]*-[^+-]*'

/** Read with its offset, kept in UTC. */
const withOffset = (text: string): string =>
  `CAST(coalesce(TRY_CAST(${text} AS TIMESTAMPTZ), TRY_CAST(${withColonInOffset(text)} AS TIMESTAMPTZ)) AS TIMESTAMP)`

/**
 * A time with the name of a zone in the first or last year that a timestamp can have. In its last hours, which differ by zone, DuckDB
 * fails instead of giving null, and the load of all rows with it.
 */
const nearLimitInZone = (text: string): string =>
  `((contains(${text}, '294247-') OR contains(${text}, '290309-')) AND regexp_matches(${text}, '^\\s*(294247|290309)-.*[A-Za-z]{2}'))`

const FAST_PRECISION = 18

/** DuckDB takes a hundred times as long for more than 18 digits, which few values have. With an exponent, it rounds them differently. */
function decimal(column: Pick<Column, 'type' | 'length'>, text: string): string {
  const [precision, scale] = numericLength(column.length).split(',').map(Number) as [number, number] // as numericLength writes it
  const whole = `TRY_CAST(${text} AS ${sqlType(column)})`
  if (precision <= FAST_PRECISION || scale >= FAST_PRECISION) return whole
  const short = `CASE WHEN NOT contains(${text}, 'e') AND NOT contains(${text}, 'E') THEN TRY_CAST(${text} AS DECIMAL(${FAST_PRECISION},${scale})) END`
  return `coalesce(CAST(${short} AS ${sqlType(column)}), ${whole})`
}
