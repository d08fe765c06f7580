// Projects and tokens in the metadata database. A token's clear value is never here, only its SHA-256.

import type { Generated, Selectable } from 'kysely'
import { type Db, lockTable, type Trx, withTables } from '../../../engines/metadata-db/dialects.ts'
import { contains } from '../../../engines/metadata-db/like.ts'
import { takeNumber } from '../../../engines/metadata-db/numbers.ts'
import { statement } from '../../../engines/metadata-db/statement.ts'
import { readStored } from '../../../kit/stored-json.ts'
import type { BucketPermission, Role } from '../../../model/actor.ts'
import type { BackendName } from '../../../model/backend.ts'
import type { BranchStorage } from '../../../model/branch-storage.ts'
import type { FileProvider } from '../../../model/file-provider.ts'

/** What a token may do, stored as one JSON value: it is always read and written whole. */
export interface Permissions {
  readonly canManageBuckets: boolean
  readonly canManageTokens: boolean
  readonly canReadAllFileUploads: boolean
  readonly canPurgeTrash: boolean
  readonly canManageProtectedDefaultBranch: boolean
  readonly canCreateJobs: boolean
  readonly canReadAllProjectEvents: boolean
  readonly canManageDevBranches: boolean
  readonly bucketPermissions: Readonly<Record<string, BucketPermission>>
  /** Changes become proposals; absent for all other tokens. */
  readonly onlyProposes?: true
  /** Undefined when never given: the record then has no such field. */
  readonly componentAccess?: readonly string[]
}

interface Tables {
  project: {
    id: Generated<number>
    name: string
    features: string
    settings: Generated<string>
    is_disabled: number
    created_at: number
    paused_reason: Generated<string | null>
    delete_after: Generated<number | null>
  }
  token: {
    id: Generated<number>
    project_id: number
    hash: string
    description: string
    permissions: string
    is_master: number
    is_disabled: number
    creator_token_id: number | null
    creator_description: string | null
    created_at: number
    refreshed_at: number
    expires_at: number | null
    person_id: number | null
    admin_id: number | null
    maker_person_id: number | null
    email: string | null
    role: Role | null
    is_automatic: number
    is_internal: number
    last_used_at: Generated<number | null>
  }
}

type TokenRow = Selectable<Tables['token']>

/** What an operator sets; what is left out has its default. */
export interface ProjectSettings {
  readonly backend?: BackendName
  /** The protocol of new files. */
  readonly provider?: FileProvider
  /** What a development branch shows of the default branch's buckets, tables and files. */
  readonly branchStorage?: BranchStorage
}

export interface Project {
  readonly id: number
  readonly name: string
  readonly features: readonly string[]
  readonly settings: ProjectSettings
  readonly isDisabled: boolean
  readonly createdAt: Date
  /** Set while it is paused: nothing starts and nothing changes. */
  readonly pausedReason: string | undefined
  /** Set when it is deleted: until then it can be brought back. */
  readonly deleteAfter: Date | undefined
}

/** Whose token it is, when it is not a script's. */
export interface TokenPerson {
  readonly id: number
  readonly email: string
  readonly role: Role
  /** A stack admin who opened the project without being added as a member. */
  readonly isAutomatic: boolean
}

export interface Token {
  readonly id: number
  readonly projectId: number
  readonly hash: string
  readonly description: string
  readonly permissions: Permissions
  readonly isMasterToken: boolean
  readonly isDisabled: boolean
  /** The platform uses it itself. */
  readonly isInternal?: boolean
  readonly creatorToken: { readonly id: number; readonly description: string } | undefined
  readonly createdAt: Date
  readonly refreshedAt: Date
  readonly expiresAt: Date | undefined
  /** To the minute. Undefined: never, or not since this is written down. */
  readonly lastUsedAt?: Date | undefined
  readonly person?: TokenPerson | undefined
  /** Of the master token of a project, in the space of the ids of people. */
  readonly adminId?: number | undefined
  /** Of a token for scripts: the person who made it, if only by other tokens. */
  readonly makerPersonId?: number | undefined
}

/** Undefined members: all tokens. */
export interface TokenFilter {
  /** In the description. */
  readonly text?: string | undefined
  /** Of people and the master token of the project, not of scripts. */
  readonly ofPeople?: boolean | undefined
  readonly limit?: number | undefined
  readonly offset?: number | undefined
}

export type NewToken = Omit<Token, 'id' | 'refreshedAt' | 'isDisabled'>

const byHash = statement((db, { hash }: { hash: string }) =>
  withTables<Tables>(db).selectFrom('token').selectAll().where('hash', '=', hash),
)
const projectAt = statement((db, { id }: { id: number }) =>
  withTables<Tables>(db).selectFrom('project').selectAll().where('id', '=', id),
)
const insertToken = statement((db, token: Omit<TokenRow, 'id' | 'last_used_at'>) =>
  withTables<Tables>(db).insertInto('token').values(token).returning('id'),
)

export type TokensStore = ReturnType<typeof createTokensStore>

export function createTokensStore(database: Db) {
  const db = withTables<Tables>(database)

  return {
    findByHash: async (hash: string): Promise<Token | undefined> => {
      const [row] = await byHash(database, { hash })
      return row && toToken(row)
    },

    find: async (projectId: number, id: number): Promise<Token | undefined> => {
      const row = await db
        .selectFrom('token')
        .selectAll()
        .where('project_id', '=', projectId)
        .where('id', '=', id)
        .executeTakeFirst()
      return row && toToken(row)
    },

    list: async (projectId: number, { text = '', ofPeople, limit, offset = 0 }: TokenFilter = {}): Promise<Token[]> => {
      let query = db.selectFrom('token').selectAll().where('project_id', '=', projectId)
      if (text !== '') query = query.where((e) => contains(database, e.ref('description'), text))
      if (ofPeople) query = query.where((e) => e.or([e('person_id', 'is not', null), e('admin_id', 'is not', null)]))
      if (limit !== undefined) query = query.limit(limit).offset(offset)
      return (await query.orderBy('id').execute()).map(toToken)
    },

    listMasters: async (projectId: number): Promise<Token[]> =>
      (
        await db
          .selectFrom('token')
          .selectAll()
          .where('project_id', '=', projectId)
          .where('is_master', '=', 1)
          .orderBy('id')
          .execute()
      ).map(toToken),

    takeAdminId: (trx: Trx): Promise<number> => takeNumber(trx, 'admin'),

    /** Of any project. */
    findByAdmin: async (adminId: number): Promise<Token | undefined> => {
      const row = await db.selectFrom('token').selectAll().where('admin_id', '=', adminId).executeTakeFirst()
      return row && toToken(row)
    },

    insert: async (trx: Trx, token: NewToken): Promise<Token> => {
      const [made] = await insertToken(trx, {
        project_id: token.projectId,
        hash: token.hash,
        description: token.description,
        permissions: JSON.stringify(token.permissions),
        is_master: token.isMasterToken ? 1 : 0,
        is_disabled: 0,
        creator_token_id: token.creatorToken?.id ?? null,
        creator_description: token.creatorToken?.description ?? null,
        created_at: token.createdAt.getTime(),
        refreshed_at: token.createdAt.getTime(),
        expires_at: token.expiresAt?.getTime() ?? null,
        person_id: token.person?.id ?? null,
        admin_id: token.adminId ?? null,
        maker_person_id: token.makerPersonId ?? null,
        email: token.person?.email ?? null,
        role: token.person?.role ?? null,
        is_automatic: token.person?.isAutomatic ? 1 : 0,
        is_internal: token.isInternal ? 1 : 0,
      })
      return { ...token, id: made!.id, refreshedAt: token.createdAt, isDisabled: false, lastUsedAt: undefined }
    },

    update: async (
      trx: Trx,
      projectId: number,
      id: number,
      change: Pick<Token, 'description' | 'permissions'>,
    ): Promise<Token | undefined> => {
      const row = await withTables<Tables>(trx)
        .updateTable('token')
        .set({ description: change.description, permissions: JSON.stringify(change.permissions) })
        .where('project_id', '=', projectId)
        .where('id', '=', id)
        .returningAll()
        .executeTakeFirst()
      return row && toToken(row)
    },

    findOfPerson: async (projectId: number, personId: number, at: Db = database): Promise<Token | undefined> => {
      const row = await withTables<Tables>(at)
        .selectFrom('token')
        .selectAll()
        .where('project_id', '=', projectId)
        .where('person_id', '=', personId)
        .executeTakeFirst()
      return row && toToken(row)
    },

    /** Tokens for scripts that were made with a token; neither those of people nor those that the platform uses itself. */
    listMadeBy: async (trx: Trx, projectId: number, tokenId: number): Promise<Token[]> =>
      (
        await withTables<Tables>(trx)
          .selectFrom('token')
          .selectAll()
          .where('project_id', '=', projectId)
          .where('creator_token_id', '=', tokenId)
          .where('person_id', 'is', null)
          .where('is_internal', '=', 0)
          .where('is_master', '=', 0)
          .execute()
      ).map(toToken),

    listOfPerson: async (personId: number, at: Db = database): Promise<Token[]> =>
      (
        await withTables<Tables>(at)
          .selectFrom('token')
          .selectAll()
          .where('person_id', '=', personId)
          .orderBy('project_id')
          .execute()
      ).map(toToken),

    updatePerson: async (
      trx: Trx,
      token: Token,
      {
        description,
        permissions,
        isMasterToken,
        person,
      }: Pick<NewToken, 'description' | 'permissions' | 'isMasterToken'> & {
        readonly person: TokenPerson
      },
    ): Promise<Token> => {
      await withTables<Tables>(trx)
        .updateTable('token')
        .set({
          description,
          permissions: JSON.stringify(permissions),
          is_master: isMasterToken ? 1 : 0,
          email: person.email,
          role: person.role,
          is_automatic: person.isAutomatic ? 1 : 0,
        })
        .where('project_id', '=', token.projectId)
        .where('id', '=', token.id)
        .execute()
      return { ...token, description, permissions, isMasterToken, person }
    },

    /** Tokens that name a bucket in their permissions. */
    listWithBucket: async (trx: Trx, projectId: number, bucketId: string): Promise<Token[]> =>
      (
        await withTables<Tables>(trx)
          .selectFrom('token')
          .selectAll()
          .where('project_id', '=', projectId)
          .where('permissions', 'like', `%"${bucketId}"%`) // a first sieve: an underscore in the id matches any character
          .execute()
      )
        .map(toToken)
        .filter((token) => Object.hasOwn(token.permissions.bucketPermissions, bucketId)),

    replaceHash: async (trx: Trx, projectId: number, id: number, hash: string, at: Date): Promise<Token | undefined> => {
      const row = await withTables<Tables>(trx)
        .updateTable('token')
        .set({ hash, refreshed_at: at.getTime() })
        .where('project_id', '=', projectId)
        .where('id', '=', id)
        .returningAll()
        .executeTakeFirst()
      return row && toToken(row)
    },

    markUsed: async (trx: Trx, projectId: number, ids: readonly number[], at: Date): Promise<void> => {
      await withTables<Tables>(trx)
        .updateTable('token')
        .set({ last_used_at: at.getTime() })
        .where('project_id', '=', projectId)
        .where('id', 'in', ids)
        .execute()
    },

    remove: async (trx: Trx, projectId: number, id: number): Promise<boolean> => {
      const result = await withTables<Tables>(trx)
        .deleteFrom('token')
        .where('project_id', '=', projectId)
        .where('id', '=', id)
        .executeTakeFirst()
      return result.numDeletedRows > 0n
    },

    insertProject: async (trx: Trx, project: { name: string; features: readonly string[]; createdAt: Date }): Promise<Project> =>
      toProject(
        await withTables<Tables>(trx)
          .insertInto('project')
          .values({
            name: project.name,
            features: JSON.stringify(project.features),
            is_disabled: 0,
            created_at: project.createdAt.getTime(),
          })
          .returningAll()
          .executeTakeFirstOrThrow(),
      ),

    /** Their number; none is added until the transaction ends. */
    countProjectsAlone: async (trx: Trx): Promise<number> => {
      await lockTable(trx, 'project')
      const { count } = await withTables<Tables>(trx)
        .selectFrom('project')
        .select((e) => e.fn.countAll<number>().as('count'))
        .executeTakeFirstOrThrow()
      return count
    },

    findProject: async (id: number): Promise<Project | undefined> => {
      const [row] = await projectAt(database, { id })
      return row && toProject(row)
    },

    updateProject: async (
      trx: Trx,
      {
        id,
        name,
        pausedReason,
        deleteAfter,
        features,
      }: Pick<Project, 'id' | 'name' | 'pausedReason' | 'deleteAfter' | 'features'>,
    ): Promise<void> => {
      await withTables<Tables>(trx)
        .updateTable('project')
        .set({
          name,
          features: JSON.stringify(features),
          paused_reason: pausedReason ?? null,
          delete_after: deleteAfter?.getTime() ?? null,
        })
        .where('id', '=', id)
        .execute()
    },

    saveSettings: async (trx: Trx, projectId: number, settings: ProjectSettings): Promise<void> => {
      await withTables<Tables>(trx)
        .updateTable('project')
        .set({ settings: JSON.stringify(settings) })
        .where('id', '=', projectId)
        .execute()
    },

    listProjects: async (): Promise<Project[]> =>
      (await db.selectFrom('project').selectAll().orderBy('id').execute()).map(toProject),
  }
}

const toProject = (row: Selectable<Tables['project']>): Project => ({
  id: row.id,
  name: row.name,
  features: readStored<string[]>(row.features),
  settings: readStored<ProjectSettings>(row.settings),
  isDisabled: row.is_disabled === 1,
  createdAt: new Date(row.created_at),
  pausedReason: row.paused_reason ?? undefined,
  deleteAfter: row.delete_after === null ? undefined : new Date(row.delete_after),
})

const toToken = (row: TokenRow): Token => ({
  id: row.id,
  projectId: row.project_id,
  hash: row.hash,
  description: row.description,
  permissions: readStored<Permissions>(row.permissions),
  isMasterToken: row.is_master === 1,
  isDisabled: row.is_disabled === 1,
  creatorToken:
    row.creator_token_id === null ? undefined : { id: row.creator_token_id, description: row.creator_description ?? '' },
  createdAt: new Date(row.created_at),
  refreshedAt: new Date(row.refreshed_at),
  expiresAt: row.expires_at === null ? undefined : new Date(row.expires_at),
  lastUsedAt: row.last_used_at === null ? undefined : new Date(row.last_used_at),
  ...(row.is_internal === 1 && { isInternal: true }),
  ...(row.admin_id !== null && { adminId: row.admin_id }),
  ...(row.maker_person_id !== null && { makerPersonId: row.maker_person_id }),
  ...(row.person_id !== null && {
    person: { id: row.person_id, email: row.email ?? '', role: row.role ?? 'viewer', isAutomatic: row.is_automatic === 1 },
  }),
})
