/** Items to rows by a mapping (contract 14). The columns are known, so rows are written as the pages come. */
import { hash } from 'node:crypto'
import { isObject, isScalar, type JsonValue, memberOf } from '../json/json.ts'
import { phpSerialize, phpSerializeAssociative, serialize, toText } from '../json/text.ts'
import { type CsvFile, csvLine, escapeCell } from './csv.ts'
import { kindOf, type MappedEntry, type MappedTable, type Path } from './mapping.ts'
import type { AddedValue } from './page.ts'
import { addedText } from './rows.ts'
import { TablesError } from './tables-error.ts'

export type MappedTarget = { readonly file: CsvFile; readonly slots: ReadonlyMap<string, number>; readonly cells: string[] }

export type MappedWriter = (items: readonly JsonValue[], table: MappedTable, added: readonly AddedValue[]) => void

export function createMappedWriter(targetOf: (table: MappedTable) => MappedTarget): MappedWriter {
  /** `user`: what the rows of this table can refer to and are hashed with; `page`: what came with the page. */
  function write(
    items: readonly JsonValue[],
    table: MappedTable,
    user: readonly AddedValue[],
    page: readonly AddedValue[],
  ): void {
    const { file, cells } = targetOf(table)
    for (const item of items) {
      const row = cells.slice().fill('')
      writeRow(item, table, row, user, page)
      file.add(csvLine(row))
    }
  }

  function writeRow(
    item: JsonValue,
    table: MappedTable,
    row: string[],
    user: readonly AddedValue[],
    page: readonly AddedValue[],
  ): void {
    const { slots } = targetOf(table)
    for (const entry of table.entries) {
      if (entry.kind === 'column')
        row[slots.get(entry.column)!] = escapeCell(columnText(valueAtPath(item, entry.path), entry, table))
      else if (entry.kind === 'user') row[slots.get(entry.column)!] = escapeCell(userText(entry.name, user, page))
      else writeTable(entry, item, table, row, user, page)
    }
    if (table.parentColumn !== undefined) row[slots.get(table.parentColumn)!] = escapeCell(userText(table.parentColumn, user, []))
  }

  function writeTable(
    entry: MappedEntry & { kind: 'table' },
    item: JsonValue,
    table: MappedTable,
    row: string[],
    user: readonly AddedValue[],
    page: readonly AddedValue[],
  ): void {
    const value = valueAtPath(item, entry.path)
    if (value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0)) return
    const elements = Array.isArray(value) ? value : [value]
    if (entry.table.parentColumn === undefined || entry.table === table) {
      write(elements, entry.table, entry.table === table ? user : [], page)
      return
    }
    const link = entry.column === undefined ? keyOf(item, table, user, page) : rowHash(item, user)
    if (entry.column !== undefined) row[targetOf(table).slots.get(entry.column)!] = link
    write(elements, entry.table, [[entry.table.parentColumn, link]], page)
  }

  return (items, table, added) => write(items, table, added, added)
}

function valueAtPath(item: JsonValue, path: Path): JsonValue | undefined {
  let at: JsonValue | undefined = item
  for (const segment of path) {
    if (Array.isArray(at)) at = /^(?:0|[1-9]\d*)$/.test(segment) ? at[Number(segment)] : undefined
    else if (isObject(at)) at = memberOf(at, segment)
    else return undefined
  }
  return at
}

function columnText(value: JsonValue | undefined, entry: MappedEntry & { kind: 'column' }, table: MappedTable): string {
  if (value === undefined || value === null) return ''
  if (isScalar(value)) return toText(value)
  if (entry.forceType) return serialize(value)
  throw new TablesError(
    `Error saving '${table.type}' data to CSV column: Error writing '${entry.column}' column: the value at '${entry.path.join('.')}' is ` +
      `${kindOf(value)}. Set "forceType": true to store it as JSON text, or map it with "type": "table".`,
  )
}

function userText(name: string, user: readonly AddedValue[], page: readonly AddedValue[]): string {
  const found = user.find(([key]) => key === name) ?? page.find(([key]) => key === name)
  return found === undefined ? '' : addedText(found[1])
}

/** The values of the primary key, which identify the row: that is what its children refer to. */
function keyOf(item: JsonValue, table: MappedTable, user: readonly AddedValue[], page: readonly AddedValue[]): string {
  const values = table.keyEntries.map((entry) => {
    if (entry.kind === 'user') return userText(entry.name, user, page)
    const value = entry.kind === 'column' ? valueAtPath(item, entry.path) : undefined
    if (isScalar(value)) return toText(value)
    throw new TablesError(
      `Error saving '${table.type}' data to CSV column: the primary key column '${entry.column}' needs a scalar value, ` +
        `but the item has ${value === undefined ? 'none' : kindOf(value)}.`,
    )
  })
  return values.join(',')
}

function rowHash(item: JsonValue, user: readonly AddedValue[]): string {
  return hash('md5', phpSerialize(item) + (user.length > 0 ? phpSerializeAssociative(user) : ''))
}
