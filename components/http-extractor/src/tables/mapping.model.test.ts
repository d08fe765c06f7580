// Mapped tables, and the names of added columns, against models that are as plain as spec extractor 14 and 13.7. Random mappings over random
// items; several types one after another.

import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { isObject, isScalar, type JsonObject, type JsonValue, memberOf, objectOf } from '../json/json.ts'
import { phpSerialize, phpSerializeAssociative, serialize, toText } from '../json/text.ts'
import type { AddedValue, Page } from './page.ts'
import { createTables } from './tables.ts'

const ROUNDS = process.env.MILLRACE_LONG ? 2_000 : 200

type Table = { columns: readonly string[]; primaryKey: readonly string[]; rows: string[][] }
type Model = Map<string, Table>

const csv = (lines: readonly (readonly string[])[]) =>
  lines.map((cells) => `${cells.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(',')}\n`).join('')

/** Each table as a text: its primary key, then the file. */
const shown = (model: Model) =>
  Object.fromEntries(
    [...model].map(([name, { columns, primaryKey, rows }]) => [name, `${primaryKey}\n${csv([columns, ...rows])}`]),
  )

function made(pages: readonly Page[], mappings?: JsonValue): Record<string, string> {
  const root = mkdtempSync(join(tmpdir(), 'mapping-model-'))
  try {
    const log = { debug: () => {}, warning: () => {}, error: () => {} }
    const tables = createTables({ outDir: join(root, 'out'), workDir: join(root, 'work'), mappings, log })
    for (const page of pages) tables.add(page)
    tables.complete({ incremental: false })
    tables.publish()
    const read = (file: string) => readFileSync(join(root, 'out', file), 'utf8')
    const files = readdirSync(join(root, 'out')).filter((file) => !file.endsWith('.manifest'))
    const keyOf = (file: string) => (JSON.parse(read(`${file}.manifest`)) as { primary_key?: string[] }).primary_key ?? []
    return Object.fromEntries(files.map((file) => [file, `${keyOf(file)}\n${read(file)}`]))
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
}

// ---- mappings ----

type Entry =
  | { kind: 'column'; path: string; isKey: boolean }
  | { kind: 'user'; name: string }
  | {
      kind: 'table'
      path: string
      entries: Entry[]
      parentKey: { destination?: string; primaryKey?: boolean; disable?: boolean }
    }
  | { kind: 'own'; path: string }

const SCALARS = ['a', 'b', 'o.x', 'o.y.z', 'missing']
const LISTS = ['list', 'more', 'o.list']

const uniqueBy = <T>(items: readonly T[], keyOf: (item: T) => string): T[] => [
  ...new Map(items.map((item) => [keyOf(item), item])).values(),
]

const entriesAt = (depth: number): fc.Arbitrary<Entry[]> => {
  const column = fc.constantFrom(...SCALARS).map((path): Entry => ({ kind: 'column', path, isKey: false }))
  const key = fc.constant<Entry>({ kind: 'column', path: 'id', isKey: true })
  const user = fc.constantFrom('u', 'unknown').map((name): Entry => ({ kind: 'user', name }))
  const own = fc.constant<Entry>({ kind: 'own', path: 'own' })
  const table = fc.record({
    kind: fc.constant('table' as const),
    path: fc.constantFrom(...LISTS),
    entries: depth === 0 ? fc.constant<Entry[]>([]) : entriesAt(depth - 1),
    parentKey: fc.constantFrom({}, { destination: 'up' }, { primaryKey: true }, { disable: true }),
  })
  const any = depth === 0 ? fc.oneof(column, key, user) : fc.oneof(column, key, user, own, table)
  return fc
    .array(any, { minLength: 1, maxLength: 5 })
    .map((found) =>
      uniqueBy(found, (entry) => `${entry.kind === 'user' ? 'user ' : ''}${'path' in entry ? entry.path : entry.name}`),
    )
    .filter((found) => found.some(({ kind }) => kind === 'column' || kind === 'user'))
}

const tableName = (parent: string, path: string) => `${parent}-${path.replaceAll('.', '-')}`

function settingsOf(entries: readonly Entry[], type: string): JsonObject {
  return objectOf(
    entries.map((entry): [string, JsonValue] => {
      if (entry.kind === 'column')
        return [entry.path, { mapping: { destination: `c ${entry.path}`, primaryKey: entry.isKey }, forceType: true }]
      if (entry.kind === 'user') return [entry.name, { type: 'user', mapping: { destination: `user ${entry.name}` } }]
      if (entry.kind === 'own') return [entry.path, { type: 'table', destination: type, parentKey: { disable: true } }]
      const destination = tableName(type, entry.path)
      return [
        entry.path,
        { type: 'table', destination, parentKey: entry.parentKey, tableMapping: settingsOf(entry.entries, destination) },
      ]
    }),
  )
}

const valueAt = (item: JsonValue, path: string): JsonValue | undefined => {
  if (isScalar(item)) return item
  return path.split('.').reduce<JsonValue | undefined>((at, key) => (isObject(at) ? memberOf(at, key) : undefined), item)
}

const cellOf = (value: JsonValue | undefined): string =>
  value === undefined || value === null ? '' : isScalar(value) ? toText(value) : serialize(value)

interface Parent {
  readonly column: string
  readonly isKey: boolean
}

/** Every table of the mapping, empty. */
function outline(entries: readonly Entry[], type: string, parent: Parent | undefined, model: Model): void {
  const hasKey = entries.some((entry) => entry.kind === 'column' && entry.isKey) || (parent?.isKey ?? false)
  const columns = entries.flatMap((entry) => {
    if (entry.kind === 'column') return [`c ${entry.path}`]
    if (entry.kind === 'user') return [`user ${entry.name}`]
    return entry.kind === 'table' && !entry.parentKey.disable && !hasKey ? [tableName(type, entry.path)] : []
  })
  const keys = entries.flatMap((entry) => (entry.kind === 'column' && entry.isKey ? [`c ${entry.path}`] : []))
  model.set(type, {
    columns: [...columns, ...(parent ? [parent.column] : [])],
    primaryKey: [...keys, ...(parent?.isKey ? [parent.column] : [])],
    rows: [],
  })
  for (const entry of entries)
    if (entry.kind === 'table') outline(entry.entries, tableName(type, entry.path), parentOf(entry, type), model)
}

const parentOf = ({ parentKey }: Entry & { kind: 'table' }, type: string): Parent | undefined =>
  parentKey.disable ? undefined : { column: parentKey.destination ?? `${type}_pk`, isKey: parentKey.primaryKey === true }

function writeMapped(
  items: readonly JsonValue[],
  entries: readonly Entry[],
  type: string,
  parent: (Parent & { readonly link: string }) | undefined,
  added: readonly AddedValue[],
  model: Model,
): void {
  const keys = entries.filter((entry) => entry.kind === 'column' && entry.isKey) as (Entry & { kind: 'column' })[]
  const hasKey = keys.length > 0 || (parent?.isKey ?? false)
  const userText = (name: string) => {
    if (parent?.column === name) return parent.link
    return cellOf(added.find(([key]) => key === name)?.[1])
  }
  for (const item of items) {
    const cells = entries.flatMap((entry): string[] => {
      if (entry.kind === 'column') return [cellOf(valueAt(item, entry.path))]
      if (entry.kind === 'user') return [userText(entry.name)]
      const value = entry.kind === 'own' && isScalar(item) ? undefined : valueAt(item, entry.path)
      const elements = value === undefined || value === null || value === '' ? [] : Array.isArray(value) ? value : [value]
      if (entry.kind === 'own') {
        writeMapped(elements, entries, type, parent, added, model)
        return []
      }
      const below = parentOf(entry, type)
      const hashed = hash('md5', phpSerialize(item) + (added.length > 0 ? phpSerializeAssociative(added) : ''))
      const identity = [...keys.map(({ path }) => cellOf(valueAt(item, path))), ...(parent?.isKey ? [parent.link] : [])].join(',')
      const link = hasKey ? identity : hashed
      const inner = below && { ...below, link }
      writeMapped(elements, entry.entries, tableName(type, entry.path), inner, added, model)
      return below && !hasKey ? [elements.length === 0 ? '' : link] : []
    })
    model.get(type)!.rows.push([...cells, ...(parent ? [parent.link] : [])])
  }
}

const scalar = fc.constantFrom<JsonValue>(null, true, false, '', 'x', '"q",', 0, 7, -3, 1.5)
const itemAt = (depth: number): fc.Arbitrary<JsonValue> =>
  fc
    .record(
      {
        a: scalar,
        b: fc.oneof(scalar, fc.constant<JsonValue>([1, 'é/'])),
        o: fc.record({ x: scalar, y: fc.constant({ z: 1 }), list: listAt(depth - 1) }, { requiredKeys: [] }),
        list: listAt(depth - 1),
        more: listAt(depth - 1),
        own: listAt(depth - 2),
      },
      { requiredKeys: [] },
    )
    .chain((members) => fc.constantFrom(1, 2, 'k').map((id): JsonValue => ({ id, ...(members as object) }) as JsonValue))
function listAt(depth: number): fc.Arbitrary<JsonValue> {
  if (depth <= 0) return fc.constantFrom<JsonValue>([], null, '')
  const element = fc.oneof(
    { weight: 3, arbitrary: itemAt(depth) },
    { weight: 1, arbitrary: fc.constantFrom<JsonValue>('s', 5, true) },
  )
  return fc.oneof(element, fc.array(element, { maxLength: 3 }) as fc.Arbitrary<JsonValue>)
}

test('whatever the mapping and the items, the mapped tables are those of the model', () => {
  const run = fc.record({
    entries: entriesAt(2),
    items: fc.array(itemAt(3), { maxLength: 6 }),
    cut: fc.nat({ max: 6 }),
    added: fc.constantFrom<AddedValue[]>([], [['u', 'V']]),
  })
  fc.assert(
    fc.property(run, ({ entries, items, cut, added }) => {
      const model: Model = new Map()
      outline(entries, 't', undefined, model)
      writeMapped(items, entries, 't', undefined, added, model)
      const pages = [items.slice(0, cut), items.slice(cut)].map((part) => ({ type: 't', items: part, added }))
      assert.deepEqual(made(pages, { t: settingsOf(entries, 't') }), shown(model))
    }),
    { numRuns: ROUNDS },
  )
})

// ---- names of added columns ----

const KEYS = ['id', 'tag', 'price', 'who']
const pageOf = fc.record({
  type: fc.constantFrom('users', 'orders', 'lines'),
  items: fc.array(fc.dictionary(fc.constantFrom(...KEYS), fc.constantFrom('1', 'x'), { minKeys: 1, maxKeys: 4 }), {
    minLength: 1,
    maxLength: 2,
  }),
  added: fc.shuffledSubarray(['tag', 'price', 'who']).map((names) => names.map((name): AddedValue => [name, `added ${name}`])),
})

/** One table after another, in the order of their first pages; a name that had to be changed stays changed. */
function aliasModel(pages: readonly { type: string; items: Record<string, string>[]; added: AddedValue[] }[]): Model {
  const model: Model = new Map()
  const aliases = new Map<string, string>()
  for (const type of new Set(pages.map((page) => page.type))) {
    const own = pages.filter((page) => page.type === type)
    const columns = [...new Set(own.flatMap(({ items }) => items.flatMap((item) => Object.keys(item))))]
    const asked = [...new Set(own.flatMap(({ added }) => added.map(([name]) => name)))]
    const names = [...columns]
    for (const name of asked) {
      let free = aliases.get(name) ?? name
      for (let n = 0; names.includes(free); n++) free = `${name}_u${n}`
      if (free !== name) aliases.set(name, free)
      names.push(free)
    }
    const rows = own.flatMap(({ items, added }) =>
      items.map((item) => [
        ...columns.map((column) => item[column] ?? ''),
        ...asked.map((name) => cellOf(added.find(([key]) => key === name)?.[1])),
      ]),
    )
    model.set(type, { columns: names, primaryKey: [], rows })
  }
  return model
}

test('an added column whose name is taken has the same other name in every table written later', () => {
  fc.assert(
    fc.property(fc.array(pageOf, { minLength: 1, maxLength: 6 }), (pages) => {
      assert.deepEqual(made(pages), shown(aliasModel(pages)))
    }),
    { numRuns: ROUNDS },
  )
})
