// What has changed in the columns of a source database, as the database extractor reports it before and after a run.

import { parsed } from '../document/json-text.ts'

export const DATABASE_EXTRACTOR = 'platform.ex-database'

export interface ColumnChange {
  readonly column: string
  readonly change: 'added' | 'dropped' | 'type'
  readonly source: string | null
  readonly table: string | null
  readonly becomes: string | null
  readonly sentence: string
  readonly usedBy: readonly ColumnUser[]
}

export interface ColumnUser {
  readonly componentId: string
  readonly configurationId: string
  readonly name: string | null
  readonly rowId: string | null
  /** Columns that are computed from it; none: only the table is known to be read. */
  readonly columns: readonly string[]
}

export interface ColumnChanges {
  readonly table: string
  readonly stops: boolean
  readonly changes: readonly ColumnChange[]
}

/** The message of the event that carries them. */
export const COLUMN_CHANGES_QUERY = 'message:"The columns of the source of"'

/** The API document has the members of an event that every one has; these are written by the component. */
export interface ChangeEvent {
  readonly runId: string
  readonly created: string
  readonly results?: { readonly columnChanges?: ColumnChanges }
}

export const changesOfEvents = (events: readonly unknown[]): readonly ColumnChanges[] =>
  (events as readonly ChangeEvent[]).flatMap(({ results }) => results?.columnChanges ?? [])

interface Document {
  readonly parameters?: {
    readonly outputTable?: string
    readonly verifyTable?: string
    readonly table?: { readonly tableName?: string }
  }
  readonly storage?: {
    readonly output?: {
      readonly default_bucket?: string
      readonly tables?: readonly { readonly source?: string; readonly destination?: string }[]
    }
  }
}

/** The configuration with the table that its run writes, which an action of an unsaved configuration gets. */
export function withTable(text: string, configurationId: string): string {
  const document = (parsed(text) ?? {}) as Document // read with care
  const { parameters = {}, storage } = document
  const name = parameters.outputTable || parameters.table?.tableName?.replace(/[^A-Za-z0-9_-]/g, '_') || ''
  const bucket = storage?.output?.default_bucket || `in.c-${DATABASE_EXTRACTOR.replaceAll('.', '-')}-${configurationId}`
  const mapped = storage?.output?.tables?.find(({ source }) => source === `${name}.csv`)?.destination
  return JSON.stringify({
    ...document,
    parameters: { ...parameters, verifyTable: parameters.verifyTable || mapped || `${bucket}.${name}` },
  })
}
