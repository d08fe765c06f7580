// Further credentials and public keys of workspaces in the metadata database.

import type { Generated } from 'kysely'
import { type Db, type Trx, withTables } from '../../../engines/metadata-db/dialects.ts'
import type { Workspace } from './workspaces.store.ts'

interface Tables {
  workspace_credential: {
    id: Generated<number>
    project_id: number
    workspace_id: number
    password_hash: string
    created_at: number
  }
  workspace_public_key: {
    project_id: number
    workspace_id: number
    name: string
    pem: string
    set_at: number
  }
}

export interface StoredKey {
  readonly name: string
  readonly pem: string
  readonly setAt: Date
}

type Place = Pick<Workspace, 'projectId' | 'id'>

const tables = (db: Db) => withTables<Tables>(db)

export function createWorkspaceCredentialsStore(database: Db) {
  const db = tables(database)
  return {
    insert: async (trx: Trx, { projectId, id }: Place, passwordHash: string, createdAt: Date): Promise<number> => {
      const row = await tables(trx)
        .insertInto('workspace_credential')
        .values({ project_id: projectId, workspace_id: id, password_hash: passwordHash, created_at: createdAt.getTime() })
        .returning('id')
        .executeTakeFirstOrThrow()
      return row.id
    },

    list: ({ projectId, id }: Place): Promise<{ readonly id: number; readonly password_hash: string }[]> =>
      db
        .selectFrom('workspace_credential')
        .select(['id', 'password_hash'])
        .where('project_id', '=', projectId)
        .where('workspace_id', '=', id)
        .orderBy('id')
        .execute(),

    /** False when there is none. */
    remove: async (trx: Trx, { projectId, id }: Place, credentialsId: number): Promise<boolean> => {
      const { numDeletedRows } = await tables(trx)
        .deleteFrom('workspace_credential')
        .where('project_id', '=', projectId)
        .where('workspace_id', '=', id)
        .where('id', '=', credentialsId)
        .executeTakeFirst()
      return numDeletedRows > 0n
    },

    removePasswords: async (trx: Trx, { projectId, id }: Place): Promise<void> => {
      await tables(trx)
        .deleteFrom('workspace_credential')
        .where('project_id', '=', projectId)
        .where('workspace_id', '=', id)
        .execute()
    },

    setKey: async (trx: Trx, { projectId, id }: Place, { name, pem, setAt }: StoredKey): Promise<void> => {
      await tables(trx)
        .insertInto('workspace_public_key')
        .values({ project_id: projectId, workspace_id: id, name, pem, set_at: setAt.getTime() })
        .onConflict((conflict) =>
          conflict
            .columns(['project_id', 'workspace_id', 'name'])
            .doUpdateSet((e) => ({ pem: e.ref('excluded.pem'), set_at: e.ref('excluded.set_at') })),
        )
        .execute()
    },

    listKeys: async ({ projectId, id }: Place, trx: Db = database): Promise<StoredKey[]> => {
      const rows = await tables(trx)
        .selectFrom('workspace_public_key')
        .select(['name', 'pem', 'set_at'])
        .where('project_id', '=', projectId)
        .where('workspace_id', '=', id)
        .orderBy('name')
        .execute()
      return rows.map(({ name, pem, set_at }) => ({ name, pem, setAt: new Date(set_at) }))
    },

    /** With the workspace. */
    removeAll: async (trx: Trx, { projectId, id }: Place): Promise<void> => {
      for (const table of ['workspace_credential', 'workspace_public_key'] as const)
        await tables(trx).deleteFrom(table).where('project_id', '=', projectId).where('workspace_id', '=', id).execute()
    },
  }
}
