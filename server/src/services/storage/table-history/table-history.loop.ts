// Adds new states of tables to their histories, one table after the other. One that cannot be added is tried again after a pause.

import { PlatformError } from '../../../kit/errors.ts'
import type { TableHistories } from './table-history.ts'

const EVERY_MS = 1000
const PAUSE_MS = 60_000
const AT_ONCE = 20

export interface TableHistoryLoopDeps {
  readonly histories: Pick<TableHistories, 'maintain' | 'store' | 'inTransaction'>
  readonly now: () => number
  readonly onError: (error: unknown, tableId: string) => void
}

export function createTableHistoryLoop({ histories, now, onError }: TableHistoryLoopDeps) {
  const pausing = new Map<number, number>()
  const stopping = new AbortController()
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> | undefined

  async function tick(): Promise<void> {
    for (const history of await histories.store.listDue(AT_ONCE + pausing.size)) {
      if (stopping.signal.aborted) return
      if ((pausing.get(history.id) ?? 0) > now()) continue
      pausing.delete(history.id)
      try {
        await histories.maintain(history, stopping.signal)
      } catch (error) {
        if (stopping.signal.aborted) return
        if (error instanceof PlatformError && error.code === 'storage.history.advanced') continue // another node was faster
        pausing.set(history.id, now() + PAUSE_MS)
        onError(error, history.tableId)
        await histories.inTransaction((trx) =>
          histories.store.fail(trx, history, error instanceof Error ? error.message : String(error)),
        )
      }
    }
  }

  return {
    tick,
    start(): void {
      timer = setInterval(() => {
        running ??= tick()
          .catch((error: unknown) => onError(error, ''))
          .finally(() => {
            running = undefined
          })
      }, EVERY_MS).unref()
    },
    async stop(): Promise<void> {
      clearInterval(timer)
      stopping.abort()
      await running
    },
  }
}
