// When tokens were last used. Every request uses one, so nothing is written with the request: all tokens used since the last flush are
// written once a minute, in one transaction. A node that is killed loses a minute at most.

import type { Trx } from '../../../engines/metadata-db/dialects.ts'
import type { Clock } from '../../../kit/clock.ts'
import type { Actor } from '../../../model/actor.ts'
import type { TokensStore } from './tokens.store.ts'

export interface LastUseDeps {
  readonly store: Pick<TokensStore, 'markUsed'>
  readonly inTransaction: <T>(work: (trx: Trx) => Promise<T>) => Promise<T>
  readonly clock: Clock
}

export interface LastUse {
  note(actor: Actor): void
  /** Writes what was noted. */
  write(): Promise<void>
}

export function createLastUse({ store, inTransaction, clock }: LastUseDeps): LastUse {
  /** Id of the token to that of its project. */
  let used = new Map<number, number>()

  return {
    note: ({ tokenId, projectId }) => void used.set(tokenId, projectId),
    async write() {
      const batch = used
      if (batch.size === 0) return
      used = new Map()
      try {
        await inTransaction(async (trx) => {
          for (const [projectId, uses] of Map.groupBy(batch, ([, project]) => project)) {
            const ids = uses.map(([tokenId]) => tokenId)
            await store.markUsed(trx, projectId, ids, clock.now())
          }
        })
      } catch (error) {
        used = new Map([...batch, ...used])
        throw error
      }
    },
  }
}
