// From a job's settings to a request (spec extractor 3.3, 3.4, 10.1 and 10.2). Jobs and the login use the same rules.

import {
  entriesOf,
  hasMember,
  isArray,
  isObject,
  type JsonObject,
  type JsonValue,
  keysOf,
  memberOf,
  objectOf,
} from '../json/json.ts'
import { serialize } from '../json/text.ts'
import { type Address, resolveAddress, withQuery } from './address.ts'
import type { HttpRequest } from './exchange.ts'
import { headersOf } from './headers.ts'
import { mergeParams, writeForm } from './query.ts'

export type Method = 'GET' | 'POST' | 'FORM'

/** What a job requests, evaluated: what pagination changes from page to page. */
export interface RequestSettings {
  readonly endpoint: string
  readonly method: Method
  readonly params: JsonObject
  readonly headers: readonly (readonly [string, string])[]
}

/** api.http.defaultOptions: what lies below every job. */
export type RequestDefaults = Omit<RequestSettings, 'endpoint'>

/** `emptyBody` is what a POST without params sends: the original extractor has no empty object, and sends a list. */
export function buildRequest(base: Address, settings: RequestSettings, emptyBody = '[]'): HttpRequest {
  const { endpoint, method, params } = settings
  const address = resolveAddress(base, endpoint)
  if (method === 'GET') {
    const hasParams = keysOf(params).length > 0
    return {
      method: 'GET',
      address: hasParams ? withQuery(address, mergeParams(address.query, params)) : address,
      headers: headersOf(settings.headers),
    }
  }
  const [type, body] =
    method === 'POST'
      ? ['application/json', keysOf(params).length === 0 ? emptyBody : serialize(params)]
      : ['application/x-www-form-urlencoded', writeForm(params)]
  return { method: 'POST', address, headers: headersOf(settings.headers, [['Content-Type', type]]), body }
}

/**
 * `defaults` below `value`, key by key and into depth; the value wins, keys keep the place they have in the defaults.
 * Lists are merged by index (spec extractor 3.3).
 */
export function mergeUnder(defaults: JsonValue, value: JsonValue): JsonValue {
  if (isObject(defaults) && isObject(value)) {
    const merged = entriesOf(defaults).map(([key, below]): [string, JsonValue] => [
      key,
      hasMember(value, key) ? mergeUnder(below, memberOf(value, key)!) : below,
    ])
    return objectOf([...merged, ...entriesOf(value).filter(([key]) => !hasMember(defaults, key))])
  }
  if (isArray(defaults) && isArray(value)) {
    return Array.from({ length: Math.max(defaults.length, value.length) }, (_, i) => {
      if (i >= value.length) return defaults[i]!
      return i < defaults.length ? mergeUnder(defaults[i]!, value[i]!) : value[i]!
    })
  }
  return value
}
