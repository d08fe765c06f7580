// `RequestWindowSplitting`: a window that the API rejects as too large is read as two halves, one after the other.

import type { Deps } from '../component.ts'
import { usesAction } from '../errors/error-handler.ts'
import { ValueError } from '../errors.ts'
import { StreamSlice } from '../partitions/slice.ts'
import { compare, type Dict, isDict, pyRepr, truthy } from '../python/values.ts'
import { Duration, parseDuration, Timedelta } from '../time/datetime.ts'
import type { CursorPlan } from './datetime-cursor.ts'

export interface WindowSplit {
  readonly failureMessage: string
  /** Undefined when the window cannot be split. */
  halves(slice: StreamSlice): readonly [StreamSlice, StreamSlice] | undefined
}

/** The finest time that a format can write. */
const UNITS: readonly (readonly [string, Timedelta])[] = [
  ['%epoch_microseconds', new Timedelta(0, 1)],
  ['%s_as_float', new Timedelta(0, 1)],
  ['%f', new Timedelta(0, 1)],
  ['%_ms', new Timedelta(0, 1000)],
  ['%ms', new Timedelta(0, 1000)],
  ['%S', new Timedelta(1)],
  ['%s', new Timedelta(1)],
  ['%M', new Timedelta(60)],
  ['%H', new Timedelta(3600)],
  ['%I', new Timedelta(3600)],
  ['%d', new Timedelta(86_400)],
]

const ZERO = new Timedelta(0)
const isAbove = (a: Timedelta, b: Timedelta) => (compare(a, b) ?? 0) > 0

export interface SplitContext {
  readonly name: string
  readonly incremental: Dict | undefined
  readonly plan: CursorPlan | undefined
  readonly hasProperties: boolean
  readonly hasFiles: boolean
  readonly warn?: Deps['warn']
}

export function planSplit(
  retriever: Dict,
  { name, incremental, plan, hasProperties, hasFiles, warn }: SplitContext,
): WindowSplit | undefined {
  const requester = isDict(retriever.requester) ? retriever.requester : {}
  const isUsed = usesAction(requester.error_handler, 'SPLIT_REQUEST_WINDOW')
  const definition = isDict(retriever.request_window_splitting) ? retriever.request_window_splitting : undefined
  const refuse = (why: string): never => {
    throw new ValueError(`request_window_splitting of the stream '${name}': ${why}`)
  }
  if (!definition) {
    if (isUsed)
      refuse(
        'it is missing, but a response filter has the action SPLIT_REQUEST_WINDOW. Add request_window_splitting to the retriever.',
      )
    return undefined
  }
  if (!isUsed)
    warn?.(
      `The stream '${name}' has request_window_splitting, but no response filter with the action SPLIT_REQUEST_WINDOW: no window is split.`,
    )
  if (incremental?.type !== 'DatetimeBasedCursor' || !plan?.halves) return refuse('it requires a DatetimeBasedCursor.')
  if (!truthy(incremental.cursor_granularity)) refuse('it requires cursor_granularity of the cursor, the smallest window.')
  if (incremental.is_client_side_incremental === true)
    refuse('it cannot be used with is_client_side_incremental, where the window is not part of the request.')
  const granularity = parseDuration(String(incremental.cursor_granularity))
  if (!granularity || granularity instanceof Duration || !isAbove(granularity, ZERO))
    return refuse(`cursor_granularity must have a fixed length above zero, not ${pyRepr(incremental.cursor_granularity)}.`)
  const finest = UNITS.filter(([directive]) => String(incremental.datetime_format).includes(directive)).reduce<
    Timedelta | undefined
  >((least, [, unit]) => (least && !isAbove(least, unit) ? least : unit), undefined)
  if (finest && isAbove(finest, granularity))
    refuse(
      `cursor_granularity ${pyRepr(incremental.cursor_granularity)} is finer than datetime_format ${pyRepr(incremental.datetime_format)} can write.`,
    )
  const least = truthy(definition.min_split_window) ? parseDuration(String(definition.min_split_window)) : undefined
  if (truthy(definition.min_split_window) && (!(least instanceof Timedelta) || !isAbove(least, ZERO)))
    refuse(`min_split_window must be a duration of a fixed length such as P1D, not ${pyRepr(definition.min_split_window)}.`)
  if (hasProperties) refuse('it cannot be used with query properties: the records of earlier chunks would be read twice.')
  if (hasFiles) refuse('it cannot be used with a file_uploader: records would be read twice.')
  const { halves, startField, endField } = plan
  return {
    failureMessage: typeof definition.failure_message === 'string' ? definition.failure_message.trim() : '',
    halves(slice) {
      const found = halves(
        slice.cursorSlice[startField],
        slice.cursorSlice[endField],
        granularity,
        least as Timedelta | undefined,
      ) // checked above
      if (!found) return undefined
      const part = ([from, to]: readonly [unknown, unknown]) =>
        new StreamSlice(slice.partition, { ...slice.cursorSlice, [startField]: from, [endField]: to }, slice.extraFields)
      return [part(found[0]), part(found[1])]
    },
  }
}
