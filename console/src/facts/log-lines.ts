// The lines of a log, a million of them if need be: texts in a list, and their other facts as numbers. About 80 bytes a line besides
// its text's characters, where an object each would take three times as much.

export interface LogLine {
  readonly id: number
  readonly message: string
  readonly type: string
  /** Since 1970. */
  readonly createdMs: number
}

/** As a line is shown. */
export interface ShownLine {
  readonly id: number
  readonly message: string
  readonly type: string
  readonly atMs: number
}

const FIRST_PLACES = 1024

export interface LogLines {
  readonly length: () => number
  readonly add: (line: LogLine) => void
  readonly at: (index: number) => ShownLine
  /** Where the line with this id is; ids rise. -1 when there is none. */
  readonly indexOf: (id: number) => number
}

export function createLogLines(): LogLines {
  const messages: string[] = []
  const types: string[] = []
  let ids = new Float64Array(FIRST_PLACES)
  let times = new Float64Array(FIRST_PLACES)
  let levels = new Uint8Array(FIRST_PLACES)

  function grow(): void {
    const places = ids.length * 2
    const larger = (before: Float64Array) => {
      const after = new Float64Array(places)
      after.set(before)
      return after
    }
    ids = larger(ids)
    times = larger(times)
    const after = new Uint8Array(places)
    after.set(levels)
    levels = after
  }

  /** A log has a handful of them. */
  function levelOf(type: string): number {
    const known = types.indexOf(type)
    return known === -1 ? types.push(type) - 1 : known
  }

  return {
    length: () => messages.length,
    add({ id, message, type, createdMs }) {
      const index = messages.length
      if (index === ids.length) grow()
      ids[index] = id
      times[index] = createdMs
      levels[index] = levelOf(type)
      messages.push(message)
    },
    at: (index) => ({
      id: ids[index]!,
      message: messages[index]!,
      type: types[levels[index]!]!,
      atMs: times[index]!,
    }),
    indexOf(id) {
      let [from, to] = [0, messages.length - 1]
      while (from <= to) {
        const middle = (from + to) >> 1
        if (ids[middle] === id) return middle
        if (ids[middle]! < id) from = middle + 1
        else to = middle - 1
      }
      return -1
    },
  }
}

export interface LogFilter {
  readonly levels: readonly string[]
  readonly text: string
}

/** Which lines fit. Checks only those that came since the last call. */
export function createLogView(lines: LogLines, { levels, text }: LogFilter) {
  const isWhole = levels.length === 0 && text === ''
  const wanted = text.toLowerCase()
  const found: number[] = []
  let seen = 0
  const fits = ({ type, message }: ShownLine): boolean =>
    (levels.length === 0 || levels.includes(type)) && message.toLowerCase().includes(wanted)
  return {
    /** How many of the first `known` lines fit. */
    count(known: number): number {
      if (isWhole) return known
      for (; seen < known; seen++) if (fits(lines.at(seen))) found.push(seen)
      return found.length
    },
    /** The place in the log of the line at this place in the view. */
    lineAt: (place: number): number => (isWhole ? place : found[place]!),
    /** The place in the view of a place in the log; -1 when it does not fit. */
    placeOf: (index: number): number => (isWhole ? index : found.indexOf(index)),
  }
}
