// The datetime formats of the manifest: Python's, and five names of its own.

import { ValueError } from '../errors.ts'
import { floatOf as readFloat, integerOf as readInteger } from '../python/numbers.ts'
import { floatText, pyStr } from '../python/values.ts'
import { daysOf, PyDatetime } from './datetime.ts'
import { strftime, strptime, weekday } from './strftime.ts'

const MILLION = 1_000_000

export function parseDatetime(value: unknown, format: string): PyDatetime {
  if (format === '%s') return new PyDatetime(integerOf(value), 0, 0)
  if (format === '%s_as_float') return ofFloat(floatOf(value))
  if (format === '%ms') return ofUnits(integerOf(value), 1000)
  if (format === '%epoch_microseconds') return ofUnits(integerOf(value), MILLION)
  const parsed = strptime(pyStr(value), format.replaceAll('%_ms', '%f'))
  return parsed.isNaive ? parsed.withZone(0) : parsed
}

export function formatDatetime(date: PyDatetime, format: string): string {
  if (format === '%s') return String(Math.trunc(date.timestamp()))
  if (format === '%s_as_float') return floatText(date.timestamp())
  if (format === '%ms') return String(BigInt(date.epoch) * 1000n + BigInt(Math.floor(date.microsecond / 1000)))
  if (format === '%epoch_microseconds') return String(BigInt(date.epoch) * 1_000_000n + BigInt(date.microsecond))
  if (!format.includes('%_ms')) return strftime(date, format)
  return strftime(date, format.replaceAll('%_ms', String(Math.floor(date.microsecond / 1000)).padStart(3, '0')))
}

/** int() of Python: a fraction of a number is cut off, one of a text is an error. */
function integerOf(value: unknown): number {
  if (typeof value === 'number' && Number.isFinite(value)) return Math.trunc(value)
  if (typeof value === 'bigint') return Number(value)
  const number = typeof value === 'string' ? readInteger(value) : undefined
  if (number === undefined) throw new ValueError(`invalid literal for int() with base 10: '${pyStr(value)}'`)
  return Number(number)
}

function floatOf(value: unknown): number {
  const number = typeof value === 'string' ? readFloat(value) : typeof value === 'number' ? value : Number.NaN
  if (number === undefined || Number.isNaN(number)) throw new ValueError(`could not convert string to float: '${pyStr(value)}'`)
  return number
}

const ofFloat = (seconds: number) => new PyDatetime(Math.floor(seconds), Math.round((seconds - Math.floor(seconds)) * MILLION), 0)
const ofUnits = (value: number, perSecond: number) => {
  const seconds = Math.floor(value / perSecond)
  return new PyDatetime(seconds, (value - seconds * perSecond) * (MILLION / perSecond), 0)
}

/** The whole number that stands there; Python reads blanks and signs, too. */
function numberAt(text: string, from: number, length: number): number {
  const part = text.slice(from, from + length)
  const number = /^\s*[+-]?\d+(?:_\d+)*\s*$/.test(part) ? Number(part.replaceAll('_', '')) : Number.NaN
  if (Number.isNaN(number)) throw new ValueError(`Invalid isoformat string: '${text}'`)
  return number
}

const invalidIso = (text: string) => new ValueError(`Invalid isoformat string: '${text}'`)

interface Day {
  readonly days: number
  readonly end: number
}

function checkedDay(year: number, month: number, day: number, text: string): number {
  if (year < 1 || month < 1 || month > 12 || day < 1) throw invalidIso(text)
  const days = daysOf(year, month, day)
  if (days >= (month === 12 ? daysOf(year, 12, 31) + 1 : daysOf(year, month + 1, 1))) throw invalidIso(text)
  return days
}

/** `2024`, `2024-01`, `2024-01-15`, `20240115`. */
function commonDay(text: string): Day {
  const year = numberAt(text, 0, 4)
  if (text.length <= 4) return { days: checkedDay(year, 1, 1, text), end: 4 }
  const dash = text[4] === '-' ? 1 : 0
  const month = numberAt(text, 4 + dash, 2)
  if (text.length < 6 + dash) throw invalidIso(text)
  let at = 6 + dash
  if (at >= text.length && dash) return { days: checkedDay(year, month, 1, text), end: at }
  if (dash && text[at++] !== '-') throw invalidIso(text)
  if (text.length - at < 2) throw invalidIso(text)
  return { days: checkedDay(year, month, numberAt(text, at, 2), text), end: at + 2 }
}

/** `2024-W03`, `2024-W03-1`, `2024W031`, `2024-015`, `2024015`. */
function uncommonDay(text: string): Day {
  const year = numberAt(text, 0, 4)
  const dash = text[4] === '-' ? 1 : 0
  const at = 4 + dash
  if (text[at] !== 'W') {
    const day = numberAt(text, at, 3)
    const days = daysOf(year, 1, 1) + day - 1
    if (text.length < at + 3 || day < 1 || days > daysOf(year, 12, 31) || year < 1) throw invalidIso(text)
    return { days, end: at + 3 }
  }
  const week = numberAt(text, at + 1, 2)
  let end = at + 3
  let day = 1
  if (text.length > end) {
    if ((text[end] === '-') !== (dash === 1)) throw invalidIso(text)
    day = numberAt(text, end + dash, 1)
    end += dash + 1
  }
  if (week < 1 || week > 53 || day < 1 || day > 7) throw invalidIso(text)
  const fourth = daysOf(year, 1, 4)
  return { days: fourth - weekday(fourth) + (week - 1) * 7 + day - 1, end }
}

function offsetIn(text: string, zone: string): number {
  if (zone === 'Z' || zone === 'z') return 0
  if (![3, 5, 6].includes(zone.length)) throw invalidIso(text)
  const hours = numberAt(zone, 1, 2)
  const minutes = zone.length === 3 ? 0 : numberAt(zone, zone[3] === ':' ? 4 : 3, 3)
  if (minutes > 59 || hours > 23) throw invalidIso(text)
  return (zone[0] === '-' ? -1 : 1) * (hours * 60 + minutes) * 60
}

/** dateutil's isoparse; a time without a zone is UTC. */
export function parseIso(text: string): PyDatetime {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: what is not ASCII
  if (text.length < 4 || /[^\x00-\x7f]/.test(text)) throw invalidIso(text)
  let day: Day
  try {
    day = commonDay(text)
  } catch {
    day = uncommonDay(text)
  }
  const clock = text.slice(day.end + 1)
  if (text.length > day.end && clock.length < 2) throw invalidIso(text) // any character may stand before it
  const parts = [0, 0, 0]
  let at = 0
  let micro = 0
  let offset = 0
  let colons = false
  for (let part = 0; at < clock.length && part < 5; part++) {
    if ('-+Zz'.includes(clock[at]!)) {
      offset = offsetIn(text, clock.slice(at))
      at = clock.length
      break
    }
    if (part === 1 && clock[at] === ':') {
      colons = true
      at++
    } else if (part === 2 && colons && clock[at++] !== ':') throw invalidIso(text)
    if (part < 3) {
      parts[part] = numberAt(clock, at, 2)
      at += 2
    } else if (part === 3) {
      const fraction = /^[.,](\d+)/.exec(clock.slice(at))
      if (!fraction) continue
      micro = Number(fraction[1]!.slice(0, 6).padEnd(6, '0'))
      at += fraction[0].length
    }
  }
  const [hour = 0, minute = 0, second = 0] = parts
  const isEnd = hour === 24
  if (at < clock.length || (isEnd && (minute || second || micro))) throw invalidIso(text)
  if (hour < 0 || hour > 24 || minute < 0 || minute > 59 || second < 0 || second > 59) throw invalidIso(text)
  return new PyDatetime(day.days * 86_400 + hour * 3600 + minute * 60 + second - offset, micro, offset)
}
