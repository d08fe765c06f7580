/**
 * Items to rows, when their structure is known (spec extractor 13.2, 13.9).
 *
 * The usual item has its keys in the order of the structure. One walk then writes its cells and, where the structure has arrays,
 * its PHP serialisation: the id that links the elements to it is the hash of that. The id stands in the arrays' own cells, before
 * it can be known; its length is known, so the cell is left open and filled in afterwards. An item out of step is serialised
 * first and then written key by key.
 *
 * Anything not in the structure ends the walk with `Mismatch`: the caller rolls the page back, analyses it, tries again.
 */
import { hash } from 'node:crypto'
import {
  entriesOf,
  isObject,
  isScalar,
  type JsonObject,
  type JsonValue,
  keysOf,
  memberOf,
  type PlainObject,
} from '../json/json.ts'
import { serialize, toText } from '../json/text.ts'
import { ByteWriter, cellAndMember, isSmallInteger } from './bytes.ts'
import type { CsvFile } from './csv.ts'
import type { Layout } from './layout.ts'
import type { AddedValue } from './page.ts'
import { CELL_END, MD5_LENGTH, type Node, PARENT_ID, reportNestedArray, type TableNode, type Tail } from './structure.ts'

/** The page has something that was not analysed. */
export class Mismatch extends Error {}
const MISMATCH = new Mismatch()

export type TableTarget = { readonly layout: Layout; readonly file: CsvFile }

export type RowWriter = (items: readonly JsonValue[], rows: Node, added: readonly AddedValue[]) => void

/** More than any usual item; what one giant item took is given back with the next page. */
const KEPT_TEXT_BYTES = 1 << 20
const NO_TAIL: Tail = { cells: new Uint8Array(), keys: 0, text: new Uint8Array() }

/** An object and the arrays in it that wait for its id: in itself, or in an object inside it. */
type Linked = {
  readonly node: Node
  readonly object: JsonObject
  arrays?: { readonly node: Node; readonly elements: readonly JsonValue[]; readonly at: number }[]
  objects?: Linked[]
}

/** For rows of a table in which no place is an array: nothing is ever added to it. */
const NOTHING_LINKED = Object.freeze({}) as Linked

export function createRowWriter(targetOf: (table: TableNode) => TableTarget, warn: (message: string) => void): RowWriter {
  /** Serialised objects; a row of an array is written while the one it belongs to waits, so they stand one behind the other. */
  const text = new ByteWriter()

  function writeRows(items: readonly JsonValue[], rows: Node, tail: Tail): void {
    const { file } = targetOf(rows.table)
    for (const item of items) {
      if (isObject(item)) {
        if (rows.type !== 'object') throw MISMATCH
        writeItem(item, rows, tail, file)
      } else {
        writeScalarItem(item, rows, file.out)
        endRow(tail, file)
      }
    }
  }

  function writeScalarItem(item: Exclude<JsonValue, JsonObject>, rows: Node, out: ByteWriter): void {
    if (item === null) {
      out.emptyCells(rows.width)
    } else if (rows.type !== 'scalar') {
      throw MISMATCH
    } else if (Array.isArray(item)) {
      reportNestedArray(rows, warn)
      out.cell(serialize(item))
    } else {
      out.cell(toText(item))
    }
  }

  function writeItem(item: JsonObject, rows: Node, tail: Tail, file: CsvFile): void {
    const { out } = file
    const rowStart = out.length
    const textStart = text.length
    let linked: Linked = rows.hasArrays ? { node: rows, object: item } : NOTHING_LINKED
    if (item instanceof Map || !writeInStep(item, rows, out, rows.hasArrays, linked, tail)) {
      out.length = rowStart
      text.length = textStart
      if (rows.hasArrays) linked = { node: rows, object: item }
      writeByKey(item, rows, out, linked)
      if (rows.hasArrays) serializeItem(item, tail)
    }
    endRow(tail, file)
    if (isWaiting(linked)) link(linked, hash('md5', text.bytes.subarray(textStart, text.length)), out)
    text.length = textStart
  }

  /** Cells and text in one walk. False when a key comes after one that it should precede. */
  // biome-ignore lint/complexity/useMaxParams: called for every row, where an object for the parameters would cost more than the call.
  function writeInStep(
    object: PlainObject,
    node: Node,
    out: ByteWriter,
    keepsText: boolean,
    linked: Linked,
    tail: Tail,
  ): boolean {
    const { list } = node
    const textStart = text.length
    const assumedKeys = tail.keys + list.length
    let keys = tail.keys
    let next = 0
    if (keepsText) text.phpObjectStart(assumedKeys)
    for (const key in object) {
      keys++
      let child = list[next]
      if (child === undefined || child.key !== key) {
        child = node.members.get(key)
        if (child === undefined) throw MISMATCH
        if (child.index < next) return false
        while (next < child.index) out.emptyCells(list[next++]!.width)
      }
      next++
      const value = object[key]!
      if (typeof value === 'string' && child.type === 'scalar') {
        if (keepsText) cellAndMember(out, text, child.keyMark, value)
        else out.cell(value)
        continue
      }
      if (keepsText) text.copy(child.keyMark)
      if (child.type === 'object' && isPlain(value)) {
        if (!writeInner(value, child, out, keepsText, linked)) return false
      } else {
        if (keepsText) text.php(value)
        writeCell(value, child, out, linked)
      }
    }
    while (next < list.length) out.emptyCells(list[next++]!.width)
    if (keepsText) {
      text.copy(tail.text)
      text.phpEnd()
      if (keys !== assumedKeys) text.phpObjectRestart(textStart, assumedKeys, keys)
    }
    return true
  }

  function writeInner(object: PlainObject, node: Node, out: ByteWriter, keepsText: boolean, linked: Linked): boolean {
    if (!node.hasArrays) return writeInStep(object, node, out, keepsText, linked, NO_TAIL)
    const inner: Linked = { node, object }
    const isInStep = writeInStep(object, node, out, keepsText, inner, NO_TAIL)
    if (isWaiting(inner)) linked.objects = pushed(linked.objects, inner)
    return isInStep
  }

  function writeByKey(object: JsonObject, node: Node, out: ByteWriter, linked: Linked): void {
    for (const key of keysOf(object)) if (!node.members.has(key)) throw MISMATCH
    for (const child of node.list) writeCell(memberOf(object, child.key) ?? null, child, out, linked)
  }

  /** The cell of a value, or the cells of an object. An array is noted down and its cell left open for the id. */
  function writeCell(value: JsonValue, node: Node, out: ByteWriter, linked: Linked): void {
    if (value === null) {
      out.emptyCells(node.width)
    } else if (node.type === 'array') {
      if (Array.isArray(value) && value.length === 0) {
        out.emptyCells(1)
        return
      }
      out.copy(linked.node.idCell)
      const at = out.length - MD5_LENGTH - CELL_END
      linked.arrays = pushed(linked.arrays, { node, elements: Array.isArray(value) ? value : [value], at })
    } else if (isObject(value)) {
      if (node.type !== 'object') throw MISMATCH
      const inner: Linked = { node, object: value }
      writeByKey(value, node, out, inner)
      if (isWaiting(inner)) linked.objects = pushed(linked.objects, inner)
    } else if (node.type === 'scalar' && !Array.isArray(value)) {
      if (typeof value === 'number' && isSmallInteger(value)) out.integerCell(value)
      else out.cell(toText(value))
    } else {
      throw MISMATCH
    }
  }

  /** Fills in the open cells of an object's arrays and writes their rows. */
  function link({ node, arrays, objects }: Linked, md5: string, out: ByteWriter): void {
    // The cell of the place now holds this id; it is the last cell of every row of these arrays.
    node.idCell.write(md5, node.idCell.length - MD5_LENGTH - CELL_END, 'latin1')
    if (arrays !== undefined) {
      for (const { node: array, elements, at } of arrays) {
        out.bytes.write(md5, at, MD5_LENGTH, 'latin1')
        if (array.element === undefined) throw MISMATCH
        const { hasArrays } = array.element
        writeRows(
          elements,
          array.element,
          hasArrays ? tailOf(array.element, [[PARENT_ID, `${node.cleanPath}_${md5}`]]) : node.idTail,
        )
      }
    }
    if (objects !== undefined) for (const inner of objects) link(inner, hashInner(inner.object, `${node.cleanPath}_${md5}`), out)
  }

  /** The id of an object inside an object covers the id of the outer one. */
  function hashInner(object: JsonObject, outerId: string): string {
    const start = text.length
    text.php(object)
    text.utf8(outerId)
    const md5 = hash('md5', text.bytes.subarray(start, text.length))
    text.length = start
    return md5
  }

  function serializeItem(item: JsonObject, tail: Tail): void {
    text.phpObjectStart(tail.keys + keysOf(item).length)
    for (const [key, value] of entriesOf(item)) {
      text.phpString(key)
      text.php(value)
    }
    text.copy(tail.text)
    text.phpEnd()
  }

  function tailOf(rows: Node, added: readonly AddedValue[]): Tail {
    const { columns, added: places } = targetOf(rows.table).layout
    const texts: string[] = new Array(places.size).fill('')
    const members = new ByteWriter()
    let keys = 0
    for (const [name, value] of added) {
      const place = places.get(name)
      if (place === undefined) throw MISMATCH
      if (place.isInItem) continue
      keys++
      texts[place.slot - (columns.length - places.size)] = addedText(value)
      members.phpString(place.key)
      members.php(value)
    }
    const cells = new ByteWriter()
    for (const cell of texts) cells.cell(cell)
    return { cells: cells.bytes.subarray(0, cells.length), keys, text: members.bytes.subarray(0, members.length) }
  }

  return (items, rows, added) => {
    text.length = 0 // a page that was rolled back may have left something
    text.shrink(KEPT_TEXT_BYTES)
    writeRows(items, rows, tailOf(rows, added))
  }
}

function endRow(tail: Tail, file: CsvFile): void {
  file.out.copy(tail.cells)
  file.rowDone()
}

/** A list that exists only once there is something in it: most items have none. */
export function pushed<T>(list: T[] | undefined, value: T): T[] {
  if (list === undefined) return [value]
  list.push(value)
  return list
}

function isWaiting({ arrays, objects }: Linked): boolean {
  return arrays !== undefined || objects !== undefined
}

function isPlain(value: JsonValue): value is PlainObject {
  return isObject(value) && !(value instanceof Map)
}

/** User data that is still an object is written as JSON (spec extractor 13.8). */
export function addedText(value: JsonValue): string {
  return value === null || isScalar(value) ? toText(value) : serialize(value)
}
