// Tables data_app_repository, data_app_git_credential.

import type { Generated, Selectable } from 'kysely'
import { type Db, type Trx, withTables } from '../../../engines/metadata-db/dialects.ts'

export type Permissions = 'readOnly' | 'readWrite'

interface Tables {
  data_app_repository: {
    app_id: number
    project_id: number
    /** Another number after every push. */
    version: number
    /** JSON: the objects of branches and tags, by their full names. */
    refs: string
    /** The object with all that the refs need; null while there are none. */
    pack_key: string | null
    pushed_at: number | null
  }
  data_app_git_credential: {
    id: Generated<number>
    project_id: number
    app_id: number
    hash: string
    name: string
    permissions: Permissions
    /** The token that made it: it ends with that token. */
    token_id: number
    created_at: number
    expires_at: number
  }
}

export type RepositoryRow = Selectable<Tables['data_app_repository']>
export type GitCredentialRow = Selectable<Tables['data_app_git_credential']>
export type RepositoriesStore = ReturnType<typeof createRepositoriesStore>

interface AppPlace {
  readonly project_id: number
  readonly id: number
}

export function createRepositoriesStore(database: Db) {
  const db = withTables<Tables>(database)
  const at = (trx: Trx) => withTables<Tables>(trx)
  return {
    /** Does nothing when the app has one. */
    async insert(trx: Trx, { project_id, id }: AppPlace): Promise<void> {
      await at(trx)
        .insertInto('data_app_repository')
        .values({ app_id: id, project_id, version: 1, refs: '{}', pack_key: null, pushed_at: null })
        .onConflict((c) => c.column('app_id').doNothing())
        .execute()
    },

    find: ({ project_id, id }: AppPlace): Promise<RepositoryRow | undefined> =>
      db
        .selectFrom('data_app_repository')
        .selectAll()
        .where('project_id', '=', project_id)
        .where('app_id', '=', id)
        .executeTakeFirst(),

    /** False if there was another push since it was read, or if it is gone. */
    async update(
      trx: Trx,
      { project_id, app_id, version }: RepositoryRow,
      change: Pick<RepositoryRow, 'refs' | 'pack_key' | 'pushed_at'>,
    ): Promise<boolean> {
      const changed = await at(trx)
        .updateTable('data_app_repository')
        .set({ ...change, version: version + 1 })
        .where('project_id', '=', project_id)
        .where('app_id', '=', app_id)
        .where('version', '=', version)
        .returning('app_id')
        .executeTakeFirst()
      return changed !== undefined
    },

    /** Of all projects: what must not be removed from the objects. */
    listPackKeys: async (): Promise<ReadonlySet<string | null>> =>
      new Set((await db.selectFrom('data_app_repository').select('pack_key').execute()).map((row) => row.pack_key)),

    insertCredential: (trx: Trx, credential: Omit<GitCredentialRow, 'id'>): Promise<GitCredentialRow> =>
      at(trx).insertInto('data_app_git_credential').values(credential).returningAll().executeTakeFirstOrThrow(),

    findCredential: (appId: number, hash: string): Promise<GitCredentialRow | undefined> =>
      db
        .selectFrom('data_app_git_credential')
        .selectAll()
        .where('app_id', '=', appId)
        .where('hash', '=', hash)
        .executeTakeFirst(),

    listCredentials: ({ project_id, id }: AppPlace): Promise<GitCredentialRow[]> =>
      db
        .selectFrom('data_app_git_credential')
        .selectAll()
        .where('project_id', '=', project_id)
        .where('app_id', '=', id)
        .orderBy('id')
        .execute(),

    async countCredentials(trx: Trx, { project_id, id }: AppPlace): Promise<number> {
      const { n } = await at(trx)
        .selectFrom('data_app_git_credential')
        .select((e) => e.fn.countAll().as('n'))
        .where('project_id', '=', project_id)
        .where('app_id', '=', id)
        .executeTakeFirstOrThrow()
      return Number(n)
    },

    async removeExpired(trx: Trx, { project_id, id }: AppPlace, now: number): Promise<void> {
      await at(trx)
        .deleteFrom('data_app_git_credential')
        .where('project_id', '=', project_id)
        .where('app_id', '=', id)
        .where('expires_at', '<=', now)
        .execute()
    },

    async removeCredential(trx: Trx, { project_id, id }: AppPlace, credentialId: number): Promise<boolean> {
      const gone = await at(trx)
        .deleteFrom('data_app_git_credential')
        .where('project_id', '=', project_id)
        .where('app_id', '=', id)
        .where('id', '=', credentialId)
        .returning('id')
        .executeTakeFirst()
      return gone !== undefined
    },
  }
}
