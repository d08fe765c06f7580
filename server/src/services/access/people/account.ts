// What people do with their own account: name, password, authenticator, sessions and manage tokens.

import type { Trx } from '../../../engines/metadata-db/dialects.ts'
import type { Clock } from '../../../kit/clock.ts'
import { PlatformError } from '../../../kit/errors.ts'
import { readStored } from '../../../kit/stored-json.ts'
import type { Origin } from '../../../model/event.ts'
import type { Members } from '../../../model/members.ts'
import type { Person } from '../../../model/person.ts'
import type { AccountEvents } from './account-events.ts'
import type { Attempts } from './attempts.ts'
import type { Authenticators } from './authenticators.ts'
import { checkPassword, type Passwords } from './passwords.ts'
import type { ManageTokenRecord, PeopleStore, PersonRecord } from './people.store.ts'
import { nameFrom } from './person-values.ts'
import { hashOf, newSecret, type Sessions } from './sessions.ts'

export interface AccountDeps {
  readonly store: PeopleStore
  /** One transaction; afterwards no cache keeps an old response. */
  readonly change: <T>(work: (trx: Trx) => Promise<T>) => Promise<T>
  readonly clock: Clock
  readonly members: Members
  readonly sessions: Sessions
  readonly authenticators: Authenticators
  readonly attempts: Attempts
  readonly events: AccountEvents
  readonly passwords: Passwords
}

const MAX_MANAGE_TOKENS = 100
const MAX_PREFERENCES = 1000
const MAX_PREFERENCE_CHARS = 20_000
const PREFERENCE_NAME = /^[\w.:-]{1,300}$/
/** Distinguishes the manage token of a person from that of the stack, which may not begin with it; both use one header. */
const PERSON_TOKEN = 'person-'

export function createAccount(deps: AccountDeps) {
  const { store, change, clock, members, sessions, authenticators, attempts, events, passwords } = deps

  async function get({ id }: Person): Promise<PersonRecord> {
    const person = await store.findPerson(id)
    if (!person) throw new PlatformError('people.notSignedIn')
    return person
  }

  async function rename(person: Person, name: string, origin: Origin): Promise<PersonRecord> {
    const record = { ...(await get(person)), name: nameFrom(name) }
    await change(async (trx) => {
      await store.updatePerson(trx, person.id, { name: record.name })
      await members.rename(trx, person.id, record)
      await events.record(trx, person.id, 'storage.personAccountChanged', { what: 'name' }, origin)
    })
    return record
  }

  /** Users with a password enter it again, so that an unattended session is not enough. Wrong ones count as at sign-in. */
  async function confirm(person: Person, password: string | undefined, origin: Origin): Promise<PersonRecord> {
    const record = await get(person)
    const attempt = await attempts.begin(person.email, person.id, origin.remoteAddress)
    const isRight = record.password === undefined || (await passwords.isRight(password ?? '', record.password, attempt))
    if (!isRight) throw new PlatformError('people.passwordWrong')
    attempt.succeed()
    return record
  }

  /** The other sessions end: the password may have been changed because it leaked. */
  async function setPassword(
    person: Person,
    request: { current?: string | undefined; password: string },
    origin: Origin,
  ): Promise<void> {
    checkPassword(request.password)
    await confirm(person, request.current, origin)
    const password = await passwords.hash(request.password)
    await change(async (trx) => {
      await store.updatePerson(trx, person.id, { password })
      await sessions.end(trx, person.id, { except: person.sessionId })
      await events.record(trx, person.id, 'storage.personAccountChanged', { what: 'password' }, origin)
    })
  }

  async function turnOnAuthenticator(
    person: Person,
    request: { secret: string; code: string; password?: string | undefined },
    origin: Origin,
  ): Promise<readonly string[]> {
    const record = await confirm(person, request.password, origin)
    const { kept, codes } = await authenticators.prepare(record, request.secret, request.code)
    return change(async (trx) => {
      await store.updatePerson(trx, person.id, kept)
      await sessions.end(trx, person.id, { except: person.sessionId })
      await events.record(trx, person.id, 'storage.personAccountChanged', { what: 'authenticator on' }, origin)
      return codes
    })
  }

  async function turnOffAuthenticator(person: Person, password: string | undefined, origin: Origin): Promise<void> {
    await confirm(person, password, origin)
    await change(async (trx) => {
      await authenticators.turnOff(trx, person.id)
      await events.record(trx, person.id, 'storage.personAccountChanged', { what: 'authenticator off' }, origin)
    })
  }

  async function endSession(person: Person, id: number, origin: Origin): Promise<void> {
    if ((await endSessions(person, { only: id }, origin)) === 0) throw new PlatformError('notFound', { what: `Session ${id}` })
  }

  const endSessions = (person: Person, which: Parameters<typeof sessions.end>[2], origin: Origin): Promise<number> =>
    change(async (trx) => {
      const ended = await sessions.end(trx, person.id, which)
      if (ended > 0) await events.record(trx, person.id, 'storage.personSessionsEnded', { count: ended }, origin)
      return ended
    })

  async function createManageToken(
    person: Person,
    request: { description: string; expiresIn?: number | undefined },
    origin: Origin,
  ): Promise<{ readonly token: ManageTokenRecord; readonly value: string }> {
    const now = clock.now()
    if ((await store.listManageTokens(person.id)).length >= MAX_MANAGE_TOKENS)
      throw invalid('description', `You have ${MAX_MANAGE_TOKENS} manage tokens. Delete one that is not used.`)
    const value = `${PERSON_TOKEN}${newSecret()}`
    const token = await change(async (trx) => {
      await events.record(trx, person.id, 'storage.personAccountChanged', { what: 'manage token created' }, origin)
      return store.insertManageToken(trx, {
        personId: person.id,
        hash: hashOf(value),
        description: request.description,
        createdAt: now,
        expiresAt: request.expiresIn === undefined ? undefined : new Date(now.getTime() + request.expiresIn * 1000),
      })
    })
    return { token, value }
  }

  async function deleteManageToken(person: Person, id: number, origin: Origin): Promise<void> {
    await change(async (trx) => {
      if (!(await store.removeManageToken(trx, person.id, id)))
        throw new PlatformError('notFound', { what: `Manage token ${id}` })
      await events.record(trx, person.id, 'storage.personAccountChanged', { what: 'manage token deleted' }, origin)
    })
  }

  /** Private preferences of a person, such as favourite tables: values by name. No other user reads them, so changes record no event. */
  const listPreferences = async (person: Person): Promise<Readonly<Record<string, unknown>>> =>
    Object.fromEntries((await store.listPreferences(person.id)).map(({ name, value }) => [name, readStored(value)]))

  async function setPreference(person: Person, name: string, value: unknown): Promise<void> {
    const text = JSON.stringify(value ?? null)
    if (!PREFERENCE_NAME.test(name)) throw invalid('name', 'Use up to 300 letters, digits, dots, colons, dashes and underscores.')
    if (text.length > MAX_PREFERENCE_CHARS)
      throw invalid('value', `It has ${text.length} characters as JSON; at most ${MAX_PREFERENCE_CHARS} are stored.`)
    await change(async (trx) => {
      const all = await store.listPreferences(person.id)
      if (all.length >= MAX_PREFERENCES && !all.some((one) => one.name === name))
        throw invalid('name', `You have ${MAX_PREFERENCES} preferences. Delete one that is not used.`)
      await store.setPreference(trx, person.id, name, text)
    })
  }

  return {
    get,
    listPreferences,
    setPreference,
    removePreference: (person: Person, name: string) => change((trx) => store.removePreference(trx, person.id, name)),
    rename,
    setPassword,
    proposeAuthenticator: authenticators.propose,
    turnOnAuthenticator,
    turnOffAuthenticator,
    listSessions: (person: Person) => sessions.list(person.id),
    endSession,
    endOtherSessions: (person: Person, origin: Origin) => endSessions(person, { except: person.sessionId }, origin),
    signOut: (person: Person, origin: Origin) => endSessions(person, { only: person.sessionId ?? 0 }, origin),
    listManageTokens: (person: Person) => store.listManageTokens(person.id),
    createManageToken,
    deleteManageToken,
  }
}

const invalid = (field: string, reason: string) => new PlatformError('people.invalid', { field, reason })
