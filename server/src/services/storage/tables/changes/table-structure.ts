// What a load makes of the structure of the table it goes to, and what of it the load may (spec platform 1.9, 1.10 and 1.12).
//  (1) A column never changes its type, and no column leaves.
//  (2) Nothing becomes narrower: older rows stay valid without being looked at.

import {
  addColumns,
  type Column,
  type NewColumn,
  primaryKeyNames,
  type TableSnapshot,
} from '../../../../engines/table-engine/snapshot.ts'
import { defined } from '../../../../kit/defined.ts'
import { PlatformError } from '../../../../kit/errors.ts'
import { quoted } from '../catalog/table-names.ts'
import {
  changeColumn,
  changedMetadata,
  checkDefault,
  describeColumn,
  isWider,
  losesDigits,
  type TypedColumn,
} from './table-types.ts'

/** Absent: everything may be changed, and rows are identified by the key. */
export interface LoadRules {
  readonly modifications?: 'none' | 'non-destructive' | 'all'
  readonly deduplication?: 'insert' | 'upsert'
}

/** The table with the types a load brings. An untyped table takes every value as text and stays as it is. */
export function withTypes(table: string, snapshot: TableSnapshot, types: readonly TypedColumn[]): TableSnapshot {
  if (!snapshot.typed) return snapshot
  const typeOf = typesByName(types)
  const columns = snapshot.columns.map((column) => {
    const wanted = typeOf(column.name)
    return wanted ? widened(table, column, wanted, snapshot.primaryKey.includes(column.fieldId)) : column
  })
  return columns.some((column, i) => column !== snapshot.columns[i]) ? { ...snapshot, columns } : snapshot
}

function widened(table: string, column: Column, wanted: NewColumn, isKey: boolean): Column {
  if ((wanted.type ?? 'STRING') !== column.type || losesDigits(column, wanted.length))
    throw new PlatformError('storage.tables.typeDiffers', {
      table,
      column: column.name,
      type: typeText(column),
      wanted: typeText(wanted),
    })
  const change = {
    column: column.name,
    ...(wanted.length !== undefined && isWider(column, wanted.length) && { length: wanted.length }),
    ...(wanted.nullable && !column.nullable && !isKey && { nullable: true }),
  }
  return Object.keys(change).length > 1 ? changeColumn(column, change) : column
}

const typeText = ({ type = 'STRING', length }: NewColumn): string => (length === undefined ? type : `${type}(${length})`)

/** The table with columns it lacks; to a typed table they come with their types, or not at all. */
export function withColumns(
  snapshot: TableSnapshot,
  names: readonly string[],
  types: readonly TypedColumn[],
  file: string,
): TableSnapshot {
  const typeOf = typesByName(types)
  const untyped = snapshot.typed ? names.filter((name) => !typeOf(name)) : []
  if (untyped.length > 0) throw new PlatformError('storage.tables.typedColumnsFixed', { columns: quoted(untyped), file })
  return addColumns(
    snapshot,
    names.map((name) => (snapshot.typed && typeOf(name)) || { name }),
  )
}

/** The name as the table spells it: upper and lower case are the same. */
export const spelledIn = ({ columns }: TableSnapshot, wanted: string): string =>
  columns.find(({ name }) => name.toLowerCase() === wanted.toLowerCase())?.name ?? wanted

function typesByName(types: readonly TypedColumn[]): (name: string) => NewColumn | undefined {
  const byName = new Map(types.toReversed().map(({ column }) => [column.name.toLowerCase(), column])) // the first of two counts
  return (name) => {
    const found = byName.get(name.toLowerCase())
    if (found) checkDefault(found)
    return found
  }
}

/** Columns that are new, and those that are not what they were. */
function changedColumns(before: TableSnapshot, after: TableSnapshot) {
  const known = new Set(before.columns)
  const changed = after.columns.filter((column) => !known.has(column))
  const isNew = ({ fieldId }: Column) => fieldId >= before.nextFieldId
  return { added: changed.filter(isNew), widened: changed.filter((column) => !isNew(column)) }
}

/** The platform's metadata of the columns of a typed table after a load. */
export function describeChanges(
  before: TableSnapshot,
  after: TableSnapshot,
  backend: string | undefined,
): readonly TypedColumn[] {
  if (!before.typed) return []
  const { added, widened } = changedColumns(before, after)
  const changeOf = ({ name, length }: Column) => ({ column: name, ...defined({ length }) })
  return [
    ...added.map((column) => describeColumn(column, backend)),
    ...widened.map((column) => ({ column, metadata: changedMetadata(column, changeOf(column)) })),
  ]
}

/** Before anything is written: what the load would change is compared with what it may. */
export function checkRules(
  table: string,
  before: TableSnapshot,
  after: TableSnapshot,
  key: readonly string[],
  { modifications = 'all', deduplication }: LoadRules,
): void {
  checkDeduplication(table, key, deduplication)
  const { added, widened } = changedColumns(before, after)
  const changes = [
    ...added.map(({ name }) => `the column "${name}" would be added`),
    ...widened.map(({ name }) => `the column "${name}" would take more values`),
  ]
  const oldKey = primaryKeyNames(before)
  const keyChange = key.join() === oldKey.join() ? [] : [`the primary key would be ${keyText(key)}, and is ${keyText(oldKey)}`]
  const refused = { none: [...changes, ...keyChange], 'non-destructive': keyChange, all: [] }[modifications]
  if (refused.length > 0)
    throw new PlatformError('storage.tables.modificationRefused', { table, changes: refused.join(', '), modifications })
}

/** A key stays unique, so rows cannot just be added beside those with the same key. */
export function checkDeduplication(table: string, key: readonly string[], strategy: LoadRules['deduplication']): void {
  if (strategy === 'insert' && key.length > 0)
    throw new PlatformError('storage.tables.insertWithKey', { table, columns: keyText(key) })
}

export const keyText = (key: readonly string[]): string => (key.length > 0 ? quoted(key) : 'none')
