// People, their sessions, links and manage tokens in the metadata database. Of every secret only a hash is here; the key of an authenticator
// is a cipher. The rights of a person in a project belong to their token there, which the tokens module owns.

import type { Generated, Selectable } from 'kysely'
import { type Db, lockRows, lockTable, type Trx, withTables } from '../../../engines/metadata-db/dialects.ts'
import { takeNumber } from '../../../engines/metadata-db/numbers.ts'
import { readStored } from '../../../kit/stored-json.ts'
import type { Role } from '../../../model/actor.ts'

interface Tables {
  person: {
    id: Generated<number>
    email: string
    name: string
    is_stack_admin: number
    password: string | null
    totp: string | null
    totp_step: number | null
    recovery_codes: string
    subject: string | null
    wrong_count: number
    locked_until: number
    created_at: number
  }
  session: {
    id: Generated<number>
    person_id: number
    hash: string
    method: SignInMethod
    address: string | null
    user_agent: string | null
    created_at: number
    seen_at: number
    expires_at: number
  }
  person_link: {
    id: Generated<number>
    hash: string
    kind: LinkKind
    person_id: number | null
    project_id: number | null
    email: string | null
    role: Role | null
    creator: string | null
    created_at: number
    expires_at: number
  }
  person_preference: { person_id: number; name: string; value: string }
  manage_token: {
    id: Generated<number>
    person_id: number
    hash: string
    description: string
    created_at: number
    expires_at: number | null
  }
}

export type SignInMethod = 'password' | 'link' | 'oidc'
/** `admin` makes a stack admin, `invitation` a member of a project, `sign-in` opens a session of a person who is there. */
export type LinkKind = 'admin' | 'invitation' | 'sign-in'

export interface PersonRecord {
  readonly id: number
  readonly email: string
  readonly name: string
  readonly isStackAdmin: boolean
  readonly password: string | undefined
  /** The key of the authenticator as a cipher; undefined: none. */
  readonly totp: string | undefined
  /** The step of the last code that was used: it and those before it are not accepted again. */
  readonly totpStep: number
  /** Hashes of the recovery codes that are left. */
  readonly recoveryCodes: readonly string[]
  /** Issuer and subject of the sign-in service. */
  readonly subject: string | undefined
  readonly wrongCount: number
  readonly lockedUntil: number
  readonly createdAt: Date
}

export type NewPerson = Pick<PersonRecord, 'email' | 'name' | 'isStackAdmin' | 'password' | 'subject'>
export type PersonChange = Partial<Omit<PersonRecord, 'id' | 'createdAt'>>

export interface SessionRecord {
  readonly id: number
  readonly personId: number
  readonly method: SignInMethod
  readonly address: string | null
  readonly userAgent: string | null
  readonly createdAt: Date
  readonly seenAt: Date
  readonly expiresAt: Date
}

export interface LinkRecord {
  readonly id: number
  readonly kind: LinkKind
  readonly personId: number | undefined
  readonly projectId: number | undefined
  readonly email: string | undefined
  readonly role: Role | undefined
  readonly creator: string | undefined
  readonly createdAt: Date
  readonly expiresAt: Date
}

export interface ManageTokenRecord {
  readonly id: number
  readonly personId: number
  readonly description: string
  readonly createdAt: Date
  readonly expiresAt: Date | undefined
}

export type PeopleStore = ReturnType<typeof createPeopleStore>

export function createPeopleStore(database: Db) {
  const at = (db: Db = database) => withTables<Tables>(db)

  return {
    findPerson: async (id: number, db?: Db): Promise<PersonRecord | undefined> => {
      const row = await at(db).selectFrom('person').selectAll().where('id', '=', id).executeTakeFirst()
      return row && toPerson(row)
    },
    findPersonByEmail: async (email: string, db?: Db): Promise<PersonRecord | undefined> => {
      const row = await at(db).selectFrom('person').selectAll().where('email', '=', email).executeTakeFirst()
      return row && toPerson(row)
    },
    findPersonBySubject: async (subject: string, db?: Db): Promise<PersonRecord | undefined> => {
      const row = await at(db).selectFrom('person').selectAll().where('subject', '=', subject).executeTakeFirst()
      return row && toPerson(row)
    },
    /** Locks the user until the transaction ends. */
    lockPerson: async (trx: Trx, id: number): Promise<PersonRecord | undefined> => {
      const row = await at(trx).selectFrom('person').selectAll().where('id', '=', id).$call(lockRows(trx)).executeTakeFirst()
      return row && toPerson(row)
    },
    listPeople: async (db?: Db): Promise<PersonRecord[]> =>
      (await at(db).selectFrom('person').selectAll().orderBy('id').execute()).map(toPerson),
    /** All users; none is added or removed until the transaction ends. */
    listPeopleAlone: async (trx: Trx): Promise<PersonRecord[]> => {
      await lockTable(trx, 'person')
      return (await at(trx).selectFrom('person').selectAll().orderBy('id').execute()).map(toPerson)
    },
    insertPerson: async (trx: Trx, person: NewPerson, now: Date): Promise<PersonRecord> =>
      toPerson(
        await at(trx)
          .insertInto('person')
          .values({
            id: await takeNumber(trx, 'admin'),
            email: person.email,
            name: person.name,
            is_stack_admin: person.isStackAdmin ? 1 : 0,
            password: person.password ?? null,
            totp: null,
            totp_step: null,
            recovery_codes: '[]',
            subject: person.subject ?? null,
            wrong_count: 0,
            locked_until: 0,
            created_at: now.getTime(),
          })
          .returningAll()
          .executeTakeFirstOrThrow(),
      ),
    /** Changes what is given, also to undefined. */
    updatePerson: async (trx: Trx, id: number, change: PersonChange): Promise<void> => {
      await at(trx).updateTable('person').set(rowOf(change)).where('id', '=', id).execute()
    },
    removePerson: async (trx: Trx, id: number): Promise<void> => {
      await at(trx).deleteFrom('session').where('person_id', '=', id).execute()
      await at(trx).deleteFrom('manage_token').where('person_id', '=', id).execute()
      await at(trx).deleteFrom('person_preference').where('person_id', '=', id).execute()
      await at(trx).deleteFrom('person_link').where('person_id', '=', id).execute()
      await at(trx).deleteFrom('person').where('id', '=', id).execute()
    },

    listPreferences: (personId: number): Promise<{ readonly name: string; readonly value: string }[]> =>
      at().selectFrom('person_preference').select(['name', 'value']).where('person_id', '=', personId).orderBy('name').execute(),
    setPreference: async (trx: Trx, personId: number, name: string, value: string): Promise<void> => {
      await at(trx)
        .insertInto('person_preference')
        .values({ person_id: personId, name, value })
        .onConflict((conflict) => conflict.columns(['person_id', 'name']).doUpdateSet({ value }))
        .execute()
    },
    removePreference: async (trx: Trx, personId: number, name: string): Promise<void> => {
      await at(trx).deleteFrom('person_preference').where('person_id', '=', personId).where('name', '=', name).execute()
    },

    findSession: async (hash: string): Promise<SessionRecord | undefined> => {
      const row = await at().selectFrom('session').selectAll().where('hash', '=', hash).executeTakeFirst()
      return row && toSession(row)
    },
    listSessions: async (personId: number): Promise<SessionRecord[]> =>
      (await at().selectFrom('session').selectAll().where('person_id', '=', personId).orderBy('seen_at', 'desc').execute()).map(
        toSession,
      ),
    insertSession: async (
      trx: Trx,
      session: Omit<SessionRecord, 'id' | 'seenAt'> & { readonly hash: string },
    ): Promise<number> => {
      const { id } = await at(trx)
        .insertInto('session')
        .values({
          person_id: session.personId,
          hash: session.hash,
          method: session.method,
          address: session.address,
          user_agent: session.userAgent,
          created_at: session.createdAt.getTime(),
          seen_at: session.createdAt.getTime(),
          expires_at: session.expiresAt.getTime(),
        })
        .returning('id')
        .executeTakeFirstOrThrow()
      return id
    },
    touchSession: async (trx: Trx, id: number, now: Date): Promise<void> => {
      await at(trx).updateTable('session').set({ seen_at: now.getTime() }).where('id', '=', id).execute()
    },
    /** Answers how many there were; `except` stays. */
    removeSessions: async (
      trx: Trx,
      personId: number,
      which: { only?: number; except?: number | undefined } = {},
    ): Promise<number> => {
      let query = at(trx).deleteFrom('session').where('person_id', '=', personId)
      if (which.only !== undefined) query = query.where('id', '=', which.only)
      if (which.except !== undefined) query = query.where('id', '!=', which.except)
      return Number((await query.executeTakeFirst()).numDeletedRows)
    },
    removeStale: async (trx: Trx, { now, idleBefore }: { readonly now: Date; readonly idleBefore: Date }): Promise<void> => {
      await at(trx)
        .deleteFrom('session')
        .where((e) => e.or([e('expires_at', '<=', now.getTime()), e('seen_at', '<=', idleBefore.getTime())]))
        .execute()
      await at(trx).deleteFrom('person_link').where('expires_at', '<=', now.getTime()).execute()
    },

    findLink: async (hash: string): Promise<LinkRecord | undefined> => {
      const row = await at().selectFrom('person_link').selectAll().where('hash', '=', hash).executeTakeFirst()
      return row && toLink(row)
    },
    /** A link is consumed by deleting it: of two concurrent attempts, one succeeds. */
    takeLink: async (trx: Trx, hash: string): Promise<LinkRecord | undefined> => {
      const row = await at(trx).deleteFrom('person_link').where('hash', '=', hash).returningAll().executeTakeFirst()
      return row && toLink(row)
    },
    insertLink: async (trx: Trx, link: Omit<LinkRecord, 'id'> & { readonly hash: string }): Promise<LinkRecord> =>
      toLink(
        await at(trx)
          .insertInto('person_link')
          .values({
            hash: link.hash,
            kind: link.kind,
            person_id: link.personId ?? null,
            project_id: link.projectId ?? null,
            email: link.email ?? null,
            role: link.role ?? null,
            creator: link.creator ?? null,
            created_at: link.createdAt.getTime(),
            expires_at: link.expiresAt.getTime(),
          })
          .returningAll()
          .executeTakeFirstOrThrow(),
      ),
    listInvitations: async (projectId: number, now: Date): Promise<LinkRecord[]> =>
      (
        await at()
          .selectFrom('person_link')
          .selectAll()
          .where('project_id', '=', projectId)
          .where('expires_at', '>', now.getTime())
          .orderBy('id')
          .execute()
      ).map(toLink),
    takeInvitationsOf: async (trx: Trx, email: string, now: Date): Promise<LinkRecord[]> =>
      (
        await at(trx)
          .deleteFrom('person_link')
          .where('kind', '=', 'invitation')
          .where('email', '=', email)
          .returningAll()
          .execute()
      )
        .map(toLink)
        .filter(({ expiresAt }) => expiresAt > now),
    removeInvitation: async (trx: Trx, projectId: number, id: number): Promise<LinkRecord | undefined> => {
      const row = await at(trx)
        .deleteFrom('person_link')
        .where('project_id', '=', projectId)
        .where('id', '=', id)
        .returningAll()
        .executeTakeFirst()
      return row && toLink(row)
    },

    findManageToken: async (hash: string): Promise<ManageTokenRecord | undefined> => {
      const row = await at().selectFrom('manage_token').selectAll().where('hash', '=', hash).executeTakeFirst()
      return row && toManageToken(row)
    },
    listManageTokens: async (personId: number): Promise<ManageTokenRecord[]> =>
      (await at().selectFrom('manage_token').selectAll().where('person_id', '=', personId).orderBy('id').execute()).map(
        toManageToken,
      ),
    insertManageToken: async (
      trx: Trx,
      token: Omit<ManageTokenRecord, 'id'> & { readonly hash: string },
    ): Promise<ManageTokenRecord> =>
      toManageToken(
        await at(trx)
          .insertInto('manage_token')
          .values({
            person_id: token.personId,
            hash: token.hash,
            description: token.description,
            created_at: token.createdAt.getTime(),
            expires_at: token.expiresAt?.getTime() ?? null,
          })
          .returningAll()
          .executeTakeFirstOrThrow(),
      ),
    removeManageToken: async (trx: Trx, personId: number, id: number): Promise<boolean> => {
      const { numDeletedRows } = await at(trx)
        .deleteFrom('manage_token')
        .where('person_id', '=', personId)
        .where('id', '=', id)
        .executeTakeFirst()
      return numDeletedRows > 0n
    },
  }
}

function rowOf(change: PersonChange): Partial<Selectable<Tables['person']>> {
  const row: Partial<Record<keyof Tables['person'], string | number | null>> = {}
  if ('email' in change) row.email = change.email!
  if ('name' in change) row.name = change.name!
  if ('isStackAdmin' in change) row.is_stack_admin = change.isStackAdmin ? 1 : 0
  if ('password' in change) row.password = change.password ?? null
  if ('totp' in change) row.totp = change.totp ?? null
  if ('totpStep' in change) row.totp_step = change.totpStep ?? null
  if ('recoveryCodes' in change) row.recovery_codes = JSON.stringify(change.recoveryCodes)
  if ('subject' in change) row.subject = change.subject ?? null
  if ('wrongCount' in change) row.wrong_count = change.wrongCount!
  if ('lockedUntil' in change) row.locked_until = change.lockedUntil!
  return row as Partial<Selectable<Tables['person']>> // each member has the type of its column
}

const toPerson = (row: Selectable<Tables['person']>): PersonRecord => ({
  id: row.id,
  email: row.email,
  name: row.name,
  isStackAdmin: row.is_stack_admin === 1,
  password: row.password ?? undefined,
  totp: row.totp ?? undefined,
  totpStep: row.totp_step ?? -1,
  recoveryCodes: readStored<string[]>(row.recovery_codes),
  subject: row.subject ?? undefined,
  wrongCount: row.wrong_count,
  lockedUntil: row.locked_until,
  createdAt: new Date(row.created_at),
})

const toSession = (row: Selectable<Tables['session']>): SessionRecord => ({
  id: row.id,
  personId: row.person_id,
  method: row.method,
  address: row.address,
  userAgent: row.user_agent,
  createdAt: new Date(row.created_at),
  seenAt: new Date(row.seen_at),
  expiresAt: new Date(row.expires_at),
})

const toLink = (row: Selectable<Tables['person_link']>): LinkRecord => ({
  id: row.id,
  kind: row.kind,
  personId: row.person_id ?? undefined,
  projectId: row.project_id ?? undefined,
  email: row.email ?? undefined,
  role: row.role ?? undefined,
  creator: row.creator ?? undefined,
  createdAt: new Date(row.created_at),
  expiresAt: new Date(row.expires_at),
})

const toManageToken = (row: Selectable<Tables['manage_token']>): ManageTokenRecord => ({
  id: row.id,
  personId: row.person_id,
  description: row.description,
  createdAt: new Date(row.created_at),
  expiresAt: row.expires_at === null ? undefined : new Date(row.expires_at),
})
