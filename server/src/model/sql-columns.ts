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

/** The type as SQL writes it, or what is wrong with it. */
export function sqlTypeOf(type: string, length: string): { readonly type: string } | { readonly problem: string } {
  const name = type.toUpperCase()
  if (!/^[A-Z][A-Z0-9_]*( [A-Z]+)*$/.test(name)) return { problem: `"${name.slice(0, 40)}" is not the name of a type.` }
  const size = length.replaceAll(' ', '')
  if (size !== '' && !/^\d{1,8}(,\d{1,3})?$/.test(size)) return { problem: `"${size.slice(0, 40)}" is not the length of a type.` }
  const known = TYPES[name] ?? name
  // Of these DuckDB takes a length; of others (VARCHAR, INTEGER) it would have no effect.
  return { type: size !== '' && (known === 'DECIMAL' || known === 'NUMERIC') ? `${known}(${size})` : known }
}

export const identifier = doubleQuoted

/** `CAST("price" AS DECIMAL(10,2)) AS "cost"` */
export function sqlColumn({ source, destination, type, emptyIsNull }: SqlColumnMapping): string {
  const value = emptyIsNull ? `NULLIF(CAST(${identifier(source)} AS VARCHAR), '')` : identifier(source)
  return `${type === undefined ? value : `CAST(${value} AS ${type})`} AS ${identifier(destination)}`
}
