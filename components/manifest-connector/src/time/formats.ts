// The datetime formats of the manifest: Python's, and five names of its own.

import { ValueError } from '../errors.ts'
import { floatText, pyStr } from '../python/values.ts'
import { PyDatetime } from './datetime.ts'
import { offsetOf, strftime, strptime } from './strftime.ts'

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
  if (typeof value === 'string' && /^\s*[+-]?\d+(?:_\d+)*\s*$/.test(value)) return Number(value.replaceAll('_', ''))
  throw new ValueError(`invalid literal for int() with base 10: '${pyStr(value)}'`)
}

function floatOf(value: unknown): number {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : typeof value === 'number' ? value : Number.NaN
  if (Number.isNaN(number)) throw new ValueError(`could not convert string to float: '${pyStr(value)}'`)
  return number
}

const ofFloat = (seconds: number) => new PyDatetime(Math.floor(seconds), Math.round((seconds - Math.floor(seconds)) * MILLION), 0)
const ofUnits = (value: number, perSecond: number) => {
  const seconds = Math.floor(value / perSecond)
  return new PyDatetime(seconds, (value - seconds * perSecond) * (MILLION / perSecond), 0)
}

const ISO =
  /^(\d{4})(?:-?(\d\d)(?:-?(\d\d))?)?(?:[T ](\d\d)(?::?(\d\d)(?::?(\d\d)(?:[.,](\d{1,9}))?)?)?\s*(Z|z|[+-]\d\d(?::?\d\d)?)?)?$/

/** dateutil's isoparse; a time without a zone is UTC. */
export function parseIso(text: string): PyDatetime {
  const match = ISO.exec(text)
  if (!match) throw new ValueError(`Invalid isoformat string: '${text}'`)
  const [, year, month = '01', day = '01', hour = '00', minute = '00', second = '00', fraction = '', zone] = match
  const shift = hour === '24' ? 86_400 : 0
  const clock = `${year}-${month}-${day}T${shift ? '00' : hour}:${minute}:${second}`
  const naive = strptime(clock, '%Y-%m-%dT%H:%M:%S')
  const micro = Number(fraction.padEnd(6, '0').slice(0, 6))
  const offset = zone === undefined ? 0 : offsetOf(zone.length === 3 ? `${zone}00` : zone)
  return new PyDatetime(naive.epoch + shift - offset, micro, offset)
}
