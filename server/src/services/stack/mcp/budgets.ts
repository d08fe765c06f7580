// The budget of a token: so many calls of tools on a day (UTC).

import type { Trx } from '../../../engines/metadata-db/dialects.ts'
import type { Clock } from '../../../kit/clock.ts'
import { PlatformError } from '../../../kit/errors.ts'
import type { Actor } from '../../../model/actor.ts'
import { addCall, deleteOldCalls } from './budgets.store.ts'

export interface BudgetsDeps {
  readonly inTransaction: <T>(work: (trx: Trx) => Promise<T>) => Promise<T>
  readonly clock: Clock
  readonly callsPerDay: number
}

const DAY_MS = 86_400_000

export function createBudgets({ inTransaction, clock, callsPerDay }: BudgetsDeps) {
  /** Counts a call and returns how many are left; refuses the one after the last. */
  return async ({ projectId, tokenId }: Actor): Promise<number> => {
    const now = clock.now()
    const day = now.toISOString().slice(0, 10)
    const calls = await inTransaction(async (trx) => {
      const count = await addCall(trx, projectId, tokenId, day)
      if (count === 1) await deleteOldCalls(trx, projectId, tokenId, day)
      return count
    })
    if (calls > callsPerDay) {
      const seconds = Math.ceil((DAY_MS - (now.getTime() % DAY_MS)) / 1000)
      throw new PlatformError('mcp.budgetSpent', { limit: callsPerDay, seconds })
    }
    return callsPerDay - calls
  }
}
