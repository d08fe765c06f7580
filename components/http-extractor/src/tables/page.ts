/** What the rest of the extractor hands to the tables, and what it gets back. */
import type { JsonValue } from '../json/json.ts'
import type { FilterSteps } from './response-filter.ts'

export type TablesLog = {
  readonly debug: (message: string) => void
  readonly warning: (message: string) => void
  readonly error: (message: string) => void
}

export type AddedValue = readonly [name: string, value: JsonValue]

/** One page of one job, after dataField and responseFilter. */
export type Page = {
  readonly type: string
  readonly items: readonly JsonValue[]
  /** Extra columns of each row, in order: userData, then parent columns (spec extractor 13.7, 13.8, 8.2). */
  readonly added?: readonly AddedValue[] | undefined
  /** What the responseFilter has made text of. */
  readonly keptAsText?: readonly FilterSteps[] | undefined
  /**
   * How to get the same items again from the body: the body is spooled instead of the items, which is faster. `pick` must be
   * one function per job definition, not a new one per page, must not log, and gets `parseJson(body)`.
   */
  readonly origin?:
    | { readonly body: Uint8Array | string; readonly pick: (response: JsonValue) => readonly JsonValue[] }
    | undefined
}

export type TableSummary = {
  readonly table: string
  readonly file: string
  readonly rows: number
  readonly columns: readonly string[]
  readonly primaryKey: readonly string[]
}
