/**
 * Items to rows, when their structure is known (contract 13.2, 13.9).
 *
 * One walk over an item fills the cells of its row and, where the structure has arrays, builds its PHP serialisation at the same
 * time: the id that links the elements to it is the hash of that text. The walk expects the keys in the order of the structure
 * and looks one up only where they differ. Anything the structure does not know ends it with `Mismatch`: the caller takes the
 * page back, analyses it and tries again.
 */
import { hash } from 'node:crypto'
import { JsonNumber, type JsonObject, type JsonValue } from '../json/json.ts'
import { byteLength, phpSerialize, serialize, toText } from '../json/text.ts'
import { type CsvFile, csvLine, escapeCell } from './csv.ts'
import type { Layout } from './layout.ts'
import type { AddedValue } from './page.ts'
import { type Node, PARENT_ID, reportNestedArray, type TableNode } from './structure.ts'

/** The page has something that was not analysed. */
export class Mismatch extends Error {}
const MISMATCH = new Mismatch()

export type TableTarget = { readonly layout: Layout; readonly file: CsvFile; readonly cells: string[] }

/** Objects of a row whose arrays wait for the id of the object. */
type Waiting = { readonly node: Node; text: string; arrays: [Node, JsonValue[]][] | undefined; objects: Waiting[] | undefined }

export type RowWriter = (items: readonly JsonValue[], rows: Node, added: readonly AddedValue[]) => void

export function createRowWriter(targetOf: (table: TableNode) => TableTarget, warn: (message: string) => void): RowWriter {
  const writeRows: RowWriter = (items, rows, added) => {
    const { layout, file, cells } = targetOf(rows.table)
    const extra = added.map(([name, value]) => {
      const column = layout.added.get(name)
      if (column === undefined) throw MISMATCH
      return {
        slot: column.slot,
        cell: escapeCell(addedText(value)),
        mark: rows.hasArrays ? column.keyMark + phpSerialize(value) : '',
      }
    })
    const marks = extra.map(({ mark }) => mark).join('')

    for (const item of items) {
      cells.fill('')
      for (const { slot, cell } of extra) cells[slot] = cell
      if (isObjectRow(item)) {
        if (rows.type !== 'object') throw MISMATCH
        const waiting = writeObject(item, rows, cells, false, extra.length, marks)
        if (waiting !== undefined) link(waiting, '', cells)
      } else if (rows.type !== 'object') {
        if (rows.type === 'null' && item !== null) throw MISMATCH
        if (Array.isArray(item)) reportNestedArray(rows, warn)
        cells[rows.slot] = escapeCell(Array.isArray(item) ? serialize(item) : toText(item as string)) // no object here, so a scalar or null
      } else if (item !== null) {
        throw MISMATCH
      }
      file.add(csvLine(cells))
    }
  }

  /** Rows of the arrays below an object, once its id is known, and the id in the arrays' own columns. */
  function link(waiting: Waiting, outerId: string, cells: string[]): void {
    const id = `${waiting.node.cleanPath}_${hash('md5', waiting.text + outerId)}`
    if (waiting.arrays !== undefined) {
      const cell = escapeCell(id)
      for (const [node, elements] of waiting.arrays) {
        cells[node.slot] = cell
        if (node.element === undefined) throw MISMATCH
        writeRows(elements, node.element, [[PARENT_ID, id]])
      }
    }
    if (waiting.objects !== undefined) for (const inner of waiting.objects) link(inner, id, cells)
  }

  return writeRows
}

/**
 * Fills the cells of an object. Returns what waits for its id; with `wantsText` also when nothing waits, because the text is part of
 * the enclosing object's.
 */
function writeObject(
  object: JsonObject,
  node: Node,
  cells: string[],
  wantsText: boolean,
  extraKeys: number,
  marks: string,
): Waiting | undefined {
  const keepsText = wantsText || node.hasArrays
  const { list } = node
  let next = 0
  let keys = extraKeys
  let text = ''
  let arrays: [Node, JsonValue[]][] | undefined
  let objects: Waiting[] | undefined

  const put = (key: string, value: JsonValue): void => {
    let child = list[next]
    if (child === undefined || child.key !== key) {
      child = node.members.get(key)
      if (child === undefined) throw MISMATCH
    }
    next = child.index + 1
    keys++
    if (typeof value === 'string') {
      if (keepsText) text += `${child.keyMark}s:${byteLength(value)}:"${value}";`
      if (child.type === 'scalar') cells[child.slot] = escapeCell(value)
      else if (child.type === 'array') arrays = pushed(arrays, [child, [value]])
      else throw MISMATCH
    } else if (value === null) {
      if (keepsText) text += `${child.keyMark}N;`
    } else if (typeof value !== 'object' || value instanceof JsonNumber) {
      if (keepsText) text += child.keyMark + phpSerialize(value)
      if (child.type === 'scalar') cells[child.slot] = toText(value)
      else if (child.type === 'array') arrays = pushed(arrays, [child, [value]])
      else throw MISMATCH
    } else if (Array.isArray(value)) {
      if (keepsText) text += child.keyMark + phpSerialize(value)
      if (child.type !== 'array') throw MISMATCH
      if (value.length > 0) arrays = pushed(arrays, [child, value])
    } else if (child.type === 'object') {
      const inner = writeObject(value, child, cells, keepsText, 0, '')
      if (inner !== undefined) {
        text += child.keyMark + inner.text
        if (inner.arrays !== undefined || inner.objects !== undefined) objects = pushed(objects, inner)
      }
    } else if (child.type === 'array') {
      if (keepsText) text += child.keyMark + phpSerialize(value)
      arrays = pushed(arrays, [child, [value]])
    } else {
      throw MISMATCH
    }
  }

  if (object instanceof Map) for (const [key, value] of object) put(key, value)
  else for (const key in object) put(key, object[key]!)
  if (!wantsText && arrays === undefined && objects === undefined) return undefined
  return { node, text: `O:8:"stdClass":${keys}:{${text}${marks}}`, arrays, objects }
}

function pushed<T>(list: T[] | undefined, value: T): T[] {
  if (list === undefined) return [value]
  list.push(value)
  return list
}

function isObjectRow(item: JsonValue): item is JsonObject {
  return typeof item === 'object' && item !== null && !Array.isArray(item) && !(item instanceof JsonNumber)
}

/** User data that is still an object is written as JSON (contract 13.8). */
export function addedText(value: JsonValue): string {
  return typeof value === 'object' && value !== null && !(value instanceof JsonNumber) ? serialize(value) : toText(value)
}
