// The functions of the format's expressions. The table is fixed.

import { randomUUID } from 'node:crypto'
import { ConnectorError, ValueError } from '../errors.ts'
import { truncated } from '../python/numbers.ts'
import { asNumber, type Dict, isFloat, isInt, isNumber, pyRepr, pyStr, setKey, truthy } from '../python/values.ts'
import { PyDatetime, parseDuration, Timedelta, timestampValue } from '../time/datetime.ts'
import { formatDatetime, parseDatetime, parseIso } from '../time/formats.ts'
import { strftime, strptime } from '../time/strftime.ts'
import { parameters, textOf } from './arguments.ts'
import { updated } from './collection-methods.ts'
import { comparison } from './operators.ts'
import { type Call, iterate, lengthOf, PyFunction, PyTypeError, type Run, typeName, Undefined } from './runtime.ts'
import { quotePlus } from './text-filters.ts'

const DEFAULT_FORMAT = '%Y-%m-%dT%H:%M:%S.%f%z'

function extreme(name: string, sign: number): Call {
  return (args, named) => {
    if (Object.keys(named).length > 0) throw new PyTypeError(`${name}() got an unexpected keyword argument`)
    if (args.length === 0) throw new PyTypeError(`${name} expected at least 1 argument, got 0`)
    const items = args.length === 1 ? [...iterate(args[0])] : args
    if (items.length === 0) throw new ValueError(`${name}() arg is an empty sequence`)
    return items.reduce((best, each) => (comparison(sign > 0 ? '>' : '<', each, best) ? each : best))
  }
}

/** isoparse takes texts only; what is shorter than a year fails before its type does. */
function moment(value: unknown): PyDatetime {
  if (value instanceof Undefined) return value.fail()
  if (typeof value !== 'string' && lengthOf(value) < 4) throw new ValueError('ISO string too short')
  if (typeof value !== 'string') throw new PyTypeError(`Parser must be a string or character stream, not ${typeName(value)}`)
  return parseIso(value).inUtc()
}

function timestamp(value: unknown): unknown {
  if (typeof value === 'boolean' || isInt(value)) return typeof value === 'boolean' ? Number(value) : value
  return isFloat(value) ? truncated(asNumber(value)) : timestampValue(moment(value))
}

function formatted(value: unknown, format: unknown, input: unknown): string {
  if (value instanceof PyDatetime) return strftime(value, textOf(format))
  let date: PyDatetime
  if (typeof value === 'boolean' || isInt(value))
    date = parseDatetime(typeof value === 'boolean' ? Number(value) : value, truthy(input) ? textOf(input) : '%s')
  else date = truthy(input) ? strptime(textOf(value), textOf(input)) : moment(value)
  return formatDatetime(date.isNaive ? date.withZone(0) : date, textOf(format))
}

function zoneOffset(zone: unknown, at: PyDatetime): number {
  try {
    const parts = new Intl.DateTimeFormat('en-US', { timeZone: textOf(zone), timeZoneName: 'longOffset' }).formatToParts(
      new Date(at.epoch * 1000),
    )
    const text = parts.find(({ type }) => type === 'timeZoneName')?.value ?? 'GMT'
    const match = /GMT([+-])(\d\d):(\d\d)(?::(\d\d))?/.exec(text)
    return match ? (match[1] === '-' ? -1 : 1) * (Number(match[2]) * 3600 + Number(match[3]) * 60 + Number(match[4] ?? 0)) : 0
  } catch {
    throw new ValueError(`No time zone found with key ${pyStr(zone)}`)
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
    return `<Namespace ${pyRepr(this.values)}>`
  }
  pyRepr() {
    return this.pyStr()
  }
}
export const isNamespace = (value: unknown): value is Namespace => value instanceof Namespace

// biome-ignore lint/suspicious/noExplicitAny: arguments are values of an expression, which each function checks
const CALLS: Readonly<Record<string, readonly [parameters: string, (args: readonly any[], run: Run) => unknown]>> = {
  now_utc: ['', (_args, run) => run.now()],
  today_utc: ['', (_args, run) => run.now().date()],
  today_with_timezone: ['timezone', ([zone], run) => run.now().at(zoneOffset(zone, run.now())).date()],
  timestamp: ['dt', ([value]) => timestamp(value)],
  day_delta: [
    'num_days format?',
    ([days, format = DEFAULT_FORMAT], run) => strftime(run.now().plus(daysOf(days)), textOf(format)),
  ],
  duration: [
    'datestring',
    ([text]) => {
      const span = parseDuration(textOf(text))
      if (!span) throw new ValueError(`Unable to parse duration string '${text}'`)
      return span
    },
  ],
  format_datetime: ['dt format input_format?', ([value, format, input = null]) => formatted(value, format, input)],
  str_to_datetime: ['s', ([value]) => moment(value)],
  sanitize_url: ['value', ([value]) => quotePlus(textOf(value))],
  camel_case_to_snake_case: ['value', ([value]) => snakeCase(textOf(value))],
  generate_uuid: ['', () => randomUUID()],
}

function daysOf(count: unknown): Timedelta {
  if (typeof count !== 'boolean' && !isNumber(count))
    throw new PyTypeError(`unsupported type for timedelta days component: ${typeName(count)}`)
  return new Timedelta(86_400).times(asNumber(count))
}

const snakeCase = (text: string) => text.replace(/(?<!^)(?=[A-Z])/g, '_').toLowerCase()

/** Functions that read their arguments themselves. */
const OPEN: Readonly<Record<string, Call>> = {
  max: extreme('max', 1),
  min: extreme('min', -1),
  dict: (args, named, run) => updated({}, 'dict', args, named, run),
  namespace: (args, named, run) => {
    const space = new Namespace()
    for (const [name, value] of Object.entries(updated({}, 'dict', args, named, run))) space.pySet(name, value)
    return space
  },
}

/** Jinja's functions that this engine does not have. */
const REFUSED = ['cycler', 'joiner', 'lipsum']

export const FUNCTIONS: ReadonlyMap<string, PyFunction> = new Map([
  ...Object.entries(CALLS).map(([name, [list, call]]): [string, PyFunction] => {
    const bind = parameters(name, list)
    return [name, new PyFunction(name, (args, named, run) => call(bind(args, named), run))]
  }),
  ...Object.entries(OPEN).map(([name, call]): [string, PyFunction] => [name, new PyFunction(name, call)]),
  ...REFUSED.map((name): [string, PyFunction] => {
    const refuse = () => {
      throw new ConnectorError(`The function '${name}' is not supported.`)
    }
    return [name, new PyFunction(name, refuse)]
  }),
])
