// What the items look like: columns with their types, what identifies an item, and when it changed.

import {
  entriesOf,
  isArray,
  isNumber,
  isObject,
  isScalar,
  type JsonObject,
  type JsonScalar,
  type JsonValue,
  objectOf,
  valueAt,
} from '../json/json.ts'
import { toText } from '../json/text.ts'
import { columnName } from '../tables/names.ts'
import type { Guess } from './guess.ts'

export interface Column {
  readonly path: string
  readonly column: string
  readonly type: 'INTEGER' | 'NUMERIC' | 'BOOLEAN' | 'DATE' | 'TIMESTAMP' | 'STRING'
  readonly isEmptySomewhere: boolean
}

/** Paths of all scalars and of all lists, in order of first appearance. */
function placesIn(items: readonly JsonValue[]): {
  readonly scalars: readonly string[]
  readonly lists: readonly string[]
} {
  const scalars = new Set<string>()
  const lists = new Set<string>()
  const visit = (value: JsonValue, path: string) => {
    if (isArray(value)) lists.add(path)
    else if (!isObject(value)) scalars.add(path)
    else for (const [key, member] of entriesOf(value)) visit(member, path === '' ? key : `${path}.${key}`)
  }
  for (const item of items) if (isObject(item)) visit(item, '')
  // What is null here and an object there is no column.
  const isColumn = (path: string) => !lists.has(path) && ![...scalars].some((other) => other.startsWith(`${path}.`))
  return { scalars: [...scalars].filter(isColumn), lists: [...lists] }
}

export function guessColumns(items: readonly JsonValue[]): Column[] {
  return placesIn(items).scalars.map((path) => {
    const values = items.map((item) => valueAt(item, path) ?? null)
    const given = values.filter((value) => value !== null && value !== '')
    return { path, column: columnName(path), type: typeOf(given), isEmptySomewhere: given.length < values.length }
  })
}

const KINDS: readonly (readonly [Column['type'], (value: JsonValue) => boolean])[] = [
  ['BOOLEAN', (value) => typeof value === 'boolean'],
  ['INTEGER', (value) => isNumber(value) && /^-?\d+$/.test(String(value))],
  ['NUMERIC', (value) => isNumber(value)],
  ['DATE', (value) => typeof value === 'string' && /^\d{4}-\d\d-\d\d$/.test(value)],
  ['TIMESTAMP', (value) => typeof value === 'string' && /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d/.test(value)],
]

function typeOf(values: readonly JsonValue[]): Column['type'] {
  return (values.length > 0 ? KINDS.find(([, is]) => values.every(is))?.[0] : undefined) ?? 'STRING'
}

const IDS = [/^id$/i, /^_id$/i, /^(?:uu|gu)id$/i, /(?:^|_|\.)(?:id|key|code|number|uuid)$/i, /Id$/]

export function guessPrimaryKey(items: readonly JsonValue[]): Guess<readonly string[]> | undefined {
  const unique = placesIn(items).scalars.filter((path) => {
    const values = items.map((item) => valueAt(item, path)).filter((value) => isScalar(value) && value !== '')
    return new Set(values.map((value) => toText(value as JsonScalar))).size === items.length // filtered above
  })
  for (const pattern of IDS) {
    const path = unique.find((candidate) => pattern.test(candidate))
    if (path !== undefined) {
      const column = columnName(path)
      return { value: [column], reason: `'${path}' is set in each of the ${items.length} items and different in all of them.` }
    }
  }
  return undefined
}

const CHANGED = [/(?:updated|modified|changed)/i, /last_?(?:update|change|modification)/i, /created|(?:^|_)date$|timestamp/i]
const SINCE = [
  /since$/i,
  /(?:updated|modified|changed|created)_?(?:after|from|gte?|min)$/i,
  /(?:start|from)_?(?:date|time)$/i,
  /^after$/i,
]

/** The time column of changes, and the parameter that requests what changed since. */
export function guessIncrement(items: readonly JsonValue[], parameters: readonly string[] = []): Guess<JsonObject> | undefined {
  const times = guessColumns(items).filter(({ type }) => type === 'TIMESTAMP' || type === 'DATE')
  const column = CHANGED.flatMap((pattern) => times.filter(({ path }) => pattern.test(path)))[0]
  if (column === undefined) return undefined
  const known = SINCE.flatMap((pattern) => parameters.filter((name) => pattern.test(name)))[0]
  const parameter =
    known ??
    `${column.path
      .split('.')
      .at(-1)!
      .replace(/_?(?:at|on|date|time)$/i, '')}_since`
  const format = column.type === 'DATE' ? 'Y-m-d' : 'Y-m-d\\TH:i:s\\Z'
  const since = objectOf([
    ['function', 'date'],
    ['args', [format, objectOf([['time', 'previousStart']])]],
  ])
  const isKnown = known === undefined ? ` That the API takes '${parameter}' is a guess: look it up.` : ''
  return {
    value: objectOf([['column', column.path], ['params', objectOf([[parameter, since]])]]), // biome-ignore format: pairs
    reason: `'${column.path}' says when an item changed.${isKnown}`,
  }
}

/** config.mappings for these columns; lists become tables of their own. */
export function mappingOf(items: readonly JsonValue[], key: readonly string[] = []): JsonObject {
  const columns = guessColumns(items).map(({ path, column }): [string, JsonValue] => {
    if (!key.includes(column)) return [path, column]
    return [path, objectOf([['mapping', objectOf([['destination', column], ['primaryKey', true]])]])] // biome-ignore format: pairs
  })
  const tables = placesIn(items).lists.flatMap((path): [string, JsonValue][] => {
    const elements = items.flatMap((item) => valueAt(item, path) ?? [])
    if (elements.length === 0) return []
    const inner = elements.some(isObject) ? mappingOf(elements) : objectOf([['', 'value']])
    return [[path, objectOf([['type', 'table'], ['destination', columnName(path)], ['tableMapping', inner]])]] // biome-ignore format: pairs
  })
  return objectOf([...columns, ...tables])
}
