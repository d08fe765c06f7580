// The token that a person has in a project. It carries the name and the role of the person, so that versions, events and jobs show them in
// the public shape; its value is unknown. The people module decides who joins, changes and leaves, in its transaction.

import { randomUUID } from 'node:crypto'
import type { Trx } from '../../../engines/metadata-db/dialects.ts'
import type { Clock } from '../../../kit/clock.ts'
import { PlatformError } from '../../../kit/errors.ts'
import type { Role } from '../../../model/actor.ts'
import { eventOf, NO_ORIGIN, type RecordEvent } from '../../../model/event.ts'
import type { By, Member, Members, NewMember } from '../../../model/members.ts'
import { EVERYTHING } from './token-permissions.ts'
import { hashOf } from './token-value.ts'
import type { createTokensStore, Permissions, Token } from './tokens.store.ts'

export interface PersonTokensDeps {
  readonly store: ReturnType<typeof createTokensStore>
  readonly clock: Clock
  readonly recordEvent: RecordEvent
}

export function createPersonTokens({ store, clock, recordEvent }: PersonTokensDeps): Members {
  async function record(trx: Trx, name: PersonEvent, token: Token, { source, origin = NO_ORIGIN }: By): Promise<void> {
    const { id, projectId, description, person } = token
    const event = eventOf(name, { role: person!.role }, { objectId: String(id), objectName: description })
    await recordEvent(trx, source ?? { projectId, tokenId: id, tokenDescription: description }, event, origin)
  }

  async function join(trx: Trx, { projectId, person, role, isAutomatic = false }: NewMember, by: By): Promise<Member> {
    const { source } = by
    const token = await store.insert(trx, {
      projectId,
      hash: hashOf(randomUUID()),
      description: person.name,
      ...rightsOf(role),
      creatorToken: source && { id: source.tokenId, description: source.tokenDescription },
      createdAt: clock.now(),
      expiresAt: undefined,
      person: { id: person.id, email: person.email, role, isAutomatic },
    })
    await record(trx, 'storage.personJoined', token, by)
    return memberOf(token)
  }

  async function changeRole(trx: Trx, projectId: number, personId: number, role: Role, by: By): Promise<Member> {
    const token = await get(trx, projectId, personId)
    const person = { ...token.person!, role, isAutomatic: false }
    const changed = await store.updatePerson(trx, token, { description: token.description, ...rightsOf(role), person })
    await record(trx, 'storage.personRoleChanged', changed, by)
    return memberOf(changed)
  }

  async function leave(trx: Trx, projectId: number, personId: number, by: By): Promise<void> {
    const token = await get(trx, projectId, personId)
    await store.remove(trx, projectId, token.id)
    await record(trx, 'storage.personLeft', token, by)
  }

  const endTokensMadeBy: Members['endTokensMadeBy'] = async (
    trx,
    { projectId, tokenId, name },
    { source, origin = NO_ORIGIN },
  ) => {
    const doer = source ?? { projectId, tokenId, tokenDescription: name }
    for (const token of await store.listMadeBy(trx, projectId, tokenId)) {
      await endTokensMadeBy(trx, { projectId, tokenId: token.id, name }, { source: doer, origin })
      await store.remove(trx, projectId, token.id)
      const event = eventOf('storage.tokenDeleted', {}, { objectId: String(token.id), objectName: token.description })
      await recordEvent(trx, doer, event, origin)
    }
  }

  const rename: Members['rename'] = async (trx, personId, { name, email }) => {
    for (const token of await store.listOfPerson(personId, trx))
      await store.updatePerson(trx, token, { ...token, description: name, person: { ...token.person!, email } })
  }

  async function get(trx: Trx, projectId: number, personId: number): Promise<Token> {
    const token = await store.findOfPerson(projectId, personId, trx)
    if (!token) throw new PlatformError('notFound', { what: `Person ${personId} in project ${projectId}` })
    return token
  }

  return {
    join,
    changeRole,
    leave,
    endTokensMadeBy,
    rename,
    find: async (projectId: number, personId: number, trx?: Trx): Promise<Member | undefined> => {
      const token = await store.findOfPerson(projectId, personId, trx)
      return token && memberOf(token)
    },
    ofPerson: async (personId: number, trx?: Trx): Promise<Member[]> => (await store.listOfPerson(personId, trx)).map(memberOf),
    inProject: async (projectId: number): Promise<Member[]> =>
      (await store.list(projectId)).filter(({ person }) => person !== undefined).map(memberOf),
  }
}

type PersonEvent = 'storage.personJoined' | 'storage.personRoleChanged' | 'storage.personLeft'

const memberOf = ({ id, projectId, description, createdAt, person }: Token): Member => ({
  projectId,
  tokenId: id,
  personId: person!.id, // only tokens of people come here
  name: description,
  email: person!.email,
  role: person!.role,
  isAutomatic: person!.isAutomatic,
  since: createdAt,
})

/** An admin has a master token; an editor everything but tokens and people; a viewer reads (`bucketPermissionOf`, `canUseComponent`). */
const rightsOf = (role: Role): { readonly permissions: Permissions; readonly isMasterToken: boolean } => ({
  permissions: role === 'admin' ? EVERYTHING : role === 'editor' ? EDITOR : VIEWER,
  isMasterToken: role === 'admin',
})

const EDITOR: Permissions = { ...EVERYTHING, canManageTokens: false }
const VIEWER: Permissions = {
  canManageBuckets: false,
  canManageTokens: false,
  canReadAllFileUploads: true,
  canPurgeTrash: false,
  canManageProtectedDefaultBranch: false,
  canCreateJobs: false,
  canReadAllProjectEvents: true,
  canManageDevBranches: false,
  bucketPermissions: {},
}
