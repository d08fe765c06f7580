// Python's datetime, date and timedelta as far as manifests use them. Times are whole seconds plus microseconds, so that the year 9999
// is as exact as today.

import { ValueError } from '../errors.ts'
import { asNumber, isNumber, type PyFloat, type PyObject, toFloat } from '../python/values.ts'

const DAY = 86_400
const MILLION = 1_000_000

/** Days since 1970 of a date in the proleptic Gregorian calendar. */
export const daysOf = (year: number, month: number, day: number): number => {
  const date = new Date(0)
  date.setUTCFullYear(year, month - 1, day)
  return Math.floor(date.getTime() / 86_400_000)
}

const floorDiv = (a: number, b: number) => Math.floor(a / b)
const mod = (a: number, b: number) => ((a % b) + b) % b
const two = (n: number) => String(n).padStart(2, '0')

export class Timedelta implements PyObject {
  readonly days: number
  readonly seconds: number
  readonly microseconds: number

  constructor(seconds: number, microseconds = 0) {
    const carried = seconds + floorDiv(microseconds, MILLION)
    this.microseconds = mod(microseconds, MILLION)
    this.days = floorDiv(carried, DAY)
    this.seconds = mod(carried, DAY)
    if (!(Math.abs(this.days) < 1_000_000_000)) throw new RangeError('days out of range')
  }

  get wholeSeconds(): number {
    return this.days * DAY + this.seconds
  }
  totalSeconds(): number {
    return this.wholeSeconds + this.microseconds / MILLION
  }
  /** Exact, also of a century. */
  get inMicroseconds(): bigint {
    return BigInt(this.wholeSeconds) * BigInt(MILLION) + BigInt(this.microseconds)
  }
  static ofMicroseconds(count: bigint): Timedelta {
    const seconds = count / BigInt(MILLION)
    return new Timedelta(Number(seconds), Number(count - seconds * BigInt(MILLION)))
  }
  negated(): Timedelta {
    return new Timedelta(-this.wholeSeconds, -this.microseconds)
  }
  plus(other: Timedelta): Timedelta {
    return new Timedelta(this.wholeSeconds + other.wholeSeconds, this.microseconds + other.microseconds)
  }
  times(factor: number): Timedelta {
    if (Number.isSafeInteger(factor)) return Timedelta.ofMicroseconds(this.inMicroseconds * BigInt(factor))
    const total = this.totalSeconds() * factor
    const whole = Math.floor(total)
    return new Timedelta(whole, Math.round((total - whole) * MILLION))
  }
  pyStr(): string {
    const day = this.days === 0 ? '' : `${this.days} day${Math.abs(this.days) === 1 ? '' : 's'}, `
    const fraction = this.microseconds === 0 ? '' : `.${String(this.microseconds).padStart(6, '0')}`
    return `${day}${floorDiv(this.seconds, 3600)}:${two(floorDiv(this.seconds, 60) % 60)}:${two(this.seconds % 60)}${fraction}`
  }
  pyRepr(): string {
    const parts = [
      this.days && `days=${this.days}`,
      this.seconds && `seconds=${this.seconds}`,
      this.microseconds && `microseconds=${this.microseconds}`,
    ]
    return `datetime.timedelta(${parts.filter(Boolean).join(', ') || '0'})`
  }
  pyTruth(): boolean {
    return this.wholeSeconds !== 0 || this.microseconds !== 0
  }
  pyCompare(other: unknown): number | undefined {
    return other instanceof Timedelta
      ? this.wholeSeconds - other.wholeSeconds || this.microseconds - other.microseconds
      : undefined
  }
  pyEquals(other: unknown): boolean {
    return this.pyCompare(other) === 0
  }
}

/** An ISO duration with years or months, whose length depends on where it starts. */
export class Duration implements PyObject {
  readonly years: number
  readonly months: number
  readonly rest: Timedelta

  constructor(years: number, months: number, rest: Timedelta) {
    this.years = years
    this.months = months
    this.rest = rest
  }
  get totalMonths(): number {
    return this.years * 12 + this.months
  }
  negated(): Duration {
    return new Duration(-this.years, -this.months, this.rest.negated())
  }
  plus(other: Duration): Duration {
    return new Duration(this.years + other.years, this.months + other.months, this.rest.plus(other.rest))
  }
  times(factor: number): Duration {
    return new Duration(this.years * factor, this.months * factor, this.rest.times(factor))
  }
  pyStr(): string {
    const parts = [
      this.years && `${Math.trunc(this.years)} years`,
      this.months && `${Math.trunc(this.months)} month${this.months <= 1 ? '' : 's'}`,
    ]
    return [...parts.filter(Boolean), this.rest.pyStr()].join(', ')
  }
  pyRepr(): string {
    const { days, seconds, microseconds } = this.rest
    return `isodate.duration.Duration(${days}, ${seconds}, ${microseconds}, years=${Math.trunc(this.years)}, months=${Math.trunc(this.months)})`
  }
  pyEquals(other: unknown): boolean {
    if (other instanceof Duration) return other.totalMonths === this.totalMonths && other.rest.pyEquals(this.rest)
    return this.years === 0 && this.months === 0 && this.rest.pyEquals(other)
  }
}

export type Span = Timedelta | Duration

export class PyDate implements PyObject {
  readonly year: number
  readonly month: number
  readonly day: number
  constructor(year: number, month: number, day: number) {
    this.year = year
    this.month = month
    this.day = day
  }
  get days(): number {
    return daysOf(this.year, this.month, this.day)
  }
  static ofDays(days: number): PyDate {
    const date = new Date(days * 86_400_000)
    return new PyDate(date.getUTCFullYear(), date.getUTCMonth() + 1, date.getUTCDate())
  }
  midnight(): PyDatetime {
    return new PyDatetime(this.days * DAY, 0, null)
  }
  pyStr(): string {
    return `${String(this.year).padStart(4, '0')}-${two(this.month)}-${two(this.day)}`
  }
  pyRepr(): string {
    return `datetime.date(${this.year}, ${this.month}, ${this.day})`
  }
  pyCompare(other: unknown): number | undefined {
    return other instanceof PyDate ? this.days - other.days : undefined
  }
  pyEquals(other: unknown): boolean {
    return this.pyCompare(other) === 0
  }
}

export class PyDatetime implements PyObject {
  /** Since 1970 in UTC; of a time without a zone, as if its clock were UTC. */
  readonly epoch: number
  readonly microsecond: number
  /** Seconds east of UTC; null for a time without a zone. */
  readonly offset: number | null

  constructor(epoch: number, microsecond: number, offset: number | null) {
    this.epoch = epoch + floorDiv(microsecond, MILLION)
    this.microsecond = mod(microsecond, MILLION)
    this.offset = offset
    const years = this.epoch + (offset ?? 0)
    if (!(years >= -62_135_596_800 && years < 253_402_300_800)) throw new RangeError('date value out of range')
  }

  static ofMillis(ms: number): PyDatetime {
    const seconds = floorDiv(ms, 1000)
    return new PyDatetime(seconds, Math.round((ms - seconds * 1000) * 1000), 0)
  }

  /** The wall clock. */
  get parts(): { year: number; month: number; day: number; hour: number; minute: number; second: number; days: number } {
    const wall = this.epoch + (this.offset ?? 0)
    const days = floorDiv(wall, DAY)
    const date = new Date(days * 86_400_000)
    const rest = wall - days * DAY
    return {
      year: date.getUTCFullYear(),
      month: date.getUTCMonth() + 1,
      day: date.getUTCDate(),
      hour: floorDiv(rest, 3600),
      minute: floorDiv(rest, 60) % 60,
      second: rest % 60,
      days,
    }
  }

  get isNaive(): boolean {
    return this.offset === null
  }
  inUtc(): PyDatetime {
    return new PyDatetime(this.epoch, this.microsecond, 0)
  }
  at(offset: number): PyDatetime {
    return new PyDatetime(this.epoch, this.microsecond, offset)
  }
  /** The same clock in another zone. */
  withZone(offset: number | null): PyDatetime {
    return new PyDatetime(this.epoch + (this.offset ?? 0) - (offset ?? 0), this.microsecond, offset)
  }
  date(): PyDate {
    const { year, month, day } = this.parts
    return new PyDate(year, month, day)
  }
  timestamp(): number {
    return this.epoch + this.microsecond / MILLION
  }

  plus(span: Span): PyDatetime {
    if (span instanceof Timedelta)
      return new PyDatetime(this.epoch + span.wholeSeconds, this.microsecond + span.microseconds, this.offset)
    const { year, month, day } = this.parts
    if (!Number.isInteger(span.years) || !Number.isInteger(span.months))
      throw new ValueError('fractional years or months not supported for date calculations')
    const months = year * 12 + (month - 1) + span.totalMonths
    const newYear = floorDiv(months, 12)
    const newMonth = mod(months, 12) + 1
    const lastDay = new Date(Date.UTC(2000 + mod(newYear, 400), newMonth, 0)).getUTCDate()
    const days = daysOf(newYear, newMonth, Math.min(day, lastDay)) - this.parts.days
    return new PyDatetime(this.epoch + days * DAY, this.microsecond, this.offset).plus(span.rest)
  }
  minus(span: Span): PyDatetime {
    return this.plus(span.negated())
  }
  since(other: PyDatetime): Timedelta {
    return new Timedelta(this.epoch - other.epoch, this.microsecond - other.microsecond)
  }

  pyCompare(other: unknown): number | undefined {
    if (!(other instanceof PyDatetime) || other.isNaive !== this.isNaive) return undefined
    return this.epoch - other.epoch || this.microsecond - other.microsecond
  }
  pyEquals(other: unknown): boolean {
    return this.pyCompare(other) === 0
  }
  isoformat(separator = 'T'): string {
    const { hour, minute, second } = this.parts
    const fraction = this.microsecond === 0 ? '' : `.${String(this.microsecond).padStart(6, '0')}`
    return `${this.date().pyStr()}${separator}${two(hour)}:${two(minute)}:${two(second)}${fraction}${offsetText(this.offset, ':')}`
  }
  pyStr(): string {
    return this.isoformat(' ')
  }
  pyRepr(): string {
    const { year, month, day, hour, minute, second } = this.parts
    const zone = this.offset === null ? '' : this.offset === 0 ? ', tzinfo=datetime.timezone.utc' : `, tzinfo=${this.offset}`
    return `datetime.datetime(${year}, ${month}, ${day}, ${hour}, ${minute}${second || this.microsecond ? `, ${second}` : ''}${this.microsecond ? `, ${this.microsecond}` : ''}${zone})`
  }
}

export function offsetText(offset: number | null, colon: string): string {
  if (offset === null) return ''
  const size = Math.abs(offset)
  const seconds = size % 60 === 0 ? '' : `${colon}${two(size % 60)}`
  return `${offset < 0 ? '-' : '+'}${two(floorDiv(size, 3600))}${colon}${two(floorDiv(size, 60) % 60)}${seconds}`
}

/** timestamp() as Python prints it. */
export const timestampValue = (date: PyDatetime): number | PyFloat => toFloat(date.timestamp())

const ISO_DURATION =
  /^([+-])?P(?!$)(?:(\d+(?:[.,]\d+)?)Y)?(?:(\d+(?:[.,]\d+)?)M)?(?:(\d+(?:[.,]\d+)?)W)?(?:(\d+(?:[.,]\d+)?)D)?(?:T(?:(\d+(?:[.,]\d+)?)H)?(?:(\d+(?:[.,]\d+)?)M)?(?:(\d+(?:[.,]\d+)?)S)?)?$/

/** `P0001-02-03T04:05:06`. */
function asDate(text: string): Duration | undefined {
  const match = /^P(\d{4})(-?)(\d\d)\2(\d\d)T(\d\d)(:?)(\d\d)\6(\d\d)$/.exec(text)
  if (!match) return undefined
  const [years, months, days, hours, minutes, seconds] = [1, 3, 4, 5, 7, 8].map((group) => Number(match[group]))
  if (months! < 1 || months! > 12 || days! < 1 || days! > 31 || hours! > 23 || minutes! > 59 || seconds! > 59) return undefined
  return new Duration(years!, months!, new Timedelta(days! * DAY + hours! * 3600 + minutes! * 60 + seconds!))
}

export function parseDuration(text: string): Span | undefined {
  const match = ISO_DURATION.exec(text)
  if (!match) return asDate(text)
  const [years, months, weeks, days, hours, minutes, seconds] = match
    .slice(2)
    .map((part) => Number((part ?? '0').replace(',', '.')))
  const total = (weeks! * 7 + days!) * DAY + hours! * 3600 + minutes! * 60 + seconds!
  const whole = Math.floor(total)
  const rest = new Timedelta(whole, Math.round((total - whole) * MILLION))
  const span: Span = years || months ? new Duration(years!, months!, rest) : rest
  return match[1] === '-' ? span.negated() : span
}

export function spanOf(value: unknown): Span | undefined {
  if (value instanceof Timedelta || value instanceof Duration) return value
  if (isNumber(value)) return new Timedelta(0).plus(new Timedelta(Math.floor(asNumber(value))))
  return undefined
}
