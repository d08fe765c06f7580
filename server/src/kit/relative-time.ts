// Moments as people and PHP clients write them: a unix time, an ISO time, a date in words or figures, or words such as `-2 days`,
// `last monday`, `first day of last month`, `yesterday 14:00`. Words are read in UTC.

import { strtotime } from '../../../contract/strtotime.ts'
import { calendarDay } from './calendar-day.ts'

/** Undefined when the text is not a moment. */
export function parseMoment(text: string, now: Date): Date | undefined {
  const words = text.trim()
  if (/^@?-?\d{1,12}$/.test(words)) return valid(new Date(Number(words.replace('@', '')) * 1000))
  return parseIso(words.toLowerCase()) ?? parseWords(words, now)
}

/** To the millisecond. A time without a zone is UTC; the offset may come without a colon, as our own records write it. */
function parseIso(words: string): Date | undefined {
  const match = /^((\d{4})-(\d{2})-(\d{2}))(?:[t ](\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?))?\s*(z|[+-]\d{2}:?\d{2})?$/.exec(words)
  if (!match) return undefined
  const [, date, year, month, day, time = '00:00', zone = 'z'] = match
  if (!calendarDay(Number(year), Number(month), Number(day))) return undefined
  return valid(new Date(`${date}T${time}${zone === 'z' ? 'Z' : zone.replace(/^(...)(\d\d)$/, '$1:$2')}`))
}

function parseWords(words: string, now: Date): Date | undefined {
  if (words.length === 1) return undefined // a military time zone, and so the present: rather a mistake
  const seconds = strtotime(words, now.getTime() / 1000, true)
  return seconds === undefined ? undefined : valid(new Date(seconds * 1000))
}

const valid = (date: Date): Date | undefined => (Number.isNaN(date.getTime()) ? undefined : date)
