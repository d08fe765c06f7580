// Moments as people and PHP clients write them: a unix time, an ISO time, a date in words or figures, or words such as `-2 days`,
// `last monday`, `first day of last month`, `yesterday 14:00`. Words are read in UTC.

import { calendarDay } from './calendar-day.ts'

const UNIT_MS: Readonly<Record<string, number>> = {
  sec: 1_000,
  second: 1_000,
  min: 60_000,
  minute: 60_000,
  hour: 3_600_000,
  day: 86_400_000,
  week: 7 * 86_400_000,
  fortnight: 14 * 86_400_000,
}
/** Nobody writes a moment longer than this. */
const MAX_CHARS = 200
const DAYS = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday']

/** Undefined when the text is no moment. */
export function parseMoment(text: string, now: Date): Date | undefined {
  const words = text.trim().toLowerCase()
  if (/^@?-?\d{1,12}$/.test(words)) return valid(new Date(Number(words.replace('@', '')) * 1000))
  return parseIso(words) ?? (words === '' || words.length > MAX_CHARS ? undefined : parseWords(words, now))
}

/** A time without a zone is UTC; the offset may come without a colon, as our own records write it. */
function parseIso(words: string): Date | undefined {
  const match = /^((\d{4})-(\d{2})-(\d{2}))(?:[t ](\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?))?\s*(z|[+-]\d{2}:?\d{2})?$/.exec(words)
  if (!match) return undefined
  const [, date, year, month, day, time = '00:00', zone = 'z'] = match
  if (!calendarDay(Number(year), Number(month), Number(day))) return undefined
  return valid(new Date(`${date}T${time}${zone === 'z' ? 'Z' : zone.replace(/^(...)(\d\d)$/, '$1:$2')}`))
}

function parseWords(words: string, now: Date): Date | undefined {
  let rest = words
  let moment = new Date(now)
  const take = (pattern: RegExp): RegExpExecArray | null => {
    const match = pattern.exec(rest)
    if (match) rest = rest.slice(match[0].length).trimStart()
    return match
  }
  let hasTime = false
  while (rest !== '') {
    const date = takeDate(take, moment)
    if (date) {
      moment = date
      continue
    }
    const time = take(/^(?:at\s+|t)?(\d{1,2}):(\d{2})(?::(\d{2})(?:\.\d+)?)?(?:\s*([ap])\.?m\b\.?)?/)
    if (time) {
      moment = atTime(moment, time)
      hasTime = true
      continue
    }
    const zone = hasTime ? take(/^(?:utc|gmt|z|([+-])(\d{2}):?(\d{2}))$/) : null
    if (zone) {
      const minutes = Number(zone[2] ?? 0) * 60 + Number(zone[3] ?? 0)
      moment = new Date(moment.getTime() - (zone[1] === '-' ? -minutes : minutes) * UNIT_MS.minute!)
      continue
    }
    const edge = take(/^(first|last) day of\b/)
    if (edge) {
      // To the month first, from a day that every month has, then to its edge.
      const month = parseWords(rest, onDay(moment, 1))
      return month && valid(edge[1] === 'first' ? onDay(month, 1) : onDay(month, daysOfMonth(month)))
    }
    const keyword = take(/^(now|today|midnight|yesterday|tomorrow|noon)\b/)
    if (keyword) {
      moment = atKeyword(keyword[1]!, moment)
      continue
    }
    const amount = take(/^([+-]?\s*\d+|last|previous|next|this)\s*([a-z]+?)s?\b(\s+ago\b)?/)
    const moved = amount && move(moment, amount[1]!, amount[2]!, amount[3] !== undefined)
    if (moved) {
      moment = moved
      continue
    }
    const day = amount ? undefined : take(/^([a-z]+)\b(,?)/)
    const place = day ? DAYS.findIndex((name) => name === day[1] || name.slice(0, 3) === day[1]) : -1
    if (place === -1) return undefined
    if (day![2] === '') moment = toWeekday(moment, place, 0) // `sun, 15 nov 2026`: the date says it
  }
  return valid(moment)
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const MONTH = `(${MONTHS.join('|')})(?:uary|ruary|ch|il|e|y|ust|t|tember|ober|ember)?\\b\\.?`

/** Each way to write a date: which groups are year, month and day. Without a year it is the one of `moment`. */
const DATES: readonly { readonly pattern: RegExp; readonly order: readonly [year: number, month: number, day: number] }[] = [
  { pattern: /^(\d{4})[-/](\d{1,2})[-/](\d{1,2})(?!\d)/, order: [1, 2, 3] },
  { pattern: /^(\d{1,2})\/(\d{1,2})\/(\d{4})(?!\d)/, order: [3, 1, 2] }, // as Americans write it, and PHP reads it
  { pattern: /^(\d{1,2})[-.](\d{1,2})[-.](\d{4})(?!\d)/, order: [3, 2, 1] },
  { pattern: new RegExp(`^(\\d{1,2})(?:st|nd|rd|th)?[ -]*${MONTH}(?:[ ,-]+(\\d{4})(?![\\d:]))?`), order: [3, 2, 1] },
  { pattern: new RegExp(`^${MONTH}[ ,-]+(\\d{4})(?![\\d:])`), order: [2, 1, 0] }, // its first day
  { pattern: new RegExp(`^${MONTH}[ -]*(\\d{1,2})(?:st|nd|rd|th)?(?![\\d:])(?:[ ,-]+(\\d{4})(?![\\d:]))?`), order: [3, 1, 2] },
]

function takeDate(take: (pattern: RegExp) => RegExpExecArray | null, moment: Date): Date | undefined {
  for (const { pattern, order } of DATES) {
    const match = take(pattern)
    if (!match) continue
    const [year, month, day] = order.map((group) => (group === 0 ? '1' : match[group]))
    const place = MONTHS.indexOf(month ?? '')
    return calendarDay(Number(year ?? moment.getUTCFullYear()), place === -1 ? Number(month) : place + 1, Number(day)) ?? INVALID
  }
  return undefined
}

function atTime(moment: Date, [, hours, minutes, seconds = '0', half]: RegExpExecArray): Date {
  const hour = half === undefined ? Number(hours) : (Number(hours) % 12) + (half === 'p' ? 12 : 0)
  if (hour > 24 || Number(minutes) > 59 || Number(seconds) > 59 || (half !== undefined && Number(hours) > 12)) return INVALID
  const midnight = Date.UTC(moment.getUTCFullYear(), moment.getUTCMonth(), moment.getUTCDate())
  return new Date(midnight + ((hour * 60 + Number(minutes)) * 60 + Number(seconds)) * 1000)
}

/** Another day of the month, at the same time. */
function onDay(moment: Date, day: number): Date {
  const moved = new Date(moment)
  moved.setUTCDate(day)
  return moved
}

const daysOfMonth = (moment: Date): number =>
  new Date(Date.UTC(moment.getUTCFullYear(), moment.getUTCMonth() + 1, 0)).getUTCDate()

const INVALID = new Date(Number.NaN)

function atKeyword(keyword: string, moment: Date): Date {
  if (keyword === 'now') return moment
  const midnight = Date.UTC(moment.getUTCFullYear(), moment.getUTCMonth(), moment.getUTCDate())
  const shift = { yesterday: -UNIT_MS.day!, tomorrow: UNIT_MS.day!, noon: UNIT_MS.day! / 2 }[keyword] ?? 0
  return new Date(midnight + shift)
}

const COUNTS: Readonly<Record<string, number>> = { last: -1, previous: -1, next: 1, this: 0 }

function move(moment: Date, amount: string, unit: string, ago: boolean): Date | undefined {
  const place = DAYS.indexOf(unit)
  if (place !== -1 && amount in COUNTS) return toWeekday(moment, place, COUNTS[amount]!)
  const count = (COUNTS[amount] ?? Number(amount.replace(/\s/g, ''))) * (ago ? -1 : 1)
  const months = { month: 1, year: 12 }[unit]
  if (months !== undefined) {
    const moved = new Date(moment)
    moved.setUTCMonth(moved.getUTCMonth() + count * months)
    return moved
  }
  const ms = UNIT_MS[unit]
  return ms === undefined ? undefined : new Date(moment.getTime() + count * ms)
}

/** Midnight of a weekday: the coming one (today counts), strictly the next, or strictly the last. */
function toWeekday(moment: Date, day: number, direction: number): Date {
  const today = moment.getUTCDay()
  const ahead = (day - today + 7) % 7
  const days = direction < 0 ? -((today - day + 6) % 7) - 1 : direction > 0 && ahead === 0 ? 7 : ahead
  return new Date(Date.UTC(moment.getUTCFullYear(), moment.getUTCMonth(), moment.getUTCDate() + days))
}

const valid = (date: Date): Date | undefined => (Number.isNaN(date.getTime()) ? undefined : date)
