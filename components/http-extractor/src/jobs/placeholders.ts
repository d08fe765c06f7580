// Placeholders (spec extractor 8.2): `{id}` in the endpoint of a child stands for a value of the parent's item. A list gives
// one child job per element, several lists all combinations.

import { at, objectAt, textAt } from '../configuration/read.ts'
import { UserError } from '../errors.ts'
import { evaluate } from '../functions/evaluate.ts'
import { PLACEHOLDER_FUNCTIONS } from '../functions/functions.ts'
import {
  entriesOf,
  isArray,
  isEmpty,
  isObject,
  isScalar,
  type JsonObject,
  type JsonValue,
  objectOf,
  valueAt,
} from '../json/json.ts'
import { serialize, toText } from '../json/text.ts'

export interface Placeholder {
  /** As written in braces: `id` or `2:id`. */
  readonly key: string
  readonly name: string
  /** 1 is the parent's item, 2 its parent and so on. */
  readonly level: number
  readonly path: string
  /** An expression over {"placeholder": "value"}. */
  readonly expression?: JsonObject
}

export interface Bound {
  readonly placeholder: Placeholder
  readonly value: JsonValue
}

export function readPlaceholders(value: JsonValue | undefined, path: string): readonly Placeholder[] {
  return entriesOf(objectAt(value, path)).map(([key, setting]) => {
    const prefix = /^(\d+):([\s\S]*)$/.exec(key)
    const level = prefix ? Number(prefix[1]) : 1
    if (level < 1) throw new UserError(`Invalid configuration: the level of placeholder '${key}' starts at 1. (${path})`)
    const common = { key, name: prefix ? prefix[2]! : key, level }
    if (isObject(setting)) {
      const inner = at(setting, 'path')
      if (isEmpty(inner)) throw badPath(key)
      const expression = objectOf(entriesOf(setting).filter(([k]) => k !== 'path'))
      return {
        ...common,
        path: textAt(inner, `${path}.${key}.path`, ''),
        ...(at(setting, 'function') === undefined ? {} : { expression }),
      }
    }
    if (typeof setting !== 'string') throw badPath(key)
    return { ...common, path: setting }
  })
}

const badPath = (key: string) =>
  new UserError(`The path for placeholder '${key}' must be a string value or an object containing 'path' and 'function'.`)

/** Every combination of values for the placeholders; the last one varies fastest. `ancestors[0]` is the parent's item. */
export function bindPlaceholders(
  placeholders: readonly Placeholder[],
  ancestors: readonly JsonValue[],
  nowSeconds: () => number,
): Bound[][] {
  let combinations: Bound[][] = [[]]
  for (const placeholder of placeholders) {
    const found = lookUp(placeholder, ancestors)
    const values = isArray(found) ? found : [found]
    const bound = values.map((value) => ({ placeholder, value: applied(placeholder, value, nowSeconds) }))
    combinations = combinations.flatMap((combination) => bound.map((b) => [...combination, b]))
  }
  return combinations
}

function lookUp({ name, level, path }: Placeholder, ancestors: readonly JsonValue[]): JsonValue {
  const item = ancestors[level - 1]
  if (item === undefined) throw new UserError(`Level ${level} not found in parent results! Maximum level: ${ancestors.length}`)
  const value = valueAt(item, path)
  if (value === undefined) throw new UserError(`No value found for ${name} in parent result. (level: ${level})`, { path })
  return value
}

function applied({ expression }: Placeholder, value: JsonValue, nowSeconds: () => number): JsonValue {
  if (!expression) return value
  return evaluate(expression, {
    references: { placeholder: objectOf([['value', value ?? '']]) },
    functions: PLACEHOLDER_FUNCTIONS,
    nowSeconds,
  })
}

/** Inherited placeholders with a job's own: the same key takes the place of the inherited one. */
export function overridden(inherited: readonly Bound[], own: readonly Bound[]): Bound[] {
  return [...new Map([...inherited, ...own].map((bound) => [bound.placeholder.key, bound])).values()]
}

const IN_BRACES = /\{([^{}]*)\}/g

/** Names in braces that stand for nothing. */
export function unsetPlaceholders(endpoint: string, known: readonly string[]): string[] {
  return [...endpoint.matchAll(IN_BRACES)].map((match) => match[1]!).filter((key) => !known.includes(key))
}

/** The endpoint with all bound values in place. */
export function fillEndpoint(endpoint: string, bound: readonly Bound[]): string {
  const values = new Map(bound.map(({ placeholder, value }) => [placeholder.key, textOf(value)]))
  return endpoint.replace(IN_BRACES, (whole, key: string) => values.get(key) ?? whole)
}

const textOf = (value: JsonValue) => (value === null || isScalar(value) ? toText(value) : serialize(value))

/** Columns that name the parent: `parent_<path>`, inherited ones first; the same path once, with the later value. */
export function parentColumns(bound: readonly Bound[]): [string, JsonValue][] {
  const columns = new Map<string, JsonValue>()
  for (const { placeholder, value } of bound) {
    columns.set(placeholder.path.startsWith('parent_') ? placeholder.path : `parent_${placeholder.path}`, value)
  }
  return [...columns]
}
