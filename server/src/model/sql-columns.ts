// Columns of a table on their way into a database: names, types and what empty values mean. Shared by loads of workspaces and scripts.

import { doubleQuoted } from '../kit/text/double-quoted.ts'

export interface SqlColumnMapping {
  readonly source: string
  readonly destination: string
  /** DuckDB's, with its length; absent: as it is. */
  readonly type?: string
  readonly isNullable: boolean
  readonly emptyIsNull: boolean
}

/** Names of types that other backends have and DuckDB does not. */
const TYPES: Readonly<Record<string, string>> = {
  NUMBER: 'DECIMAL',
  STRING: 'VARCHAR',
  TIMESTAMP_NTZ: 'TIMESTAMP',
  TIMESTAMP_TZ: 'TIMESTAMPTZ',
  TIMESTAMP_LTZ: 'TIMESTAMPTZ',
  FLOAT64: 'DOUBLE',
  INT64: 'BIGINT',
  VARIANT: 'JSON',
}

/** Types of one word that DuckDB has, as duckdb_types() lists them. */
const KNOWN = new Set(
  `BIGINT BIGNUM BINARY BIT BITSTRING BLOB BOOL BOOLEAN BPCHAR BYTEA CHAR DATE DATETIME DEC DECIMAL DOUBLE FLOAT FLOAT4 FLOAT8
  GEOMETRY GUID HUGEINT INT INT1 INT128 INT16 INT2 INT32 INT4 INT64 INT8 INTEGER INTEGRAL INTERVAL JSON LOGICAL LONG NUMERIC
  NVARCHAR OID REAL SHORT SIGNED SMALLINT STRING TEXT TIME TIME WITH TIME ZONE TIMESTAMP TIMESTAMP WITH TIME ZONE TIMESTAMPTZ
  TIMESTAMP_MS TIMESTAMP_NS TIMESTAMP_S TIMESTAMP_US TIMETZ TIME_NS TINYINT UBIGINT UHUGEINT UINT128 UINT16 UINT32 UINT64
  UINT8 UINTEGER USMALLINT UTINYINT UUID VARBINARY VARCHAR VARIANT VARINT`.split(/\s+/),
)
/** And of several words. */
const KNOWN_LONG = /^(DOUBLE PRECISION|CHARACTER VARYING|TIME(STAMP)? WITH(OUT)? TIME ZONE)$/

/** The type as SQL writes it, or what is wrong with it. */
export function sqlTypeOf(type: string, length: string): { readonly type: string } | { readonly problem: string } {
  const name = type.toUpperCase()
  if (!/^[A-Z][A-Z0-9_]*( [A-Z]+)*$/.test(name)) return { problem: `"${name.slice(0, 40)}" is not the name of a type.` }
  const size = length.replaceAll(' ', '')
  if (size !== '' && !/^\d{1,8}(,\d{1,3})?$/.test(size)) return { problem: `"${size.slice(0, 40)}" is not the length of a type.` }
  const known = TYPES[name] ?? name
  if (!KNOWN.has(known) && !KNOWN_LONG.test(known)) return { problem: `The type "${name.slice(0, 40)}" does not exist here.` }
  // Of these DuckDB takes a length; of others (VARCHAR, INTEGER) it would have no effect.
  return { type: size !== '' && (known === 'DECIMAL' || known === 'NUMERIC') ? `${known}(${size})` : known }
}

export const identifier = doubleQuoted

/** `CAST("price" AS DECIMAL(10,2)) AS "cost"` */
export function sqlColumn({ source, destination, type, emptyIsNull }: SqlColumnMapping): string {
  const value = emptyIsNull ? `NULLIF(CAST(${identifier(source)} AS VARCHAR), '')` : identifier(source)
  return `${type === undefined ? value : `CAST(${value} AS ${type})`} AS ${identifier(destination)}`
}
