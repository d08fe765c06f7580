// The people of a stack. Their accounts, sign-in, and the tokens that represent them in projects.
//  1. Of every secret (password, session, link, recovery code, manage token) only a hash is kept; the key of an authenticator is a cipher.
//  2. What a person does in a project is done by their token there, so every record shows their name in the public shape.
//  3. A change of a person takes effect at once: on this node with its transaction, on others within half a second.
//  4. There is always a stack admin, once there was one.

import type { Db, Trx } from '../../../engines/metadata-db/dialects.ts'
import type { Clock } from '../../../kit/clock.ts'
import { PlatformError } from '../../../kit/errors.ts'
import { createShortMemory } from '../../../kit/short-memory.ts'
import type { Actor, Role } from '../../../model/actor.ts'
import type { Admin } from '../../../model/admin.ts'
import type { RecordChange } from '../../../model/change.ts'
import type { EventSource, Origin, RecordEvent } from '../../../model/event.ts'
import { type Member, type Members, sourceOf } from '../../../model/members.ts'
import type { Person, PersonFinder } from '../../../model/person.ts'
import { createAccount } from './account.ts'
import { createAccountEvents } from './account-events.ts'
import { createAttempts } from './attempts.ts'
import { type AuthenticatorsDeps, createAuthenticators } from './authenticators.ts'
import { createOidcSignIn, type OidcPolicy } from './oidc-sign-in.ts'
import { createPasswords, type PasswordCost } from './passwords.ts'
import { createPeopleStore, type PersonRecord } from './people.store.ts'
import { emailFrom } from './person-values.ts'
import { createProjectPeople, notMember } from './project-people.ts'
import { createSessions, hashOf, type SessionSettings } from './sessions.ts'
import { createSignIn } from './sign-in.ts'
import { createLinks } from './sign-in-links.ts'

export interface PeopleDeps {
  readonly db: Db
  readonly inTransaction: <T>(work: (trx: Trx) => Promise<T>) => Promise<T>
  readonly clock: Clock
  readonly recordEvent: RecordEvent
  readonly recordChange: RecordChange
  readonly members: Members
  /** The rights of a member's token; undefined when the project is gone. */
  readonly admit: (projectId: number, tokenId: number) => Promise<Actor | undefined>
  /** When the token of a person changed. */
  readonly forgetTokens: () => void
  readonly projects: () => Promise<readonly { readonly id: number; readonly name: string }[]>
  readonly cipher: Pick<AuthenticatorsDeps, 'seal' | 'open'>
  readonly sessionSettings: SessionSettings
  readonly oidcPolicy: OidcPolicy
  readonly passwordCost: PasswordCost
}

export type People = ReturnType<typeof createPeople>

export function createPeople(deps: PeopleDeps) {
  const { db, inTransaction, clock, recordEvent, members } = deps
  const store = createPeopleStore(db)
  const sessions = createSessions({ ...deps, store, settings: deps.sessionSettings })
  const links = createLinks({ store, clock })
  const authenticators = createAuthenticators({ store, clock, ...deps.cipher })
  const events = createAccountEvents({ members, recordEvent })
  const passwords = createPasswords(deps.passwordCost)
  const attempts = createAttempts({ store, clock })
  const memory = createShortMemory(clock, loadMember)

  async function change<T>(work: (trx: Trx) => Promise<T>): Promise<T> {
    try {
      return await inTransaction(work)
    } finally {
      sessions.forget()
      memory.forget()
      deps.forgetTokens()
    }
  }

  const shared = { ...deps, store, sessions, links, authenticators, events, passwords, attempts, change, inTransaction: change }
  const signIn = createSignIn(shared)
  const account = createAccount(shared)
  const signInByIdentity = createOidcSignIn({ ...shared, begin: signIn.begin, policy: deps.oidcPolicy })
  const inProject = createProjectPeople({
    ...shared,
    projectExists: async (id) => (await deps.projects()).some((one) => one.id === id),
  })

  async function loadMember(key: string): Promise<Member | undefined> {
    const [projectId, personId] = key.split('-').map(Number) as [number, number] // as actorOf writes it
    return members.find(projectId, personId)
  }

  async function actorOf(person: Person, wanted: number | undefined): Promise<Actor> {
    const projectId = wanted ?? (await onlyProjectOf(person))
    const member = (await memory.get(`${projectId}-${person.id}`)) ?? (await inProject.memberFor(person, projectId))
    const actor = await deps.admit(projectId, member.tokenId)
    if (!actor) throw notMember(projectId)
    return actor
  }

  async function onlyProjectOf(person: Person): Promise<number> {
    const [only, ...others] = await projectsOf(person)
    if (!only) throw new PlatformError('people.notMember', { project: 'any project' })
    if (others.length > 0) {
      const names = [only, ...others].slice(0, 20).map(({ id, name }) => `${id} (${name})`)
      throw new PlatformError('people.projectMissing', { projects: names.join(', ') })
    }
    return only.id
  }

  /** A stack admin has all of them. */
  async function projectsOf(person: Person) {
    const own = new Map((await members.ofPerson(person.id)).map((member) => [member.projectId, member]))
    return (await deps.projects())
      .filter(({ id }) => person.isStackAdmin || own.has(id))
      .map(({ id, name }) => ({ id, name, role: own.get(id)?.role ?? ('admin' as const) }))
  }

  async function ofManageToken(value: string): Promise<Person | undefined> {
    const token = await store.findManageToken(hashOf(value))
    if (!token || (token.expiresAt && token.expiresAt <= clock.now())) return undefined
    const person = await store.findPerson(token.personId)
    return person && personOf(person)
  }

  const finder: PersonFinder = { ofSession: sessions.find, ofManageToken, actorOf }

  async function get(id: number): Promise<PersonRecord> {
    const person = await store.findPerson(id)
    if (!person) throw new PlatformError('notFound', { what: `Person ${id}` })
    return person
  }

  /** By id or by e-mail, as operators and the management API name people. */
  async function getNamed(text: string): Promise<PersonRecord> {
    const person = /^\d{1,15}$/.test(text) ? await store.findPerson(Number(text)) : await store.findPersonByEmail(emailFrom(text))
    if (!person) throw new PlatformError('notFound', { what: `Person ${text.slice(0, 80)}` })
    return person
  }

  /** A share target: by id or e-mail. */
  async function findAdmin(text: string): Promise<Admin | undefined> {
    const person = /^\d{1,15}$/.test(text)
      ? await store.findPerson(Number(text))
      : await store.findPersonByEmail(text.trim().toLowerCase())
    return person && { id: person.id, name: person.name, email: person.email }
  }

  /** From the whole stack: their sessions, tokens and open streams end in the same transaction. */
  async function remove(id: number, origin: Origin, by?: Person): Promise<void> {
    const person = await get(id)
    await change(async (trx) => {
      await keepAnAdmin(trx, person)
      for (const member of await members.ofPerson(id, trx)) {
        const { projectId } = member
        const admin = by && by.id !== id ? await members.find(projectId, by.id, trx) : undefined
        const who = { source: admin && sourceOf(admin), origin }
        await members.endTokensMadeBy(trx, member, who)
        await members.leave(trx, projectId, id, who)
      }
      await store.removePerson(trx, id)
    })
  }

  async function setStackAdmin(id: number, isStackAdmin: boolean, origin: Origin): Promise<PersonRecord> {
    const person = await get(id)
    await change(async (trx) => {
      if (!isStackAdmin) {
        await keepAnAdmin(trx, person)
        for (const { projectId, isAutomatic } of await members.ofPerson(id, trx))
          if (isAutomatic) await members.leave(trx, projectId, id, { origin })
      }
      await store.updatePerson(trx, id, { isStackAdmin })
      await events.record(
        trx,
        id,
        'storage.personAccountChanged',
        { what: isStackAdmin ? 'stack admin' : 'no stack admin' },
        origin,
      )
    })
    return { ...person, isStackAdmin }
  }

  async function keepAnAdmin(trx: Trx, { id, name, isStackAdmin }: PersonRecord): Promise<void> {
    const others = (await store.listPeopleAlone(trx)).filter((one) => one.isStackAdmin && one.id !== id)
    if (isStackAdmin && others.length === 0) throw new PlatformError('people.lastAdmin', { name })
  }

  function needStackAdmin({ isStackAdmin }: Person): void {
    if (!isStackAdmin) throw new PlatformError('people.adminNeeded', { who: 'a stack admin' })
  }

  /** For the terminal of the machine: its owner needs no permission. */
  async function inviteFromMachine(projectId: number, email: string, role: Role): Promise<string> {
    if (!(await deps.projects()).some(({ id }) => id === projectId))
      throw new PlatformError('notFound', { what: `Project ${projectId}` })
    const invited = emailFrom(email)
    if (await store.findPersonByEmail(invited)) throw new PlatformError('people.emailTaken', { email: invited })
    const link = { kind: 'invitation', projectId, email: invited, role, creator: 'The owner of the stack' } as const
    return (await change((trx) => links.make(trx, link))).value
  }

  /** For the terminal of the machine: a new stack admin, or the session of a person who is there. */
  async function makeSignInLink(email?: string): Promise<string> {
    const person = email === undefined ? undefined : await getNamed(email)
    const { value } = await change((trx) =>
      links.make(trx, person ? { kind: 'sign-in', personId: person.id } : { kind: 'admin' }),
    )
    return value
  }

  return {
    finder,
    signIn,
    signInByIdentity,
    account,
    inProject,
    projectsOf,
    get,
    getNamed,
    findAdmin,
    list: () => store.listPeople(),
    remove,
    setStackAdmin,
    makeSignInLink,
    inviteFromMachine,
    needStackAdmin,
    /** A stack admin as the source of events of a project. */
    asStackAdmin: async (person: Person, projectId: number): Promise<EventSource> => {
      needStackAdmin(person)
      return sourceOf(await inProject.memberFor(person, projectId))
    },
    /** The same of the oldest project, for what concerns the whole stack; undefined while there is none. */
    asStackAdminOfOldest: async (person: Person): Promise<EventSource | undefined> => {
      needStackAdmin(person)
      const [oldest] = await deps.projects()
      return oldest && sourceOf(await inProject.memberFor(person, oldest.id))
    },
    /** Holders of the manage token of the stack, which belongs to no user. */
    asStack: async (): Promise<EventSource | undefined> => {
      const [oldest] = await deps.projects()
      return oldest && { projectId: oldest.id, tokenId: 0, tokenDescription: 'manage token of the stack' }
    },
  }
}

export const personOf = ({ id, name, email, isStackAdmin }: PersonRecord): Person => ({
  id,
  name,
  email,
  isStackAdmin,
  sessionId: undefined,
})
