// How the pages of an API follow each other, from the names in its answers and of its parameters.

import { entriesOf, isArray, isEmpty, isNumber, isObject, type JsonObject, type JsonValue, objectOf } from '../json/json.ts'
import { linkOf } from '../pagination/response-link.ts'
import type { Guess } from './guess.ts'

export interface Answered {
  readonly response: JsonValue
  readonly headers: Readonly<Record<string, string>>
  readonly itemCount: number
  /** Where the items are: their contents do not describe pages. */
  readonly dataField: string
  /** Names of the parameters that the request had. */
  readonly sent: readonly string[]
}

interface Leaf {
  readonly path: string
  readonly key: string
  readonly value: JsonValue
}

const NEXT_ADDRESS = /next|following/i
const TOKEN =
  /next.*(?:token|cursor|key|id|page)|(?:page|continuation|sync).?token|end_?cursor|^cursor$|^continuation$|scroll_?id|bookmark/i
/** A token when it is a text: numbers of these names count pages. */
const TOKEN_ALONE = /^(?:next|after)$/i
const TOTAL_PAGES = /^(?:total|last|num(?:ber)?|count)?_?(?:of_?)?pages?(?:_?(?:total|count))?$|^last_?page$/i
const PAGE = /^(?:current_?)?page(?:_?(?:number|num|no))?$/i
const OFFSET = /^(?:offset|skip|start(?:_?at|_?index)?)$/i
/** The parameter for the size of a page; a response often repeats it. */
const SIZE = /^(?:limit|per_?page|page_?size|size|count|max_?results|\$top)$/i
const MORE = /^(?:has_?(?:more|next(?:_?page)?)|more|is_?last(?:_?page)?)$/i

/** The parameter that takes a token, by the name under which the response gives it. */
const PARAMETER_OF: readonly (readonly [RegExp, string])[] = [
  [/nextPageToken$/, 'pageToken'],
  [/next_page_token$/, 'page_token'],
  [/continuationToken$/, 'continuationToken'],
  [/sync_?token$/i, 'syncToken'],
  [/scroll_?id$/i, 'scroll_id'],
  [/cursor$/i, 'cursor'],
  [/bookmark$/i, 'bookmark'],
  [/^(?:next|after)$/i, 'after'],
]

export function guessPagination(answered: Answered): Guess<JsonObject> | undefined {
  const leaves = leavesOf(answered.response, answered.dataField)
  return (
    linkHeader(answered) ?? nextAddress(leaves) ?? nextToken(leaves) ?? counted(leaves, answered) ?? moreFlag(leaves, answered)
  )
}

const MAX_DEPTH = 3

function leavesOf(value: JsonValue, skipped: string, path: readonly string[] = []): Leaf[] {
  if (!isObject(value) || path.length > MAX_DEPTH) return []
  return entriesOf(value).flatMap(([key, member]) => {
    const here = [...path, key].join('.')
    if (here === skipped || isArray(member)) return []
    return isObject(member) ? leavesOf(member, skipped, [...path, key]) : [{ path: here, key, value: member }]
  })
}

const method = (name: string, options: readonly (readonly [string, JsonValue])[] = []) => objectOf([['method', name], ...options])

function linkHeader({ headers }: Answered): Guess<JsonObject> | undefined {
  if (linkOf(headers.link ?? '', 'next') === undefined) return undefined
  return { value: method('response.link'), reason: 'The header Link of the response names the next page.' }
}

function nextAddress(leaves: readonly Leaf[]): Guess<JsonObject> | undefined {
  const found = leaves.find(
    ({ path, value }) => NEXT_ADDRESS.test(path) && typeof value === 'string' && /^(?:https?:\/\/|\/|\?)/.test(value),
  )
  if (found === undefined) return undefined
  const isQuery = String(found.value).startsWith('?')
  const options: [string, JsonValue][] = [
    ['urlKey', found.path],
    ...(isQuery ? [['paramIsQuery', true] as [string, JsonValue]] : []),
  ]
  return { value: method('response.url', options), reason: `'${found.path}' in the response is the address of a next page.` }
}

function nextToken(leaves: readonly Leaf[]): Guess<JsonObject> | undefined {
  const found = leaves.find(
    ({ key, value }) =>
      !isEmpty(value) &&
      (typeof value === 'string' ? TOKEN.test(key) || TOKEN_ALONE.test(key) : isNumber(value) && TOKEN.test(key)),
  )
  if (found === undefined || TOTAL_PAGES.test(found.key)) return undefined
  const known = PARAMETER_OF.find(([name]) => name.test(found.key))?.[1]
  const parameter = known ?? found.key.replace(/^next_?/i, '').replace(/^./, (c) => c.toLowerCase())
  return {
    value: method('response.param', [
      ['responseParam', found.path],
      ['queryParam', parameter],
      ['includeParams', true],
    ]),
    reason: `'${found.path}' in the response looks like a token for the next page. That the parameter is called '${parameter}' is a guess: look it up.`,
  }
}

/** Page numbers and offsets that the response repeats. */
function counted(leaves: readonly Leaf[], { itemCount, sent }: Answered): Guess<JsonObject> | undefined {
  // A parameter that the API does not have would be sent in vain, or beside the one that it has.
  const size = sent.find((name) => SIZE.test(name)) ?? leaves.find(({ key, value }) => SIZE.test(key) && isNumber(value))?.key
  const sizeParameter: [string, JsonValue][] = size === undefined || size === 'limit' ? [] : [['limitParam', size]]
  const offset = leaves.find(({ key, value }) => OFFSET.test(key) && isNumber(value))
  if (offset !== undefined && itemCount > 0) {
    return {
      value: method('offset', [['limit', itemCount], ...sizeParameter, ['offsetParam', offset.key]]), // biome-ignore format: pairs
      reason: `The response repeats an offset in '${offset.path}'. The limit is the number of items in it.${size === undefined ? " That the parameter is called 'limit' is a guess: look it up." : ''}`,
    }
  }
  const page = leaves.find(({ key, value }) => (PAGE.test(key) || TOTAL_PAGES.test(key)) && isNumber(value))
  if (page === undefined) return undefined
  const limit: [string, JsonValue][] = size === undefined || itemCount < 2 ? [] : [['limit', itemCount], ...sizeParameter]
  return {
    value: method('pagenum', limit),
    reason: `The response counts pages in '${page.path}'.${limit.length > 0 ? ` '${size}' is the size of a page.` : ''}`,
  }
}

function moreFlag(leaves: readonly Leaf[], { itemCount }: Answered): Guess<JsonObject> | undefined {
  const found = leaves.find(({ key, path, value }) => MORE.test(key) && path === key && typeof value === 'boolean')
  if (found === undefined || itemCount === 0) return undefined
  const stopOn = /last/i.test(found.key)
  return {
    value: method('pagenum', [['nextPageFlag', objectOf([['field', found.key], ['stopOn', stopOn]])]]), // biome-ignore format: pairs
    reason: `'${found.key}' says whether there is another page; that pages are numbered is a guess.`,
  }
}

/** From the names of the parameters of an endpoint, as its description lists them. */
export function guessFromParameters(names: readonly string[]): Guess<JsonObject> | undefined {
  const find = (pattern: RegExp) => names.find((name) => pattern.test(name))
  const size = find(SIZE)
  const token = find(/^(?:cursor|after|starting_after|next|(?:next_?)?page_?token|continuation_?token|scroll_?id)$/i)
  const offset = find(/^(?:offset|skip|start|\$skip)$/i)
  const page = find(/^(?:page|page_?(?:number|num|no)|p)$/i)
  const limit: [string, JsonValue][] = size === undefined ? [] : [['limitParam', size]]
  if (token !== undefined) {
    return {
      value: method('response.param', [['responseParam', 'next'], ['queryParam', token], ['includeParams', true]]), // biome-ignore format: pairs
      reason: `The endpoint takes '${token}'. Where the response has the next one (responseParam) is a guess: look it up.`,
    }
  }
  if (offset !== undefined) {
    return {
      value: method('offset', [['limit', 100], ...limit, ['offsetParam', offset]]),
      reason: `The endpoint takes '${offset}'. A limit of 100 is a guess.`,
    }
  }
  if (page === undefined) return undefined
  const options: [string, JsonValue][] = page === 'page' ? [] : [['pageParam', page]]
  return {
    value: method('pagenum', [...options, ...(size === undefined ? [] : [['limit', 100] as [string, JsonValue], ...limit])]),
    reason: `The endpoint takes '${page}'${size === undefined ? '' : ` and '${size}'; 100 items per page is a guess`}.`,
  }
}
