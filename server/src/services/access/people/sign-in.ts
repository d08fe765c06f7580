// The ways to sign in. Each ends in a new session, or in an error that reveals no more than necessary.

import { isUniqueViolation, type Trx } from '../../../engines/metadata-db/dialects.ts'
import type { Clock } from '../../../kit/clock.ts'
import { PlatformError } from '../../../kit/errors.ts'
import type { Origin } from '../../../model/event.ts'
import type { Members } from '../../../model/members.ts'
import type { AccountEvents } from './account-events.ts'
import type { Attempts } from './attempts.ts'
import type { Authenticators } from './authenticators.ts'
import { checkPassword, type Passwords } from './passwords.ts'
import type { LinkRecord, NewPerson, PeopleStore, PersonRecord, SignInMethod } from './people.store.ts'
import { emailFrom, nameFrom } from './person-values.ts'
import type { NewSession, Sessions } from './sessions.ts'
import type { Links } from './sign-in-links.ts'

export interface SignInDeps {
  readonly store: PeopleStore
  readonly inTransaction: <T>(work: (trx: Trx) => Promise<T>) => Promise<T>
  readonly clock: Clock
  readonly members: Members
  readonly sessions: Sessions
  readonly links: Links
  readonly authenticators: Authenticators
  readonly events: AccountEvents
  readonly passwords: Passwords
  readonly attempts: Attempts
}

export interface PasswordRequest {
  readonly email: string
  readonly password: string
  readonly code?: string | undefined
}

export interface LinkRequest {
  readonly link: string
  readonly name?: string | undefined
  readonly email?: string | undefined
  readonly password?: string | undefined
}

export interface SignedIn {
  readonly person: PersonRecord
  readonly session: NewSession
}

export function createSignIn(deps: SignInDeps) {
  const { store, inTransaction, clock, members, sessions, links, authenticators, events, passwords, attempts } = deps

  async function byPassword({ email: given, password, code }: PasswordRequest, origin: Origin): Promise<SignedIn> {
    const email = given.trim().toLowerCase()
    const person = await store.findPersonByEmail(email)
    const attempt = await attempts.begin(email, person?.id, origin.remoteAddress)
    const isRight = await passwords.isRight(password, person?.password, attempt)
    if (!isRight || !person) throw new PlatformError('people.signInFailed')
    attempt.succeed()
    if (person.totp !== undefined) {
      if (code === undefined || code.trim() === '') throw new PlatformError('people.codeNeeded')
      await inTransaction((trx) => attempts.countCode(trx, person.id))
    }
    return inTransaction(async (trx) => {
      if (person.totp !== undefined) await authenticators.use(trx, person.id, code ?? '')
      await store.updatePerson(trx, person.id, { wrongCount: 0, lockedUntil: 0 })
      return begin(trx, person, 'password', origin)
    })
  }

  async function begin(trx: Trx, person: PersonRecord, method: SignInMethod, origin: Origin): Promise<SignedIn> {
    await events.record(trx, person.id, 'storage.personSignedIn', { method }, origin)
    return { person, session: await sessions.begin(trx, person, method, origin) }
  }

  /** With the link of an invitation, the name and the password of a new user can be set, never those of an existing one. */
  async function byLink(request: LinkRequest, origin: Origin): Promise<SignedIn> {
    const seen = await links.look(request.link)
    const wanted = seen.kind === 'sign-in' ? undefined : await personFrom(seen, request)
    return inTransaction(async (trx) => {
      const link = await links.take(trx, request.link)
      const person = wanted ? await insert(trx, wanted) : await store.findPerson(link.personId ?? 0, trx)
      if (!person) throw new PlatformError('people.linkInvalid')
      if (link.kind === 'sign-in') await store.updatePerson(trx, person.id, { wrongCount: 0, lockedUntil: 0 })
      await accept(trx, person, link, origin)
      return begin(trx, person, 'link', origin)
    })
  }

  async function personFrom(link: LinkRecord, { name, email, password }: LinkRequest): Promise<NewPerson> {
    const given = { email: emailFrom(link.email ?? email), name: nameFrom(name) }
    checkPassword(password ?? '')
    if (await store.findPersonByEmail(given.email)) throw new PlatformError('people.emailTaken', { email: given.email })
    return { ...given, isStackAdmin: link.kind === 'admin', password: await passwords.hash(password ?? ''), subject: undefined }
  }

  async function insert(trx: Trx, person: NewPerson): Promise<PersonRecord> {
    try {
      return await store.insertPerson(trx, person, clock.now())
    } catch (error) {
      if (isUniqueViolation(error)) throw new PlatformError('people.emailTaken', { email: person.email })
      throw error
    }
  }

  async function accept(trx: Trx, person: PersonRecord, { projectId, role }: LinkRecord, origin: Origin): Promise<void> {
    if (projectId === undefined || role === undefined) return
    if (!(await members.find(projectId, person.id, trx))) await members.join(trx, { projectId, person, role }, { origin })
  }

  return { byPassword, byLink, begin, look: links.look, hasPeople: async () => (await store.listPeople()).length > 0 }
}
