// Types of DuckDB in the words of PostgreSQL, and values of a client as literals of DuckDB.

import { ARRAY_OF, arrayTypeOf, bytesOf, elementsOf, OID } from '../../../engines/pg-wire/values.ts'
import { type WireColumn, WireError } from '../../../engines/pg-wire/wire-session.ts'
import type { SqlColumn } from '../../../engines/sql/sql-engine.ts'
import { defined } from '../../../kit/defined.ts'

interface PgType {
  readonly oid: number
  /** As a definition of a table names it. */
  readonly name: string
  readonly modifier?: number
}

const TYPES: Readonly<Record<string, PgType>> = {
  BOOLEAN: { oid: OID.bool, name: 'boolean' },
  TINYINT: { oid: OID.int2, name: 'smallint' },
  UTINYINT: { oid: OID.int2, name: 'smallint' },
  SMALLINT: { oid: OID.int2, name: 'smallint' },
  USMALLINT: { oid: OID.int4, name: 'integer' },
  INTEGER: { oid: OID.int4, name: 'integer' },
  UINTEGER: { oid: OID.int8, name: 'bigint' },
  BIGINT: { oid: OID.int8, name: 'bigint' },
  UBIGINT: { oid: OID.numeric, name: 'numeric' },
  HUGEINT: { oid: OID.numeric, name: 'numeric' },
  UHUGEINT: { oid: OID.numeric, name: 'numeric' },
  BIGNUM: { oid: OID.numeric, name: 'numeric' },
  FLOAT: { oid: OID.float4, name: 'real' },
  DOUBLE: { oid: OID.float8, name: 'double precision' },
  VARCHAR: { oid: OID.text, name: 'text' },
  JSON: { oid: OID.json, name: 'json' },
  BLOB: { oid: OID.bytea, name: 'bytea' },
  UUID: { oid: OID.uuid, name: 'uuid' },
  DATE: { oid: OID.date, name: 'date' },
  TIME: { oid: OID.time, name: 'time' },
  'TIME WITH TIME ZONE': { oid: OID.timetz, name: 'timetz' },
  TIMESTAMP: { oid: OID.timestamp, name: 'timestamp' },
  TIMESTAMP_S: { oid: OID.timestamp, name: 'timestamp' },
  TIMESTAMP_MS: { oid: OID.timestamp, name: 'timestamp' },
  TIMESTAMP_NS: { oid: OID.timestamp, name: 'timestamp' },
  'TIMESTAMP WITH TIME ZONE': { oid: OID.timestamptz, name: 'timestamptz' },
  INTERVAL: { oid: OID.interval, name: 'interval' },
}
const TEXT: PgType = { oid: OID.text, name: 'text' }
const JSON_TEXT: PgType = { oid: OID.json, name: 'json' }

/** Lists of plain values are arrays; other lists, structs and maps are JSON; other types are text. */
export function pgType(type: string): PgType {
  const element = /^(.*[^\]])\[\]$/.exec(type)?.[1]
  const array = element === undefined || !isPlain(element) ? undefined : arrayOf(pgType(element))
  if (array) return array
  const [, precision, scale] = /^DECIMAL\((\d+),(\d+)\)$/.exec(type) ?? []
  if (precision !== undefined)
    return {
      oid: OID.numeric,
      name: `numeric(${precision},${scale})`,
      modifier: ((Number(precision) << 16) | Number(scale)) + 4,
    }
  return TYPES[type] ?? (/[\])]$/.test(type) && !type.startsWith('ENUM') ? JSON_TEXT : TEXT)
}

const isPlain = (type: string): boolean => Object.hasOwn(TYPES, type) || type.startsWith('DECIMAL(')

function arrayOf({ oid, name, modifier }: PgType): PgType | undefined {
  const array = arrayTypeOf(oid)
  return array === undefined ? undefined : { oid: array, name: `${name}[]`, ...defined({ modifier }) }
}

export const wireColumn = ({ name, type }: SqlColumn): WireColumn => {
  const { oid, modifier = -1 } = pgType(type)
  return { name, oid, modifier }
}

/** Types that a client may give a parameter, as DuckDB names them; the others are literals without a type, as PostgreSQL has them. */
const PARAMETER_TYPES: Readonly<Record<number, string>> = {
  [OID.bool]: 'BOOLEAN',
  [OID.int2]: 'SMALLINT',
  [OID.int4]: 'INTEGER',
  [OID.int8]: 'BIGINT',
  [OID.float4]: 'FLOAT',
  [OID.float8]: 'DOUBLE',
  [OID.date]: 'DATE',
  [OID.time]: 'TIME',
  [OID.timestamp]: 'TIMESTAMP',
  [OID.timestamptz]: 'TIMESTAMPTZ',
  [OID.interval]: 'INTERVAL',
  [OID.uuid]: 'UUID',
  [OID.bytea]: 'BLOB',
}

/** `isList`: its place takes an array, whether or not the client declares it. */
export function literalOf(value: string | null, oid: number, isList = false): string {
  if (value === null) return nullOf(oid)
  const element = ARRAY_OF[oid] ?? (isList && oid === 0 ? OID.text : undefined)
  if (element !== undefined) return listOf(value, element)
  if (value.includes('\0')) throw new WireError('22021', 'A parameter has a NUL, which no text may have.')
  const quoted = `'${value.replaceAll("'", "''")}'`
  if (oid === OID.numeric) return `CAST(${quoted} AS ${decimalFor(value)})`
  if (oid === OID.bytea) return byteaLiteral(value)
  const type = PARAMETER_TYPES[oid]
  return type ? `CAST(${quoted} AS ${type})` : quoted
}

/** DuckDB takes a NULL without a type for an integer. */
function nullOf(oid: number): string {
  const type = oid === OID.text || oid === OID.varchar ? 'VARCHAR' : PARAMETER_TYPES[oid]
  return type ? `CAST(NULL AS ${type})` : 'NULL'
}

/** Values of an array of this type, one by one. */
export const literalsOf = (values: readonly (string | null)[], oid: number): string[] =>
  values.map((one) => literalOf(one, ARRAY_OF[oid] ?? 0))

/** DuckDB reads `\x` in another way: for one byte. */
export function byteaLiteral(text: string): string {
  const bytes = bytesOf(text)
  if (!bytes)
    throw new WireError('22P02', `"${text.slice(0, 60)}" is not valid for the type bytea. Write the bytes in hex, as \\x6162.`)
  return `from_hex('${bytes.toString('hex')}')`
}

function listOf(value: string, element: number): string {
  const elements = elementsOf(value)
  if (!elements) throw new WireError('22P02', `"${value.slice(0, 60)}" is not an array of one dimension, such as {1,2}.`)
  const list = `[${elements.map((one) => (one === null ? 'NULL' : literalOf(one, element))).join(', ')}]`
  return elements.length > 0 ? list : `CAST([] AS ${PARAMETER_TYPES[element] ?? 'VARCHAR'}[])`
}

/** A decimal that holds the number as it is written. */
function decimalFor(text: string): string {
  const [, whole = '', fraction = ''] = /^[+-]?(\d*)\.?(\d*)$/.exec(text.trim()) ?? []
  const digits = whole.length + fraction.length
  return digits > 0 && digits <= 38 ? `DECIMAL(${digits},${fraction.length})` : 'DOUBLE'
}
