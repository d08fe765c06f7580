// A cursor plans the windows of a stream, observes its records, and keeps the state.

import type { StreamSlice } from '../partitions/slice.ts'
import type { Dict } from '../python/values.ts'

export interface Cursor {
  slices(): AsyncIterable<StreamSlice>
  observe(record: Dict, slice: StreamSlice): void
  /** The slice was read whole. */
  close(slice: StreamSlice): void
  isNew(record: Dict, slice: StreamSlice): boolean
  /** After the last slice. */
  finish(): void
  state(): Dict
}

/** Of streams that are read whole each time. */
const FULL_REFRESH_STATE: Dict = { __ab_no_cursor_state_message: true }

export function fullRefreshCursor(slices: () => AsyncIterable<StreamSlice>): Cursor {
  return { slices, observe: () => {}, close: () => {}, isNew: () => true, finish: () => {}, state: () => FULL_REFRESH_STATE }
}
