/** Items to rows by a mapping (spec extractor 14). The columns are known, so rows are written as the pages come. */
import { hash } from 'node:crypto'
import { isObject, isScalar, type JsonValue, memberOf } from '../json/json.ts'
import { phpSerializeAssociative, serialize, toText } from '../json/text.ts'
import { ByteWriter, isSmallInteger } from './bytes.ts'
import type { CsvFile } from './csv.ts'
import { kindOf, type MappedEntry, type MappedTable, type Path } from './mapping.ts'
import type { AddedValue } from './page.ts'
import { addedText, pushed } from './rows.ts'
import { TablesError } from './tables-error.ts'

export type MappedWriter = (items: readonly JsonValue[], table: MappedTable, added: readonly AddedValue[]) => void

/** What rows can refer to besides their item: the link to the parent, and what came with the page. */
type Added = { readonly own: readonly AddedValue[]; readonly page: readonly AddedValue[] }

const NO_LINKS: readonly string[] = []

type TableEntry = MappedEntry & { readonly kind: 'table' }

export function createMappedWriter(fileOf: (table: MappedTable) => CsvFile): MappedWriter {
  const text = new ByteWriter()

  /** Rows of nested tables come before the row they belong to: where both go into one table, that is their order there. */
  function writeRows(items: readonly JsonValue[], table: MappedTable, added: Added): void {
    const file = fileOf(table)
    for (const item of items) {
      const links = writeNested(item, table, added)
      writeRow(item, table, added, links, file)
      file.rowDone()
    }
  }

  /** Writes the rows of all nested tables; answers, for each of them, what the item's own row refers to it with. */
  function writeNested(item: JsonValue, table: MappedTable, added: Added): readonly string[] {
    let links: string[] | undefined
    for (const entry of table.entries) {
      if (entry.kind !== 'table') continue
      const elements = elementsAt(item, entry, table)
      const link = elements === undefined ? '' : linkOf(entry, item, table, added)
      links = pushed(links, link)
      if (elements !== undefined)
        writeRows(elements, entry.table, entry.table === table ? added : { own: linkColumn(entry.table, link), page: added.page })
    }
    return links ?? NO_LINKS
  }

  function writeRow(item: JsonValue, table: MappedTable, added: Added, links: readonly string[], { out }: CsvFile): void {
    let nested = 0
    for (const entry of table.entries) {
      if (entry.kind === 'column') {
        const value = valueAtPath(item, entry.path)
        if (typeof value === 'number' && isSmallInteger(value)) out.integerCell(value)
        else out.cell(columnText(value, entry, table))
      } else if (entry.kind === 'user') {
        out.cell(userText(entry.name, added))
      } else {
        const link = links[nested++]!
        if (entry.column !== undefined) out.cell(link)
      }
    }
    if (table.parentColumn !== undefined) out.cell(userText(table.parentColumn, added))
  }

  /** What the rows of a nested table hold to refer to this one: its primary key, or a hash of the item and what came with its page. */
  function linkOf(entry: TableEntry, item: JsonValue, table: MappedTable, added: Added): string {
    if (entry.table.parentColumn === undefined || entry.table === table) return ''
    if (entry.column === undefined) return keyOf(item, table, added)
    text.length = 0
    text.php(item)
    if (added.page.length > 0) text.utf8(phpSerializeAssociative(added.page))
    return hash('md5', text.bytes.subarray(0, text.length))
  }

  return (items, table, added) => writeRows(items, table, { own: added, page: added })
}

const linkColumn = ({ parentColumn }: MappedTable, link: string): AddedValue[] =>
  parentColumn === undefined ? [] : [[parentColumn, link]]

/** The elements of a nested table; a single value is one. A scalar has no place inside it that could go into its own table again. */
function elementsAt(item: JsonValue, entry: TableEntry, table: MappedTable): readonly JsonValue[] | undefined {
  if (entry.table === table && isScalar(item)) return undefined
  const value = valueAtPath(item, entry.path)
  if (value === undefined || value === null || value === '') return undefined
  if (!Array.isArray(value)) return [value]
  return value.length === 0 ? undefined : value
}

/** Of an item that is a scalar every path is the item itself. */
function valueAtPath(item: JsonValue, path: Path): JsonValue | undefined {
  if (isScalar(item)) return item
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
