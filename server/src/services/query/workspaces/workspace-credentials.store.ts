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
  }
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

    setKey: async (trx: Trx, { projectId, id }: Place, name: string, pem: string): Promise<void> => {
      await tables(trx)
        .insertInto('workspace_public_key')
        .values({ project_id: projectId, workspace_id: id, name, pem })
        .onConflict((conflict) =>
          conflict.columns(['project_id', 'workspace_id', 'name']).doUpdateSet((e) => ({ pem: e.ref('excluded.pem') })),
        )
        .execute()
    },

    listKeys: async ({ projectId, id }: Place): Promise<{ readonly name: string; readonly pem: string }[]> =>
      db
        .selectFrom('workspace_public_key')
        .select(['name', 'pem'])
        .where('project_id', '=', projectId)
        .where('workspace_id', '=', id)
        .orderBy('name')
        .execute(),

    /** With the workspace. */
    removeAll: async (trx: Trx, { projectId, id }: Place): Promise<void> => {
      for (const table of ['workspace_credential', 'workspace_public_key'] as const)
        await tables(trx).deleteFrom(table).where('project_id', '=', projectId).where('workspace_id', '=', id).execute()
    },
  }
}
