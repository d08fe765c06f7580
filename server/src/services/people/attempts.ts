// How often somebody may try to sign in as a person. Every attempt counts as wrong before it is looked at, and only success takes that
// back, so that a hundred at once are no way around it. E-mails that nobody has are counted as well, in memory: the answer is the same.

import type { Trx } from '../../engines/metadata-db/dialects.ts'
import type { Clock } from '../../kit/clock.ts'
import { PlatformError } from '../../kit/errors.ts'
import type { PeopleStore, PersonRecord } from './people.store.ts'

/** So many wrong ones in a row are free; then there is a pause that doubles each time. */
const FREE = 5
const FIRST_PAUSE_MS = 30_000
const LONGEST_PAUSE_MS = 15 * 60_000
const MOST_KEPT = 10_000

interface Count {
  readonly wrongCount: number
  readonly lockedUntil: number
}

export interface AttemptsDeps {
  readonly store: PeopleStore
  readonly inTransaction: <T>(work: (trx: Trx) => Promise<T>) => Promise<T>
  readonly clock: Clock
}

export function createAttempts({ store, inTransaction, clock }: AttemptsDeps) {
  const strangers = new Map<string, Count>()

  function next({ wrongCount, lockedUntil }: Count): Count {
    const now = clock.now().getTime()
    if (lockedUntil > now) throw new PlatformError('people.locked', { seconds: Math.ceil((lockedUntil - now) / 1000) })
    const wrong = wrongCount + 1
    const pause = wrong < FREE ? 0 : Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (wrong - FREE))
    return { wrongCount: wrong, lockedUntil: pause === 0 ? 0 : now + pause }
  }

  function countStranger(email: string): void {
    const count = next(strangers.get(email) ?? { wrongCount: 0, lockedUntil: 0 })
    strangers.delete(email)
    strangers.set(email, count)
    if (strangers.size > MOST_KEPT) strangers.delete(strangers.keys().next().value as string) // not empty: one was just added
  }

  return {
    /** The person as they were before this attempt; undefined: nobody has the e-mail. Throws when there were too many. */
    async count(email: string): Promise<PersonRecord | undefined> {
      const found = await store.findPersonByEmail(email)
      if (!found) {
        countStranger(email)
        return undefined
      }
      return inTransaction(async (trx) => {
        const person = await store.lockPerson(trx, found.id)
        if (person) await store.updatePerson(trx, person.id, next(person))
        return person
      })
    },
  }
}
