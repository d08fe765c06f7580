// Sign-in by the operator's identity provider. A user is found by their subject, then by their verified e-mail; others need an
// invitation, or an e-mail of a domain that the operator lets in.

import { isUniqueViolation, type Trx } from '../../../engines/metadata-db/dialects.ts'
import type { OidcIdentity } from '../../../engines/oidc/oidc.ts'
import type { Clock } from '../../../kit/clock.ts'
import { PlatformError } from '../../../kit/errors.ts'
import type { Role } from '../../../model/actor.ts'
import type { Origin } from '../../../model/event.ts'
import type { Members } from '../../../model/members.ts'
import type { PeopleStore, PersonRecord } from './people.store.ts'
import { emailFrom, nameFrom } from './person-values.ts'
import type { SignedIn } from './sign-in.ts'

/** Whom the operator lets in without an invitation. */
export interface OidcPolicy {
  readonly domains: readonly string[]
  /** Their role, and in which project; undefined: they belong to no project until they are added. */
  readonly role: Role | undefined
  readonly projectId: number
}

/** Only existing or invited people. */
export const NO_POLICY: OidcPolicy = { domains: [], role: undefined, projectId: 1 }

export interface OidcSignInDeps {
  readonly store: PeopleStore
  readonly change: <T>(work: (trx: Trx) => Promise<T>) => Promise<T>
  readonly clock: Clock
  readonly members: Members
  readonly begin: (trx: Trx, person: PersonRecord, method: 'oidc', origin: Origin) => Promise<SignedIn>
  readonly policy: OidcPolicy
}

export function createOidcSignIn({ store, change, clock, members, begin, policy }: OidcSignInDeps) {
  async function byIdentity(identity: OidcIdentity, origin: Origin): Promise<SignedIn> {
    try {
      return await change(async (trx) => {
        const person = (await store.findPersonBySubject(identity.subject, trx)) ?? (await byEmail(trx, identity, origin))
        return begin(trx, person, 'oidc', origin)
      })
    } catch (error) {
      // Two sign-ins of a new person at once: the second finds what the first made.
      if (!isUniqueViolation(error)) throw error
      return change(async (trx) => begin(trx, (await store.findPersonBySubject(identity.subject, trx))!, 'oidc', origin))
    }
  }

  async function byEmail(trx: Trx, identity: OidcIdentity, origin: Origin): Promise<PersonRecord> {
    if (identity.email === undefined || !identity.isEmailVerified) throw new PlatformError('people.oidcEmail')
    const email = emailFrom(identity.email)
    const known = await store.findPersonByEmail(email, trx)
    // The e-mail may belong to another user now: the provider must not give access to their account.
    if (known?.subject !== undefined) throw new PlatformError('people.oidcUnknown', { email })
    if (known) {
      await store.updatePerson(trx, known.id, { subject: identity.subject })
      return known
    }
    return join(trx, email, identity, origin)
  }

  async function join(trx: Trx, email: string, { subject, name }: OidcIdentity, origin: Origin): Promise<PersonRecord> {
    const invitations = await store.takeInvitationsOf(trx, email, clock.now())
    const isLetIn = policy.domains.includes(email.split('@')[1]!)
    if (invitations.length === 0 && !isLetIn) throw new PlatformError('people.oidcUnknown', { email })
    const given = { email, name: nameFrom(name ?? email), isStackAdmin: false, password: undefined, subject }
    const person = await store.insertPerson(trx, given, clock.now())
    const places = new Map(invitations.map(({ projectId, role }) => [projectId!, role!])) // an invitation has both
    if (isLetIn && policy.role !== undefined && !places.has(policy.projectId)) places.set(policy.projectId, policy.role)
    for (const [projectId, role] of places) await members.join(trx, { projectId, person, role }, { origin })
    return person
  }

  return byIdentity
}
