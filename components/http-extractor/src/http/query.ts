// Query strings, written twice as the original extractor does it (spec extractor 5.5 and 10.2):
// params are written form style (space = `+`); when an authentication adds values, the whole query is read and written
// again in RFC 3986 style (space = `%20`).

import { entriesOf, isArray, isObject, type JsonObject, type JsonValue } from '../json/json.ts'
import { toText } from '../json/text.ts'
import { formEncode, percentDecode, rawEncode } from '../percent.ts'

/** A name and its value; a parameter may come without `=` and then has no value. */
export type Pair = readonly [name: string, value: string | undefined]

const decode = (text: string) => percentDecode(text.replaceAll('+', ' '))

export function parseQuery(query: string | undefined): Pair[] {
  if (query === undefined || query === '') return []
  return query
    .split('&')
    .filter((part) => part !== '')
    .map((part) => {
      const at = part.indexOf('=')
      return at < 0 ? [decode(part), undefined] : [decode(part.slice(0, at)), decode(part.slice(at + 1))]
    })
}

/** Params as name and value: lists `name[0]`, objects `name[key]`; true is 1, false is 0, null and empty containers are left out. */
function flattenParams(params: JsonObject): [string, string][] {
  const pairs: [string, string][] = []
  for (const [name, value] of entriesOf(params)) if (name !== '' && name !== '0') flatten(name, value, pairs)
  return pairs
}

function flatten(name: string, value: JsonValue, pairs: [string, string][]): void {
  if (value === null) return
  if (isArray(value)) for (const [i, element] of value.entries()) flatten(`${name}[${i}]`, element, pairs)
  else if (isObject(value)) for (const [key, member] of entriesOf(value)) flatten(`${name}[${key}]`, member, pairs)
  else pairs.push([name, value === false ? '0' : toText(value)])
}

/** The body of a form, and the query string of a GET. */
export function writeForm(params: JsonObject): string {
  return flattenParams(params)
    .map(([name, value]) => `${formEncode(name)}=${formEncode(value)}`)
    .join('&')
}

/** A query as params: a repeated name becomes a list. */
export function queryParams(query: string | undefined): Map<string, JsonValue> {
  const params = new Map<string, JsonValue>()
  for (const [name, value = ''] of parseQuery(query)) {
    const present = params.get(name)
    params.set(name, present === undefined ? value : [present, value].flat())
  }
  return params
}

/** The query of an endpoint with params put over it: same names are replaced in place, new ones appended. */
export function mergeParams(query: string | undefined, params: JsonObject): string {
  const merged = queryParams(query)
  for (const [name, value] of entriesOf(params)) merged.set(name, value)
  return writeForm(merged)
}

export function writePairs(pairs: readonly Pair[]): string {
  return pairs
    .map(([name, value]) => (value === undefined ? rawEncode(name) : `${rawEncode(name)}=${rawEncode(value)}`))
    .join('&')
}

/** Each new value takes the place of the same name, or is appended. */
export function replacePairs(pairs: readonly Pair[], values: readonly Pair[]): Pair[] {
  let result = [...pairs]
  for (const [name, value] of values) {
    const at = result.findIndex(([n]) => n === name)
    if (at < 0) result.push([name, value])
    else result = result.flatMap((pair, i): Pair[] => (i === at ? [[name, value]] : pair[0] === name ? [] : [pair]))
  }
  return result
}

/**
 * The login rule (spec extractor 5.5): a new name is appended; an existing name is
 * taken out and put at the end as an indexed list, the existing value first. Equal values are listed once.
 */
export function mergeAsLists(pairs: readonly Pair[], values: readonly Pair[]): Pair[] {
  const fresh = values.filter(([name]) => !pairs.some(([n]) => n === name))
  const shared = values.filter(([name]) => pairs.some(([n]) => n === name))
  const kept = pairs.filter(([name]) => !shared.some(([n]) => n === name))
  const lists = shared.flatMap(([name, value]): Pair[] => {
    const existing = pairs.filter(([n]) => n === name).map(([, v]) => v ?? '')
    return [...new Set([...existing, value ?? ''])].map((v, i) => [`${name}[${i}]`, v])
  })
  return [...kept, ...fresh, ...lists]
}
