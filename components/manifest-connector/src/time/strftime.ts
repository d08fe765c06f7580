// Python's strptime and strftime: the directives of the language, with glibc's for output.

import { ValueError } from '../errors.ts'
import { daysOf, offsetText, PyDatetime } from './datetime.ts'

const MONTHS = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
]
const DAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday']
const two = (n: number) => String(n).padStart(2, '0')
const short = (name: string) => name.slice(0, 3)

/** Monday is 0. */
const weekdayOf = (days: number) => (((days + 3) % 7) + 7) % 7

const PARSE: Readonly<Record<string, string>> = {
  d: '(?<d>3[0-1]|[1-2]\\d|0[1-9]|[1-9]| [1-9])',
  f: '(?<f>[0-9]{1,6})',
  H: '(?<H>2[0-3]|[0-1]\\d|\\d)',
  I: '(?<I>1[0-2]|0[1-9]|[1-9]| [1-9])',
  j: '(?<j>36[0-6]|3[0-5]\\d|[1-2]\\d\\d|0[1-9]\\d|00[1-9]|[1-9]\\d|0[1-9]|[1-9])',
  m: '(?<m>1[0-2]|0[1-9]|[1-9])',
  M: '(?<M>[0-5]\\d|\\d)',
  S: '(?<S>6[0-1]|[0-5]\\d|\\d)',
  y: '(?<y>\\d\\d)',
  Y: '(?<Y>\\d\\d\\d\\d)',
  z: '(?<z>[+-]\\d\\d:?[0-5]\\d(?::?[0-5]\\d(?:\\.\\d{1,6})?)?|Z)',
  Z: '(?<Z>utc|gmt|est|edt|cst|cdt|mst|mdt|pst|pdt|cet|cest)',
  a: `(?<a>${DAYS.map(short).join('|')})`,
  A: `(?<A>${DAYS.join('|')})`,
  b: `(?<b>${MONTHS.map(short).join('|')})`,
  B: `(?<B>${MONTHS.join('|')})`,
  p: '(?<p>AM|PM)',
  U: '(?<U>5[0-3]|[0-4]\\d|\\d)',
  W: '(?<W>5[0-3]|[0-4]\\d|\\d)',
  w: '(?<w>[0-6])',
  u: '(?<u>[1-7])',
  G: '(?<G>\\d\\d\\d\\d)',
  V: '(?<V>5[0-3]|0[1-9]|[1-4]\\d|\\d)',
  '%': '%',
}

/** Directives that stand for several. */
const WHOLE: Readonly<Record<string, string>> = { c: '%a %b %d %H:%M:%S %Y', x: '%m/%d/%y', X: '%H:%M:%S' }

const compiled = new Map<string, RegExp>()

function patternOf(given: string): RegExp {
  const known = compiled.get(given)
  if (known) return known
  const format = given.replace(/%([\s\S])/g, (all, directive: string) => WHOLE[directive] ?? all)
  let pattern = ''
  for (let i = 0; i < format.length; i++) {
    const char = format[i]!
    if (char === '%') {
      const directive = format[++i]
      const part = directive === undefined ? undefined : PARSE[directive]
      if (part === undefined) throw new ValueError(`'${directive ?? '%'}' is a bad directive in format '${format}'`)
      if (part !== '%' && pattern.includes(`(?<${directive}>`))
        throw new ValueError(`Directive %${directive} is duplicated in '${format}'`)
      pattern += part
    } else if (/\s/.test(char)) {
      while (/\s/.test(format[i + 1] ?? '')) i++
      pattern += '\\s+'
    } else pattern += char.replace(/[\\^$.|?*+()[\]{}/]/g, '\\$&')
  }
  const regexp = new RegExp(`^${pattern}$`, 'i')
  if (compiled.size > 1000) compiled.clear()
  compiled.set(given, regexp)
  return regexp
}

export function strptime(text: string, format: string): PyDatetime {
  const match = patternOf(format).exec(text)
  const parts = match?.groups ?? (match ? {} : undefined)
  if (!parts) throw new ValueError(`time data '${text}' does not match format '${format}'`)
  const n = (key: string) => (parts[key] === undefined ? undefined : Number(parts[key]))
  const index = (names: readonly string[], value: string | undefined) =>
    value === undefined ? undefined : names.findIndex((name) => name.toLowerCase() === value.toLowerCase()) + 1
  const shortYear = n('y')
  const year = n('Y') ?? (shortYear === undefined ? 1900 : shortYear + (shortYear < 69 ? 2000 : 1900))
  const month = n('m') ?? index(MONTHS, parts.B) ?? index(MONTHS.map(short), parts.b) ?? 1
  const day = n('d') ?? 1
  const last = new Date(Date.UTC(2000 + (year % 400), month, 0)).getUTCDate()
  if (day > last || year < 1) throw new ValueError('day is out of range for month')
  let hour = n('H') ?? 0
  const half = n('I')
  if (half !== undefined) hour = (half % 12) + (parts.p?.toLowerCase() === 'pm' ? 12 : 0)
  const yearDay = n('j')
  const weekday = weekdayIn(parts, n)
  let days = yearDay === undefined ? daysOf(year, month, day) : daysOf(year, 1, 1) + yearDay - 1
  const week = weekday === undefined || yearDay !== undefined ? undefined : (n('U') ?? n('W'))
  if (week !== undefined) days = daysOf(year, 1, 1) + dayOfWeek(year, week, weekday!, parts.W !== undefined)
  else if (parts.G !== undefined || parts.V !== undefined) days = isoDay(format, n('G'), n('V'), weekday)
  const second = n('S') ?? 0
  if (second > 59) throw new ValueError('second must be in 0..59')
  const micro = parts.f === undefined ? 0 : Number(parts.f.padEnd(6, '0'))
  const wall = days * 86_400 + hour * 3600 + (n('M') ?? 0) * 60 + second
  const offset = parts.z === undefined ? null : offsetOf(parts.z)
  return new PyDatetime(wall - (offset ?? 0), micro, offset)
}

/** Monday is 0. */
function weekdayIn(parts: Readonly<Record<string, string>>, n: (key: string) => number | undefined): number | undefined {
  const name = (parts.A ?? parts.a)?.slice(0, 3).toLowerCase()
  if (name !== undefined) return DAYS.findIndex((day) => short(day).toLowerCase() === name)
  const sunday = n('w')
  if (sunday !== undefined) return (sunday + 6) % 7
  const monday = n('u')
  return monday === undefined ? undefined : monday - 1
}

/** Days after New Year of a weekday of a numbered week. */
function dayOfWeek(year: number, week: number, weekday: number, startsOnMonday: boolean): number {
  const shift = startsOnMonday ? 0 : 1
  const first = (weekdayOf(daysOf(year, 1, 1)) + shift) % 7
  const day = (weekday + shift) % 7
  return week === 0 ? day - first : ((7 - first) % 7) + 7 * (week - 1) + day
}

function isoDay(format: string, year: number | undefined, week: number | undefined, weekday: number | undefined): number {
  if (year === undefined || week === undefined || weekday === undefined)
    throw new ValueError(`The format '${format}' must have the ISO year %G, the ISO week %V and a weekday.`)
  const fourth = daysOf(year, 1, 4)
  const days = fourth - weekdayOf(fourth) + 7 * (week - 1) + weekday
  if (week < 1 || isoWeek(days).year !== year) throw new ValueError(`Invalid week: ${week}`)
  return days
}

export function offsetOf(text: string): number {
  if (text === 'Z' || text === 'z') return 0
  const digits = text.slice(1).replaceAll(':', '')
  const seconds =
    Number(digits.slice(0, 2)) * 3600 + Number(digits.slice(2, 4) || 0) * 60 + Math.trunc(Number(digits.slice(4) || 0))
  return text[0] === '-' ? -seconds : seconds
}

export function strftime(date: PyDatetime, format: string): string {
  return format.replace(/%([-_0^#]?)([a-zA-Z%])/g, (all, flag: string, directive: string) => {
    const value = directiveText(date, directive)
    if (value === undefined) return all
    if (flag === '-') return value.replace(/^[0 ]+(?=\d)/, '')
    if (flag === '_') return value.replace(/^0+(?=\d)/, (zeros) => ' '.repeat(zeros.length))
    return flag === '^' ? value.toUpperCase() : value
  })
}

function directiveText(date: PyDatetime, directive: string): string | undefined {
  const { year, month, day, hour, minute, second, days } = date.parts
  const yearDay = days - daysOf(year, 1, 1)
  const weekday = weekdayOf(days)
  const again = (format: string) => strftime(date, format)
  switch (directive) {
    case 'Y':
      return String(year)
    case 'C':
      return two(Math.floor(year / 100))
    case 'y':
      return two(year % 100)
    case 'm':
      return two(month)
    case 'd':
      return two(day)
    case 'e':
      return String(day).padStart(2, ' ')
    case 'H':
      return two(hour)
    case 'k':
      return String(hour).padStart(2, ' ')
    case 'I':
      return two(hour % 12 || 12)
    case 'l':
      return String(hour % 12 || 12).padStart(2, ' ')
    case 'M':
      return two(minute)
    case 'S':
      return two(second)
    case 'f':
      return String(date.microsecond).padStart(6, '0')
    case 'p':
      return hour < 12 ? 'AM' : 'PM'
    case 'P':
      return hour < 12 ? 'am' : 'pm'
    case 'j':
      return String(yearDay + 1).padStart(3, '0')
    case 'a':
      return short(DAYS[weekday]!)
    case 'A':
      return DAYS[weekday]!
    case 'b':
    case 'h':
      return short(MONTHS[month - 1]!)
    case 'B':
      return MONTHS[month - 1]!
    case 'u':
      return String(weekday + 1)
    case 'w':
      return String((weekday + 1) % 7)
    case 'U':
      return two(Math.floor((yearDay + 7 - ((weekday + 1) % 7)) / 7))
    case 'W':
      return two(Math.floor((yearDay + 7 - weekday) / 7))
    case 'V':
      return two(isoWeek(days).week)
    case 'G':
      return String(isoWeek(days).year)
    case 'g':
      return two(isoWeek(days).year % 100)
    case 'z':
      return offsetText(date.offset, '')
    case 'Z':
      return date.offset === null ? '' : date.offset === 0 ? 'UTC' : `UTC${offsetText(date.offset, ':')}`
    case 's':
      return String(date.epoch)
    case 'F':
      return again('%Y-%m-%d')
    case 'T':
    case 'X':
      return again('%H:%M:%S')
    case 'R':
      return again('%H:%M')
    case 'D':
    case 'x':
      return again('%m/%d/%y')
    case 'r':
      return again('%I:%M:%S %p')
    case 'c':
      return again('%a %b %e %H:%M:%S %Y')
    case 'n':
      return '\n'
    case 't':
      return '\t'
    case '%':
      return '%'
    default:
      return undefined
  }
}

export function isoWeek(days: number): { year: number; week: number } {
  const thursday = days - weekdayOf(days) + 3
  const year = new Date(thursday * 86_400_000).getUTCFullYear()
  return { year, week: Math.floor((thursday - daysOf(year, 1, 1)) / 7) + 1 }
}

export const weekday = weekdayOf
