// The letters of PHP's date(), always in UTC: the extractor's function `date` and the function DATE of flows read formats by them.

const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday']
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
const DAY_MS = 86_400_000

const pad = (n: number, width = 2) => String(Math.abs(n)).padStart(width, '0')
const isLeap = (year: number) => (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0
const dayOfYear = (d: Date) => Math.floor((d.getTime() - Date.UTC(d.getUTCFullYear(), 0, 1)) / DAY_MS)

/** ISO-8601: week 1 holds the year's first Thursday, so the Thursday of a week names its year. */
function isoWeek(d: Date): { week: number; year: number } {
  const thursday = new Date(d.getTime() + (4 - (d.getUTCDay() || 7)) * DAY_MS)
  return { week: Math.floor(dayOfYear(thursday) / 7) + 1, year: thursday.getUTCFullYear() }
}

function ordinalSuffix(day: number): string {
  if (day >= 11 && day <= 13) return 'th'
  return ['th', 'st', 'nd', 'rd'][day % 10] ?? 'th'
}

/** Internet time: the day in a thousand beats, in the zone UTC+1. */
const beats = (d: Date) => Math.floor(((((Math.floor(d.getTime() / 1000) + 3600) % 86_400) + 86_400) % 86_400) / 86.4)

const fullYear = (d: Date) => `${d.getUTCFullYear() < 0 ? '-' : ''}${pad(d.getUTCFullYear(), 4)}`
const hour12 = (d: Date) => d.getUTCHours() % 12 || 12

/** What each letter stands for, at a moment in UTC. */
export const PHP_DATE_LETTERS: Readonly<Record<string, (d: Date) => string>> = {
  d: (d) => pad(d.getUTCDate()),
  D: (d) => DAYS[d.getUTCDay()]!.slice(0, 3),
  j: (d) => String(d.getUTCDate()),
  l: (d) => DAYS[d.getUTCDay()]!,
  N: (d) => String(d.getUTCDay() || 7),
  S: (d) => ordinalSuffix(d.getUTCDate()),
  w: (d) => String(d.getUTCDay()),
  z: (d) => String(dayOfYear(d)),
  W: (d) => pad(isoWeek(d).week),
  o: (d) => String(isoWeek(d).year),
  F: (d) => MONTHS[d.getUTCMonth()]!,
  m: (d) => pad(d.getUTCMonth() + 1),
  M: (d) => MONTHS[d.getUTCMonth()]!.slice(0, 3),
  n: (d) => String(d.getUTCMonth() + 1),
  t: (d) => String(new Date(Date.UTC(d.getUTCFullYear(), d.getUTCMonth() + 1, 0)).getUTCDate()),
  L: (d) => (isLeap(d.getUTCFullYear()) ? '1' : '0'),
  Y: fullYear,
  y: (d) => pad(d.getUTCFullYear() % 100),
  a: (d) => (d.getUTCHours() < 12 ? 'am' : 'pm'),
  A: (d) => (d.getUTCHours() < 12 ? 'AM' : 'PM'),
  B: (d) => pad(beats(d), 3),
  g: (d) => String(hour12(d)),
  G: (d) => String(d.getUTCHours()),
  h: (d) => pad(hour12(d)),
  H: (d) => pad(d.getUTCHours()),
  i: (d) => pad(d.getUTCMinutes()),
  s: (d) => pad(d.getUTCSeconds()),
  u: (d) => `${pad(d.getUTCMilliseconds(), 3)}000`,
  v: (d) => pad(d.getUTCMilliseconds(), 3),
  e: () => 'UTC',
  I: () => '0',
  O: () => '+0000',
  P: () => '+00:00',
  p: () => 'Z',
  T: () => 'UTC',
  Z: () => '0',
  c: (d) => `${inLetters('Y-m-d', d)}T${inLetters('H:i:sP', d)}`,
  r: (d) => inLetters('D, d M Y H:i:s O', d),
  U: (d) => String(Math.floor(d.getTime() / 1000)),
}

const inLetters = (format: string, d: Date): string =>
  Array.from(format, (letter) => PHP_DATE_LETTERS[letter]?.(d) ?? letter).join('')
