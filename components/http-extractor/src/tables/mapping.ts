/** `config.mappings`: tables described by the user (spec extractor 14). Checked as a whole before the first request. */
import { entriesOf, isArray, isEmpty, isObject, isScalar, type JsonObject, type JsonValue, memberOf } from '../json/json.ts'
import { toText } from '../json/text.ts'
import { cleanName } from './names.ts'
import { requireSameColumns } from './same-columns.ts'
import { TablesError } from './tables-error.ts'

/** A place in an item: segments of a path, none for the item itself. */
export type Path = readonly string[]

export type MappedEntry =
  | { readonly kind: 'column'; readonly path: Path; readonly column: string; readonly forceType: boolean }
  | { readonly kind: 'user'; readonly name: string; readonly column: string }
  | { readonly kind: 'table'; readonly path: Path; readonly column: string | undefined; readonly table: MappedTable }

export type MappedTable = {
  /** Name of its files. */
  readonly name: string
  /** Name in messages and in the `<type>_pk` of its children. */
  readonly type: string
  /** Where it is configured, for messages. */
  readonly origin: string
  readonly entries: readonly MappedEntry[]
  readonly columns: readonly string[]
  readonly primaryKey: readonly string[]
  /** Entries of its primary key, the link to the parent last if it is part of it. */
  readonly keyEntries: readonly MappedEntry[]
  /** Column with the link to the parent row: the last one. */
  readonly parentColumn: string | undefined
}

export type Mappings = ReadonlyMap<string, MappedTable>

/** Compiles `config.mappings`. Throws TablesError naming the entry that is wrong. */
export function readMappings(mappings: JsonValue | undefined): Mappings {
  if (mappings === undefined || mappings === null || (isArray(mappings) && mappings.length === 0)) return new Map()
  if (!isObject(mappings)) throw bad(`'mappings' has to be an object of data types, it is ${kindOf(mappings)}.`)
  const types = new Map(entriesOf(mappings).map(([type, mapping]) => [type, readType(type, mapping)]))
  checkColumns([...types.values()].flatMap((table) => [...mappedTablesOf(table)]))
  return types
}

/** Tables of one name are one table, so their columns must be the same. All are made, so it need not wait for data. */
function checkColumns(tables: readonly MappedTable[]): void {
  const byName = new Map<string, MappedTable>()
  for (const table of tables) {
    const first = byName.get(table.name)
    if (first !== undefined) requireSameColumns(first, table)
    else byName.set(table.name, table)
  }
}

function readType(type: string, mapping: JsonValue): MappedTable {
  if (isEmpty(mapping) || (isObject(mapping) && entriesOf(mapping).length === 0)) {
    throw new TablesError(`Empty mapping for '${type}' data type in 'mappings' config.`)
  }
  if (!isObject(mapping)) throw bad(`the mapping of '${type}' has to be an object of paths, it is ${kindOf(mapping)}.`)
  return readTable(type, mapping, type, undefined)
}

type ParentLink = { readonly column: string; readonly isKey: boolean }

function readTable(type: string, mapping: JsonObject, where: string, parent: ParentLink | undefined): MappedTable {
  const entries: MappedEntry[] = []
  const keyEntries: MappedEntry[] = []
  const primaryKey: string[] = []
  const pending: (() => void)[] = []
  const table = {
    name: fileName(type),
    type,
    origin: where,
    entries,
    keyEntries,
    primaryKey,
    columns: [] as string[],
    parentColumn: parent?.column,
  }
  const hasKey = parent?.isKey || entriesOf(mapping).some(([, settings]) => isObject(settings) && isKey(settings))

  for (const [path, given] of entriesOf(mapping)) {
    const at = `${where}.${path}`
    const settings: JsonValue = typeof given === 'string' ? { mapping: { destination: given } } : given
    if (!isObject(settings)) throw bad(`'${at}' has to be an object or the name of a column, it is ${kindOf(settings)}.`)
    const kind = memberOf(settings, 'type') ?? 'column'
    const delimiter = memberOf(settings, 'delimiter')
    const segments = path === '' ? [] : path.split(typeof delimiter === 'string' && delimiter !== '' ? delimiter : '.')

    if (kind === 'table') {
      const place = entries.push({ kind: 'table', path: segments, column: undefined, table }) - 1
      pending.push(() => {
        entries[place] = readTableEntry(segments, settings, at, table, hasKey)
      })
      continue
    }
    if (kind !== 'column' && kind !== 'user') throw new TablesError(`Invalid mapping type "${textOf(kind)}".`)
    const column = columnOf(settings, at)
    const entry: MappedEntry =
      kind === 'user'
        ? { kind, name: path, column }
        : { kind, path: segments, column, forceType: !isEmpty(memberOf(settings, 'forceType')) }
    entries.push(entry)
    if (isKey(settings)) {
      keyEntries.push(entry)
      if (!primaryKey.includes(column)) primaryKey.push(column)
    }
  }
  if (parent?.isKey) {
    primaryKey.push(parent.column)
    keyEntries.push({ kind: 'user', name: parent.column, column: parent.column })
  }
  for (const read of pending) read()
  keepLastOfEachColumn(entries)
  table.columns.push(...entries.flatMap((entry) => entry.column ?? []))
  if (parent !== undefined) table.columns.push(parent.column)
  return table
}

/** Two paths into one column: the later one wins, at the place of the first. From here on entries and columns are in step. */
function keepLastOfEachColumn(entries: MappedEntry[]): void {
  const first = new Map<string, number>()
  for (let i = 0; i < entries.length; i++) {
    const entry = entries[i]!
    const place = entry.column === undefined ? undefined : first.get(entry.column)
    if (place !== undefined) {
      entries[place] = entry
      entries.splice(i--, 1)
    } else if (entry.column !== undefined) {
      first.set(entry.column, i)
    }
  }
}

function readTableEntry(path: Path, settings: JsonObject, at: string, owner: MappedTable, ownerHasKey: boolean): MappedEntry {
  const destination = textMember(settings, 'destination')
  if (destination === undefined) throw bad(`'${at}' is a table and needs "destination", the name of the table.`)
  const parentKey = memberOf(settings, 'parentKey')
  if (parentKey !== undefined && !isObject(parentKey))
    throw bad(`'${at}.parentKey' has to be an object, it is ${kindOf(parentKey)}.`)
  const option = (name: string) => (parentKey === undefined ? undefined : memberOf(parentKey, name))
  const isLinked = isEmpty(option('disable'))
  const column = isLinked && !ownerHasKey ? destination : undefined

  if (destination === owner.type && !isLinked) return { kind: 'table', path, column: undefined, table: owner }
  const mapping = memberOf(settings, 'tableMapping')
  if (!isObject(mapping) || entriesOf(mapping).length === 0) {
    throw bad(`'${at}' is a table and needs "tableMapping", the columns of '${destination}'.`)
  }
  const named = option('destination')
  const link = isScalar(named) && !isEmpty(named) ? toText(named) : `${owner.name}_pk`
  const parent = isLinked ? { column: link, isKey: !isEmpty(option('primaryKey')) } : undefined
  return { kind: 'table', path, column, table: readTable(destination, mapping, `${at}.tableMapping`, parent) }
}

function columnOf(settings: JsonObject, at: string): string {
  const mapping = memberOf(settings, 'mapping')
  if (mapping !== undefined && !isObject(mapping)) throw bad(`'${at}.mapping' has to be an object, it is ${kindOf(mapping)}.`)
  const column = mapping === undefined ? undefined : textMember(mapping, 'destination')
  if (column === undefined) throw bad(`'${at}' needs "mapping": {"destination": ...}, the name of the column.`)
  return column
}

function isKey(settings: JsonObject): boolean {
  const mapping = memberOf(settings, 'mapping')
  return isObject(mapping) && !isEmpty(memberOf(mapping, 'primaryKey'))
}

function textMember(object: JsonObject, key: string): string | undefined {
  const value = memberOf(object, key)
  const text = isScalar(value) ? toText(value) : ''
  return text === '' ? undefined : text
}

/** A name that is fit for a file stays as it is, so that what the user wrote is what appears. */
function fileName(name: string): string {
  return /^[A-Za-z0-9_][A-Za-z0-9_-]*$/.test(name) ? name : cleanName(name)
}

function textOf(value: JsonValue): string {
  return isScalar(value) ? toText(value) : kindOf(value)
}

export function kindOf(value: JsonValue): string {
  if (value === null) return 'null'
  if (isArray(value)) return 'an array'
  if (isObject(value)) return 'an object'
  return typeof value === 'string' ? 'a string' : typeof value === 'boolean' ? 'a boolean' : 'a number'
}

function bad(text: string): TablesError {
  return new TablesError(`Bad Json to CSV Mapping configuration: ${text}`)
}

export function mappedTablesOf(table: MappedTable, seen = new Set<MappedTable>()): Set<MappedTable> {
  if (seen.has(table)) return seen
  seen.add(table)
  for (const entry of table.entries) if (entry.kind === 'table') mappedTablesOf(entry.table, seen)
  return seen
}
