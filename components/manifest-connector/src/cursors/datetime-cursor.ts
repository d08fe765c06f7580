// `DatetimeBasedCursor` and `IncrementingCountCursor` as windows.

import { contextOf, type Deps, listOf, parametersOf } from '../component.ts'
import { ConnectorError, ValueError } from '../errors.ts'
import { asNumber, compare, type Dict, isDict, isNumber, pyStr, truthy } from '../python/values.ts'
import { type PyDatetime, parseDuration, type Span, Timedelta } from '../time/datetime.ts'
import { formatDatetime, parseDatetime } from '../time/formats.ts'
import { weekday } from '../time/strftime.ts'
import { createWindowCursor, type WindowCursor, type WindowValues } from './window-cursor.ts'

/** Makes a cursor that continues from a state; a lookback of the run comes on top for partitions that are new. */
export type CursorFactory = (state: Dict | undefined, lookbackSeconds: number) => WindowCursor

export interface CursorPlan {
  readonly field: string
  readonly startField: string
  readonly endField: string
  readonly create: CursorFactory
  /** As states hold it. */
  normal(value: unknown): unknown
  /** Of a value of the state; undefined when it is not a time. */
  instant?(value: unknown): PyDatetime | undefined
  /** The halves of a window, as starts and ends; undefined when it is as small as it may be. */
  halves?(
    start: unknown,
    end: unknown,
    granularity: Timedelta,
    least: Timedelta | undefined,
  ): readonly [readonly [unknown, unknown], readonly [unknown, unknown]] | undefined
}

const DEFAULT_FORMAT = '%Y-%m-%dT%H:%M:%S.%f%z'

export function planCursor(definition: Dict, deps: Deps): CursorPlan {
  if (definition.type === 'IncrementingCountCursor') return planCount(definition, deps)
  if (definition.type !== 'DatetimeBasedCursor')
    throw new ConnectorError(`The cursor '${pyStr(definition.type)}' is not supported.`)
  const { expressions, clock } = deps
  const own = contextOf(definition, deps)
  const text = (template: unknown, otherwise: string) =>
    template === undefined || template === null ? otherwise : pyStr(expressions.value(template, own))
  const format = text(definition.datetime_format, '')
  const inputs = listOf(definition.cursor_datetime_formats).map(pyStr)
  const field = text(definition.cursor_field, '')
  const step = span(text(definition.step, ''), 'step')
  const granularity = span(text(definition.cursor_granularity, ''), 'cursor_granularity')
  if ((step === undefined) !== (granularity === undefined))
    throw new ValueError(
      `If step is defined, cursor_granularity should be as well and vice-versa. Right now, step is \`${text(definition.step, '')}\` and cursor_granularity is \`${text(definition.cursor_granularity, '')}\`.`,
    )
  const lookback = span(text(definition.lookback_window, ''), 'lookback_window')
  const startFormat = format
  const start = moment(definition.start_datetime, startFormat, deps)
  const clamping = isDict(definition.clamping) ? clampOf(definition.clamping, deps) : undefined
  const statedEnd =
    definition.end_datetime === undefined || definition.end_datetime === null
      ? () => clock.now()
      : () => moment(definition.end_datetime, startFormat, deps)
  // The day, week or month that is not over yet is not read.
  const end = clamping ? () => clamping.down(statedEnd()).minus(granularity ?? clamping.granularity) : statedEnd

  const parse = (value: unknown): PyDatetime => {
    for (const each of inputs.length > 0 ? inputs : [format]) {
      try {
        return parseDatetime(value, each)
      } catch (error) {
        if (!(error instanceof ValueError) && !(error instanceof RangeError)) throw error
      }
    }
    throw new ValueError(`No format in ${JSON.stringify(inputs.length > 0 ? inputs : [format])} matches '${pyStr(value)}'.`)
  }
  /** Windows and states are in the format of the cursor itself. */
  const parseOwn = (value: unknown): PyDatetime => {
    try {
      return parse(value)
    } catch (error) {
      if (!(error instanceof ValueError)) throw error
      return parseDatetime(value, format)
    }
  }
  const values: WindowValues<PyDatetime> = {
    compare: (a, b) => compare(a, b) ?? 0,
    after: (value) => value.plus(granularity ?? new Timedelta(0, 1000)),
    parse: parseOwn,
    format: (value) => formatDatetime(value, format),
    ...(step && { plusStep: (value: PyDatetime) => safely(() => value.plus(step), end) }),
    ...(granularity && { minusGranularity: (value: PyDatetime) => value.minus(granularity) }),
    ...(lookback && {
      minusLookback: (value: PyDatetime) =>
        safely(
          () => value.minus(lookback),
          () => start,
        ),
    }),
    clamp: clamping?.up,
    isStrict: definition.is_compare_strictly === true,
  }

  const startField = text(definition.partition_field_start, 'start_time')
  const endField = text(definition.partition_field_end, 'end_time')
  return {
    field,
    startField,
    endField,
    normal: (value) => formatDatetime(parseOwn(value), format),
    instant: (value) => {
      try {
        return parseOwn(value)
      } catch (error) {
        if (error instanceof ValueError || error instanceof RangeError) return undefined
        throw error
      }
    },
    halves: (from, to, unit, least) => halvesOf(parseOwn(from), parseOwn(to), unit, least, values.format),
    create: (state, lookbackSeconds) =>
      createWindowCursor({
        field,
        startField,
        endField,
        start,
        end,
        values,
        state,
        // Through the format, which may be whole days.
        ...(lookbackSeconds > 0 && {
          moveBack: (value: PyDatetime) => values.parse(values.format(value.minus(new Timedelta(lookbackSeconds)))),
        }),
      }),
  }
}

/** Both have at least one unit, and do not overlap. */
function halvesOf(
  start: PyDatetime,
  end: PyDatetime,
  unit: Timedelta,
  least: Timedelta | undefined,
  format: (value: PyDatetime) => unknown,
): ReturnType<NonNullable<CursorPlan['halves']>> {
  const isAbove = (a: unknown, b: unknown) => (compare(a, b) ?? 0) > 0
  if (!isAbove(end, start)) return undefined
  const span = end.since(start)
  if (least && !isAbove(span, least)) return undefined
  const units = span.inMicroseconds / unit.inMicroseconds + 1n
  if (units <= 1n) return undefined
  const firstEnd = start.plus(Timedelta.ofMicroseconds((units / 2n - 1n) * unit.inMicroseconds))
  const secondStart = firstEnd.plus(unit)
  if (isAbove(start, firstEnd) || isAbove(secondStart, end)) return undefined
  return [
    [format(start), format(firstEnd)],
    [format(secondStart), format(end)],
  ]
}

/** Past the year 9999 there is no date. */
function safely(compute: () => PyDatetime, otherwise: () => PyDatetime): PyDatetime {
  try {
    return compute()
  } catch (error) {
    if (error instanceof RangeError) return otherwise()
    throw error
  }
}

function span(text: string, name: string): Span | undefined {
  if (text === '' || text === 'None') return undefined
  const parsed = parseDuration(text)
  if (!parsed) throw new ValueError(`${name} is '${text}', which is not an ISO 8601 duration such as P1D.`)
  return parsed
}

/** A text, or MinMaxDatetime. */
function moment(definition: unknown, cursorFormat: string, deps: Deps): PyDatetime {
  const { expressions } = deps
  const own = isDict(definition) ? contextOf(definition, deps) : { config: deps.config, parameters: {} }
  const value = isDict(definition) ? definition.datetime : definition
  const stated = isDict(definition) && truthy(definition.datetime_format) ? pyStr(definition.datetime_format) : undefined
  const parse = (template: unknown): PyDatetime => {
    const text = pyStr(expressions.value(template, own))
    if (stated !== undefined) return parseDatetime(text, stated)
    try {
      return parseDatetime(text, cursorFormat)
    } catch (error) {
      if (!(error instanceof ValueError)) throw error
      return parseDatetime(text, DEFAULT_FORMAT)
    }
  }
  let time = parse(value)
  if (!isDict(definition)) return time
  const bound = (template: unknown): PyDatetime | undefined => {
    if (!truthy(template)) return undefined
    const text = pyStr(expressions.value(template, own))
    return text === '' ? undefined : parse(template)
  }
  const low = bound(definition.min_datetime)
  if (low && (compare(low, time) ?? 0) > 0) time = low
  const high = bound(definition.max_datetime)
  return high && (compare(high, time) ?? 0) < 0 ? high : time
}

const WEEKDAYS = ['MONDAY', 'TUESDAY', 'WEDNESDAY', 'THURSDAY', 'FRIDAY', 'SATURDAY', 'SUNDAY']

const DAY = new Timedelta(86_400)

interface Clamping {
  /** To the next boundary, or the value itself when it is one. */
  up(value: PyDatetime): PyDatetime
  down(value: PyDatetime): PyDatetime
  readonly granularity: Timedelta
}

/** Windows that begin and end with whole days, weeks or months. */
function clampOf(definition: Dict, deps: Deps): Clamping {
  const target = pyStr(
    deps.expressions.value(definition.target, { ...contextOf(definition, deps), parameters: parametersOf(definition) }),
  )
  const details = isDict(definition.target_details) ? definition.target_details : {}
  const midnight = (value: PyDatetime) => {
    const { hour, minute, second } = value.parts
    return value.minus(new Timedelta(hour * 3600 + minute * 60 + second, value.microsecond))
  }
  const days = (value: PyDatetime, count: number) => midnight(value).plus(DAY.times(count))
  if (target === 'DAY')
    return {
      up: (value) => (compare(midnight(value), value) === 0 ? value : days(value, 1)),
      down: midnight,
      granularity: new Timedelta(1),
    }
  if (target === 'WEEK') {
    const first = WEEKDAYS.indexOf(pyStr(details.weekday ?? ''))
    if (first < 0) throw new ValueError('Given WEEK clamping, a weekday such as MONDAY needs to be provided in target_details.')
    const since = (value: PyDatetime) => (weekday(value.parts.days) - first + 7) % 7
    return {
      up: (value) => days(value, (7 - since(value)) % 7),
      down: (value) => days(value, -since(value)),
      granularity: DAY,
    }
  }
  if (target === 'MONTH') {
    const first = (value: PyDatetime) => days(value, 1 - value.parts.day)
    return {
      up: (value) => (value.parts.day === 1 ? midnight(value) : first(days(first(value), 31))),
      down: first,
      granularity: DAY,
    }
  }
  throw new ValueError(`Invalid clamping target '${target}'. Expected DAY, WEEK or MONTH.`)
}

function planCount(definition: Dict, deps: Deps): CursorPlan {
  const own = contextOf(definition, deps)
  const field = pyStr(deps.expressions.value(definition.cursor_field, own))
  const stated =
    definition.start_value === undefined || definition.start_value === null
      ? 0
      : deps.expressions.value(definition.start_value, own)
  const parse = (value: unknown): number => {
    if (isNumber(value)) return Math.trunc(asNumber(value))
    if (typeof value === 'string' && /^\s*[+-]?\d+\s*$/.test(value)) return Number(value)
    if (value === 'inf' || value === Number.POSITIVE_INFINITY) return Number.POSITIVE_INFINITY
    throw new ValueError(`'${pyStr(value)}' is not an integer.`)
  }
  const start = parse(stated === '' ? 0 : stated)
  const values: WindowValues<number> = {
    compare: (a, b) => a - b || 0,
    after: (value) => value + 1,
    parse,
    format: (value) => value,
  }
  const startField = 'start'
  const endField = 'end'
  return {
    field,
    startField,
    endField,
    normal: parse,
    create: (state) =>
      createWindowCursor({ field, startField, endField, start, end: () => Number.POSITIVE_INFINITY, values, state }),
  }
}
