// What every pagination method gives: the first request of a job, and after each page the next one or the reason to stop.

import type { RequestSettings } from '../http/request.ts'
import { entriesOf, type JsonObject, type JsonValue, objectOf } from '../json/json.ts'

export interface PageView {
  /** The decoded response, before items were picked from it. */
  readonly response: JsonValue
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

/** Params with some values set: in place where the name exists, at the end otherwise. */
export function withParams(job: RequestSettings, values: readonly (readonly [string, JsonValue])[]): RequestSettings {
  return { ...job, params: objectOf([...entriesOf(job.params), ...values]) }
}

export const withoutParams = (job: RequestSettings): RequestSettings => ({ ...job, params: NO_PARAMS })

const NO_PARAMS: JsonObject = objectOf([])
