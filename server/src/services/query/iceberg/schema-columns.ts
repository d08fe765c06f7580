// Columns of a table from a schema of Iceberg: the types that tables have, and nothing that is nested.

import { type BaseType, type Column, LOAD_TIME_FIELD_ID } from '../../../engines/table-engine/snapshot.ts'
import { PlatformError } from '../../../kit/errors.ts'

const TYPES: Readonly<Record<string, BaseType>> = {
  string: 'STRING',
  long: 'INTEGER',
  double: 'FLOAT',
  boolean: 'BOOLEAN',
  date: 'DATE',
  timestamp: 'TIMESTAMP',
}
/** Types of writers that a table keeps in a wider one. */
const WIDER: Readonly<Record<string, BaseType>> = { ...TYPES, int: 'INTEGER', float: 'FLOAT' }
const DECIMAL = /^decimal\(\s*(\d{1,2})\s*,\s*(\d{1,2})\s*\)$/

/** Field ids as the schema has them. */
export const schemaColumns = (schema: Readonly<Record<string, unknown>>): Column[] => read(schema, TYPES)

/** For a table that is made: ids in the order of the columns, behind the hidden one, and every type that fits into one of a table. */
export const newColumns = (schema: Readonly<Record<string, unknown>>): Column[] =>
  read(schema, WIDER).map((column, i) => ({ ...column, fieldId: LOAD_TIME_FIELD_ID + 1 + i }))

function read({ fields }: Readonly<Record<string, unknown>>, types: Readonly<Record<string, BaseType>>): Column[] {
  if (!Array.isArray(fields) || fields.length === 0) throw refused('the schema has no fields')
  return fields.map((field: Readonly<Record<string, unknown>> | null) => {
    const { id, name, type, required } = field ?? {}
    if (typeof name !== 'string' || !Number.isInteger(id)) throw refused('a field of the schema lacks its name or id')
    return { fieldId: Number(id), name, nullable: required !== true, ...typeOf(name, type, types) }
  })
}

function typeOf(name: string, type: unknown, types: Readonly<Record<string, BaseType>>): Pick<Column, 'type' | 'length'> {
  const text = typeof type === 'string' ? type : 'nested'
  const decimal = DECIMAL.exec(text)
  if (decimal) return { type: 'NUMERIC', length: `${decimal[1]},${decimal[2]}` }
  const base = Object.hasOwn(types, text) ? types[text] : undefined
  if (base) return { type: base }
  const hint = text === 'timestamptz' ? ' Times have no zone here: write timestamp (in Spark timestamp_ntz)' : ''
  const known = `${Object.keys(types).join(', ')} and decimal(p, s)`
  throw refused(
    `the column "${name.slice(0, 100)}" has the type ${text.slice(0, 50)}. Tables have ${known}.${hint}`.replace(/\.$/, ''),
  )
}

const refused = (reason: string): PlatformError => new PlatformError('iceberg.commitRefused', { reason })
