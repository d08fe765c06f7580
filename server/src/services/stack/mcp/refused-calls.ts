// Events of refused calls. The first ten of a token and a tool in a minute are recorded at once; the others are counted and become one event
// with the arguments of the last, so that an agent in a loop does not flood the list of events. Counted on each node by itself.

import type { Clock } from '../../../kit/clock.ts'

/** `again`: how many calls the event stands for besides the one it describes. */
type RecordCall<Caller> = (caller: Caller, tool: string, args: string, again: number) => void

interface Repeated<Caller> {
  readonly since: number
  readonly tool: string
  caller: Caller
  args: string
  recorded: number
  /** Calls that have no event yet. */
  count: number
}

const MINUTE_MS = 60_000
const RECORDED_AT_ONCE = 10

export function createRefusedCalls<Caller>({
  clock,
  record,
  knownTools,
}: {
  readonly clock: Clock
  readonly record: RecordCall<Caller>
  readonly knownTools: ReadonlySet<string>
}) {
  const repeated = new Map<string, Repeated<Caller>>()

  function end(key: string, { caller, tool, args, count }: Repeated<Caller>): void {
    repeated.delete(key)
    if (count > 0) record(caller, tool, args, count - 1)
  }

  return {
    /** Names of tools that do not exist count as one: a caller invents as many as it wants. */
    note(tokenId: number, caller: Caller, tool: string, args: string): void {
      const key = `${tokenId} ${knownTools.has(tool) ? tool : ''}`
      const now = clock.now().getTime()
      const known = repeated.get(key)
      if (known && now - known.since < MINUTE_MS) {
        if (known.recorded < RECORDED_AT_ONCE) {
          known.recorded++
          record(caller, tool, args, 0)
          return
        }
        known.count++
        known.caller = caller
        known.args = args
        return
      }
      if (known) end(key, known)
      repeated.set(key, { since: now, tool, caller, args, recorded: 1, count: 0 })
      record(caller, tool, args, 0)
    },
    /** Records what was counted in minutes that are over; with `isAll` whatever was counted. */
    flush(isAll = false): void {
      const until = clock.now().getTime() - MINUTE_MS
      for (const [key, one] of repeated) if (isAll || one.since <= until) end(key, one)
    },
  }
}
