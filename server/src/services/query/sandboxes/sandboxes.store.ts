// Table sandbox.

import type { Generated, Selectable, Updateable } from 'kysely'
import { type Db, type Trx, withTables } from '../../../engines/metadata-db/dialects.ts'

/** `session`: of the SQL editor. */
export type SandboxKind = 'sandbox' | 'session'

interface Tables {
  sandbox: {
    id: Generated<number>
    project_id: number
    branch_id: number
    token_id: number
    kind: SandboxKind
    type: string
    workspace_id: number
    component_id: string | null
    configuration_id: string | null
    size: string | null
    /** A cipher of the project. */
    password: string
    is_active: number
    is_shared: number
    expiration_hours: number
    created_at: number
    updated_at: number
    expires_at: number | null
  }
}

export type SandboxRow = Selectable<Tables['sandbox']>
export type NewSandbox = Omit<SandboxRow, 'id'>

export function createSandboxesStore(database: Db) {
  const db = withTables<Tables>(database)
  return {
    insert: (trx: Trx, sandbox: NewSandbox): Promise<SandboxRow> =>
      withTables<Tables>(trx).insertInto('sandbox').values(sandbox).returningAll().executeTakeFirstOrThrow(),

    find: (projectId: number, kind: SandboxKind, id: number): Promise<SandboxRow | undefined> =>
      db
        .selectFrom('sandbox')
        .selectAll()
        .where('project_id', '=', projectId)
        .where('kind', '=', kind)
        .where('id', '=', id)
        .executeTakeFirst(),

    list: (projectId: number, kind: SandboxKind): Promise<SandboxRow[]> =>
      db.selectFrom('sandbox').selectAll().where('project_id', '=', projectId).where('kind', '=', kind).orderBy('id').execute(),

    update: (trx: Trx, { project_id, id }: SandboxRow, change: Updateable<Tables['sandbox']>): Promise<SandboxRow | undefined> =>
      withTables<Tables>(trx)
        .updateTable('sandbox')
        .set(change)
        .where('project_id', '=', project_id)
        .where('id', '=', id)
        .returningAll()
        .executeTakeFirst(),

    async remove(trx: Trx, { project_id, id }: SandboxRow): Promise<void> {
      await withTables<Tables>(trx).deleteFrom('sandbox').where('project_id', '=', project_id).where('id', '=', id).execute()
    },

    /** Of all projects. */
    listExpired: (now: Date): Promise<SandboxRow[]> =>
      db.selectFrom('sandbox').selectAll().where('expires_at', '<=', now.getTime()).limit(100).execute(),
  }
}
