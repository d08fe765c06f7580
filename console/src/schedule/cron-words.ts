// A cron expression in plain words, and the common ones from choices. Words never claim more than the expression: what has none is
// described field by field.

const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday']
const MONTHS = 'January February March April May June July August September October November December'.split(' ')

const two = (text: string): string => text.padStart(2, '0')
const isNumber = (field: string): boolean => /^\d+$/.test(field)
const isNumbers = (field: string): boolean => /^\d+(,\d+)*$/.test(field)
const listed = (items: readonly string[]): string =>
  items.length < 2 ? (items[0] ?? '') : `${items.slice(0, -1).join(', ')} and ${items.at(-1)}`

const dayName = (text: string): string => {
  const index = isNumber(text) ? Number(text) % 7 : DAYS.findIndex((day) => day.slice(0, 3).toLowerCase() === text.toLowerCase())
  return DAYS[index] ?? text
}

const daysOf = (field: string): string => {
  if (field === '1-5' || field.toLowerCase() === 'mon-fri') return 'from Monday to Friday'
  const [from, to] = field.split('-')
  if (to !== undefined && !field.includes(',')) return `from ${dayName(from!)} to ${dayName(to)}`
  return `on ${listed(field.split(',').map((day) => `${dayName(day)}s`))}`
}

/** "at 06:30", "at 06:00 and 18:00"; undefined when the fields are not times of a day. */
function timesOf(minute: string, hour: string): string | undefined {
  if (!isNumber(minute) || !isNumbers(hour)) return undefined
  return `at ${listed(hour.split(',').map((one) => `${two(one)}:${two(minute)}`))}`
}

function everyOf(minute: string, hour: string): string | undefined {
  const [minutes, hours] = [/^\*\/(\d+)$/.exec(minute)?.[1], /^\*\/(\d+)$/.exec(hour)?.[1]]
  if (hour === '*' && (minute === '*' || minutes === '1')) return 'every minute'
  if (hour === '*' && minutes) return `every ${minutes} minutes`
  if (hour === '*' && minute === '0') return 'every hour'
  if (hour === '*' && isNumber(minute)) return `every hour at ${two(minute)} past`
  if (hours && isNumber(minute)) return `every ${hours} hours${minute === '0' ? '' : ` at ${two(minute)} past`}`
  const [, from, to, step] = /^(\d+)-(\d+)(?:\/(\d+))?$/.exec(hour) ?? []
  if (from === undefined || !isNumber(minute)) return undefined
  const span = `from ${two(from)}:${two(minute)} to ${two(lastOf(Number(from), Number(to), Number(step ?? 1)))}:${two(minute)}`
  return Number(step ?? 1) === 1 ? `every hour ${span}` : `every ${step} hours ${span}`
}

/** The last hour that steps from the first one reach. */
const lastOf = (from: number, to: number, step: number): string => String(from + Math.floor((to - from) / step) * step)

/** Undefined when it is not made of five fields. */
export function cronWords(cron: string): string | undefined {
  const fields = cron.trim().split(/\s+/)
  if (fields.length !== 5) return undefined
  const [minute, hour, day, month, weekday] = fields as [string, string, string, string, string]
  const times = timesOf(minute, hour)
  const when = times ?? everyOf(minute, hour) ?? `at minute ${minute} of hour ${hour}`
  const in_ = month === '*' ? '' : ` in ${listed(month.split(',').map((one) => MONTHS[Number(one) - 1] ?? one))}`
  if (day === '*' && weekday === '*') return times ? `every day ${times}${in_}` : `${when}${in_}`
  const days = weekday === '*' ? '' : daysOf(weekday)
  const dates = day === '*' ? '' : day === 'L' ? 'on the last day of the month' : `on day ${listed(day.split(','))} of the month`
  // With both, cron means either.
  const both = [dates, days].filter((text) => text !== '').join(' or ')
  return times ? `${both} ${times}${in_}` : `${when}, ${both}${in_}`
}

export type Choice =
  | { readonly kind: 'minutes'; readonly every: number }
  | { readonly kind: 'hours'; readonly every: number; readonly minute: number }
  | { readonly kind: 'days'; readonly time: string }
  | { readonly kind: 'weeks'; readonly time: string; readonly weekdays: readonly number[] }
  | { readonly kind: 'months'; readonly time: string; readonly day: number }

export function cronOf(choice: Choice): string {
  if (choice.kind === 'minutes') return choice.every === 1 ? '* * * * *' : `*/${choice.every} * * * *`
  if (choice.kind === 'hours') return `${choice.minute} ${choice.every === 1 ? '*' : `*/${choice.every}`} * * *`
  const [hour, minute] = choice.time.split(':').map(Number)
  const time = `${minute} ${hour}`
  if (choice.kind === 'days') return `${time} * * *`
  if (choice.kind === 'months') return `${time} ${choice.day} * *`
  return `${time} * * ${choice.weekdays.length === 0 ? '*' : choice.weekdays.toSorted((a, b) => a - b).join(',')}`
}

/** What the builder shows for an expression; undefined when no choice makes it. */
export function choiceOf(cron: string): Choice | undefined {
  const [minute = '', hour = '', day, month, weekday = ''] = cron.trim().split(/\s+/)
  if (month !== '*') return undefined
  const everyMinutes = minute === '*' ? 1 : Number(/^\*\/(\d+)$/.exec(minute)?.[1])
  const everyHours = hour === '*' ? 1 : Number(/^\*\/(\d+)$/.exec(hour)?.[1])
  if (day === '*' && weekday === '*' && hour === '*' && everyMinutes) return { kind: 'minutes', every: everyMinutes }
  if (!isNumber(minute)) return undefined
  if (day === '*' && weekday === '*' && everyHours) return { kind: 'hours', every: everyHours, minute: Number(minute) }
  if (!isNumber(hour)) return undefined
  const time = `${two(hour)}:${two(minute)}`
  if (day === '*' && weekday === '*') return { kind: 'days', time }
  if (day === '*' && isNumbers(weekday)) return { kind: 'weeks', time, weekdays: weekday.split(',').map(Number) }
  if (day === '*' && weekday === '1-5') return { kind: 'weeks', time, weekdays: [1, 2, 3, 4, 5] }
  return weekday === '*' && isNumber(day ?? '') ? { kind: 'months', time, day: Number(day) } : undefined
}
