// Sessions behind cookies. A session ends when it is idle for a while, when it is old, when its user signs out, and with its
// person. Every sign-in creates a new one, so that a value known before has no use afterwards.

import { hash, randomBytes } from 'node:crypto'
import type { Trx } from '../../../engines/metadata-db/dialects.ts'
import type { Clock } from '../../../kit/clock.ts'
import { createShortMemory } from '../../../kit/short-memory.ts'
import type { RecordChange } from '../../../model/change.ts'
import type { Origin } from '../../../model/event.ts'
import type { Members } from '../../../model/members.ts'
import type { Person } from '../../../model/person.ts'
import type { PeopleStore, PersonRecord, SessionRecord, SignInMethod } from './people.store.ts'

export interface SessionSettings {
  /** Without use it ends after this time. */
  readonly idleMs: number
  /** And in any case after this time. */
  readonly maxMs: number
}

export interface SessionsDeps {
  readonly store: PeopleStore
  readonly inTransaction: <T>(work: (trx: Trx) => Promise<T>) => Promise<T>
  readonly clock: Clock
  readonly members: Members
  /** Ends the live streams of a token; their clients come back with what they then may see, or not at all. */
  readonly recordChange: RecordChange
  readonly settings: SessionSettings
}

/** A session that was just begun; its value exists here and in the cookie only. */
export interface NewSession {
  readonly value: string
  readonly maxAgeSeconds: number
}

const SEEN_EVERY_MS = 60_000

export type Sessions = ReturnType<typeof createSessions>

export function createSessions({ store, inTransaction, clock, members, recordChange, settings }: SessionsDeps) {
  const memory = createShortMemory(clock, load)

  async function begin(trx: Trx, { id }: PersonRecord, method: SignInMethod, origin: Origin): Promise<NewSession> {
    const now = clock.now()
    await store.removeStale(trx, { now, idleBefore: new Date(now.getTime() - settings.idleMs) })
    const value = newSecret()
    await store.insertSession(trx, {
      personId: id,
      hash: hashOf(value),
      method,
      address: origin.remoteAddress,
      userAgent: origin.userAgent,
      createdAt: now,
      expiresAt: new Date(now.getTime() + settings.maxMs),
    })
    return { value, maxAgeSeconds: Math.floor(settings.maxMs / 1000) }
  }

  function find(value: string): Person | undefined | Promise<Person | undefined> {
    const known = memory.get(hashOf(value))
    return known instanceof Promise ? known.then(current) : current(known)
  }

  const current = (known: { readonly session: SessionRecord; readonly person: Person } | undefined): Person | undefined =>
    known && isGood(known.session) ? known.person : undefined

  function isGood({ seenAt, expiresAt }: SessionRecord): boolean {
    const now = clock.now().getTime()
    return expiresAt.getTime() > now && seenAt.getTime() + settings.idleMs > now
  }

  async function load(key: string): Promise<{ session: SessionRecord; person: Person } | undefined> {
    const found = await store.findSession(key)
    const record = found && isGood(found) ? await store.findPerson(found.personId) : undefined
    if (!found || !record) return undefined
    const session = await seen(found)
    const { id, name, email, isStackAdmin } = record
    return { session, person: { id, name, email, isStackAdmin, sessionId: session.id } }
  }

  /** Written once a minute at most: a console sends several requests a second. */
  async function seen(session: SessionRecord): Promise<SessionRecord> {
    const now = clock.now()
    if (now.getTime() - session.seenAt.getTime() < SEEN_EVERY_MS) return session
    await inTransaction((trx) => store.touchSession(trx, session.id, now))
    return { ...session, seenAt: now }
  }

  /** `only` one of them, all `except` one, or all. Returns how many there were. Call `forget` when the transaction has ended. */
  async function end(trx: Trx, personId: number, which: { only?: number; except?: number | undefined } = {}): Promise<number> {
    const ended = await store.removeSessions(trx, personId, which)
    if (ended > 0) await endStreams(trx, personId)
    return ended
  }

  async function endStreams(trx: Trx, personId: number): Promise<void> {
    const tokens = await members.ofPerson(personId, trx)
    await recordChange(
      trx,
      tokens.map(({ projectId, tokenId }) => ({
        projectId,
        kind: 'token',
        objectId: String(tokenId),
        state: 'changed',
        version: null,
        branchId: null,
        componentId: null,
        tokenId,
      })),
    )
  }

  return {
    begin,
    find,
    end,
    forget: memory.forget,
    list: async (personId: number) => (await store.listSessions(personId)).filter(isGood),
  }
}

/** Too long to guess, so that a quick hash is enough to keep. */
export const newSecret = (): string => randomBytes(32).toString('base64url')
export const hashOf = (value: string): string => hash('sha256', value, 'hex')
