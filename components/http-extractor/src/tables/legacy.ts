/**
 * The table converter of old configurations: compatLevel 1, or a state that it wrote (spec extractor 16, 18).
 *
 * Names are cleaned one character to one `_`, and long ones shortened before that. A column whose name is taken is named by a hash
 * and stays empty; its values go over those of the first column. The state holds a list of fields per type: version 2.
 */
import { hash } from 'node:crypto'
import { entriesOf, isObject, type JsonObject, type JsonValue, memberOf, objectOf, setMember } from '../json/json.ts'
import { shorten } from './names.ts'
import type { AddedValue } from './page.ts'
import type { Naming, Node, NodeType } from './structure.ts'

export const legacyNaming: Naming = {
  column: (keys, isTaken) => {
    const text = keys.join('_')
    const name = legacyName(text)
    return isTaken(name) ? hash('md5', text) : name
  },
  added: (asked, isTaken) => (isTaken(legacyName(asked)) ? hash('md5', asked) : legacyName(asked)),
  overwrites: true,
  table: legacyName,
}

export function legacyName(text: string): string {
  const bytes = Buffer.from(text, 'utf8').toString('latin1')
  return shorten(bytes)
    .replace(/[^A-Za-z0-9-]/g, '_')
    .replace(/^_+|_+$/g, '')
}

/** Items in which the value of an added column stands in the place of their own column of that name. */
export function overwritten(items: readonly JsonValue[], rows: Node, added: readonly AddedValue[]): readonly JsonValue[] {
  const places = new Map(columnsBelow(rows).map(({ keys }) => [legacyName(keys.join('_')), keys]))
  const moves = added.flatMap(([name, value]) => {
    const keys = places.get(legacyName(name))
    return keys === undefined ? [] : [{ keys, value }]
  })
  if (moves.length === 0) return items
  return items.map((item) => {
    if (!isObject(item)) return item
    const copy = copyOf(item) as JsonObject // a copy of an object is one
    for (const { keys, value } of moves) setAtKeys(copy, keys, value)
    return copy
  })
}

/** Items in which a value of a colliding column stands in the place of the first one. Only for structures in which names collide. */
export function moveColliding(items: readonly JsonValue[], rows: Node): readonly JsonValue[] {
  const moves = movesOf(rows)
  const arrays = arraysOf(rows)
  if (moves.length === 0 && arrays.length === 0) return items
  return items.map((item) => {
    if (!isObject(item)) return item
    const copy = copyOf(item) as JsonObject // a copy of an object is one
    for (const { from, to } of moves) {
      const value = valueAtKeys(copy, from)
      if (value === undefined || value === null) continue
      setAtKeys(copy, to, value)
      setAtKeys(copy, from, null)
    }
    for (const { keys, rows: elements } of arrays) {
      const list = valueAtKeys(copy, keys)
      if (Array.isArray(list)) setAtKeys(copy, keys, [...moveColliding(list, elements)])
    }
    return copy
  })
}

type Keys = readonly string[]

function movesOf(rows: Node): { readonly from: Keys; readonly to: Keys }[] {
  const first = new Map<string, Keys>()
  return columnsBelow(rows).flatMap(({ keys }) => {
    const name = legacyName(keys.join('_'))
    const taken = first.get(name)
    if (taken === undefined) first.set(name, keys)
    return taken === undefined ? [] : [{ from: keys, to: taken }]
  })
}

function columnsBelow(node: Node): Node[] {
  return [...node.members.values()].flatMap((child) => (child.type === 'object' ? columnsBelow(child) : [child]))
}

/** Arrays whose elements, or what is below them, have such columns. */
function arraysOf(rows: Node): { readonly keys: Keys; readonly rows: Node }[] {
  return columnsBelow(rows).flatMap(({ keys, element }) => {
    if (element === undefined || movesOf(element).length + arraysOf(element).length === 0) return []
    return [{ keys, rows: element }]
  })
}

function copyOf(value: JsonValue): JsonValue {
  return isObject(value) ? objectOf(entriesOf(value).map(([key, member]) => [key, copyOf(member)])) : value
}

function valueAtKeys(object: JsonObject, keys: Keys): JsonValue | undefined {
  return keys.reduce<JsonValue | undefined>((at, key) => (isObject(at) ? memberOf(at, key) : undefined), object)
}

function setAtKeys(object: JsonObject, keys: Keys, value: JsonValue): void {
  const [key = '', ...rest] = keys
  if (rest.length === 0) {
    setMember(object, key, value)
    return
  }
  const member = memberOf(object, key)
  const inner = isObject(member) ? member : objectOf([])
  setAtKeys(inner, rest, value)
  setMember(object, key, inner)
}

// ---- state, version 2: {"users": {"id": "scalar", "tags": "arrayOfscalar", "o": "object"}, "users.tags": {"data": "scalar"}, ...} ----

/** The same structure in the shape of version 3, as `createStructure` reads it. */
export function fromLegacyState(struct: JsonObject, type: string): JsonValue | undefined {
  const fields = memberOf(struct, type)
  if (!isObject(fields)) return undefined
  const node = (path: string, given: string): JsonValue => {
    if (given.startsWith('array')) return { '[]': rowsOf(path, given.slice('arrayOf'.length)), nodeType: 'array' }
    if (given === 'object') return { ...membersOf(path), nodeType: 'object' }
    return { nodeType: given.toLowerCase() === 'null' ? 'null' : 'scalar' }
  }
  const membersOf = (path: string): { [key: string]: JsonValue } => {
    const members = memberOf(struct, path)
    const entries = isObject(members) ? entriesOf(members) : []
    return Object.fromEntries(entries.map(([key, given]) => [`_${key}`, node(`${path}.${key}`, String(given))]))
  }
  const rowsOf = (path: string, element: string): JsonValue =>
    element === 'object' || element === '' ? { ...membersOf(path), nodeType: 'object' } : { nodeType: 'scalar' }
  const isScalarType = entriesOf(fields).length === 1 && memberOf(fields, 'data') !== undefined
  return { '[]': isScalarType ? { nodeType: 'scalar' } : rowsOf(type, 'object'), nodeType: 'array' }
}

export function toLegacyState(rows: Node): [string, JsonValue][] {
  const structs: [string, JsonValue][] = []
  const visit = (node: Node, path: string) => {
    const isRows = node.type !== 'object' && node === node.table.rows
    const fields: [string, JsonValue][] = isRows
      ? [['data', 'scalar']]
      : [...node.members.values()].map((child) => [child.key, legacyType(child)])
    structs.push([path, objectOf(fields)])
    for (const child of node.members.values()) {
      if (child.type === 'object') visit(child, `${path}.${child.key}`)
      else if (child.element !== undefined) visit(child.element, `${path}.${child.key}`)
    }
  }
  visit(rows, rows.cleanPath)
  return structs
}

function legacyType({ type, element }: Node): string {
  if (type !== 'array') return type === 'null' ? 'NULL' : type
  const inner: NodeType = element?.type ?? 'null'
  return inner === 'null' ? 'array' : `arrayOf${inner}`
}
