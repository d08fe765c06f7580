/**
 * From items to `out/tables` (contract 13 to 16).
 *
 * What must stay true:
 * 1. Nothing is in the output folder before `finish`; a run that ends earlier leaves no table.
 * 2. Every table has the union of the columns seen in the whole run, in order of first appearance.
 * 3. Memory is bounded by one page: rows and pages go to the work folder as they come.
 */
import type { JsonValue } from '../json/json.ts'

export type TablesLog = {
  readonly debug: (message: string) => void
  readonly warning: (message: string) => void
  readonly error: (message: string) => void
}

export type TablesOptions = {
  /** Where tables appear: `<data>/out/tables`. */
  readonly outDir: string
  /** Private folder on the same disk for spooled pages and unfinished tables; made when missing, removed at the end. */
  readonly workDir: string
  /** Output bucket (contract 15); undefined: file names without bucket, manifests without destination. */
  readonly bucket?: string | undefined
  /** `config.mappings` as configured. Wrong ones throw a TablesError here, before the first request. */
  readonly mappings?: JsonValue | undefined
  readonly compatLevel?: 1 | 2 | 3 | undefined
  /** `json_parser` of `in/state.json`: columns of earlier runs. */
  readonly parserState?: JsonValue | undefined
  readonly log: TablesLog
}

/** One page of one job, after dataField and responseFilter. */
export type Page = {
  readonly type: string
  readonly items: readonly JsonValue[]
  /** Extra columns of each row, in order: userData, then parent columns (contract 13.7, 13.8, 8.2). */
  readonly added?: readonly (readonly [name: string, value: JsonValue])[] | undefined
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
}

export type FinishedTables = {
  readonly tables: readonly TableSummary[]
  /** What `out/state.json` keeps as `json_parser`; undefined when nothing was converted automatically (contract 16). */
  readonly parserState: JsonValue | undefined
}

export type Tables = {
  /** Throws TablesError when the items do not fit together (contract 13.2) or a mapping (14). */
  readonly add: (page: Page) => void
  /** Completes all tables and moves them, with their manifests, to the output folder. */
  readonly finish: (options: { readonly incremental: boolean }) => Promise<FinishedTables>
  /** Removes everything spooled, after a failure. */
  readonly discard: () => Promise<void>
}

/** The data or a mapping cannot be turned into tables: the user's fault, exit 1. The message is complete. */
export class TablesError extends Error {}
