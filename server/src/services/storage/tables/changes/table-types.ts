// Typed tables: the types clients write, and the base types of the engine behind them (spec storage 2.5.4).

import { columnNameFrom } from '../../../../../../contract/column-name.ts'
import { fitsType } from '../../../../engines/table-engine/filter-values.ts'
import { BASE_TYPES, type BaseType, type Column, type NewColumn } from '../../../../engines/table-engine/snapshot.ts'
import type { MetadataPair } from '../../../../http/metadata-items.ts'
import { defined } from '../../../../kit/defined.ts'
import { PlatformError } from '../../../../kit/errors.ts'
import { checkColumnName } from '../catalog/table-names.ts'
import { reportedType, storedDefault, storedLength } from './backend-types.ts'

/** A column, and its metadata from the platform. */
export interface TypedColumn {
  readonly column: NewColumn
  readonly metadata: readonly MetadataPair[]
}

/** A column as a request defines it. */
export interface DefinedColumn extends TypedColumn {
  /** Whether the request names a type at all; a table where no column does is untyped. */
  readonly isTyped: boolean
}

const NATIVE: Readonly<Record<string, BaseType>> = {
  ...Object.fromEntries(BASE_TYPES.map((type) => [type, type])),
  VARCHAR: 'STRING',
  CHAR: 'STRING',
  CHARACTER: 'STRING',
  NCHAR: 'STRING',
  NVARCHAR: 'STRING',
  NVARCHAR2: 'STRING',
  TEXT: 'STRING',
  CLOB: 'STRING',
  UUID: 'STRING',
  JSON: 'STRING',
  VARIANT: 'STRING',
  OBJECT: 'STRING',
  ARRAY: 'STRING',
  BINARY: 'STRING',
  VARBINARY: 'STRING',
  BYTES: 'STRING',
  TIME: 'STRING',
  GEOGRAPHY: 'STRING',
  GEOMETRY: 'STRING',
  VECTOR: 'STRING',
  STRUCT: 'STRING',
  RECORD: 'STRING',
  INTERVAL: 'STRING',
  RANGE: 'STRING',
  INT: 'INTEGER',
  INT64: 'INTEGER',
  BIGINT: 'INTEGER',
  SMALLINT: 'INTEGER',
  TINYINT: 'INTEGER',
  BYTEINT: 'INTEGER',
  NUMBER: 'NUMERIC',
  DECIMAL: 'NUMERIC',
  DEC: 'NUMERIC',
  BIGNUMERIC: 'NUMERIC',
  DOUBLE: 'FLOAT',
  'DOUBLE PRECISION': 'FLOAT',
  REAL: 'FLOAT',
  FLOAT4: 'FLOAT',
  FLOAT8: 'FLOAT',
  FLOAT64: 'FLOAT',
  BOOL: 'BOOLEAN',
  BIT: 'BOOLEAN',
  DATETIME: 'TIMESTAMP',
  TIMESTAMP_NTZ: 'TIMESTAMP',
  TIMESTAMP_LTZ: 'TIMESTAMP',
  TIMESTAMP_TZ: 'TIMESTAMP',
  TIMESTAMPTZ: 'TIMESTAMP',
}

/** Types whose length counts characters, and is kept. */
const CHARACTERS = new Set(['VARCHAR', 'CHAR', 'CHARACTER', 'NCHAR', 'NVARCHAR', 'NVARCHAR2', 'TEXT', 'STRING', 'CLOB'])

/** One item of `columns`: `{name, definition: {type, length, nullable, default}, basetype}`. */
export function readColumnDefinition(value: unknown, i: number, primaryKey: readonly string[], backend?: string): DefinedColumn {
  const item = objectOf(value, `columns[${i}]`)
  if (typeof item.name !== 'string') throw refuse(`columns[${i}][name]`, 'This field is missing.')
  const name = columnNameFrom(item.name)
  checkColumnName(name, `column ${i + 1} ("${item.name.slice(0, 60)}")`)
  return { ...readType(name, item, primaryKey.includes(name), backend) }
}

/** `backend`: the one that the project reports, whose names and default lengths are shown. */
export function readType(
  name: string,
  item: Readonly<Record<string, unknown>>,
  isKey: boolean,
  backend?: string | undefined,
): DefinedColumn {
  const definition = isEmpty(item.definition) ? undefined : objectOf(item.definition, `${name}[definition]`)
  const base = isEmpty(item.basetype) ? undefined : baseTypeFrom(name, item.basetype)
  if (!definition && !base) return { column: { name }, isTyped: false, metadata: [] }
  const native =
    definition && !isEmpty(definition.type) ? textOf(`${name}[definition][type]`, definition.type).toUpperCase() : (base ?? '')
  const isNative = native !== base
  const type = Object.hasOwn(NATIVE, native) ? NATIVE[native] : undefined
  if (!type)
    throw refuse(
      `${name}[definition][type]`,
      `"${native.slice(0, 60)}" is not a known type. Use ${BASE_TYPES.join(', ')} or their usual names in SQL.`,
    )
  const written = {
    native,
    base: type,
    length: isEmpty(definition?.length) ? undefined : textOf(`${name}[definition][length]`, definition?.length),
    isNative,
  }
  const length = storedLength(backend, written)
  const nullable = isKey ? false : booleanOf(`${name}[definition][nullable]`, definition?.nullable)
  const fallback = isEmpty(definition?.default) ? undefined : textOf(`${name}[definition][default]`, definition?.default)
  return {
    column: {
      name,
      type,
      nullable,
      ...(length !== undefined && type === 'NUMERIC' && { length: precisionFrom(name, length) }),
      ...(length !== undefined && CHARACTERS.has(native) && { length: charactersFrom(name, length) }),
      ...defined({ default: storedDefault(backend, fallback) }),
    },
    isTyped: true,
    metadata: metadataOf({ ...reportedType(backend, written), nullable, fallback }),
  }
}

/** An existing column, described by its type in the engine: the type as written by the user is not stored with the rows. */
export const describeColumn = (column: Column, backend: string | undefined): TypedColumn => {
  const { type, length, nullable, default: fallback } = column
  const reported = reportedType(backend, { native: type, base: type, length, isNative: false })
  return { column, metadata: metadataOf({ ...reported, nullable, fallback }) }
}

const metadataOf = (said: {
  readonly native: string
  readonly base: BaseType
  readonly nullable: boolean
  readonly length: string | undefined
  readonly fallback: string | undefined
}): readonly MetadataPair[] => [
  { key: 'KBC.datatype.type', value: said.native },
  { key: 'KBC.datatype.nullable', value: said.nullable ? '1' : '' },
  { key: 'KBC.datatype.basetype', value: said.base },
  ...(said.length !== undefined ? [{ key: 'KBC.datatype.length', value: said.length }] : []),
  ...(said.fallback !== undefined ? [{ key: 'KBC.datatype.default', value: said.fallback }] : []),
]

/** What a request changes of a column; a default of null takes it away. */
export interface ColumnChange {
  readonly column: string
  /** What it is called from then on. */
  readonly name?: string
  readonly length?: string
  readonly nullable?: boolean
  readonly default?: string | null
  readonly description?: string
}

/** `{length, nullable, default, description}`, the first three also inside `definition`; `field` is what messages call it. */
export function readColumnChange(column: string, value: unknown, field: string, name?: string): ColumnChange {
  const item = objectOf(value, field)
  const definition = isEmpty(item.definition) ? {} : objectOf(item.definition, `${field}[definition]`)
  const { length, nullable, default: fallback, description } = { ...item, ...definition }
  const change = {
    column,
    ...defined({ name }),
    ...(!isEmpty(length) && { length: textOf(`${field}[length]`, length) }),
    ...(nullable !== undefined && nullable !== null && { nullable: booleanOf(`${field}[nullable]`, nullable) }),
    ...(fallback !== undefined && { default: fallback === null ? null : textOf(`${field}[default]`, fallback) }),
    ...(description !== undefined && { description: description === null ? '' : textOf(`${field}[description]`, description) }),
  }
  if (Object.keys(change).length === 1) throw refuse(field, 'Nothing to change: send length, nullable, default or description.')
  return change
}

/** Another type of a column. */
export interface TypeChange {
  readonly column: string
  readonly type: BaseType
  readonly length?: string
  /** Its metadata. */
  readonly metadata: readonly MetadataPair[]
  /** What becomes of values that are not of the type: the change is refused, or they become null. */
  readonly invalidValues: 'refuse' | 'null'
}

/** `{type, length, invalidValues}`. */
export function readTypeChange(
  { name, nullable }: Pick<Column, 'name' | 'nullable'>,
  { type, length, invalidValues = 'refuse' }: Readonly<Record<string, unknown>>,
  backend: string | undefined,
): TypeChange {
  if (isEmpty(type)) throw refuse('type', 'This field is missing.')
  if (invalidValues !== 'refuse' && invalidValues !== 'null')
    throw refuse('invalidValues', 'This value should be "refuse" or "null".')
  const { column, metadata } = readType(name, { definition: { type, length, nullable } }, false, backend)
  const known = { column: name, type: column.type ?? 'STRING', ...defined({ length: column.length }) }
  return { ...known, metadata, invalidValues }
}

export const changesType = ({ length, nullable, default: fallback }: ColumnChange): boolean =>
  length !== undefined || nullable !== undefined || fallback !== undefined

/** The column after the change; nothing may become narrower, because no row is rewritten. */
export function changeColumn(column: Column, change: ColumnChange): Column {
  const { default: before, ...rest } = column
  const fallback = change.default === undefined ? before : (change.default ?? undefined)
  const length = change.length === undefined ? column.length : widened(column, change.length)
  const changed = {
    ...rest,
    nullable: change.nullable ?? column.nullable,
    ...defined({ length, default: fallback }),
  }
  checkDefault(changed)
  return changed
}

const DEFAULT_PRECISION = '38,9'

/** Whether a value of this length takes more than the column does, and every value the column has. */
export function isWider(column: Column, wanted: string): boolean {
  if (column.type === 'STRING') return column.length !== undefined && Number(wanted) > Number(column.length)
  const [before, after] = [precisionOf(column.length), precisionOf(wanted)]
  return column.type === 'NUMERIC' && after.scale === before.scale && after.digits > before.digits
}

/** Whether the column would round numbers of this length. */
export const losesDigits = (column: Column, wanted: string | undefined): boolean =>
  column.type === 'NUMERIC' && wanted !== undefined && precisionOf(wanted).scale > precisionOf(column.length).scale

function precisionOf(length = DEFAULT_PRECISION): { readonly digits: number; readonly scale: number } {
  const [digits = 0, scale = 0] = length.split(',').map(Number)
  return { digits, scale }
}

/** Only numbers and texts have a length; texts without one take any, and stay so. */
function widened(column: Column, wanted: string): string | undefined {
  const { name, type, length = type === 'NUMERIC' ? DEFAULT_PRECISION : undefined } = column
  if (length === undefined) return undefined
  const after = type === 'NUMERIC' ? precisionFrom(name, wanted) : charactersFrom(name, wanted)
  if (after !== length && !isWider(column, after))
    throw refuse(
      `${name}[length]`,
      `"${after}" cannot follow "${length}": ${type === 'NUMERIC' ? 'a number may get more digits, and as many behind the point as before' : 'a text may get more characters'}.`,
    )
  return after
}

/** Before a column gets its default: a default of another type could never be used. */
export function checkDefault({ name, type = 'STRING', default: fallback }: NewColumn): void {
  if (fallback !== undefined && !fitsType(type, fallback))
    throw new PlatformError('storage.tables.invalidDefaultValueForType', { column: name, type, value: fallback.slice(0, 80) })
}

/** The metadata of a column after the change. */
export const changedMetadata = (column: Column, change: ColumnChange): readonly MetadataPair[] => [
  { key: 'KBC.datatype.nullable', value: column.nullable ? '1' : '' },
  ...(change.length !== undefined ? [{ key: 'KBC.datatype.length', value: column.length ?? change.length }] : []),
  ...(column.default !== undefined ? [{ key: 'KBC.datatype.default', value: column.default }] : []),
]

/** `38`, `38,9` or `38, 9`; DuckDB supports up to 38 digits. */
function precisionFrom(name: string, length: string): string {
  const [, precision, scale = '0'] = /^\s*(\d{1,2})\s*(?:,\s*(\d{1,2})\s*)?$/.exec(length) ?? []
  if (precision === undefined || Number(precision) < 1 || Number(precision) > 38 || Number(scale) > Number(precision))
    throw refuse(
      `${name}[definition][length]`,
      `"${length.slice(0, 40)}" is not a length of a number. Use precision,scale, at most 38 digits.`,
    )
  return `${Number(precision)},${Number(scale)}`
}

/** How many characters a text may have. */
function charactersFrom(name: string, length: string): string {
  if (!/^\s*[1-9]\d{0,8}\s*$/.test(length))
    throw refuse(
      `${name}[definition][length]`,
      `"${length.slice(0, 40)}" is not a number of characters. Use a whole number from 1.`,
    )
  return String(Number(length))
}

function baseTypeFrom(name: string, value: unknown): BaseType {
  const type = BASE_TYPES.find((known) => known === String(value).toUpperCase())
  if (!type)
    throw refuse(`${name}[basetype]`, `"${String(value).slice(0, 60)}" is not a base type. Base types: ${BASE_TYPES.join(', ')}.`)
  return type
}

function objectOf(value: unknown, field: string): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw refuse(field, 'This value should be an object.')
  return value as Readonly<Record<string, unknown>> // an object, by the line above
}

function textOf(field: string, value: unknown): string {
  if (typeof value === 'string') return value
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  throw refuse(field, 'This value should be of type string.')
}

/** Nullable unless the request refuses it. */
function booleanOf(field: string, value: unknown): boolean {
  if ([undefined, null, '', true, 1, '1', 'true', 'True'].includes(value as string)) return true
  if ([false, 0, '0', 'false', 'False'].includes(value as string)) return false
  throw refuse(field, 'This value should be of type bool.')
}

const isEmpty = (value: unknown): boolean =>
  value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0)

const refuse = (field: string, reason: string) =>
  new PlatformError(
    'storage.tables.validation',
    { reason: `Invalid request:\n - ${field}: "${reason}"` },
    { errors: [{ key: field, message: reason }] },
  )
