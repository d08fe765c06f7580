// The functions of the format's expressions. The table is fixed.

import { randomUUID } from 'node:crypto'
import { ValueError } from '../errors.ts'
import { asNumber, compare, type Dict, isDict, isInt, isNumber, pyStr, setKey, truthy } from '../python/values.ts'
import { PyDate, PyDatetime, parseDuration, Timedelta, timestampValue } from '../time/datetime.ts'
import { formatDatetime, parseDatetime, parseIso } from '../time/formats.ts'
import { strftime, strptime } from '../time/strftime.ts'
import { quotePlus } from './filters.ts'
import { type Call, iterate, PyFunction, PyTypeError, Undefined } from './runtime.ts'

const DEFAULT_FORMAT = '%Y-%m-%dT%H:%M:%S.%f%z'

function extreme(name: string, sign: number): Call {
  return (args) => {
    const items = args.length === 1 ? [...iterate(args[0])] : args
    if (items.length === 0) throw new ValueError(`${name}() arg is an empty sequence`)
    return items.reduce((best, each) => {
      if (best instanceof Undefined) best.fail()
      if (each instanceof Undefined) each.fail()
      const order = compare(each, best)
      if (order === undefined) throw new PyTypeError(`${name}(): the values cannot be compared`)
      return order * sign > 0 ? each : best
    })
  }
}

/** isoparse takes texts only. */
function moment(value: unknown): PyDatetime {
  if (value instanceof Undefined) return value.fail()
  if (typeof value !== 'string') throw new PyTypeError('Parser must be a string or character stream')
  return parseIso(value).inUtc()
}

function formatted(args: readonly unknown[], named: Dict): string {
  const [value, format = named.format, input = named.input_format] = args
  const pattern = pyStr(format)
  if (value instanceof PyDatetime) return strftime(value, pattern)
  if (value instanceof PyDate) return strftime(value.midnight(), pattern)
  if (value instanceof Undefined) return value.fail()
  const date =
    isInt(value) || typeof value === 'boolean'
      ? parseDatetime(asNumber(value), truthy(input) ? pyStr(input) : '%s')
      : truthy(input)
        ? strptime(textOf(value), pyStr(input))
        : moment(value)
  return formatDatetime(date.isNaive ? date.withZone(0) : date, pattern)
}

function textOf(value: unknown): string {
  if (typeof value !== 'string') throw new PyTypeError('strptime() argument 1 must be str')
  return value
}

function zoneOffset(zone: string, at: PyDatetime): number {
  try {
    const parts = new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset' }).formatToParts(
      new Date(at.epoch * 1000),
    )
    const text = parts.find(({ type }) => type === 'timeZoneName')?.value ?? 'GMT'
    const match = /GMT([+-])(\d\d):(\d\d)(?::(\d\d))?/.exec(text)
    return match ? (match[1] === '-' ? -1 : 1) * (Number(match[2]) * 3600 + Number(match[3]) * 60 + Number(match[4] ?? 0)) : 0
  } catch {
    throw new ValueError(`No time zone found with key ${zone}`)
  }
}

class Namespace {
  readonly values: Dict = {}
  pyMember(name: string): unknown {
    return Object.hasOwn(this.values, name) ? this.values[name] : undefined
  }
  pySet(name: string, value: unknown): void {
    setKey(this.values, name, value)
  }
  pyStr() {
    return '<Namespace>'
  }
  pyRepr() {
    return this.pyStr()
  }
}
export const isNamespace = (value: unknown): value is Namespace => value instanceof Namespace

const CALLS: Readonly<Record<string, Call>> = {
  now_utc: (_args, _named, run) => run.now(),
  today_utc: (_args, _named, run) => run.now().date(),
  today_with_timezone: ([zone], named, run) =>
    run
      .now()
      .at(zoneOffset(pyStr(zone ?? named.timezone), run.now()))
      .date(),
  timestamp: ([value]) =>
    isNumber(value)
      ? Math.trunc(asNumber(value))
      : value instanceof PyDatetime
        ? timestampValue(value)
        : timestampValue(moment(value)),
  max: extreme('max', 1),
  min: extreme('min', -1),
  day_delta: ([days = 0, format], named, run) =>
    strftime(
      run.now().plus(new Timedelta(0).plus(new Timedelta(86_400).times(asNumber(named.num_days ?? days)))),
      pyStr(format ?? named.format ?? DEFAULT_FORMAT),
    ),
  duration: ([text], named) => {
    const span = parseDuration(pyStr(text ?? named.datestring))
    if (!span) throw new ValueError(`Unable to parse duration string '${pyStr(text)}'`)
    return span
  },
  format_datetime: (args, named) => formatted(args.length > 0 ? args : [named.dt], named),
  str_to_datetime: ([value], named) => moment(value ?? named.s),
  sanitize_url: ([value]) => quotePlus(pyStr(value)),
  camel_case_to_snake_case: ([value]) =>
    pyStr(value)
      .replace(/(?<!^)(?=[A-Z])/g, '_')
      .toLowerCase(),
  generate_uuid: () => randomUUID(),
  dict: ([first], named) => ({ ...(isDict(first) ? first : {}), ...named }),
  namespace: (_args, named) => {
    const space = new Namespace()
    for (const [name, value] of Object.entries(named)) space.pySet(name, value)
    return space
  },
}

export const FUNCTIONS: ReadonlyMap<string, PyFunction> = new Map(
  Object.entries(CALLS).map(([name, call]) => [name, new PyFunction(name, call)]),
)
