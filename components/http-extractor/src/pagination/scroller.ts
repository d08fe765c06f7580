// What every pagination method gives: the first request of a job, and after each page the next one or the reason to stop.

import type { RequestSettings } from '../http/request.ts'
import { entriesOf, isObject, type JsonObject, type JsonValue, memberOf, objectOf } from '../json/json.ts'

export interface PageView {
  /** The decoded response, before items were picked from it. */
  readonly response: JsonValue
  /** Those of the response; lower-case names. */
  readonly headers: Readonly<Record<string, string>>
  /** After the response filter. */
  readonly items: readonly JsonValue[]
}

export type Next = { readonly request: RequestSettings } | { readonly stop: string }

export interface Scroller {
  first(job: RequestSettings): RequestSettings
  next(job: RequestSettings, page: PageView): Next
  /** How a repeated request is judged: 'request' when it can only mean a loop, 'items' when an API may answer it with more. */
  readonly repeats?: 'request' | 'items'
}

export interface PaginationDeps {
  /** Milliseconds. */
  readonly now: () => number
}

/** Makes a fresh scroller: each job and each run of a child has its own. The job's `scroller` key picks one of several. */
export type ScrollerFactory = (scrollerName?: string) => Scroller

/**
 * Params with some values set: in place where the name exists, at the end otherwise. In a body a name such as `variables.after` is a path
 * into the object `variables`, if there is one: that is where GraphQL has them.
 */
export function withParams(job: RequestSettings, values: readonly (readonly [string, JsonValue])[]): RequestSettings {
  const params = values.reduce((sofar, [name, value]) => withParam(sofar, name, value, job.method === 'POST'), job.params)
  return { ...job, params }
}

function withParam(params: JsonObject, name: string, value: JsonValue, isBody: boolean): JsonObject {
  const dot = isBody ? name.indexOf('.') : -1
  const inner = dot < 0 ? undefined : memberOf(params, name.slice(0, dot))
  const [key, set]: [string, JsonValue] = isObject(inner)
    ? [name.slice(0, dot), withParam(inner, name.slice(dot + 1), value, isBody)]
    : [name, value]
  return objectOf([...entriesOf(params), [key, set]])
}

export const withoutParams = (job: RequestSettings): RequestSettings => ({ ...job, params: NO_PARAMS })

const NO_PARAMS: JsonObject = objectOf([])
