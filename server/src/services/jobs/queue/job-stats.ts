// How much time the jobs of a project took, day by day (spec platform 2.10). A job counts on the day it ended.

import { calendarDay } from '../../../kit/calendar-day.ts'
import type { Query } from './job-search.ts'
import { refusal } from './refusal.ts'

export interface DailyRange {
  /** Days since 1970, in the zone of the caller; both belong to the range. */
  readonly from: number
  readonly to: number
  /** What the caller's clock is ahead of UTC. */
  readonly offsetMs: number
}

export interface DailyDuration {
  readonly date: string
  /** Seconds. */
  readonly durationSum: number
}

export const DAY_MS = 86_400_000
const DEFAULT_DAYS = 30
const MAX_DAYS = 1_000

/** `fromDate` and `toDate` as YYYY-MM-DD, the last 30 days without them; `timezoneOffset` as +hh:mm, UTC without it. */
export function parseDailyRange(query: Query, now: Date): DailyRange {
  for (const name of Object.keys(query))
    if (!['fromDate', 'toDate', 'timezoneOffset'].includes(name)) throw refusal(name, 'This field was not expected.')
  const offsetMs = offsetOf(query.timezoneOffset)
  const to = dayOf('toDate', query.toDate) ?? Math.floor((now.getTime() + offsetMs) / DAY_MS)
  const from = dayOf('fromDate', query.fromDate) ?? to - DEFAULT_DAYS + 1
  if (from > to) throw refusal('fromDate', 'This value should not be after toDate.')
  if (to - from >= MAX_DAYS) throw refusal('fromDate', `At most ${MAX_DAYS} days can be requested at once.`)
  return { from, to, offsetMs }
}

/** Every day of the range, also those without jobs. */
export function dailyDurations({ from, to }: DailyRange, msByDay: ReadonlyMap<number, number>): DailyDuration[] {
  return Array.from({ length: to - from + 1 }, (_, at) => ({
    date: new Date((from + at) * DAY_MS).toISOString().slice(0, 10),
    durationSum: Math.round((msByDay.get(from + at) ?? 0) / 1000),
  }))
}

function dayOf(name: string, given: unknown): number | undefined {
  if (given === undefined || given === '') return undefined
  const [, year, month, day] = /^(\d{4})-(\d{2})-(\d{2})$/.exec(String(given)) ?? []
  const date = calendarDay(Number(year), Number(month), Number(day))
  if (!date) throw refusal(name, 'This value should be a day, such as 2026-01-31.')
  return date.getTime() / DAY_MS
}

/** A `+` that was not encoded arrives as a blank. */
function offsetOf(given: unknown): number {
  if (given === undefined || given === '' || given === 'Z' || given === 'UTC') return 0
  const [, sign, hours = '', minutes = '0'] = /^([+\- ])(\d{2}):?(\d{2})?$/.exec(String(given)) ?? []
  const ms = (Number(hours) * 60 + Number(minutes)) * 60_000
  if (sign === undefined || ms > 14 * 3_600_000 || Number(minutes) > 59)
    throw refusal('timezoneOffset', 'This value should be an offset from UTC, such as +02:00.')
  return sign === '-' ? -ms : ms
}
