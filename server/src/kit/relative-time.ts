// Moments as people and PHP clients write them: a unix time, an ISO time, or words such as `-2 days`, `last monday`, `yesterday`.
// Words are read in UTC.

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
const DAYS = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday']

/** Undefined when the text is no moment. */
export function parseMoment(text: string, now: Date): Date | undefined {
  const words = text.trim().toLowerCase()
  if (/^@?-?\d{1,12}$/.test(words)) return valid(new Date(Number(words.replace('@', '')) * 1000))
  if (/^\d{4}-\d{2}-\d{2}/.test(words)) return parseIso(words)
  return words === '' ? undefined : parseWords(words, now)
}

/** A time without a zone is UTC; the offset may come without a colon, as our own records write it. */
function parseIso(words: string): Date | undefined {
  const match = /^(\d{4}-\d{2}-\d{2})(?:[t ](\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?))?\s*(z|[+-]\d{2}:?\d{2})?$/.exec(words)
  if (!match) return undefined
  const [, date, time = '00:00', zone = 'z'] = match
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
  while (rest !== '') {
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
    const day = amount ? undefined : take(/^([a-z]+day)\b/)
    const place = day ? DAYS.indexOf(day[1]!) : -1
    if (place === -1) return undefined
    moment = toWeekday(moment, place, 0)
  }
  return valid(moment)
}

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
