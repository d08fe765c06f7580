// Numbers, sizes, times and durations, the same everywhere (console-design, section 6).

const number = new Intl.NumberFormat()
const short = new Intl.NumberFormat(undefined, { maximumFractionDigits: 1 })

/** Full figures up to a million, then "4.1 million". */
export const count = (value: number): string =>
  value < 1_000_000 ? number.format(value) : `${short.format(value / 1e6)} million`

export const plural = (value: number, one: string, many = `${one}s`): string => `${count(value)} ${value === 1 ? one : many}`

export function bytes(value: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB', 'PB']
  let index = 0
  let left = value
  while (left >= 1000 && index < units.length - 1) {
    left /= 1000
    index++
  }
  return `${index === 0 ? number.format(left) : short.format(left)} ${units[index]}`
}

export function duration(seconds: number): string {
  const whole = Math.round(seconds)
  if (whole < 1 && seconds > 0) return 'under 1 s'
  if (whole < 60) return `${whole} s`
  if (whole < 3600) return inTwo(whole, [60, 'min'], [1, 's'])
  if (whole < 86_400) return inTwo(whole, [3600, 'h'], [60, 'min'])
  return inTwo(whole, [86_400, 'd'], [3600, 'h'])
}

/** "6 min", "15 min 41 s". */
function inTwo(
  seconds: number,
  [large, ofLarge]: readonly [number, string],
  [small, ofSmall]: readonly [number, string],
): string {
  const rest = Math.floor((seconds % large) / small)
  return `${Math.floor(seconds / large)} ${ofLarge}${rest === 0 ? '' : ` ${rest} ${ofSmall}`}`
}

/** How long something took, whose whole seconds are known. */
export const took = (seconds: number): string => (seconds < 1 ? 'less than 1 s' : duration(seconds))

export const browserZone = Intl.DateTimeFormat().resolvedOptions().timeZone
const ZONE = 'millrace.zone'

/** The zone that the person chose in this browser, if it is one; else that of the browser. */
function readZone(): string {
  const chosen = typeof document === 'undefined' ? null : localStorage.getItem(ZONE)
  try {
    return Intl.DateTimeFormat(undefined, { timeZone: chosen ?? browserZone }).resolvedOptions().timeZone
  } catch {
    return browserZone // a zone that this browser does not have
  }
}

/** Of every time on the screen. */
export const zone = readZone()

/** The formats of all screens are made once, so the page is reloaded. */
export function chooseZone(name: string): void {
  if (name === '') localStorage.removeItem(ZONE)
  else localStorage.setItem(ZONE, name)
  location.reload()
}

const inZone = (parts: Intl.DateTimeFormatOptions) => new Intl.DateTimeFormat(undefined, { ...parts, timeZone: zone })
const clock = inZone({ hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' })
const minute = inZone({ hour: '2-digit', minute: '2-digit', hourCycle: 'h23' })
const day = inZone({ day: 'numeric', month: 'short' })
const dayOfYear = inZone({ day: 'numeric', month: 'short', year: 'numeric' })
const isoLike = new Intl.DateTimeFormat('sv-SE', { dateStyle: 'short', timeStyle: 'medium', timeZone: zone })

/** What clocks of the zone show, as a time of UTC: its parts are read with `getUTC...`. */
export const wallTime = (time: Date): Date => new Date(`${isoLike.format(time).replace(' ', 'T')}Z`)

/** The API writes +0000; dates need +00:00. Where it writes no zone (`2026-01-31 08:00:00`), the time is of UTC. */
export const parseTime = (text: string): Date =>
  new Date(text.replace(/([+-]\d\d)(\d\d)$/, '$1:$2').replace(/^(\S+) ([\d:]+)$/, '$1T$2Z'))

const dayNumber = (time: Date): number => Math.floor(wallTime(time).getTime() / 86_400_000)

/** "today 14:05:00", "yesterday 09:00:12", "12 Oct 08:00:00". */
export function moment(text: string, now = new Date()): string {
  const time = parseTime(text)
  const ago = dayNumber(now) - dayNumber(time)
  const name =
    ago === 0 ? 'today' : ago === 1 ? 'yesterday' : ago === -1 ? 'tomorrow' : (Math.abs(ago) < 300 ? day : dayOfYear).format(time)
  return `${name} ${clock.format(time)}`
}

const exactClock = inZone({
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  fractionalSecondDigits: 3,
  hourCycle: 'h23',
})

/** For logs: to the millisecond. */
export const exactTime = (ms: number): string => exactClock.format(ms)
export const timeOfDay = (text: string): string => clock.format(parseTime(text))
export const hourAndMinute = (text: string): string => minute.format(parseTime(text))

const nowClock = inZone({
  weekday: 'short',
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
})

/** For the status line. */
export const dayAndTime = (time: Date): string => nowClock.format(time)

/** A time in the format of a form field, in the zone of the screen. */
export const fieldTime = (time: Date): string => wallTime(time).toISOString().slice(0, 19)

/** The time that such a field holds. */
export function timeOfField(text: string): Date {
  const wall = Date.parse(`${text}Z`)
  const ahead = (ms: number) => wallTime(new Date(ms)).getTime() - Math.floor(ms / 1000) * 1000
  return new Date(wall - ahead(wall - ahead(wall)))
}

/** For what comes: "in 32 min". */
export function until(text: string, now = new Date()): string {
  const seconds = (parseTime(text).getTime() - now.getTime()) / 1000
  if (seconds <= 0) return 'now'
  if (seconds < 90) return `in ${Math.round(seconds)} s`
  if (seconds < 5400) return `in ${Math.round(seconds / 60)} min`
  if (seconds < 129_600) return `in ${Math.round(seconds / 3600)} h`
  return `in ${Math.round(seconds / 86_400)} d`
}

export const sinceSeconds = (text: string, now = new Date()): number => (now.getTime() - parseTime(text).getTime()) / 1000
