// Where in a response the items are.

import { entriesOf, isArray, isObject, type JsonValue } from '../json/json.ts'
import type { Guess } from './guess.ts'

export interface ItemsPlace {
  /** As in dataField: `.` is the whole response. */
  readonly path: string
  readonly items: readonly JsonValue[]
}

const MAX_DEPTH = 4
/** Names that lists of items usually have; others in a response are details, links or errors. */
const USUAL = /^(?:data|items|results?|records|values|entries|list|rows|objects|elements|hits|nodes)$/i
const UNUSUAL = /^(?:links?|errors?|warnings?|meta|messages?|included|facets|fields|columns)$/i

/** Every list of objects, the most likely one first. */
function placesOfItems(response: JsonValue): ItemsPlace[] {
  if (isArray(response)) return [{ path: '.', items: response }]
  return listsBelow(response, [], 0).sort((a, b) => likelihood(b) - likelihood(a))
}

function listsBelow(value: JsonValue, path: readonly string[], depth: number): ItemsPlace[] {
  if (!isObject(value) || depth > MAX_DEPTH) return []
  return entriesOf(value).flatMap(([key, member]) => {
    const here = [...path, key]
    if (isArray(member)) return [{ path: here.join('.'), items: member }]
    return listsBelow(member, here, depth + 1)
  })
}

function likelihood({ path, items }: ItemsPlace): number {
  const segments = path.split('.')
  const name = segments.at(-1)!
  const kind = isObject(items[0]) ? 1000 : items.length === 0 ? 300 : 0
  return kind + (USUAL.test(name) ? 400 : 0) - (UNUSUAL.test(name) ? 900 : 0) - segments.length * 50 + Math.min(items.length, 100)
}

export function guessDataField(response: JsonValue): (Guess<string> & { readonly items: readonly JsonValue[] }) | undefined {
  const [best, ...others] = placesOfItems(response)
  if (best === undefined) {
    return isObject(response)
      ? { value: '.', reason: 'The response holds no list: it is one item itself.', items: [response] }
      : undefined
  }
  const other =
    others.length === 0
      ? 'the only list in it'
      : `the most likely of its lists (also: ${others.map(({ path }) => path).join(', ')})`
  const where = best.path === '.' ? 'The response is a list' : `'${best.path}' is ${other}`
  return { value: best.path, reason: `${where}, with ${best.items.length} elements.`, items: best.items }
}
