// The budgets of a token: so many calls of a kind on a day (UTC).

import type { Trx } from '../../../engines/metadata-db/dialects.ts'
import type { Clock } from '../../../kit/clock.ts'
import { PlatformError } from '../../../kit/errors.ts'
import type { Actor } from '../../../model/actor.ts'
import { addCall, type Counted, deleteOldCalls } from './budgets.store.ts'

export interface BudgetsDeps {
  readonly inTransaction: <T>(work: (trx: Trx) => Promise<T>) => Promise<T>
  readonly clock: Clock
}

/** Counts a call and returns how many are left; refuses the one after the last. */
export type Spend = (actor: Actor) => Promise<number>

const DAY_MS = 86_400_000
const SPENT = { calls: 'mcp.budgetSpent', model_calls: 'ai.budgetSpent' } as const satisfies Record<Counted, string>

export const createBudgets =
  ({ inTransaction, clock }: BudgetsDeps) =>
  (counted: Counted, perDay: number): Spend =>
  async ({ projectId, tokenId }) => {
    const now = clock.now()
    const day = now.toISOString().slice(0, 10)
    const calls = await inTransaction(async (trx) => {
      const count = await addCall(trx, projectId, tokenId, day, counted)
      if (count === 1) await deleteOldCalls(trx, projectId, tokenId, day)
      return count
    })
    if (calls > perDay) {
      const seconds = Math.ceil((DAY_MS - (now.getTime() % DAY_MS)) / 1000)
      throw new PlatformError(SPENT[counted], { limit: perDay, seconds })
    }
    return perDay - calls
  }
