// What the clocks of a zone show: its offset at an instant, and the instants at which it changes.

/** A change of a zone's offset, in milliseconds. Forward is a gap in local time, backward a repetition. */
export interface Transition {
  readonly at: number
  readonly before: number
  readonly after: number
}

export interface Zone {
  readonly name: string
  /** Local time minus UTC, in milliseconds. */
  offsetAt(instant: number): number
  /** The changes with `from < at <= to`, in order. */
  transitions(from: number, to: number): readonly Transition[]
}

const YEAR_MS = 366 * 86_400_000
const PROBE_MS = 12 * 3_600_000
/** Zones whose clocks are never changed. */
const FIXED = /^(UTC|GMT|Etc\/.+|[+-]\d\d:\d\d)$/

export class UnknownZone extends Error {}

/** Zones are queried often; each caches the transitions of its years. */
export function createZones() {
  const zones = new Map<string, Zone>()
  return (name: string): Zone => {
    const known = zones.get(name)
    if (known) return known
    const format = clockOf(name)
    // Kept by the one right spelling: Intl takes any mixture of upper and lower case, and each would be remembered.
    const spelling = format.resolvedOptions().timeZone
    const zone = zones.get(spelling) ?? openZone(spelling, format)
    zones.set(spelling, zone)
    return zone
  }
}

function openZone(name: string, format: Intl.DateTimeFormat): Zone {
  const read = offsetReader(format)
  /** The changes of one span of time, found once. */
  const spans = new Map<number, { readonly offset: number; readonly transitions: readonly Transition[] }>()

  function span(index: number) {
    let known = spans.get(index)
    if (!known) {
      const [from, to] = [index * YEAR_MS, (index + 1) * YEAR_MS]
      known = { offset: read(from), transitions: FIXED.test(name) ? [] : findTransitions(read, from, to) }
      spans.set(index, known)
    }
    return known
  }

  return {
    name,
    offsetAt(instant) {
      const { offset, transitions } = span(Math.floor(instant / YEAR_MS))
      let current = offset
      for (const transition of transitions) if (transition.at <= instant) current = transition.after
      return current
    },
    transitions(from, to) {
      const found: Transition[] = []
      for (let index = Math.floor(from / YEAR_MS); index <= Math.floor(to / YEAR_MS); index++)
        for (const transition of span(index).transitions) if (transition.at > from && transition.at <= to) found.push(transition)
      return found
    },
  }
}

function clockOf(name: string): Intl.DateTimeFormat {
  try {
    // Offsets such as "+02:00" are zones to Intl as well, but no IANA names; they have no rules of their own, so they do no harm.
    return new Intl.DateTimeFormat('en-US', {
      timeZone: name,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    })
  } catch {
    throw new UnknownZone(name)
  }
}

function offsetReader(format: Intl.DateTimeFormat): (instant: number) => number {
  return (instant) => {
    const [month, day, year, hour, minute, second] = format.format(instant).match(/\d+/g)!.map(Number) // 3/29/2026, 02:00:00
    const local = Date.UTC(year!, month! - 1, day, hour, minute, second)
    return local - Math.floor(instant / 1000) * 1000
  }
}

/** Changes with `from < at <= to`: probes twice a day, then halves the interval down to the second. */
function findTransitions(read: (instant: number) => number, from: number, to: number): Transition[] {
  const found: Transition[] = []
  let before = read(from)
  for (let probe = from; probe < to; probe += PROBE_MS) {
    const after = read(probe + PROBE_MS)
    if (after === before) continue
    let low = probe
    let high = probe + PROBE_MS
    while (high - low > 1000) {
      const middle = Math.floor((low + high) / 2000) * 1000
      if (read(middle) === before) low = middle
      else high = middle
    }
    found.push({ at: high, before, after })
    before = after
  }
  return found
}
