// The only place that reads the time, and the two formats of times in the API.

export interface Clock {
  now(): Date
}

export const systemClock: Clock = { now: () => new Date() }

/** A clock that goes ahead of the machine's, for tests of what happens at a certain time. */
export const shiftedClock = (offsetMs: number): Clock =>
  offsetMs === 0 ? systemClock : { now: () => new Date(Date.now() + offsetMs) }

/** `2026-01-31T12:00:00+0000`: every timestamp in a record. */
export const formatTimestamp = (date: Date): string => `${date.toISOString().slice(0, 19)}+0000`

/** `2026-01-31T12:00:00+00:00`: the Expiration of temporary credentials. */
export const formatExpiration = (date: Date): string => `${date.toISOString().slice(0, 19)}+00:00`

/** The machine's time as text, for the log: many lines share a millisecond, and writing a time costs as much as the rest of a line. */
export function isoTimes(): () => string {
  let last = -1
  let text = ''
  return () => {
    const now = Date.now()
    if (now !== last) text = new Date(now).toISOString()
    last = now
    return text
  }
}
