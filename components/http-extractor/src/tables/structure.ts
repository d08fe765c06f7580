/**
 * What the items of one type look like, learned page by page (spec extractor 13.2).
 *
 * A node stands for one place: the items themselves (`type.[]`), a member of an object, or the elements of an array. Every array
 * starts a table of its own; a `TableNode` holds what belongs to a table as a whole. Analysing never writes rows; it marks the
 * tables whose columns changed, so that the caller can check whether rows it has written still fit.
 */
import { isObject, JsonNumber, type JsonObject, type JsonValue } from '../json/json.ts'
import { phpSerialize } from '../json/text.ts'
import { cleanName, columnName, uniqueName } from './names.ts'
import type { FilterSteps } from './response-filter.ts'
import { TablesError } from './tables-error.ts'

export type NodeType = 'null' | 'scalar' | 'object' | 'array'

export type Node = {
  type: NodeType
  /** Name of its column; undefined until it is generated after the page in which the place appeared. */
  column: string | undefined
  readonly key: string
  /** Keys from the item of the table down, for the name of the column. */
  readonly keys: readonly string[]
  /** Type and keys joined by dots, array markers left out: start of the link ids. */
  readonly cleanPath: string
  /** As messages show it: `users.[].address`. */
  readonly place: string
  /** The table in which this place is a column (for elements: the table they are the rows of). */
  readonly table: TableNode
  readonly members: Map<string, Node>
  /** The elements of an array. */
  element: Node | undefined
  /** The `s:4:"name";` of the key in PHP's serialisation. */
  readonly keyMark: Uint8Array
  /** A cell with the id of the object at this place; the hash is filled in for each object. */
  readonly idCell: Buffer
  /** The same as the end of the rows that are linked to the object. */
  readonly idTail: Tail
  /** How many cells it has in a row; set by the layout. */
  width: number
  /** Its members in order, for walking in step with the keys of an item, and its own index among those of its parent; set by the layout. */
  list: readonly Node[]
  index: number
  /** Whether a link id can be needed for the object at this place; set by the layout. */
  hasArrays: boolean
  nestedArrayReported: boolean
  /** An array in whose place some item has a single value. */
  hasSingles: boolean
}

/** What follows an item in its row: cells, and the same as members of the serialised item. */
export type Tail = { readonly cells: Uint8Array; readonly keys: number; readonly text: Uint8Array }

/** New names of added columns, by the requested names. */
export type Aliases = ReadonlyMap<string, string>

/** What all tables of a run share. */
type TableContext = {
  readonly naming: Naming
  /** Counts the tables of the run as they get their first rows. */
  readonly nextOrder: () => number
}

export type TableNode = TableContext & {
  readonly name: string
  readonly rows: Node
  /** The array whose elements are the rows; undefined for the items themselves. */
  readonly array: Node | undefined
  readonly takenNames: Set<string>
  /** Names of added columns (userData, parent_*, JSON_parentId), in the order in which they were first needed. */
  readonly added: string[]
  /** The new names in force when it is written. */
  aliases: Aliases
  /** Its place among all tables of the run; undefined as long as it has no rows. */
  order: number | undefined
  /** The columns are not what they were when this was last set to false. */
  changed: boolean
}

export type Structure = {
  readonly type: string
  readonly rows: Node
  /** All tables of the type, the items' own first. */
  readonly tables: () => readonly TableNode[]
  /** Takes a page into account. Throws TablesError for items that cannot be in one table. */
  readonly analyse: (items: readonly JsonValue[]) => void
  /** A filter that is new since the earlier run makes text of what was a list or an object then. Before the first page. */
  readonly expectText: (places: readonly FilterSteps[]) => void
  readonly toState: () => JsonValue
}

/** More than any table that a person reads, few enough to end in bounded time and space. */
const MAX_COLUMNS = 10_000
const MAX_TABLES = 1_000

const NO_BYTES = new Uint8Array()
export const MD5_LENGTH = 32
/** Length of what follows the text in a written cell. */
export const CELL_END = '",'.length

/** The column of an item or element that is not an object. */
export const DATA_COLUMN = 'data'

/** The column that links the rows of an array to the row they come from. */
export const PARENT_ID = 'JSON_parentId'

/** How places get their names. */
export type Naming = {
  /** From the keys that lead from the item of the table to the place. */
  readonly column: (keys: readonly string[], isTaken: (name: string) => boolean) => string
  /** Of a column that does not come from the items. */
  readonly added: (asked: string, isTaken: (name: string) => boolean) => string
  /** Whether the value of an added column whose name is taken goes over the item's own. */
  readonly overwrites: boolean
  /** From the type and the keys that lead to the array, joined by dots. */
  readonly table: (cleanPath: string) => string
}

export const naming: Naming = {
  column: (keys, isTaken) => uniqueName(columnName(keys.join('.')), isTaken),
  added: (asked, isTaken) => uniqueName(cleanName(asked), isTaken),
  overwrites: false,
  table: cleanName,
}

export type StructureOptions = TableContext & {
  readonly type: string
  /** Its structure in an earlier run. */
  readonly state: JsonValue | undefined
  /** New names of added columns in earlier runs. */
  readonly aliases: Aliases
  readonly warn: (message: string) => void
}

export function createStructure({ type, state, aliases, naming, nextOrder, warn }: StructureOptions): Structure {
  const rows = createRows(type, `${type}.[]`, { naming, nextOrder, aliases })
  const restored = isObject(state) ? member(state, '[]') : undefined
  if (isObject(restored)) {
    restore(rows, restored)
    nameColumns(rows) // a state of version 2 has no names (corrections-2 X2)
  }

  return {
    type,
    rows,
    tables: () => tablesBelow(rows),
    expectText: (places) => {
      for (const steps of places) forget(rows, steps)
    },
    analyse: (items) => {
      analyseElements(items, rows, warn)
      checkSize(type, rows)
      nameColumns(rows)
    },
    toState: () => ({ '[]': nodeState(rows), nodeType: 'array' }),
  }
}

function createRows(cleanPath: string, place: string, like: TableContext & Pick<TableNode, 'aliases'>, array?: Node): Node {
  const { naming, nextOrder, aliases } = like
  const blank = { takenNames: new Set<string>(), added: [], order: undefined, changed: true }
  const own = { name: naming.table(cleanPath), naming, nextOrder, aliases, array, ...blank }
  const table = own as unknown as TableNode & { rows: Node } // table and rows need each other, so one is set afterwards
  table.rows = createNode({ key: '', keys: [], cleanPath, place, table })
  return table.rows
}

function createNode(at: Pick<Node, 'key' | 'keys' | 'cleanPath' | 'place' | 'table'>): Node {
  const keyMark = Buffer.from(phpSerialize(at.key))
  const idCell = Buffer.from(`"${at.cleanPath.replaceAll('"', '""')}_${'0'.repeat(MD5_LENGTH)}",`)
  const blank = {
    column: undefined,
    element: undefined,
    width: 0,
    list: [],
    index: 0,
    hasArrays: false,
    nestedArrayReported: false,
    hasSingles: false,
  } as const
  return {
    ...at,
    ...blank,
    keyMark,
    idCell,
    idTail: { cells: idCell, keys: 0, text: NO_BYTES },
    type: 'null',
    members: new Map(),
  }
}

function memberNode(parent: Node, key: string): Node {
  const known = parent.members.get(key)
  if (known !== undefined) return known
  const node = createNode({
    key,
    keys: [...parent.keys, key],
    cleanPath: `${parent.cleanPath}.${key}`,
    place: `${parent.place}.${key}`,
    table: parent.table,
  })
  parent.members.set(key, node)
  parent.table.changed = true
  return node
}

function elementNode(array: Node): Node {
  if (array.element === undefined) {
    array.element = createRows(array.cleanPath, `${array.place}.[]`, array.table, array)
    array.element.table.added.push(PARENT_ID)
  }
  return array.element
}

// ---- analysis ----

function typeOf(value: JsonValue): NodeType {
  if (value === null) return 'null'
  if (typeof value !== 'object' || value instanceof JsonNumber) return 'scalar'
  return Array.isArray(value) ? 'array' : 'object'
}

/** Items or elements: scalars and nulls become a row with a `data` column; an array inside an array becomes JSON text. */
function analyseElements(elements: readonly JsonValue[], rows: Node, warn: (message: string) => void): void {
  const { table } = rows
  table.order ??= table.nextOrder()
  for (const element of elements) {
    const type = typeOf(element)
    if (type === 'array') reportNestedArray(rows, warn)
    const rowType = type === 'array' ? 'scalar' : type
    if (rowType !== 'null' && rowType !== rows.type) {
      if (rows.type !== 'null') throw incompatible(rows, rows.type, rowType)
      rows.type = rowType
      rows.table.changed = true
    }
    if (type === 'object') analyseObject(element as JsonObject, rows, warn) // typeOf checked it
  }
}

function analyseObject(object: JsonObject, node: Node, warn: (message: string) => void): void {
  for (const [key, value] of object instanceof Map ? object : Object.entries(object))
    analyseMember(value, memberNode(node, key), warn)
}

function analyseMember(value: JsonValue, node: Node, warn: (message: string) => void): void {
  const type = typeOf(value)
  if (type === 'null') return
  if (node.type === 'array' || type === 'array') {
    if (!Array.isArray(value)) node.hasSingles = true
    analyseArray(Array.isArray(value) ? value : [value], node, warn)
    return
  }
  if (node.type === 'null') {
    node.type = type
    if (type === 'object') node.table.changed = true // its column gives way to those of its members
  } else if (node.type !== type) {
    throw new TablesError(
      `Error parsing response JSON: Unhandled nodeType change from "${node.type}" to "${type}" in "${node.place}". ${hint(node)}`,
    )
  }
  if (type === 'object') analyseObject(value as JsonObject, node, warn) // typeOf checked it
}

/** What was a single value so far is from now on an array with one element (upgrade), if the elements are of its kind. */
function analyseArray(elements: readonly JsonValue[], node: Node, warn: (message: string) => void): void {
  if (node.type === 'scalar' || node.type === 'object') {
    const rows = elementNode(node)
    rows.type = node.type
    node.hasSingles = true
    for (const [key, old] of node.members) copyMember(old, memberNode(rows, key))
    node.members.clear()
    node.table.changed = true
  }
  node.type = 'array'
  if (elements.length > 0) analyseElements(elements, elementNode(node), warn)
}

/** A member of an object that became the element of an array: same shape, but in another table. */
function copyMember(from: Node, to: Node): void {
  to.type = from.type
  for (const [key, old] of from.members) copyMember(old, memberNode(to, key))
  if (from.element === undefined) return
  const rows = elementNode(to)
  rows.type = from.element.type
  for (const [key, old] of from.element.members) copyMember(old, memberNode(rows, key))
}

export function reportNestedArray(rows: Node, warn: (message: string) => void): void {
  if (rows.nestedArrayReported) return
  rows.nestedArrayReported = true
  warn(`Converting nested array '${rows.place}' to JSON string.`)
}

function incompatible(rows: Node, a: NodeType, b: NodeType): TablesError {
  return new TablesError(
    `Error parsing response JSON: Data array in '${rows.place}' contains incompatible types '${a}' and '${b}'. ${hint(rows)}`,
  )
}

/** A filter steps into lists only: the outermost list in whose place an item has a single value is kept whole, else the last list. */
function hint(node: Node): string {
  let whole = node
  for (let array = node.table.array; array !== undefined; array = array.table.array) if (array.hasSingles) whole = array
  const path = whole.place
    .split('.[]')
    .slice(1)
    .join('[]')
    .replace(/^\./, '')
    .replace(/(\[\])+$/, '')
  if (path === '') return 'Pick items of one kind with "dataField".'
  return `Set "responseFilter": "${path}" in the job to keep this value as JSON text.`
}

/** Keys that are data (ids, dates) would create tables that are useless and too large to store. */
function checkSize(type: string, rows: Node): void {
  const tables = tablesBelow(rows)
  if (tables.length > MAX_TABLES) throw tooMany(type, `${MAX_TABLES} tables`, tables.at(-1)!.rows.place)
  for (const table of tables) {
    const places = countMembers(table.rows)
    if (places > MAX_COLUMNS) throw tooMany(type, `${MAX_COLUMNS} columns in '${table.name}'`, table.rows.place)
  }
}

function countMembers(node: Node): number {
  let count = node.members.size
  for (const child of node.members.values()) if (child.type === 'object') count += countMembers(child)
  return count
}

function tooMany(type: string, what: string, place: string): TablesError {
  return new TablesError(
    `Error parsing response JSON: The items of '${type}' would need more than ${what} (near '${place}'). Keys that differ from item to ` +
      'item, such as ids or dates, are better kept as JSON text: name the object that holds them in "responseFilter".',
  )
}

// ---- names ----

/** Names places in order of the structure; a name once given stays. Objects take a name too, although they have no column. */
function nameColumns(node: Node): void {
  for (const child of node.members.values()) {
    if (child.column === undefined) {
      const { takenNames, naming } = child.table
      child.column = naming.column(child.keys, (name) => takenNames.has(name))
      takenNames.add(child.column)
    }
    nameColumns(child)
  }
  if (node.element !== undefined) nameColumns(node.element)
}

export function tablesBelow(rows: Node): TableNode[] {
  const tables = [rows.table]
  const visit = (node: Node) => {
    for (const child of node.members.values()) visit(child)
    if (node.element !== undefined) tables.push(...tablesBelow(node.element))
  }
  visit(rows)
  return tables
}

// ---- state (spec extractor 16, struct version 3) ----

function nodeState(node: Node): JsonValue {
  const state = new Map<string, JsonValue>()
  if (node.element !== undefined) state.set('[]', nodeState(node.element))
  for (const [key, child] of node.members) state.set(`_${key}`, nodeState(child))
  state.set('nodeType', node.type)
  state.set('headerNames', node === node.table.rows ? DATA_COLUMN : (node.column ?? ''))
  return state
}

function restore(node: Node, state: JsonObject): void {
  const type = member(state, 'nodeType')
  if (type === 'null' || type === 'scalar' || type === 'object' || type === 'array') node.type = type
  const isRows = node === node.table.rows
  const column = member(state, 'headerNames')
  if (!isRows && typeof column === 'string') {
    node.column = column
    node.table.takenNames.add(column)
  }
  for (const [name, value] of state instanceof Map ? state : Object.entries(state)) {
    if (!isObject(value)) continue
    if (name === '[]') restore(elementNode(node), value)
    else if (name.startsWith('_')) restore(memberNode(node, name.slice(1)), value)
  }
}

function forget(node: Node, [step, ...rest]: FilterSteps): void {
  if (step === undefined) return
  const key = step.replace(/\[\]$/, '')
  const at = node.members.get(key)
  const next = step === key ? at : at?.element
  if (!at || !next) return
  if (rest.length > 0) forget(next, rest)
  else if (next.type === 'array' || next.type === 'object') {
    freeNames(at)
    node.members.delete(key)
    node.table.changed = true
  }
}

/** Columns of the table that the place and its members had. */
function freeNames(node: Node): void {
  if (node.column !== undefined) node.table.takenNames.delete(node.column)
  for (const below of node.members.values()) freeNames(below)
}

function member(object: JsonObject, key: string): JsonValue | undefined {
  return object instanceof Map ? object.get(key) : object[key]
}
