// A retriever as streams see it.

import type { WindowSplit } from './cursors/window-split.ts'
import type { Place } from './http/options.ts'
import type { StreamSlice } from './partitions/slice.ts'
import type { Dict } from './python/values.ts'

export interface Retriever {
  /** The records of a slice, page by page. */
  read(slice: StreamSlice): AsyncIterable<readonly Dict[]>
}

export interface RetrieverOptions {
  /** Of the stream, for messages. */
  readonly name?: string
  readonly transformations?: unknown
  readonly isNew?: ((record: Dict, slice: StreamSlice) => boolean) | undefined
  /** The API gives the newest records first: the first old one ends the reading. */
  readonly stopsAtOld?: boolean
  /** Of cursor and partition router. */
  readonly sliceOptions?: (place: Place, slice: StreamSlice) => Dict
  /** What is left of a slice after the records that the cursor has seen, which belong to the observed slice. */
  readonly rest?: ((slice: StreamSlice, observed: StreamSlice) => StreamSlice) | undefined
  readonly schema?: () => Promise<Dict | undefined>
  /** The first page of a slice is in the record of its parent. */
  readonly isLazy?: boolean
  /** How windows are split that the API rejects. */
  readonly splitOf?: (hasProperties: boolean) => WindowSplit | undefined
}
