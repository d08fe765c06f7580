// Rate limits of sign-ins. Every attempt counts as wrong before it is checked, and only success takes that back, so that a
// hundred at once are no way around it.
//  (1) Wrong ones count by the e-mail together with the address they come from, and by the address alone. Wrong ones from elsewhere never
//      lock a user out: with an e-mail alone that could be done to any user.
//  (2) An address that has tried many e-mails gets a pause, too; a person who has a session from there can still sign in.
//  (3) Unknown e-mails count like others: the response is the same.
//  (4) Authenticator codes count by user, from all addresses: the password was right, so this cannot be used to lock other users out.
// Each node counts (1) and (2) for itself; the oldest counts are evicted first.

import type { Trx } from '../../../engines/metadata-db/dialects.ts'
import { placeOf } from '../../../http/request-limits.ts'
import type { Clock } from '../../../kit/clock.ts'
import { PlatformError } from '../../../kit/errors.ts'
import type { PeopleStore } from './people.store.ts'

/** So many wrong ones in a row are free; then there is a pause that doubles each time. */
const FREE = 5
const FREE_OF_ADDRESS = 10
const FIRST_PAUSE_MS = 30_000
const LONGEST_PAUSE_MS = 15 * 60_000
/** After this time without a wrong password the count restarts. */
const FORGOTTEN_MS = 60 * 60_000
const MAX_KEPT = 10_000

interface Count {
  readonly wrongCount: number
  readonly lockedUntil: number
}

export interface Attempt {
  readonly place: string
  /** The person has a session from this place. */
  readonly isKnown: boolean
  /** It was right after all. */
  succeed(): void
}

export interface AttemptsDeps {
  readonly store: PeopleStore
  readonly clock: Clock
}

export type Attempts = ReturnType<typeof createAttempts>

export function createAttempts({ store, clock }: AttemptsDeps) {
  const ofPairs = new Map<string, Count & { readonly at: number }>()
  const ofPlaces = new Map<string, Count & { readonly at: number }>()

  const secondsLeft = ({ lockedUntil }: Count): number => Math.max(0, Math.ceil((lockedUntil - clock.now().getTime()) / 1000))

  function refuseLocked(count: Count): void {
    const seconds = secondsLeft(count)
    if (seconds > 0) throw new PlatformError('people.locked', { seconds })
  }

  function next({ wrongCount }: Count, free: number): Count {
    const wrong = wrongCount + 1
    const pause = wrong < free ? 0 : Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (wrong - free))
    return { wrongCount: wrong, lockedUntil: pause === 0 ? 0 : clock.now().getTime() + pause }
  }

  function countOf(counts: typeof ofPairs, key: string): Count {
    const count = counts.get(key)
    return count && clock.now().getTime() - count.at < FORGOTTEN_MS ? count : NONE
  }

  function keep(counts: typeof ofPairs, key: string, count: Count): void {
    counts.delete(key)
    if (count.wrongCount === 0) return
    counts.set(key, { ...count, at: clock.now().getTime() })
    if (counts.size > MAX_KEPT) counts.delete(counts.keys().next().value as string) // not empty: one was just added
  }

  return {
    /** Counts as wrong until it succeeds; throws when there were too many. */
    async begin(email: string, personId: number | undefined, address: string | null): Promise<Attempt> {
      const place = placeOf(address ?? '')
      const pair = `${place} ${email}`
      const isKnown =
        personId !== undefined && (await store.listSessions(personId)).some((one) => placeOf(one.address ?? '') === place)
      refuseLocked(countOf(ofPairs, pair))
      if (!isKnown) refuseLocked(countOf(ofPlaces, place))
      keep(ofPairs, pair, next(countOf(ofPairs, pair), FREE))
      if (!isKnown) keep(ofPlaces, place, next(countOf(ofPlaces, place), FREE_OF_ADDRESS))
      return {
        place,
        isKnown,
        succeed() {
          keep(ofPairs, pair, NONE)
          const { wrongCount } = countOf(ofPlaces, place)
          if (!isKnown) keep(ofPlaces, place, { wrongCount: Math.max(0, wrongCount - 1), lockedUntil: 0 })
        },
      }
    },

    /** The same for a code, in the transaction before it is looked at. */
    async countCode(trx: Trx, personId: number): Promise<void> {
      const person = await store.lockPerson(trx, personId)
      if (!person) throw new PlatformError('people.signInFailed')
      refuseLocked(person)
      await store.updatePerson(trx, personId, next(person, FREE))
    },
  }
}

const NONE: Count = { wrongCount: 0, lockedUntil: 0 }
