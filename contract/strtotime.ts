// English text to a Unix time, after PHP's strtotime, in UTC. Undefined when the text is not understood. The extractor reads times of
// APIs by it, the server what people and clients write as a moment.
//
// The text is eaten from the left, one phrase at a time, and of all the phrases that fit the longest one counts (of equally long
// ones the first in RULES): the grammar is that of timelib, the library behind PHP, whose names the rules keep. Phrases fill in an
// absolute part (date, time, zone) and add to a relative part; at the end the relative part is applied to the absolute one:
//  1. what the text leaves out comes from the base time, but a date without a time means midnight;
//  2. a weekday moves first, then days, months and years are added, then "first/last day of" settles the day, then weekdays;
//  3. hours, minutes and seconds are added, and the zone makes it a moment, by its offset at that time.

interface Weekday {
  day: number
  /** 0: "next monday" excludes today. 1: "monday" includes today. 2: counted inside the week ("monday next week"). */
  behaviour: number
}

/** An offset in seconds, or the name of a zone whose offset depends on the day. */
type Zone = number | string

interface Parts {
  y?: number
  m?: number
  d?: number
  h?: number
  i?: number
  s?: number
  hasDate: boolean
  hasTime: boolean
  zone?: Zone
  zones: number
  microseconds: number
  /** What is added at the end. */
  more: { y: number; m: number; d: number; s: number; microseconds: number; weekdays?: number }
  weekday?: Weekday
  dayOf?: 'first' | 'last'
  weekdayOf?: 'nth' | 'last'
}

type Groups = Readonly<Record<string, string | undefined>>
/** False when the phrase does not fit: a second date, an unknown zone. */
type Rule = readonly [RegExp, (parts: Parts, groups: Groups) => boolean]

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const ROMAN = ['i', 'ii', 'iii', 'iv', 'v', 'vi', 'vii', 'viii', 'ix', 'x', 'xi', 'xii']
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

// In each choice the longer reading stands first.
const DAY_SECONDS = 86_400
const HOUR24 = '(?:2[0-4]|[01]?\\d)'
const HOUR24LZ = '(?:2[0-4]|[01]\\d)'
const HOUR12 = '(?:1[0-2]|0?[1-9])'
const MINUTE = '[0-5]?\\d'
const MINUTELZ = '[0-5]\\d'
const SECOND = '(?:60|[0-5]?\\d)'
const SECONDLZ = '(?:60|[0-5]\\d)'
const SPACE = '[ \\t]+'
const MERIDIAN = '(?<meridian>[ap])\\.?m\\.?(?:[ \\t]|$)'
const MONTH_NUMBER = '(?<m>1[0-2]|0?\\d)'
const MONTHLZ = '(?<m>1[0-2]|0\\d)'
const DAY_NUMBER = '(?<d>3[01]|[0-2]?\\d)'
const DAYLZ = '(?<d>3[01]|[0-2]\\d)'
const SUFFIX = '(?:(?-i:st|nd|rd|th))?'
const MONTH_ABBREVIATED = '(?<month>jan|feb|mar|apr|may|jun|jul|aug|sept|sep|oct|nov|dec)'
const MONTH_WORD =
  'january|february|march|april|june|july|august|september|october|november|december|jan|feb|mar|apr|may|jun|jul|aug|sept|sep|oct|nov|dec'
const MONTH_TEXT = `(?<month>${MONTH_WORD}|(?-i:XII|XI|X|IX|VIII|VII|VI|V|IV|III|II|I))`
const DAY_NAME = '(?<day>sundays?|mondays?|tuesdays?|wednesdays?|thursdays?|fridays?|saturdays?|sun|mon|tue|wed|thu|fri|sat)'
const UNIT =
  '(?<unit>(?:milliseconds?|msecs?|ms|microseconds?|µsecs?|usecs?|µs|seconds?|secs?|minutes?|mins?|hours?|days?|fortnights?|forthnights?|months?|years?|weekdays?|weeks))'
const UNIT_OR_DAY = `(?:${UNIT}|${DAY_NAME})`
const NUMERAL = `(?<numeral>next|last|previous|this|${ORDINALS.join('|')}|eight)`
const FRACTION = '[.:](?<fraction>\\d+)'
const OFFSET = `(?:(?-i:GMT))?(?<offset>[+-](?:${HOUR24LZ}:${MINUTELZ}:${SECONDLZ}|${HOUR24LZ}${MINUTELZ}${SECONDLZ}|${HOUR24}:?(?:${MINUTE})?))`
const ZONE_NAME = '(?<zone>\\(?(?-i:[A-Z][a-z]+(?:[_/-][A-Za-z]+)+)\\)?|\\(?[a-z]{1,6}\\)?)'
const ANY_ZONE = `(?:${OFFSET}|${ZONE_NAME})`
const TIME24 = `t?(?<h>${HOUR24})[:.](?<i>${MINUTE})`
const DATE_NO_YEAR = `${MONTH_TEXT}[ .\\t-]*${DAY_NUMBER}(?:(?-i:[,.stndrh\\t ])+|$)`

const monthOf = (name: string) => (MONTHS.indexOf(name.slice(0, 3)) + 1 || ROMAN.indexOf(name) + 1) as number
const dayOf = (name: string) => DAYS.indexOf(name.slice(0, 3))
const yearOf = (text: string) => {
  const year = Number(text)
  return text.length < 4 && year < 100 ? year + (year < 70 ? 2000 : 1900) : year
}

function counted(numeral: string): number {
  if (numeral === 'next') return 1
  if (numeral === 'this') return 0
  if (numeral === 'last' || numeral === 'previous') return -1
  return numeral === 'eight' ? 8 : ORDINALS.indexOf(numeral) + 1
}

function setDate(p: Parts, { y, m, month, d }: Groups, missing: { y?: number; m?: number; d?: number } = {}): boolean {
  if (p.hasDate) return false
  p.hasDate = true
  const year = y === undefined ? missing.y : yearOf(y)
  const number = month ? monthOf(month.toLowerCase()) : m === undefined ? missing.m : Number(m)
  const day = d === undefined ? missing.d : Number(d)
  if (year !== undefined) p.y = year
  if (number !== undefined) p.m = number
  if (day !== undefined) p.d = day
  return true
}

function setTime(p: Parts, { h, i, s, fraction, meridian }: Groups): boolean {
  if (p.hasTime) return false
  p.hasTime = true
  const hour = Number(h)
  p.h = meridian ? (hour % 12) + (meridian.toLowerCase() === 'p' ? 12 : 0) : hour
  p.i = Number(i ?? 0)
  p.s = Number(s ?? 0)
  p.microseconds = fraction ? Math.floor(Number(`0.${fraction}`) * 1e6) : 0
  return true
}

function unsetTime(p: Parts): true {
  p.hasTime = false
  p.h = 0
  p.i = 0
  p.s = 0
  p.microseconds = 0
  return true
}

/** A second zone is ignored, as PHP does with a warning; a third one is an error. */
function setZone(p: Parts, { offset, zone }: Groups): boolean {
  p.zones++
  if (p.zones > 1) return p.zones === 2
  const found = offset === undefined ? namedZone((zone ?? '').replace(/[()]/g, '')) : offsetSeconds(offset)
  if (found === undefined) return false
  p.zone = found
  return true
}

/** The offset that belongs to a whole time stamp: it does not count as a zone. */
function setOwnOffset(p: Parts, { offset }: Groups): boolean {
  if (offset !== undefined) p.zone = offsetSeconds(offset)
  return true
}

function offsetSeconds(text: string): number {
  const digits = text.slice(1)
  const parts = digits.includes(':')
    ? digits.split(':')
    : digits.length > 4
      ? [digits.slice(0, 2), digits.slice(2, 4), digits.slice(4)]
      : digits.length > 2
        ? [digits.slice(0, -2), digits.slice(-2)]
        : [digits]
  const [h = 0, i = 0, s = 0] = parts.map(Number)
  return (text.startsWith('-') ? -1 : 1) * (h * 3600 + i * 60 + s)
}

function addUnit(p: Parts, amount: number, unit: string): boolean {
  if (/^(milli|ms)/.test(unit)) p.more.microseconds += amount * 1000
  else if (/^(micro|µ|us)/.test(unit)) p.more.microseconds += amount
  else if (unit.startsWith('sec')) p.more.s += amount
  else if (unit.startsWith('min')) p.more.s += amount * 60
  else if (unit.startsWith('hour')) p.more.s += amount * 3600
  else if (unit.startsWith('day')) p.more.d += amount
  else if (unit.startsWith('weekday')) p.more.weekdays = amount
  else if (unit.startsWith('week')) p.more.d += amount * 7
  else if (unit.startsWith('fort')) p.more.d += amount * 14
  else if (unit.startsWith('month')) p.more.m += amount
  else p.more.y += amount
  return true
}

function addDay(p: Parts, amount: number, name: string, behaviour: number): boolean {
  p.more.d += (amount > 0 ? amount - 1 : amount) * 7
  p.weekday = { day: dayOf(name), behaviour }
  return true
}

/** Abbreviations as PHP reads them, in hours; those of one letter are the military zones. Several mean another place today. */
const ZONES: Readonly<Record<string, number>> = {
  ...Object.fromEntries([...'abcdefghi'].map((letter, i) => [letter, i + 1])),
  ...Object.fromEntries([...'klm'].map((letter, i) => [letter, i + 10])),
  ...Object.fromEntries([...'nopqrstuvwxy'].map((letter, i) => [letter, -i - 1])),
  ...{ utc: 0, gmt: 0, z: 0, uct: 0, wet: 0, west: 1, wemt: 2, bst: 1, bdst: 2, cet: 1, cest: 2, cemt: 3, met: 1, mest: 2 },
  ...{ eet: 2, eest: 3, msk: 3, msd: 4, ist: 2, idt: 3, iddt: 4, cat: 2, sast: 2, wat: 1, wast: 2, eat: 3, pkt: 5, pkst: 6 },
  ...{ nst: -3.5, npt: -2.5, nwt: -2.5, nddt: -1.5, ast: -4, adt: -3, apt: -3, awt: -3, addt: -2 },
  ...{ est: -5, edt: -4, ept: -4, ewt: -4, eddt: -3, cst: -6, cdt: -5, cpt: -5, cwt: -5, cddt: -4 },
  ...{ mst: -7, mdt: -6, mpt: -6, mwt: -6, mddt: -5, pst: -8, pdt: -7, ppt: -7, pwt: -7, pddt: -6 },
  ...{ yst: -9, ydt: -8, ypt: -8, ywt: -8, yddt: -7, akst: -9, akdt: -8, ahst: -10, ahdt: -9, hst: -10, hdt: -9.5, hpt: -9.5 },
  ...{ hwt: -9.5, bdt: -10, sst: -11, wib: 7, wita: 8, wit: 9, hkt: 8, hkst: 9, jst: 9, jdt: 10, kst: 8.5, kdt: 10 },
  ...{ awst: 8, awdt: 9, acst: 9.5, acdt: 10.5, cast: 9.5, aest: 10, aedt: 11, chst: 10, gst: 10, gdt: 11 },
  ...{ nzmt: 11.5, nzst: 12, nzdt: 13 },
}

function namedZone(name: string): Zone | undefined {
  const hours = ZONES[name.toLowerCase()]
  if (hours !== undefined) return hours * 3600
  return zoneOffset(name, 0) === undefined ? undefined : name
}

function zoneOffset(zone: string, atSeconds: number): number | undefined {
  try {
    const text = new Intl.DateTimeFormat('en', { timeZone: zone, timeZoneName: 'longOffset' }).format(atSeconds * 1000)
    const m = /GMT(?:([+-])(\d{2}):(\d{2})(?::(\d{2}))?)?/.exec(text)
    if (!m) return undefined
    return m[1] ? (m[1] === '-' ? -1 : 1) * (Number(m[2]) * 3600 + Number(m[3]) * 60 + Number(m[4] ?? 0)) : 0
  } catch {
    return undefined // not a zone, or not a moment
  }
}

const rule = (source: string, act: Rule[1]): Rule => [new RegExp(source, 'iy'), act]

const RULES: readonly Rule[] = [
  rule('yesterday', (p) => {
    p.more.d = -1
    return unsetTime(p)
  }),
  rule('now', () => true),
  rule('noon', (p) => unsetTime(p) && setTime(p, { h: '12' })),
  rule('midnight|today', unsetTime),
  rule('tomorrow', (p) => {
    p.more.d = 1
    return unsetTime(p)
  }),
  rule('@(?<unix>-?\\d+)(?:\\.(?<micro>\\d{0,6}))?', (p, { unix, micro }) => {
    p.hasDate = false
    unsetTime(p)
    Object.assign(p, { y: 1970, m: 1, d: 1 })
    p.more.s += Number(unix)
    p.more.microseconds += (unix!.startsWith('-') ? -1 : 1) * Number((micro ?? '').padEnd(6, '0'))
    return setZone(p, { offset: '+0' })
  }),
  rule('(?<which>first|last) day of', (p, { which }) => {
    p.dayOf = which!.toLowerCase() as 'first' | 'last' // by the pattern
    return true
  }),
  rule(`(?<side>back|front) of (?<h>${HOUR24})(?:(?:${SPACE})?${MERIDIAN})?`, (p, { side, h, meridian }) => {
    unsetTime(p)
    const isBack = side!.toLowerCase() === 'back'
    setTime(p, { h: String(Number(h) - (isBack ? 0 : 1)), i: isBack ? '15' : '45', meridian })
    return true
  }),
  rule(`${NUMERAL}${SPACE}${DAY_NAME}${SPACE}of`, (p, { numeral, day }) => {
    const amount = counted(numeral!.toLowerCase())
    p.weekdayOf = amount > 0 ? 'nth' : 'last'
    unsetTime(p)
    return addDay(p, amount, day!.toLowerCase(), amount > 0 || numeral!.toLowerCase() === 'this' ? 1 : 0)
  }),
  // Times
  rule(`(?<h>${HOUR12})(?:${SPACE})?${MERIDIAN}`, setTime),
  rule(`(?<h>${HOUR12})[:.](?<i>${MINUTELZ})(?:${SPACE})?${MERIDIAN}`, setTime),
  rule(`(?<h>${HOUR12})[:.](?<i>${MINUTE})[:.](?<s>${SECONDLZ})(?:${SPACE})?${MERIDIAN}`, setTime),
  rule(`(?<h>${HOUR12}):(?<i>${MINUTELZ}):(?<s>${SECONDLZ})${FRACTION}${MERIDIAN}`, setTime),
  rule(`t(?<h>${HOUR24})`, setTime),
  rule(TIME24, setTime),
  rule(`${TIME24}[:.](?<s>${SECOND})`, setTime),
  rule(`${TIME24}[:.](?<s>${SECOND})\\.(?<fraction>\\d+)`, setTime),
  rule(`t?(?<h>${HOUR24LZ})(?<i>${MINUTELZ})`, (p, g) => {
    // Four digits after a time are a year.
    if (!p.hasTime) return setTime(p, g)
    const { h, i } = g
    p.y = Number(`${h}${i}`)
    return true
  }),
  rule(`t?(?<h>${HOUR24LZ})(?<i>${MINUTELZ})(?<s>${SECONDLZ})`, setTime),
  // Dates
  rule(`${MONTH_NUMBER}/${DAY_NUMBER}`, setDate),
  rule(`${MONTH_NUMBER}/${DAY_NUMBER}/(?<y>\\d{1,4})`, setDate),
  rule(`(?<y>[+-]?\\d{4})-${MONTHLZ}-${DAYLZ}`, setDate),
  rule(`(?<y>\\d{4})/${MONTH_NUMBER}/${DAY_NUMBER}/?`, setDate),
  rule(`(?<y>\\d{2})-${MONTHLZ}-${DAYLZ}`, setDate),
  rule(`(?<y>[+-]\\d{5,19})-${MONTHLZ}-${DAYLZ}`, setDate),
  rule(`(?<y>\\d{4})-${MONTH_NUMBER}`, (p, g) => setDate(p, g, { d: 1 })),
  rule(`(?<y>\\d{1,4})-${MONTH_NUMBER}-${DAY_NUMBER}`, setDate),
  rule(`${DAY_NUMBER}${SUFFIX}[ \\t.-]*${MONTH_TEXT}[ \\t.-]*(?<y>\\d{1,4})`, setDate),
  rule(`${DAY_NUMBER}[.\\t-]${MONTH_NUMBER}[.-](?<y>\\d{4})`, setDate),
  rule(`${DAY_NUMBER}[.\\t]${MONTH_NUMBER}\\.(?<y>\\d{2})`, setDate),
  rule(`${MONTH_TEXT}[ .\\t-]*(?<y>\\d{4})`, (p, g) => setDate(p, g, { d: 1 })),
  rule(`(?<y>\\d{4})[ .\\t-]*${MONTH_TEXT}`, (p, g) => setDate(p, g, { d: 1 })),
  rule(`${MONTH_TEXT}[ .\\t-]*${DAY_NUMBER}(?-i:[,.stndrh\\t ])+(?<y>\\d{1,4})`, setDate),
  rule(DATE_NO_YEAR, setDate),
  rule(`${DAY_NUMBER}${SUFFIX}[ .\\t-]*${MONTH_TEXT}`, setDate),
  rule(`(?<y>\\d{4})${MONTHLZ}${DAYLZ}`, setDate),
  // Both
  rule(
    `(?<y>\\d{4})-${MONTHLZ}-${DAYLZ}(?-i:T)(?<h>${HOUR24LZ}):(?<i>${MINUTELZ}):(?<s>${SECONDLZ})\\.(?<fraction>\\d+)(?:${OFFSET})?`,
    (p, g) => setTime(p, g) && setDate(p, g) && setOwnOffset(p, g),
  ),
  rule(
    `(?<y>\\d{4})${MONTHLZ}${DAYLZ}(?-i:T)(?<h>${HOUR24}):(?<i>${MINUTELZ}):(?<s>${SECONDLZ})`,
    (p, g) => setTime(p, g) && setDate(p, g),
  ),
  rule(
    `(?<y>\\d{4})${MONTHLZ}${DAYLZ}t(?<h>${HOUR24})(?<i>${MINUTELZ})(?<s>${SECONDLZ})`,
    (p, g) => setTime(p, g) && setDate(p, g),
  ),
  rule(
    `(?<y>\\d{4})-${MONTH_NUMBER}-${DAY_NUMBER}(?-i:T)(?<h>${HOUR24}):(?<i>${MINUTE}):(?<s>${SECOND})`,
    (p, g) => setTime(p, g) && setDate(p, g),
  ),
  rule(
    `(?<y>\\d{4}):${MONTHLZ}:${DAYLZ} (?<h>${HOUR24LZ}):(?<i>${MINUTELZ}):(?<s>${SECONDLZ})`,
    (p, g) => setTime(p, g) && setDate(p, g),
  ),
  rule('(?<y>\\d{4})[.-]?(?<d>00[1-9]|0[1-9]\\d|[12]\\d\\d|3[0-5]\\d|36[0-6])', (p, g) => setDate(p, g, { m: 1 })),
  rule('(?<y>\\d{4})-?(?-i:W)(?<week>0[1-9]|[1-4]\\d|5[0-3])(?:-?(?<weekday>[0-7]))?', (p, { y, week, weekday = '1' }) => {
    if (!setDate(p, { y, m: '1', d: '1' })) return false
    const first = dayOfWeek(Number(y), 1, 1)
    p.more.d = -(first > 4 ? first - 7 : first) + (Number(week) - 1) * 7 + Number(weekday)
    return true
  }),
  rule(`${MONTH_ABBREVIATED}-${DAYLZ}-(?<y>\\d{1,4})`, setDate),
  rule(`(?<y>\\d{1,4})-${MONTH_ABBREVIATED}-${DAYLZ}`, setDate),
  rule(
    `${DAY_NUMBER}/${MONTH_ABBREVIATED}/(?<y>\\d{4}):(?<h>${HOUR24LZ}):(?<i>${MINUTELZ}):(?<s>${SECONDLZ})${SPACE}${OFFSET}`,
    (p, g) => setTime(p, g) && setDate(p, g) && setOwnOffset(p, g),
  ),
  rule('(?<year>\\d{4})', (p, { year }) => {
    p.y = Number(year)
    return true
  }),
  rule('ago', (p) => {
    const { more } = p
    for (const unit of ['y', 'm', 'd', 's', 'microseconds'] as const) more[unit] = -more[unit]
    if (more.weekdays !== undefined) more.weekdays = -more.weekdays
    if (p.weekday) p.weekday.day = p.weekday.day === 0 ? -7 : -p.weekday.day
    return true
  }),
  rule(`${DAY_NAME}|weekdays?`, (p, { day }) => {
    // "weekday" alone is a Monday.
    p.weekday = { day: day ? dayOf(day.toLowerCase()) : 1, behaviour: p.weekday?.behaviour === 2 ? 2 : 1 }
    return unsetTime(p)
  }),
  rule(`(?<numeral>next|last|previous|this)${SPACE}week`, (p, { numeral }) => {
    p.more.d += counted(numeral!.toLowerCase()) * 7
    // "next week" alone is its Monday.
    p.weekday = { day: p.weekday?.day ?? 1, behaviour: 2 }
    return true
  }),
  rule(`${NUMERAL}${SPACE}${UNIT_OR_DAY}`, (p, { numeral, unit, day }) => {
    const amount = counted(numeral!.toLowerCase())
    if (unit) return (!/^weekday/i.test(unit) || unsetTime(p)) && addUnit(p, amount, unit.toLowerCase())
    return unsetTime(p) && addDay(p, amount, day!.toLowerCase(), numeral!.toLowerCase() === 'this' ? 1 : 0)
  }),
  rule(`(?<month>${MONTH_WORD})`, setDate),
  rule(ANY_ZONE, setZone),
  rule(`${DATE_NO_YEAR}(?<h>${HOUR12})[:.](?<i>${MINUTELZ})(?:${SPACE})?${MERIDIAN}`, (p, g) => setDate(p, g) && setTime(p, g)),
  rule(
    `${DATE_NO_YEAR}(?<h>${HOUR12})[:.](?<i>${MINUTE})[:.](?<s>${SECONDLZ})(?:${SPACE})?${MERIDIAN}`,
    (p, g) => setDate(p, g) && setTime(p, g),
  ),
  rule(`${DATE_NO_YEAR}${TIME24}`, (p, g) => setDate(p, g) && setTime(p, g)),
  rule(`${DATE_NO_YEAR}${TIME24}[:.](?<s>${SECOND})`, (p, g) => setDate(p, g) && setTime(p, g)),
  rule(
    `${DATE_NO_YEAR}${TIME24}[:.](?<s>${SECONDLZ})(?:${SPACE})?${ANY_ZONE}`,
    (p, g) => setDate(p, g) && setTime(p, g) && setZone(p, g),
  ),
  rule(`(?<sign>[+-]*)[ \\t]*(?<amount>\\d{1,13})(?:${SPACE})?(?:${UNIT_OR_DAY}|(?<week>week))`, (p, g) => {
    const { sign = '', amount, unit, day, week } = g
    const signed = (sign.split('-').length % 2 === 0 ? -1 : 1) * Number(amount)
    return day ? addDay(p, signed, day.toLowerCase(), 1) : addUnit(p, signed, (unit ?? week ?? '').toLowerCase())
  }),
  rule('[ .,\\t\\n]', () => true),
]

/** The Unix time `text` means when it is read at `baseSeconds`. PHP takes February 30 for March 2 and ignores a second zone; `isStrict` refuses both. */
export function strtotime(text: string, baseSeconds: number, isStrict = false): number | undefined {
  const phrases = text.trim()
  if (phrases === '' || phrases.length > 500) return undefined
  const parts: Parts = {
    hasDate: false,
    hasTime: false,
    zones: 0,
    microseconds: 0,
    more: { y: 0, m: 0, d: 0, s: 0, microseconds: 0 },
  }
  for (let at = 0; at < phrases.length; ) {
    const eaten = eat(parts, phrases, at)
    if (eaten === 0) return undefined
    at += eaten
  }
  return resolve(parts, new Date(Math.floor(baseSeconds) * 1000), isStrict)
}

function eat(parts: Parts, text: string, at: number): number {
  let longest: RegExpExecArray | undefined
  let act: Rule[1] | undefined
  for (const [pattern, action] of RULES) {
    pattern.lastIndex = at
    const match = pattern.exec(text)
    if (!match || (longest && match[0].length <= longest[0].length)) continue
    longest = match
    act = action
  }
  return longest && act?.(parts, longest.groups ?? {}) ? longest[0].length : 0
}

function resolve(p: Parts, base: Date, isStrict: boolean): number | undefined {
  const isMidnight = p.hasDate && !p.hasTime
  const day = { y: p.y ?? base.getUTCFullYear(), m: p.m ?? base.getUTCMonth() + 1, d: p.d ?? base.getUTCDate() }
  if (isStrict && (p.zones > 1 || (p.hasDate && !isCalendarDay(day)))) return undefined
  const h = isMidnight ? 0 : (p.h ?? base.getUTCHours())
  const i = isMidnight ? 0 : (p.i ?? base.getUTCMinutes())
  const s = isMidnight ? 0 : (p.s ?? base.getUTCSeconds())
  const clock = h * 3600 + i * 60 + s // 24:30 belongs to the next day

  // What timelib does before the relative part: the month of "first monday of" and "last day of" is settled.
  const { more } = p
  if (p.weekdayOf) {
    day.d = 1
    day.m += more.m + (p.weekdayOf === 'last' ? 1 : 0)
    more.m = 0
  }
  settleDay(day, p.dayOf)
  day.d += Math.floor(clock / DAY_SECONDS)
  if (p.weekday) day.d += weekdayShift(day, p.weekday, more.d)
  normalize(day)
  day.y += more.y
  day.m += more.m
  day.d += more.d
  settleDay(day, p.dayOf)
  const added = (clock % DAY_SECONDS) + more.s + Math.floor((p.microseconds + more.microseconds) / 1e6)
  if (more.weekdays !== undefined) {
    const reached = day.d + Math.floor(added / DAY_SECONDS)
    day.d += weekdaysShift(dayOfWeek(day.y, day.m, reached), more.weekdays)
  }

  const wall = utcDay(day.y, day.m, day.d).getTime() / 1000 + added
  const seconds = wall - offsetAt(p.zone ?? 0, wall)
  return Number.isFinite(seconds) ? seconds : undefined
}

/**
 * The offset of a zone for a time on its wall clocks. A time that they skip is read by the offset before the change, one that they
 * show twice is the earlier.
 */
function offsetAt(zone: Zone, wall: number): number {
  if (typeof zone === 'number') return zone
  const offset = (seconds: number) => zoneOffset(zone, seconds) ?? Number.NaN
  const near = offset(wall)
  const after = offset(wall - near)
  const before = offset(wall - Math.max(near, after) - 2 * 3600)
  if (offset(wall - before) === before) return before
  return offset(wall - after) === after ? after : before
}

interface Day {
  y: number
  m: number
  d: number
}

function settleDay(day: Day, which: 'first' | 'last' | undefined): void {
  if (which === 'first') day.d = 1
  if (which === 'last') {
    day.d = 0
    day.m++
  }
  normalize(day)
}

function normalize(day: Day): void {
  const at = utcDay(day.y, day.m, day.d)
  day.y = at.getUTCFullYear()
  day.m = at.getUTCMonth() + 1
  day.d = at.getUTCDate()
}

/** Not Date.UTC, which reads the years 0 to 99 as 1900 to 1999. */
function utcDay(y: number, m: number, d: number): Date {
  const at = new Date(0)
  at.setUTCFullYear(y, m - 1, d)
  return at
}

const dayOfWeek = (y: number, m: number, d: number) => utcDay(y, m, d).getUTCDay()

function isCalendarDay({ y, m, d }: Day): boolean {
  const at = utcDay(y, m, d)
  return at.getUTCMonth() === m - 1 && at.getUTCDate() === d
}

function weekdayShift({ y, m, d }: Day, { day, behaviour }: Weekday, relativeDays: number): number {
  const today = dayOfWeek(y, m, d)
  if (behaviour === 2) return (day || (today ? 7 : 0)) - (today || (day ? 7 : 0))
  if (day < 0) return -(7 - (-day - today))
  const difference = day - today
  if ((relativeDays < 0 && difference < 0) || (relativeDays >= 0 && difference <= -behaviour)) return difference + 7
  return difference
}

/** Days until `amount` weekdays have passed, from a day of the week: whole weeks first, so that a large amount costs nothing. */
function weekdaysShift(today: number, amount: number): number {
  const weeks = Math.trunc(amount / 5) * 7
  const rest = amount % 5
  if (amount > 0) {
    if (rest === 0) return weeks - (today === 0 ? 2 : today === 6 ? 1 : 0)
    if (today === 6) return weeks + rest + 1
    return weeks + rest + (today + rest > 5 ? 2 : 0)
  }
  if (rest === 0) return weeks + (today === 6 ? 2 : today === 0 ? 1 : 0)
  if (today === 0) return weeks + rest - 1
  return weeks + rest - (today + rest < 1 ? 2 : 0)
}
