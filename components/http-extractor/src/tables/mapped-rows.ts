/** Items to rows by a mapping (spec extractor 14). The columns are known, so rows are written as the pages come. */
import { hash } from 'node:crypto'
import { isObject, isScalar, type JsonValue, memberOf } from '../json/json.ts'
import { phpSerializeAssociative, serialize, toText } from '../json/text.ts'
import { ByteWriter, isSmallInteger } from './bytes.ts'
import type { CsvFile } from './csv.ts'
import { kindOf, type MappedEntry, type MappedTable, type Path } from './mapping.ts'
import type { AddedValue } from './page.ts'
import { addedText } from './rows.ts'
import { TablesError } from './tables-error.ts'

export type MappedWriter = (items: readonly JsonValue[], table: MappedTable, added: readonly AddedValue[]) => void

/** What rows can refer to besides their item: `own` is hashed with it (the link to the parent, or what came with the page). */
type Added = { readonly own: readonly AddedValue[]; readonly page: readonly AddedValue[] }

/** Elements to be written as rows of a nested table, after the row they belong to. */
type Nested = { readonly elements: readonly JsonValue[]; readonly table: MappedTable; readonly added: Added }

export function createMappedWriter(fileOf: (table: MappedTable) => CsvFile): MappedWriter {
  const text = new ByteWriter()

  function writeRows(items: readonly JsonValue[], table: MappedTable, added: Added): void {
    const file = fileOf(table)
    for (const item of items) {
      const nested = writeRow(item, table, added, file)
      file.rowDone()
      for (const rows of nested) writeRows(rows.elements, rows.table, rows.added)
    }
  }

  function writeRow(item: JsonValue, table: MappedTable, added: Added, { out }: CsvFile): Nested[] {
    const nested: Nested[] = []
    for (const entry of table.entries) {
      if (entry.kind === 'column') {
        const value = valueAtPath(item, entry.path)
        if (typeof value === 'number' && isSmallInteger(value)) out.integerCell(value)
        else out.cell(columnText(value, entry, table))
      } else if (entry.kind === 'user') {
        out.cell(userText(entry.name, added))
      } else {
        const rows = nestedRows(entry, item, table, added)
        if (entry.column !== undefined) out.cell(rows?.link ?? '')
        if (rows !== undefined) nested.push(rows)
      }
    }
    if (table.parentColumn !== undefined) out.cell(userText(table.parentColumn, added))
    return nested
  }

  function nestedRows(entry: MappedEntry & { kind: 'table' }, item: JsonValue, table: MappedTable, added: Added) {
    const value = valueAtPath(item, entry.path)
    if (value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0)) return undefined
    const elements = Array.isArray(value) ? value : [value]
    const link = linkOf(entry, item, table, added)
    if (entry.table === table) return { elements, table, added, link }
    const { parentColumn } = entry.table
    const own: AddedValue[] = parentColumn === undefined ? [] : [[parentColumn, link]]
    return { elements, table: entry.table, added: { own, page: added.page }, link }
  }

  /** What the rows of a nested table hold to refer to this one: its primary key, or a hash of the item. */
  function linkOf(entry: MappedEntry & { kind: 'table' }, item: JsonValue, table: MappedTable, added: Added): string {
    if (entry.table.parentColumn === undefined || entry.table === table) return ''
    if (entry.column === undefined) return keyOf(item, table, added)
    text.length = 0
    text.php(item)
    if (added.own.length > 0) text.utf8(phpSerializeAssociative(added.own))
    return hash('md5', text.bytes.subarray(0, text.length))
  }

  return (items, table, added) => writeRows(items, table, { own: added, page: added })
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
  if (typeof value === 'string') return value
  if (value === undefined || value === null) return ''
  if (isScalar(value)) return toText(value)
  if (entry.forceType) return serialize(value)
  throw new TablesError(
    `Error saving '${table.type}' data to CSV column: Error writing '${entry.column}' column: the value at '${entry.path.join('.')}' is ` +
      `${kindOf(value)}. Set "forceType": true to store it as JSON text, or map it with "type": "table".`,
  )
}

function userText(name: string, { own, page }: Added): string {
  const found = own.find(([key]) => key === name) ?? page.find(([key]) => key === name)
  return found === undefined ? '' : addedText(found[1])
}

/** The values of the primary key, which identify the row. */
function keyOf(item: JsonValue, table: MappedTable, added: Added): string {
  const values = table.keyEntries.map((entry) => {
    if (entry.kind === 'user') return userText(entry.name, added)
    const value = entry.kind === 'column' ? valueAtPath(item, entry.path) : undefined
    if (isScalar(value)) return toText(value)
    throw new TablesError(
      `Error saving '${table.type}' data to CSV column: the primary key column '${entry.column}' needs a scalar value, ` +
        `but the item has ${value === undefined ? 'none' : kindOf(value)}.`,
    )
  })
  return values.join(',')
}
