// Who belongs to a project: an admin of it, or a stack admin, invites, changes roles and removes. Everything takes effect at once.

import { isUniqueViolation, type Trx } from '../../../engines/metadata-db/dialects.ts'
import type { Clock } from '../../../kit/clock.ts'
import { PlatformError } from '../../../kit/errors.ts'
import type { Role } from '../../../model/actor.ts'
import { eventOf, type Origin, type RecordEvent } from '../../../model/event.ts'
import { type Member, type Members, sourceOf } from '../../../model/members.ts'
import type { Person } from '../../../model/person.ts'
import type { LinkRecord, PeopleStore } from './people.store.ts'
import { emailFrom } from './person-values.ts'
import type { Links } from './sign-in-links.ts'

export interface ProjectPeopleDeps {
  readonly store: PeopleStore
  /** One transaction; afterwards no cache keeps an old response. */
  readonly change: <T>(work: (trx: Trx) => Promise<T>) => Promise<T>
  readonly clock: Clock
  readonly members: Members
  readonly links: Links
  readonly recordEvent: RecordEvent
  readonly projectExists: (id: number) => Promise<boolean>
}

export interface InvitationRequest {
  readonly email: string
  readonly role: Role
  readonly expirationSeconds?: number | undefined
}

export function createProjectPeople({ store, change, clock, members, links, recordEvent, projectExists }: ProjectPeopleDeps) {
  /** A stack admin who comes by becomes an admin of the project, so that what they do there carries their name. */
  async function memberFor(person: Person, projectId: number): Promise<Member> {
    const member = await members.find(projectId, person.id)
    if (member) return member
    if (!person.isStackAdmin || !(await projectExists(projectId))) throw notMember(projectId)
    try {
      return await change(
        async (trx) =>
          (await members.find(projectId, person.id, trx)) ??
          members.join(trx, { projectId, person, role: 'admin', isAutomatic: true }, {}),
      )
    } catch (error) {
      const other = isUniqueViolation(error) ? await members.find(projectId, person.id) : undefined // another request was faster
      if (other) return other
      throw error
    }
  }

  async function adminIn(person: Person, projectId: number): Promise<Member> {
    const member = await memberFor(person, projectId)
    if (member.role !== 'admin' && !person.isStackAdmin)
      throw new PlatformError('people.adminNeeded', { who: `an admin of project ${projectId}` })
    return member
  }

  async function list(person: Person, projectId: number): Promise<Member[]> {
    await memberFor(person, projectId)
    return members.inProject(projectId)
  }

  /** An existing user joins at once; others are invited. */
  async function add(by: Person, projectId: number, { email, role }: InvitationRequest, origin: Origin): Promise<Member> {
    const admin = await adminIn(by, projectId)
    const person = await store.findPersonByEmail(emailFrom(email))
    if (!person) throw new PlatformError('people.unknownEmail', { email: emailFrom(email) })
    const present = await members.find(projectId, person.id)
    if (present && !present.isAutomatic)
      throw new PlatformError('people.memberAlready', { name: person.name, role: present.role })
    return change((trx) =>
      present
        ? members.changeRole(trx, projectId, person.id, role, { source: sourceOf(admin), origin })
        : members.join(trx, { projectId, person, role }, { source: sourceOf(admin), origin }),
    )
  }

  async function changeRole(by: Person, projectId: number, personId: number, role: Role, origin: Origin): Promise<Member> {
    const admin = await adminIn(by, projectId)
    return change((trx) => members.changeRole(trx, projectId, personId, role, { source: sourceOf(admin), origin }))
  }

  /** Every member may leave; others are removed by an admin. */
  async function remove(by: Person, projectId: number, personId: number, origin: Origin): Promise<void> {
    const member = await (by.id === personId ? memberFor(by, projectId) : adminIn(by, projectId))
    await change((trx) => members.leave(trx, projectId, personId, { source: sourceOf(member), origin }))
  }

  async function listInvitations(by: Person, projectId: number): Promise<LinkRecord[]> {
    await adminIn(by, projectId)
    return store.listInvitations(projectId, clock.now())
  }

  /** An invitation creates a new user. An existing user would give it access to their account: they are added instead. */
  async function invite(by: Person, projectId: number, request: InvitationRequest, origin: Origin) {
    const { role, expirationSeconds } = request
    const admin = await adminIn(by, projectId)
    const email = emailFrom(request.email)
    if (await store.findPersonByEmail(email)) throw new PlatformError('people.emailTaken', { email })
    return change(async (trx) => {
      const lasts = expirationSeconds === undefined ? {} : { lastsMs: expirationSeconds * 1000 }
      const made = await links.make(trx, { kind: 'invitation', projectId, email, role, creator: by.name, ...lasts })
      await recordEvent(trx, sourceOf(admin), eventOf('storage.personInvited', { email, role }, objectOf(projectId)), origin)
      return made
    })
  }

  async function takeBack(by: Person, projectId: number, id: number, origin: Origin): Promise<void> {
    const admin = await adminIn(by, projectId)
    await change(async (trx) => {
      const link = await store.removeInvitation(trx, projectId, id)
      if (!link) throw new PlatformError('notFound', { what: `Invitation ${id}` })
      const params = { email: link.email, role: link.role }
      const event = eventOf('storage.personInvitationDeleted', params, objectOf(projectId))
      await recordEvent(trx, sourceOf(admin), event, origin)
    })
  }

  return { memberFor, adminIn, list, add, changeRole, remove, listInvitations, invite, takeBack }
}

const objectOf = (projectId: number) => ({ objectId: String(projectId) })

export const notMember = (projectId: number) => new PlatformError('people.notMember', { project: `project ${projectId}` })
