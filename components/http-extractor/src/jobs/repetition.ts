// A job ends when a response equals the one before it (spec extractor 6): the whole decoded response, not only its items.
//
// Of the page before only the bytes and one item are kept. The whole of it, parsed, would be by far the largest thing that outlives a
// page, and is needed only where the bytes differ and the first items do not.

import type { Fetched } from '../http/client.ts'
import { equalJson, type JsonValue } from '../json/json.ts'
import { parseJson } from '../json/parse.ts'

type Answer = Pick<Fetched, 'body' | 'response' | 'isBodyDecoded'>

/** Detects for each answer whether it repeats the one before. `items` are those that were picked from it. */
export function createRepetitionCheck(): (answer: Answer, items: readonly JsonValue[]) => boolean {
  let before: (Omit<Answer, 'response'> & { readonly count: number; readonly first: JsonValue }) | undefined

  return ({ body, response, isBodyDecoded }, items) => {
    const last = before
    const first = items[0] ?? null
    before = { body, isBodyDecoded, count: items.length, first }
    if (last === undefined) return false
    if (last.body.equals(body)) return true
    if (!last.isBodyDecoded || !isBodyDecoded || last.count !== items.length || !equalJson(last.first, first)) return false
    return equalJson(parseJson(last.body), response)
  }
}
