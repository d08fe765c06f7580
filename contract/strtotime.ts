// English text to a Unix time, after PHP's strtotime, in UTC. Undefined when the text is not understood. The extractor reads times of
// APIs by it, the server what people and clients write as a moment.
//
// The text is eaten from the left, one phrase at a time. Phrases fill in an absolute part (date, time, zone) and add to
// a relative part; at the end the relative part is applied to the absolute one:
//  1. what the text leaves out comes from the base time, but a date without a time means midnight;
//  2. a weekday moves first, then the amounts are added, then "first/last day of" settles the day.

interface Clock {
  h: number
  i: number
  s: number
}

interface Weekday {
  day: number
  /** 0: "next monday" excludes today. 1: "monday" includes today. 2: counted inside the week ("monday next week"). */
  behaviour: 0 | 1 | 2
}

interface Parts {
  date?: { y: number; m: number; d: number }
  time?: Clock
  offsetSeconds?: number
  unix?: number
  y: number
  m: number
  d: number
  s: number
  weekdays: number
  weekday?: Weekday
  dayOf?: 'first' | 'last'
  weekdayOf?: { nth: number; day: number }
  /** Midnight, unless the text also gives a time ("yesterday 14:00", "Sun, 06 Nov 1994 08:49:37"). */
  midnight: boolean
}

type Rule = readonly [RegExp, (parts: Parts, match: RegExpExecArray, base: Date) => boolean | undefined]

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat']
const ORDINALS = [
  'first',
  'second',
  'third',
  'fourth',
  'fifth',
  'sixth',
  'seventh',
  'eighth',
  'ninth',
  'tenth',
  'eleventh',
  'twelfth',
]

const MONTH =
  '(january|february|march|april|may|june|july|august|september|october|november|december|jan|feb|mar|apr|jun|jul|aug|sept|sep|oct|nov|dec)\\b\\.?'
const DAY = '(sunday|monday|tuesday|wednesday|thursday|friday|saturday|sun|mon|tues|tue|wednes|wed|thurs|thur|thu|fri|sat)\\b'
const UNIT =
  '(microseconds?|milliseconds?|msecs?|ms|µs|seconds?|secs?|minutes?|mins?|hours?|days?|weekdays?|fortnights?|forthnights?|weeks?|months?|years?)\\b'
const UNIT_OR_DAY = `(?:${UNIT}|${DAY})`
const NUMERAL = `(?:(last|previous|next|this)|(${ORDINALS.join('|')}))`
const TIME_TAIL = '(?::([0-5]?\\d|60)(?:[.,:]\\d+)?)?'

const monthOf = (name: string) => MONTHS.indexOf(name.slice(0, 3)) + 1
const dayOf = (name: string) => DAYS.indexOf(name.slice(0, 3))
const shortYear = (text: string) => (text.length > 2 ? Number(text) : Number(text) + (Number(text) < 70 ? 2000 : 1900))
const counted = (word: string | undefined, ordinal: string | undefined) =>
  ordinal ? ORDINALS.indexOf(ordinal) + 1 : word === 'next' ? 1 : word === 'this' ? 0 : -1

function setDate(p: Parts, y: number, m: number, d: number): boolean {
  if (p.date || m < 1 || m > 12 || d < 0 || d > 31) return false
  p.date = { y, m, d }
  return true
}

function setTime(p: Parts, h: number, i: number, s: number): boolean {
  if (p.time || h > 24 || i > 59 || s > 60) return false
  p.time = { h, i, s }
  return true
}

function meridian(hour: number, letter: string): number {
  if (hour < 1 || hour > 12) return 99
  return (hour % 12) + (letter.toLowerCase() === 'p' ? 12 : 0)
}

function addUnit(p: Parts, amount: number, unit: string): boolean {
  if (/^(micro|milli|ms|µs)/.test(unit)) return true
  if (unit.startsWith('sec')) p.s += amount
  else if (unit.startsWith('min')) p.s += amount * 60
  else if (unit.startsWith('hour')) p.s += amount * 3600
  else if (unit.startsWith('day')) p.d += amount
  else if (unit.startsWith('weekday')) p.weekdays += amount
  else if (unit.startsWith('week')) p.d += amount * 7
  else if (unit.startsWith('fort')) p.d += amount * 14
  else if (unit.startsWith('month')) p.m += amount
  else p.y += amount
  return true
}

function addDay(p: Parts, amount: number, name: string, behaviour: 0 | 1): boolean {
  p.midnight = true
  p.d += (amount > 0 ? amount - 1 : amount) * 7
  p.weekday = { day: dayOf(name), behaviour }
  return true
}

const ZONES: Readonly<Record<string, number>> = {
  utc: 0,
  gmt: 0,
  z: 0,
  wet: 0,
  west: 1,
  bst: 1,
  cet: 1,
  cest: 2,
  eet: 2,
  eest: 3,
  msk: 3,
  est: -5,
  edt: -4,
  cst: -6,
  cdt: -5,
  mst: -7,
  mdt: -6,
  pst: -8,
  pdt: -7,
  akst: -9,
  akdt: -8,
  hst: -10,
  jst: 9,
  aest: 10,
  aedt: 11,
}

function setOffset(p: Parts, sign: string, hours: string, minutes = '0'): boolean {
  if (p.offsetSeconds !== undefined || Number(hours) > 14 || Number(minutes) > 59) return false
  p.offsetSeconds = (sign === '-' ? -1 : 1) * (Number(hours) * 3600 + Number(minutes) * 60)
  return true
}

const rule = (source: string, act: Rule[1]): Rule => [new RegExp(`^(?:${source})`, 'i'), act]
const n = Number

// The order matters: the longest reading of a text comes first.
const RULES: readonly Rule[] = [
  rule('@(-?\\d+)(?:\\.\\d+)?', (p, m) => {
    p.unix = n(m[1])
    p.offsetSeconds = 0
    return true
  }),
  rule('now\\b', () => true),
  rule('(today|midnight)\\b', (p) => {
    p.midnight = true
    return true
  }),
  rule('noon\\b', (p) => {
    p.time = { h: 12, i: 0, s: 0 }
    return true
  }),
  rule('(yesterday|tomorrow)(?:\\s+noon)?\\b', (p, m) => {
    p.d += m[1]!.toLowerCase() === 'tomorrow' ? 1 : -1
    if (/noon/i.test(m[0])) return setTime(p, 12, 0, 0)
    p.midnight = true
    return true
  }),
  rule('(first|last) day of\\b', (p, m) => {
    p.dayOf = m[1]!.toLowerCase() as 'first' | 'last'
    return true
  }),
  rule(`${NUMERAL} ${DAY} of\\b`, (p, m) => {
    p.weekdayOf = { nth: counted(m[1]?.toLowerCase(), m[2]?.toLowerCase()), day: dayOf(m[3]!.toLowerCase()) }
    p.midnight = true
    return true
  }),
  // ISO and its relatives
  rule('(\\d{4})-?w([0-5]\\d)(?:-?([0-7]))?', (p, m) => {
    const jan4 = new Date(Date.UTC(n(m[1]), 0, 4))
    const monday = 4 - ((jan4.getUTCDay() + 6) % 7)
    const day = new Date(Date.UTC(n(m[1]), 0, monday + (n(m[2]) - 1) * 7 + (n(m[3] ?? 1) - 1)))
    return setDate(p, day.getUTCFullYear(), day.getUTCMonth() + 1, day.getUTCDate())
  }),
  rule('([+-]?\\d{4})-(\\d{1,2})-(\\d{1,2})(?!\\d)', (p, m) => setDate(p, n(m[1]), n(m[2]), n(m[3]))),
  rule('(\\d{4})/(\\d{1,2})/(\\d{1,2})(?!\\d)', (p, m) => setDate(p, n(m[1]), n(m[2]), n(m[3]))),
  rule('(\\d{1,2})/(\\d{1,2})/(\\d{4}|\\d{2})(?!\\d)', (p, m) => setDate(p, shortYear(m[3]!), n(m[1]), n(m[2]))),
  rule('(\\d{1,2})[-.](\\d{1,2})[-.](\\d{4})(?!\\d)', (p, m) => setDate(p, n(m[3]), n(m[2]), n(m[1]))),
  rule('(\\d{2})-(\\d{1,2})-(\\d{1,2})(?!\\d)', (p, m) => setDate(p, shortYear(m[1]!), n(m[2]), n(m[3]))),
  rule('(\\d{4})(\\d{2})(\\d{2})t?(\\d{2})(\\d{2})(\\d{2})(?!\\d)', (p, m) => {
    return setDate(p, n(m[1]), n(m[2]), n(m[3])) && setTime(p, n(m[4]), n(m[5]), n(m[6]))
  }),
  rule('(\\d{4})(\\d{2})(\\d{2})(?!\\d)', (p, m) => setDate(p, n(m[1]), n(m[2]), n(m[3]))),
  rule(`(\\d{1,2})(?:st|nd|rd|th)?[ \\t.-]*${MONTH}[ \\t.,-]*(\\d{4})(?![\\d:])`, (p, m) =>
    setDate(p, n(m[3]), monthOf(m[2]!.toLowerCase()), n(m[1])),
  ),
  rule(`(\\d{1,2})/${MONTH}/(\\d{4}):(\\d{2}):(\\d{2}):(\\d{2})`, (p, m) => {
    return setDate(p, n(m[3]), monthOf(m[2]!.toLowerCase()), n(m[1])) && setTime(p, n(m[4]), n(m[5]), n(m[6]))
  }),
  rule(`(\\d{1,2})-${MONTH}-(\\d{2})(?![\\d:])`, (p, m) => setDate(p, shortYear(m[3]!), monthOf(m[2]!.toLowerCase()), n(m[1]))),
  rule(`${MONTH}[ \\t.-]*(\\d{1,2})(?:st|nd|rd|th)?[, \\t.-]+(\\d{4})(?![\\d:])`, (p, m) =>
    setDate(p, n(m[3]), monthOf(m[1]!.toLowerCase()), n(m[2])),
  ),
  rule(`(\\d{4})-${MONTH}-(\\d{1,2})(?!\\d)`, (p, m) => setDate(p, n(m[1]), monthOf(m[2]!.toLowerCase()), n(m[3]))),
  rule(`${MONTH}[ \\t.,-]*(\\d{4})(?![\\d:])`, (p, m) => setDate(p, n(m[2]), monthOf(m[1]!.toLowerCase()), 1)),
  rule(`(\\d{4})[ \\t.-]*${MONTH}`, (p, m) => setDate(p, n(m[1]), monthOf(m[2]!.toLowerCase()), 1)),
  rule('(\\d{4})-(\\d{2})(?![\\d-])', (p, m) => setDate(p, n(m[1]), n(m[2]), 1)),
  // Times
  rule(`t?(\\d{1,2}):([0-5]?\\d)${TIME_TAIL}\\s*([ap])\\.?m\\b\\.?`, (p, m) =>
    setTime(p, meridian(n(m[1]), m[4]!), n(m[2]), n(m[3] ?? 0)),
  ),
  rule('(\\d{1,2})\\s*([ap])\\.?m\\b\\.?', (p, m) => setTime(p, meridian(n(m[1]), m[2]!), 0, 0)),
  rule(`t?([01]?\\d|2[0-4]):([0-5]\\d)${TIME_TAIL}`, (p, m) => setTime(p, n(m[1]), n(m[2]), n(m[3] ?? 0))),
  rule('t([01]\\d|2[0-4])([0-5]\\d)([0-5]\\d)?(?!\\d)', (p, m) => setTime(p, n(m[1]), n(m[2]), n(m[3] ?? 0))),
  rule('t([01]\\d|2[0-4])(?!\\d)', (p, m) => setTime(p, n(m[1]), 0, 0)),
  // A sign right after a time is a zone, before a unit it is an amount.
  rule(`(?:gmt|utc)?([+-])(\\d{1,2}):?(\\d{2})?(?!\\d)(?!\\s*${UNIT_OR_DAY})`, (p, m) => {
    if (p.time || /^(gmt|utc)/i.test(m[0])) return setOffset(p, m[1]!, m[2]!, m[3])
    return false
  }),
  // Amounts
  rule(`([+-][+\\-\\s]*)?(\\d+)\\s*${UNIT_OR_DAY}`, (p, m) => {
    const negative = (m[1] ?? '').split('-').length % 2 === 0
    const amount = negative ? -n(m[2]) : n(m[2])
    return m[3] ? addUnit(p, amount, m[3].toLowerCase()) : addDay(p, amount, m[4]!.toLowerCase(), 1)
  }),
  rule('(last|previous|next|this)\\s+week\\b', (p, m) => {
    p.d += counted(m[1]!.toLowerCase(), undefined) * 7
    if (p.weekday) p.weekday.behaviour = 2
    return true
  }),
  rule(`${NUMERAL}\\s+${UNIT_OR_DAY}`, (p, m) => {
    const amount = counted(m[1]?.toLowerCase(), m[2]?.toLowerCase())
    if (m[3]) return addUnit(p, amount, m[3].toLowerCase())
    return addDay(p, amount, m[4]!.toLowerCase(), m[1]?.toLowerCase() === 'this' ? 1 : 0)
  }),
  rule('ago\\b', (p) => {
    p.y = -p.y
    p.m = -p.m
    p.d = -p.d
    p.s = -p.s
    p.weekdays = -p.weekdays
    return true
  }),
  // What remains of dates: no year given, or a bare name
  rule(`(\\d{1,2})(?:st|nd|rd|th)?[ \\t.-]*${MONTH}`, (p, m, base) =>
    setDate(p, base.getUTCFullYear(), monthOf(m[2]!.toLowerCase()), n(m[1])),
  ),
  rule(`${MONTH}[ \\t.-]*(\\d{1,2})(?:st|nd|rd|th)?(?![\\d:])`, (p, m, base) =>
    setDate(p, base.getUTCFullYear(), monthOf(m[1]!.toLowerCase()), n(m[2])),
  ),
  rule(`${MONTH}`, (p, m, base) => setDate(p, base.getUTCFullYear(), monthOf(m[1]!.toLowerCase()), base.getUTCDate())),
  rule('(\\d{1,2})/(\\d{1,2})(?![\\d/])', (p, m, base) => setDate(p, base.getUTCFullYear(), n(m[1]), n(m[2]))),
  rule(DAY, (p, m) => {
    p.midnight = true
    p.weekday = { day: dayOf(m[1]!.toLowerCase()), behaviour: p.weekday?.behaviour === 2 ? 2 : 1 }
    return true
  }),
  rule('(\\d{4})(?!\\d)', (p, m, base) => {
    // Four digits after a date are a year or a time; alone they are a time when they can be one.
    if (!p.date && !p.time && n(m[1]!.slice(0, 2)) < 24 && n(m[1]!.slice(2)) < 60) {
      return setTime(p, n(m[1]!.slice(0, 2)), n(m[1]!.slice(2)), 0)
    }
    if (p.date) {
      p.date.y = n(m[1])
      return true
    }
    return setDate(p, n(m[1]), base.getUTCMonth() + 1, base.getUTCDate())
  }),
  rule('\\(?([a-z]{1,5})\\)?(?![a-z/])', (p, m) => {
    const hours = ZONES[m[1]!.toLowerCase()]
    if (hours === undefined) return false
    p.offsetSeconds = hours * 3600
    return true
  }),
  rule('([a-z]+(?:_[a-z]+)*/[a-z]+(?:[_/-][a-z]+)*)', (p, m, base) => {
    const offset = zoneOffset(m[1]!, base)
    if (offset === undefined) return false
    p.offsetSeconds = offset
    return true
  }),
]

function zoneOffset(zone: string, at: Date): number | undefined {
  try {
    const text = new Intl.DateTimeFormat('en', { timeZone: zone, timeZoneName: 'longOffset' }).format(at)
    const m = /GMT(?:([+-])(\d{2}):(\d{2}))?/.exec(text)
    if (!m) return undefined
    return m[1] ? (m[1] === '-' ? -1 : 1) * (n(m[2]) * 3600 + n(m[3]) * 60) : 0
  } catch {
    return undefined // not a zone
  }
}

/** The Unix time `text` means when it is read at `baseSeconds`. PHP takes February 30 for March 2; `isStrict` refuses such days. */
export function strtotime(text: string, baseSeconds: number, isStrict = false): number | undefined {
  const base = new Date(Math.floor(baseSeconds) * 1000)
  const parts: Parts = { y: 0, m: 0, d: 0, s: 0, weekdays: 0, midnight: false }
  let rest = text.trim()
  if (rest === '' || rest.length > 500) return undefined
  while (rest !== '') {
    const eaten = eat(parts, rest, base)
    if (eaten === 0) return undefined
    rest = rest.slice(eaten).replace(/^[\s,]+(?:of\b|and\b|at\b)?\s*/i, '')
  }
  return isStrict && parts.date && !isCalendarDay(parts.date) ? undefined : resolve(parts, base)
}

const isCalendarDay = ({ y, m, d }: Required<Parts>['date']): boolean => {
  const at = new Date(0)
  at.setUTCFullYear(y, m - 1, d)
  return at.getUTCMonth() === m - 1 && at.getUTCDate() === d
}

function eat(parts: Parts, text: string, base: Date): number {
  for (const [pattern, act] of RULES) {
    const match = pattern.exec(text)
    if (match && act(parts, match, base)) return match[0].length
  }
  return 0
}

function resolve(p: Parts, base: Date): number | undefined {
  const start = p.unix === undefined ? base : new Date(p.unix * 1000)
  const time =
    p.time ??
    (p.date || p.midnight ? { h: 0, i: 0, s: 0 } : { h: start.getUTCHours(), i: start.getUTCMinutes(), s: start.getUTCSeconds() })
  let y = p.date?.y ?? start.getUTCFullYear()
  let m = p.date?.m ?? start.getUTCMonth() + 1
  let d = p.date?.d ?? start.getUTCDate()

  if (p.weekday) d += weekdayShift(y, m, d, p.weekday, p.d)
  y += p.y
  m += p.m
  d += p.d
  if (p.dayOf === 'first') d = 1
  if (p.dayOf === 'last') {
    m += 1
    d = 0
  }
  if (p.weekdayOf) d = nthWeekday(y, m, p.weekdayOf)
  if (p.weekdays) d = addWeekdays(y, m, d, p.weekdays)

  // setUTCFullYear and not Date.UTC, which reads the years 0 to 99 as 1900 to 1999.
  const at = new Date(0)
  at.setUTCFullYear(y, m - 1, d)
  at.setUTCHours(time.h, time.i, time.s + p.s, 0)
  const seconds = at.getTime() / 1000 - (p.offsetSeconds ?? 0)
  return Number.isNaN(seconds) ? undefined : seconds
}

const dayOfWeek = (y: number, m: number, d: number) => new Date(Date.UTC(y, m - 1, d)).getUTCDay()

function weekdayShift(y: number, m: number, d: number, { day, behaviour }: Weekday, relativeDays: number): number {
  const today = dayOfWeek(y, m, d)
  if (behaviour === 2) return (day || 7) - (today || 7)
  const difference = day - today
  if ((relativeDays < 0 && difference < 0) || (relativeDays >= 0 && difference <= -behaviour)) return difference + 7
  return difference
}

function nthWeekday(y: number, m: number, { nth, day }: { nth: number; day: number }): number {
  if (nth < 0) {
    const last = new Date(Date.UTC(y, m, 0))
    return last.getUTCDate() - ((last.getUTCDay() - day + 7) % 7)
  }
  return 1 + ((day - dayOfWeek(y, m, 1) + 7) % 7) + (nth - 1) * 7
}

function addWeekdays(y: number, m: number, d: number, amount: number): number {
  const step = Math.sign(amount)
  let left = Math.min(Math.abs(amount), 100_000)
  let day = d
  while (left > 0) {
    day += step
    const weekday = dayOfWeek(y, m, day)
    if (weekday !== 0 && weekday !== 6) left--
  }
  return day
}
