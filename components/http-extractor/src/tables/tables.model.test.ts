// The tables against a model that is as slow and plain as spec extractor 13.2, 13.6 and 13.9: two phases, strings, lookups. Items of random
// shape, keys in any order, cut into pages in any way.

import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { entriesOf, isObject, JsonNumber, type JsonObject, type JsonValue, memberOf, objectOf } from '../json/json.ts'
import { exactJson, phpSerialize, toText } from '../json/text.ts'
import type { AddedValue } from './page.ts'
import { createTables } from './tables.ts'

const ROUNDS = process.env.MILLRACE_LONG ? 2_000 : 150

// ---- items ----

/** What may stand at a place; `many` are lists of it, which may also come as a single value. */
type Shape = { kind: 'scalar' } | { kind: 'object'; members: Record<string, Shape> } | { kind: 'many'; of: Shape }

const KEYS = ['a', 'b', 'c', 'd', '7', '0', 'long-key']
const shape: fc.Memo<Shape> = fc.memo((depth) => {
  const scalar = fc.constant<Shape>({ kind: 'scalar' })
  if (depth <= 1) return scalar
  const members = fc.dictionary(fc.constantFrom(...KEYS), shape(depth - 1), { minKeys: 1, maxKeys: 4 })
  const object = members.map((found): Shape => ({ kind: 'object', members: found }))
  return fc.oneof(
    scalar,
    object,
    fc.oneof(scalar, object).map((of): Shape => ({ kind: 'many', of })),
  )
})
const scalar = fc.oneof(
  fc.constantFrom<JsonValue>(
    true,
    false,
    '',
    'x',
    '"q"',
    'é,\n',
    0,
    7,
    -3,
    1.5,
    0.1,
    new JsonNumber('9007199254740993'),
    new JsonNumber('1.0'),
  ),
  fc.string({ unit: 'grapheme', maxLength: 120 }),
)

function valueOfShape(from: Shape): fc.Arbitrary<JsonValue> {
  if (from.kind === 'scalar') return fc.oneof({ weight: 1, arbitrary: fc.constant(null) }, { weight: 5, arbitrary: scalar })
  if (from.kind === 'object')
    return fc.oneof({ weight: 1, arbitrary: fc.constant(null) }, { weight: 5, arbitrary: objectOfShape(from.members) })
  const element = from.of.kind === 'object' ? objectOfShape(from.of.members) : scalar
  return fc.oneof(fc.constant(null), element, fc.array(element, { maxLength: 3 }))
}

function objectOfShape(members: Record<string, Shape>): fc.Arbitrary<JsonValue> {
  const keys = Object.keys(members)
  return fc
    .shuffledSubarray(keys, { minLength: 0 })
    .chain((present) =>
      fc
        .tuple(...present.map((key) => valueOfShape(members[key]!)))
        .map((values) => objectOf(present.map((key, i) => [key, values[i]!]))),
    )
}

const run = shape(4).chain((from) => {
  const members = from.kind === 'object' ? from.members : { a: from }
  return fc.record({
    items: fc.array(objectOfShape(members), { minLength: 1, maxLength: 8 }),
    cuts: fc.array(fc.nat({ max: 8 }), { maxLength: 4 }),
    added: fc.constantFrom<AddedValue[]>([], [['u', 'V'], ['parent_id', 5]]), // biome-ignore format: pairs
  })
})

// ---- the model ----

type Place = { type: 'null' | 'scalar' | 'object' | 'array'; members: Map<string, Place>; element: Place | undefined }
const place = (): Place => ({ type: 'null', members: new Map(), element: undefined })

function learn(value: JsonValue, at: Place): void {
  if (value === null) return
  if (Array.isArray(value) || at.type === 'array') {
    if (at.type === 'scalar' || at.type === 'object') at.element = { ...at } // what was single becomes the element
    Object.assign(at, { type: 'array', members: new Map() })
    for (const element of Array.isArray(value) ? value : [value]) {
      at.element ??= place()
      learn(element, at.element)
    }
  } else if (isObject(value)) {
    at.type = 'object'
    for (const [key, member] of entriesOf(value)) {
      if (!at.members.has(key)) at.members.set(key, place())
      learn(member, at.members.get(key)!)
    }
  } else {
    at.type = 'scalar'
  }
}

type Model = Map<string, { columns: string[]; rows: string[][] }>

function columnsOf(at: Place, prefix: string[]): string[][] {
  return [...at.members].flatMap(([key, child]) =>
    child.type === 'object' ? columnsOf(child, [...prefix, key]) : [[...prefix, key]],
  )
}

/** Names that need cleaning, and collide, have tests of their own. */
const nameOf = (keys: readonly string[]) => keys.join('_')

function write(elements: readonly JsonValue[], at: Place, path: string[], added: readonly AddedValue[], model: Model): void {
  const name = nameOf(path)
  const columns = at.type === 'object' ? columnsOf(at, []) : [['data']]
  if (!model.has(name)) model.set(name, { columns: [...columns.map(nameOf), ...added.map(([key]) => key)], rows: [] })
  for (const element of elements) {
    const row = isObject(element) ? element : objectOf([['data', element]])
    const withAdded = objectOf([...entriesOf(row), ...added])
    const cells = new Map<string, string>()
    fill(
      row,
      at.type === 'object' ? at : { ...place(), members: new Map([['data', { ...place(), type: 'scalar' }]]) },
      path,
      [],
      withAdded,
      '',
      cells,
      model,
    )
    model
      .get(name)!
      .rows.push([
        ...columns.map((keys) => cells.get(JSON.stringify(keys)) ?? ''),
        ...added.map(([, value]) => toText(value as string)),
      ])
  }
}

function fill(
  object: JsonObject,
  at: Place,
  path: string[],
  keys: string[],
  hashed: JsonObject,
  outer: string,
  cells: Map<string, string>,
  model: Model,
): void {
  const id = `${path.join('.')}_${hash('md5', phpSerialize(hashed) + outer)}`
  for (const [key, child] of at.members) {
    const value = memberOf(object, key) ?? null
    if (value === null) continue
    if (child.type === 'object') {
      fill(value as JsonObject, child, [...path, key], [...keys, key], value as JsonObject, id, cells, model)
    } else if (child.type === 'array') {
      const elements = Array.isArray(value) ? value : [value]
      if (elements.length === 0) continue
      cells.set(JSON.stringify([...keys, key]), id)
      write(elements, child.element!, [...path, key], [['JSON_parentId', id]], model)
    } else {
      cells.set(JSON.stringify([...keys, key]), toText(value as string))
    }
  }
}

const csv = (lines: readonly (readonly string[])[]) =>
  lines.map((cells) => `${cells.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(',')}\n`).join('')

// ---- the comparison ----

function tablesOf(pages: readonly (readonly JsonValue[])[], added: readonly AddedValue[]): Record<string, string> {
  const root = mkdtempSync(join(tmpdir(), 'tables-model-'))
  try {
    const log = { debug: () => {}, warning: () => {}, error: () => {} }
    const tables = createTables({ outDir: join(root, 'out'), workDir: join(root, 'work'), log })
    for (const items of pages)
      tables.add({
        type: 't',
        items,
        added,
        origin: { body: exactJson([...items]), pick: (response) => response as JsonValue[] },
      })
    tables.complete({ incremental: false })
    tables.publish()
    const files = readdirSync(join(root, 'out')).filter((file) => !file.endsWith('.manifest'))
    return Object.fromEntries(files.map((file) => [file, readFileSync(join(root, 'out', file), 'utf8')]))
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
}

test('whatever the shape of the items and however they are cut into pages, the tables are those of the model', () => {
  fc.assert(
    fc.property(run, ({ items, cuts, added }) => {
      const rows = place()
      for (const item of items) learn(item, rows)
      const model: Model = new Map()
      write(items, rows, ['t'], added, model)
      const expected = Object.fromEntries(
        [...model]
          .filter(([, { columns }]) => columns.length > 0)
          .map(([name, { columns, rows: lines }]) => [name, csv([columns, ...lines])]),
      )
      const edges = [0, ...cuts.filter((cut) => cut < items.length).sort((a, b) => a - b), items.length]
      const pages = edges.slice(1).map((edge, i) => items.slice(edges[i], edge))
      assert.deepEqual(tablesOf(pages, added), expected)
    }),
    { numRuns: ROUNDS },
  )
})
