// Five-field cron on a wall clock without a zone: which local minutes match, and which comes next. Zones and DST are planned-runs.ts.
// minute hour day-of-month month weekday; `*`, lists, ranges, steps, names, `L` for the last day of the month, 0 and 7 for Sunday.
// Day of month and weekday, when both are restricted, are joined by "or", as cron has always done.
// Our own and not croner: docs/adr/0022.

export interface Cron {
  readonly minutes: readonly number[]
  readonly hours: readonly number[]
  readonly months: ReadonlySet<number>
  readonly days: ReadonlySet<number>
  readonly lastDay: boolean
  readonly weekdays: ReadonlySet<number>
  /** Whether a day must match both of day of month and weekday (one of them is `*`) or either. */
  readonly eitherDay: boolean
}

export class CronSyntaxError extends Error {}

interface Field {
  readonly name: string
  readonly min: number
  readonly max: number
  readonly names?: readonly string[]
}

const MONTH_NAMES = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const WEEKDAY_NAMES = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat']
const MINUTE: Field = { name: 'minute', min: 0, max: 59 }
const HOUR: Field = { name: 'hour', min: 0, max: 23 }
const DAY: Field = { name: 'day of month', min: 1, max: 31 }
const MONTH: Field = { name: 'month', min: 1, max: 12, names: MONTH_NAMES }
const WEEKDAY: Field = { name: 'weekday', min: 0, max: 7, names: WEEKDAY_NAMES }

const SHORTHANDS: ReadonlyMap<string, string> = new Map([
  ['@hourly', '0 * * * *'],
  ['@daily', '0 0 * * *'],
  ['@midnight', '0 0 * * *'],
  ['@weekly', '0 0 * * 0'],
  ['@monthly', '0 0 1 * *'],
  ['@yearly', '0 0 1 1 *'],
  ['@annually', '0 0 1 1 *'],
])

export function parseCron(text: string): Cron {
  const trimmed = text.trim()
  const fields = (SHORTHANDS.get(trimmed.toLowerCase()) ?? trimmed).split(/\s+/)
  if (fields.length !== 5)
    throw new CronSyntaxError(
      `it has ${trimmed === '' ? 0 : fields.length} fields; five are required: minute, hour, day of month, month, weekday.`,
    )
  const [minute, hour, day, month, weekday] = fields as [string, string, string, string, string]
  const dayParts = day.split(',')
  const lastDay = dayParts.some((part) => part.toUpperCase() === 'L')
  const plainDays = dayParts.filter((part) => part.toUpperCase() !== 'L')
  return {
    minutes: sorted(parseField(minute, MINUTE)),
    hours: sorted(parseField(hour, HOUR)),
    months: parseField(month, MONTH),
    days: plainDays.length === 0 ? new Set() : parseField(plainDays.join(','), DAY),
    lastDay,
    weekdays: new Set([...parseField(weekday, WEEKDAY)].map((number) => number % 7)),
    eitherDay: !day.startsWith('*') && !weekday.startsWith('*'),
  }
}

/** True when the hours are chosen: such a schedule means a time of day, the others mean an interval (planned-runs.ts). */
export const hasFixedHours = (cron: Cron): boolean => cron.hours.length < 24

const sorted = (numbers: ReadonlySet<number>): number[] => [...numbers].sort((a, b) => a - b)

function parseField(text: string, field: Field): Set<number> {
  const values = new Set<number>()
  for (const part of text.split(',')) for (const value of parsePart(part, field)) values.add(value)
  return values
}

function parsePart(part: string, field: Field): number[] {
  const refuse = (reason: string) => new CronSyntaxError(`"${part.slice(0, 40)}" in the field ${field.name} ${reason}`)
  const match = /^(\*|[a-z0-9]+)(?:-([a-z0-9]+))?(?:\/(\d{1,4}))?$/i.exec(part)
  if (!match) throw refuse('is not understood. Use *, numbers, lists (1,2), ranges (1-5) or steps (*/5).')
  const [, from = '', to, stepText] = match
  const step = stepText === undefined ? 1 : Number(stepText)
  if (step === 0) throw refuse('has a step of 0.')
  const span = field.max - field.min + 1
  if (step > span)
    throw refuse(`has a step larger than the field: it would run once, not every ${step}. The largest step is ${span}.`)
  if (from === '*' && to !== undefined) throw refuse('mixes * with a range.')
  const first = from === '*' ? field.min : numberOf(from, field, refuse)
  // `5/15` means from 5 on, every 15.
  const last = to !== undefined ? numberOf(to, field, refuse) : from === '*' || stepText !== undefined ? field.max : first
  if (first > last) throw refuse(`runs backwards. Write it as two parts, ${from}-${field.max},${field.min}-${to}.`)
  const values: number[] = []
  for (let value = first; value <= last; value += step) values.push(value)
  return values
}

function numberOf(text: string, field: Field, refuse: (reason: string) => CronSyntaxError): number {
  const byName = field.names?.indexOf(text.toLowerCase()) ?? -1
  if (byName >= 0) return byName + field.min
  if (!/^\d{1,4}$/.test(text))
    throw refuse(
      `is not understood${field.names ? `. Names are ${field.names.join(', ')}` : ''}; numbers go from ${field.min} to ${field.max}.`,
    )
  const value = Number(text)
  if (value < field.min || value > field.max) throw refuse(`is outside ${field.min} to ${field.max}.`)
  return value
}

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000
/** A 29 February that is also a certain weekday can be forty years away, across a century; what does not occur by then never does. */
const HORIZON_MS = 41 * 366 * DAY_MS

/**
 * The first matching local minute at or after `from`; undefined when there is none.
 * Local times are written as if they were UTC: 02:30 on a clock in Prague is 02:30Z here.
 */
export function nextLocal(cron: Cron, from: number): number | undefined {
  const start = Math.ceil(from / MINUTE_MS) * MINUTE_MS
  let day = Math.floor(start / DAY_MS) * DAY_MS
  let earliest = start - day
  for (const end = start + HORIZON_MS; day <= end; ) {
    const date = new Date(day)
    if (!cron.months.has(date.getUTCMonth() + 1)) {
      day = Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1)
      earliest = 0
      continue
    }
    if (matchesDay(cron, date)) {
      const time = nextTimeOfDay(cron, earliest / MINUTE_MS)
      if (time !== undefined) return day + time * MINUTE_MS
    }
    day += DAY_MS
    earliest = 0
  }
  return undefined
}

function matchesDay(cron: Cron, date: Date): boolean {
  const day = date.getUTCDate()
  const byDay = cron.days.has(day) || (cron.lastDay && day === daysInMonth(date))
  const byWeekday = cron.weekdays.has(date.getUTCDay())
  return cron.eitherDay ? byDay || byWeekday : byDay && byWeekday
}

const daysInMonth = (date: Date): number => new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate()

/** The first matching minute of the day at or after `earliest`, both counted from midnight. */
function nextTimeOfDay(cron: Cron, earliest: number): number | undefined {
  const hourNow = Math.floor(earliest / 60)
  for (const hour of cron.hours) {
    if (hour < hourNow) continue
    const minute = hour > hourNow ? cron.minutes[0] : cron.minutes.find((candidate) => candidate >= earliest % 60)
    if (minute !== undefined) return hour * 60 + minute
  }
  return undefined
}
