// The attributes and methods of datetimes, dates and spans of time.

import { ConnectorError, ValueError } from '../errors.ts'
import { Tuple, toFloat } from '../python/values.ts'
import { Duration, daysOf, PyDate, PyDatetime, Timedelta, timestampValue } from '../time/datetime.ts'
import { parseIso } from '../time/formats.ts'
import { isoWeek, strftime, strptime, weekday } from '../time/strftime.ts'
import { textOf, whole } from './arguments.ts'
import { type Methods, methodsOf } from './methods.ts'
import { PyTypeError } from './runtime.ts'

/** Days from the year 1 to 1970. */
const UNIX_ORDINAL = 719_163

/** A tuple whose items have names, too. */
export class Named extends Tuple {
  names: readonly string[] = []
}

export function named(items: Readonly<Record<string, unknown>>): Named {
  const tuple = new Named()
  for (const item of Object.values(items)) tuple.push(item)
  tuple.names = Object.keys(items)
  return tuple
}

const calendar = (days: number) => named({ ...isoWeek(days), weekday: weekday(days) + 1 })

const PRECISION: Readonly<Record<string, number>> = {
  hours: 13,
  minutes: 16,
  seconds: 19,
  milliseconds: 23,
  microseconds: 26,
}

function isoformat(date: PyDatetime, separator: string, spec: string): string {
  if ([...separator].length !== 1) throw new PyTypeError('isoformat() argument 1 must be a unicode character')
  if (spec === 'auto') return date.isoformat(separator)
  const length = PRECISION[spec]
  if (length === undefined) throw new ValueError('Unknown timespec value')
  const text = date.isoformat('T')
  const clock = text.slice(0, 19)
  const zone = /(?:[+-]\d\d:\d\d(?::\d\d)?)?$/.exec(text.slice(19))![0]
  const all = `${clock}.${String(date.microsecond).padStart(6, '0')}`
  return `${all.slice(0, 10)}${separator}${all.slice(11, length)}${zone}`
}

function dayOf(year: number, month: number, day: number): PyDate {
  if (year < 1 || year > 9999) throw new ValueError(`year ${year} is out of range`)
  if (month < 1 || month > 12) throw new ValueError('month must be in 1..12')
  const next = month === 12 ? daysOf(year, 12, 31) + 1 : daysOf(year, month + 1, 1)
  if (day < 1 || day > next - daysOf(year, month, 1)) throw new ValueError('day is out of range for month')
  return new PyDate(year, month, day)
}

function replaced(date: PyDatetime, given: readonly unknown[]): PyDatetime {
  const now = date.parts
  const old = [now.year, now.month, now.day, now.hour, now.minute, now.second, date.microsecond]
  const [year, month, day, hour, minute, second, micro] = old.map((each, i) => (given[i] === undefined ? each : whole(given[i])))
  const midnight = dayOf(year!, month!, day!).midnight()
  const limits = [
    [hour!, 24, 'hour'],
    [minute!, 60, 'minute'],
    [second!, 60, 'second'],
    [micro!, 1_000_000, 'microsecond'],
  ] as const
  for (const [value, limit, name] of limits)
    if (value < 0 || value >= limit) throw new ValueError(`${name} must be in 0..${limit - 1}`)
  const naive = new PyDatetime(midnight.epoch + hour! * 3600 + minute! * 60 + second!, micro!, null)
  const zone = given[7]
  if (zone !== undefined && zone !== null && !(zone instanceof Zone))
    throw new PyTypeError('tzinfo argument must be None or of a tzinfo subclass')
  return naive.withZone(zone === null ? null : zone === undefined ? date.offset : zone.offset)
}

/** tzinfo */
class Zone {
  readonly offset: number
  constructor(offset: number) {
    this.offset = offset
  }
  pyStr(): string {
    return zoneName(this.offset)
  }
  pyRepr(): string {
    return `<${this.pyStr()}>`
  }
}

const zoneName = (offset: number) => strftime(new PyDatetime(0, 0, offset), '%Z')

const now = (seconds: number) => new PyDatetime(seconds, 0, null)

const DATETIME: Methods<PyDatetime> = {
  strftime: ['format', (d, [format]) => strftime(d, textOf(format))],
  isoformat: ['sep? timespec?', (d, [separator = 'T', spec = 'auto']) => isoformat(d, textOf(separator), textOf(spec))],
  timestamp: ['', (d) => timestampValue(d)],
  date: ['', (d) => d.date()],
  weekday: ['', (d) => weekday(d.parts.days)],
  isoweekday: ['', (d) => weekday(d.parts.days) + 1],
  isocalendar: ['', (d) => calendar(d.parts.days)],
  ctime: ['', (d) => strftime(d, '%c')],
  toordinal: ['', (d) => d.parts.days + UNIX_ORDINAL],
  utcoffset: ['', (d) => (d.offset === null ? null : new Timedelta(d.offset))],
  tzname: ['', (d) => (d.offset === null ? null : zoneName(d.offset))],
  astimezone: [
    'tz?',
    (d, [zone]) => {
      if (zone !== undefined && zone !== null && !(zone instanceof Zone))
        throw new PyTypeError('tz argument must be an instance of tzinfo')
      return d.at(zone instanceof Zone ? zone.offset : 0)
    },
  ],
  replace: ['year? month? day? hour? minute? second? microsecond? tzinfo? fold?', (d, given) => replaced(d, given)],
  now: ['tz?', (_d, [zone], run) => (zone instanceof Zone ? run.now().at(zone.offset) : run.now().withZone(null))],
  utcnow: ['', (_d, _args, run) => run.now().withZone(null)],
  today: ['', (_d, _args, run) => run.now().withZone(null)],
  strptime: ['/ text format', (_d, [text, format]) => strptime(textOf(text), textOf(format))],
  fromtimestamp: ['timestamp tz?', (_d, [seconds, zone]) => now(whole(seconds)).withZone(zone instanceof Zone ? 0 : null)],
  utcfromtimestamp: ['/ timestamp', (_d, [seconds]) => now(whole(seconds))],
  fromordinal: ['/ ordinal', (_d, [ordinal]) => PyDate.ofDays(whole(ordinal) - UNIX_ORDINAL).midnight()],
}

const DATE: Methods<PyDate> = {
  strftime: ['format', (d, [format]) => strftime(d.midnight(), textOf(format))],
  isoformat: ['', (d) => d.pyStr()],
  weekday: ['', (d) => weekday(d.days)],
  isoweekday: ['', (d) => weekday(d.days) + 1],
  isocalendar: ['', (d) => calendar(d.days)],
  ctime: ['', (d) => strftime(d.midnight(), '%c')],
  toordinal: ['', (d) => d.days + UNIX_ORDINAL],
  replace: ['year? month? day?', (d, given) => replaced(d.midnight(), given).date()],
  today: ['', (_d, _args, run) => run.now().date()],
  fromtimestamp: ['/ timestamp', (_d, [seconds]) => now(whole(seconds)).date()],
  fromordinal: ['/ ordinal', (_d, [ordinal]) => PyDate.ofDays(whole(ordinal) - UNIX_ORDINAL)],
  fromisoformat: ['/ text', (_d, [text]) => parseIso(textOf(text)).date()],
}

const datetimeMethod = methodsOf(DATETIME)
const dateMethod = methodsOf(DATE)
const timedeltaMethod = methodsOf<Timedelta>({ total_seconds: ['', (t) => toFloat(t.totalSeconds())] })

const CLOCK = new Set(['year', 'month', 'day', 'hour', 'minute', 'second'])
/** Attributes that Python has and this engine has not. */
const REFUSED = new Set([
  'combine',
  'dst',
  'fromisocalendar',
  'fromisoformat',
  'max',
  'min',
  'resolution',
  'time',
  'timetuple',
  'timetz',
  'totimedelta',
  'utctimetuple',
])
const ONLY_DATETIME = new Set(['combine', 'dst', 'time', 'timetz', 'utctimetuple'])

function refuse(name: string, of: string): void {
  if (REFUSED.has(name)) throw new ConnectorError(`The attribute '${name}' of ${of} is not supported.`)
}

export function datetimeMember(value: PyDatetime, name: string): unknown {
  if (CLOCK.has(name)) return value.parts[name as 'year']
  if (name === 'microsecond') return value.microsecond
  if (name === 'fold') return 0
  if (name === 'tzinfo') return value.offset === null ? null : new Zone(value.offset)
  const method = datetimeMethod(value, name)
  if (!method && name !== 'totimedelta') refuse(name, 'a datetime')
  return method
}

export function dateMember(value: PyDate, name: string): unknown {
  if (name === 'year' || name === 'month' || name === 'day') return value[name]
  const method = dateMethod(value, name)
  if (!method && name !== 'totimedelta' && !ONLY_DATETIME.has(name)) refuse(name, 'a date')
  return method
}

export function spanMember(value: Timedelta | Duration, name: string): unknown {
  const span = value instanceof Duration ? value.rest : value
  if (name === 'days' || name === 'seconds' || name === 'microseconds') return span[name]
  if (value instanceof Duration) {
    if (name === 'months' || name === 'years') return value[name]
    if (name === 'tdelta') return span
    if (name === 'totimedelta') refuse(name, 'a duration')
  }
  if (['max', 'min', 'resolution'].includes(name)) refuse(name, 'a timedelta')
  return timedeltaMethod(span, name)
}
