// Definitions of tables: typed columns, and what can be changed of them later (spec storage 2.5.4). Each answers the job to start.

import { columnNamed, retypeColumn } from '../../../../engines/table-engine/snapshot.ts'
import { defined } from '../../../../kit/defined.ts'
import { PlatformError } from '../../../../kit/errors.ts'
import { firstRepeated } from '../../../../kit/first-repeated.ts'
import type { Scope } from '../../../../model/scope.ts'
import type { NewStorageJob } from '../../../../model/storage-job.ts'
import { lockOf, refuseAlias, type Table, type TableParts } from '../catalog/table-catalog.ts'
import type { ProposedTables } from '../proposed/proposed-tables.ts'
import { checkPrimaryKey, MAX_COLUMNS } from '../rows/table-load.ts'
import { type Fields, isSet, nameFrom, primaryKeyFrom } from '../rows/table-requests.ts'
import { checkDisplayName, checkNewTable, jobOn, ownTable, writableBucket } from '../table-checks.ts'
import type { TableLayout } from '../tables.store.ts'
import { newColumnName } from './plan-structure-change.ts'
import {
  type ColumnChange,
  changeColumn,
  changesType,
  checkDefault,
  readColumnChange,
  readColumnDefinition,
  readTypeChange,
} from './table-types.ts'

export type DefinitionChanges = ReturnType<typeof createDefinitionChanges>

export function createDefinitionChanges(parts: TableParts, proposed: Pick<ProposedTables, 'bucketForNew'>) {
  const { catalog } = parts

  /** Refused at once where that is possible; what depends on the data fails the job. */
  async function checkChanges(table: Table, changes: readonly ColumnChange[]): Promise<void> {
    if (changes.length === 0) return
    const { snapshot } = await catalog.reading(table)
    for (const change of changes) {
      const column = snapshot.columns.find(({ name }) => name === change.column)
      if (!column)
        throw new PlatformError('notFound', { what: `The column "${change.column.slice(0, 100)}" of table "${table.id}"` })
      if (!changesType(change)) continue
      if (!snapshot.typed)
        throw new PlatformError('storage.tables.validation', {
          reason: `The table "${table.id}" is not typed: its columns hold text and have nothing but a description to change.`,
        })
      if (change.nullable && table.primaryKey.includes(change.column))
        throw new PlatformError('storage.tables.validation', {
          reason: `The column "${change.column}" is part of the primary key and cannot be nullable.`,
        })
      changeColumn(column, change)
    }
  }

  async function create(scope: Scope, bucketId: string, fields: Fields): Promise<NewStorageJob> {
    const name = nameFrom(fields)
    const isProposed = scope.actor.onlyProposes === true
    const bucket = isProposed ? await proposed.bucketForNew(scope, bucketId, name) : await writableBucket(parts, scope, bucketId)
    const displayName = isSet(fields.displayName) ? String(fields.displayName) : name
    await checkNewTable(parts, bucket, name, displayName)
    const layout = layoutFrom(fields)
    const primaryKey = primaryKeyFrom(fields.primaryKeysNames)
    const { columns } = fields
    if (!Array.isArray(columns) || columns.length === 0 || columns.length > MAX_COLUMNS)
      throw new PlatformError('storage.tables.validation', {
        reason: `The parameter "columns" should be a list of 1 to ${MAX_COLUMNS} columns.`,
      })
    const backend = await parts.backendName(scope.actor.projectId)
    const defined = columns.map((column, i) => readColumnDefinition(column, i, primaryKey, backend))
    const names = defined.map(({ column }) => column.name)
    checkDistinct(names)
    checkPrimaryKey(primaryKey, names)
    const typed = defined.some((one) => one.isTyped)
    return {
      operationName: 'tableDefinitionCreate',
      operationParams: { name, primaryKeysNames: primaryKey, columns },
      input: {
        ...{ bucketKey: bucket.key, name, displayName, primaryKey, typed, columns: defined },
        ...(layout && { layout }),
        ...(isProposed && { isProposed }),
      },
      branchId: bucket.branchId,
      lockKeys: [lockOf(bucket, name)],
    }
  }

  async function changeOneColumn(scope: Scope, tableId: string, column: string, fields: Fields): Promise<NewStorageJob> {
    const table = await ownTable(parts, scope, tableId)
    const change = readColumnChange(column, fields, column, newNameFrom(table, column, fields))
    await checkChanges(table, [change])
    return jobOn(table, 'tableColumnDefinitionUpdate', { change }, { ...change })
  }

  /** Undefined: the column keeps its name. */
  function newNameFrom(table: Table, column: string, fields: Fields): string | undefined {
    if (!isSet(fields.name)) return undefined
    const name = newColumnName(fields)
    if (table.columns.some((one) => one !== column && one.toLowerCase() === name.toLowerCase()))
      throw new PlatformError('storage.tables.columnAlreadyExists', { column: name })
    return name === column ? undefined : name
  }

  async function changeType(scope: Scope, tableId: string, name: string, fields: Fields): Promise<NewStorageJob> {
    const table = await ownTable(parts, scope, tableId)
    const { snapshot } = await catalog.reading(table)
    const known = snapshot.columns.find((column) => column.name === name)
    if (!known) throw new PlatformError('notFound', { what: `The column "${name.slice(0, 100)}" of table "${table.id}"` })
    const { nullable } = columnNamed(retypeColumn(snapshot, name, known), name)
    const change = readTypeChange({ name, nullable }, fields, await parts.backendName(scope.actor.projectId))
    const { type, length, invalidValues } = change
    checkDefault({ ...known, type })
    const filtering = (await catalog.aliasesOf(table.row.key)).filter(({ alias }) => alias?.filter?.column === name)
    if (filtering.length > 0)
      throw new PlatformError('storage.tables.columnIsFiltered', {
        column: name,
        aliases: filtering.map((alias) => alias.name).join(', '),
      })
    return jobOn(table, 'tableColumnTypeUpdate', { change }, { column: name, type, ...defined({ length }), invalidValues })
  }

  async function change(scope: Scope, tableId: string, fields: Fields): Promise<NewStorageJob> {
    const table = await catalog.getForChange(scope, tableId)
    const { displayName, description } = fields
    const columns = columnChangesFrom(fields.columns)
    if (!isSet(displayName) && description === undefined && columns.length === 0)
      throw new PlatformError('storage.tables.validation', {
        reason: 'Nothing to change: send displayName, description or columns.',
      })
    if (columns.length > 0) refuseAlias(table)
    await checkChanges(table, columns)
    if (isSet(displayName)) await checkDisplayName(parts, table, String(displayName))
    const input = {
      ...(isSet(displayName) && { displayName: String(displayName) }),
      ...(description !== undefined && { description: description === null ? '' : String(description) }),
      ...(columns.length > 0 && { columns }),
    }
    return jobOn(table, 'tableDefinitionUpdate', input)
  }

  return { create, change, changeColumn: changeOneColumn, changeType }
}

/** How other backends lay tables out. This one does so by itself: the request is stored and shown, and has no effect. */
const LAYOUTS = ['timePartitioning', 'rangePartitioning', 'clustering', 'distribution', 'index'] as const

function layoutFrom(fields: Fields): TableLayout | undefined {
  const refuse = (field: string, reason: string) =>
    new PlatformError(
      'storage.tables.validation',
      { reason: `Invalid request:\n - ${field}: "${reason}"` },
      { errors: [{ key: field, message: reason }] },
    )
  // Without its load time a row could not be found by changedSince.
  if (isSet(fields.timestampType) && fields.timestampType !== 'MANAGED')
    throw refuse('timestampType', 'Every row carries its load time here. Use MANAGED, or omit it.')
  const given = LAYOUTS.flatMap((name) => {
    const value = fields[name]
    if (!isSet(value) || (Array.isArray(value) && value.length === 0)) return []
    if (typeof value !== 'object' || Array.isArray(value)) throw refuse(name, 'This value should be an object.')
    return [[name, withTextNumbers(value)] as const]
  })
  return given.length > 0 ? Object.fromEntries(given) : undefined
}

/** Numbers as text: the Go client decodes them as such (spec storage 2.5.1). */
const withTextNumbers = (value: unknown): unknown => {
  if (typeof value === 'number') return String(value)
  if (Array.isArray(value)) return value.map(withTextNumbers)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, withTextNumbers(member)]))
}

/** `columns` of a changed definition: `[{name, definition: {length, nullable, default}, description}]`. */
function columnChangesFrom(value: unknown): readonly ColumnChange[] {
  if (value === undefined || value === null) return []
  if (!Array.isArray(value))
    throw new PlatformError('storage.tables.validation', { reason: 'The parameter "columns" should be a list of columns.' })
  const changes = value.map((item: unknown, i) => {
    const name = typeof item === 'object' && item !== null && 'name' in item ? item.name : undefined
    if (typeof name !== 'string')
      throw new PlatformError('validation.failed', { field: `columns[${i}][name]`, reason: 'This field is missing.' })
    return readColumnChange(name, item, `columns[${i}]`)
  })
  checkDistinct(changes.map(({ column }) => column))
  return changes
}

function checkDistinct(names: readonly string[]): void {
  const twice = firstRepeated(names, (name) => name.toLowerCase())
  if (twice !== undefined) throw new PlatformError('storage.tables.columnAlreadyExists', { column: twice })
}
