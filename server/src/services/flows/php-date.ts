// Dates in the letters of PHP's date(), which the function DATE of flows takes (spec platform 2.11). The zone is UTC.

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

const pad = (value: number, length = 2): string => String(value).padStart(length, '0')
const dayOfYear = (d: Date): number => Math.floor((d.getTime() - Date.UTC(d.getUTCFullYear(), 0, 1)) / DAY_MS)
const isLeap = (year: number): boolean => new Date(Date.UTC(year, 1, 29)).getUTCMonth() === 1
const hour12 = (d: Date): number => d.getUTCHours() % 12 || 12

/** ISO 8601: the week of the year's first Thursday is week 1. */
function isoWeek(d: Date): { readonly year: number; readonly week: number } {
  const thursday = new Date(d.getTime() + (4 - (d.getUTCDay() || 7)) * DAY_MS)
  return { year: thursday.getUTCFullYear(), week: Math.floor(dayOfYear(thursday) / 7) + 1 }
}

function ordinal(day: number): string {
  if (day % 100 >= 11 && day % 100 <= 13) return 'th'
  return ['th', 'st', 'nd', 'rd'][day % 10] ?? 'th'
}

/** Swatch time: a thousandth of a day, counted in UTC+1. */
const beats = (d: Date): number => Math.floor((((d.getTime() + 3_600_000) % DAY_MS) / DAY_MS) * 1000)

const LETTERS: Readonly<Record<string, (d: Date) => string>> = {
  d: (d) => pad(d.getUTCDate()),
  D: (d) => DAYS[d.getUTCDay()]!.slice(0, 3),
  j: (d) => String(d.getUTCDate()),
  l: (d) => DAYS[d.getUTCDay()]!,
  N: (d) => String(d.getUTCDay() || 7),
  S: (d) => ordinal(d.getUTCDate()),
  w: (d) => String(d.getUTCDay()),
  z: (d) => String(dayOfYear(d)),
  W: (d) => pad(isoWeek(d).week),
  F: (d) => MONTHS[d.getUTCMonth()]!,
  m: (d) => pad(d.getUTCMonth() + 1),
  M: (d) => MONTHS[d.getUTCMonth()]!.slice(0, 3),
  n: (d) => String(d.getUTCMonth() + 1),
  t: (d) => String(new Date(Date.UTC(d.getUTCFullYear(), d.getUTCMonth() + 1, 0)).getUTCDate()),
  L: (d) => (isLeap(d.getUTCFullYear()) ? '1' : '0'),
  o: (d) => String(isoWeek(d).year),
  Y: (d) => pad(d.getUTCFullYear(), 4),
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
  c: (d) => formatPhpDate('Y-m-d\\TH:i:sP', d),
  r: (d) => formatPhpDate('D, d M Y H:i:s O', d),
  U: (d) => String(Math.floor(d.getTime() / 1000)),
}

/** A backslash keeps the letter after it; what is not a letter of the format stays as it is. */
export const formatPhpDate = (format: string, date: Date): string =>
  format.replace(/\\(.)|./gsu, (letter, kept: string | undefined) => kept ?? LETTERS[letter]?.(date) ?? letter)
