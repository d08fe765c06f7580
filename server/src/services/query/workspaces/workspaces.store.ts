// Workspaces in the metadata database.

import { type Generated, type Selectable, sql } from 'kysely'
import { type Db, dialectOf, type Trx, withTables } from '../../../engines/metadata-db/dialects.ts'

/** Of PostgreSQL's advisory locks, with the project. */
const QUOTA_LOCK = 5_070_002

interface Tables {
  workspace: {
    id: Generated<number>
    project_id: number
    branch_id: number
    component_id: string | null
    configuration_id: string | null
    configuration_version: number | null
    backend_size: string | null
    login_type: string
    read_only_storage_access: number
    statement_timeout_seconds: number
    password_hash: string
    created_at: number
    used_at: number
    creator_token_id: number
    creator_description: string
    acting_token_id: Generated<number | null>
  }
}

export interface Workspace {
  readonly id: number
  readonly projectId: number
  readonly branchId: number
  readonly componentId: string | null
  readonly configurationId: string | null
  readonly configurationVersion: number | null
  readonly backendSize: string | null
  readonly loginType: string
  readonly readOnlyStorageAccess: boolean
  readonly statementTimeoutSeconds: number
  readonly passwordHash: string
  readonly createdAt: Date
  readonly usedAt: Date
  readonly creator: { readonly tokenId: number; readonly description: string }
  /** Whose rights its password has once the token of its creator is gone. */
  readonly actingTokenId?: number | undefined
}

const tables = (db: Db) => withTables<Tables>(db)

export type WorkspacesStore = ReturnType<typeof createWorkspacesStore>

export function createWorkspacesStore(database: Db) {
  const db = tables(database)

  return {
    insert: async (trx: Trx, workspace: Omit<Workspace, 'id'>): Promise<Workspace> => {
      const { id } = await tables(trx)
        .insertInto('workspace')
        .values({
          project_id: workspace.projectId,
          branch_id: workspace.branchId,
          component_id: workspace.componentId,
          configuration_id: workspace.configurationId,
          configuration_version: workspace.configurationVersion,
          backend_size: workspace.backendSize,
          login_type: workspace.loginType,
          read_only_storage_access: Number(workspace.readOnlyStorageAccess),
          statement_timeout_seconds: workspace.statementTimeoutSeconds,
          password_hash: workspace.passwordHash,
          created_at: workspace.createdAt.getTime(),
          used_at: workspace.usedAt.getTime(),
          creator_token_id: workspace.creator.tokenId,
          creator_description: workspace.creator.description,
        })
        .returning('id')
        .executeTakeFirstOrThrow()
      return { ...workspace, id }
    },

    find: async (projectId: number, id: number): Promise<Workspace | undefined> => {
      const row = await db
        .selectFrom('workspace')
        .selectAll()
        .where('project_id', '=', projectId)
        .where('id', '=', id)
        .executeTakeFirst()
      return row && toWorkspace(row)
    },

    /** Of any project: a login with the name of a workspace carries no project. */
    findById: async (id: number): Promise<Workspace | undefined> => {
      const row = await db.selectFrom('workspace').selectAll().where('id', '=', id).executeTakeFirst()
      return row && toWorkspace(row)
    },

    /** How many there are, in all branches. */
    /** Until the transaction ends no other one counts workspaces of this project: what is counted here may be relied on. */
    count: async (trx: Trx, projectId: number, tokenId: number) => {
      if (dialectOf(trx) === 'postgres') await sql`select pg_advisory_xact_lock(${QUOTA_LOCK}, ${projectId})`.execute(trx)
      const rows = await tables(trx)
        .selectFrom('workspace')
        .select('creator_token_id')
        .where('project_id', '=', projectId)
        .execute()
      return { ofProject: rows.length, ofToken: rows.filter((row) => row.creator_token_id === tokenId).length }
    },

    list: async (projectId: number, branchId: number): Promise<Workspace[]> => {
      const rows = await db
        .selectFrom('workspace')
        .selectAll()
        .where('project_id', '=', projectId)
        .where('branch_id', '=', branchId)
        .orderBy('id')
        .execute()
      return rows.map(toWorkspace)
    },

    setPassword: async (
      trx: Trx,
      { projectId, id }: Workspace,
      passwordHash: string,
      actingTokenId: number | undefined,
    ): Promise<void> => {
      await tables(trx)
        .updateTable('workspace')
        .set({ password_hash: passwordHash, acting_token_id: actingTokenId ?? null })
        .where('project_id', '=', projectId)
        .where('id', '=', id)
        .execute()
    },

    setLoginType: async (trx: Trx, { projectId, id }: Workspace, loginType: string): Promise<void> => {
      await tables(trx)
        .updateTable('workspace')
        .set({ login_type: loginType })
        .where('project_id', '=', projectId)
        .where('id', '=', id)
        .execute()
    },

    touch: async (trx: Trx, { projectId, id }: Workspace, usedAt: Date): Promise<void> => {
      await tables(trx)
        .updateTable('workspace')
        .set({ used_at: usedAt.getTime() })
        .where('project_id', '=', projectId)
        .where('id', '=', id)
        .execute()
    },

    /** False if another request was faster. */
    remove: async (trx: Trx, { projectId, id }: Pick<Workspace, 'projectId' | 'id'>): Promise<boolean> => {
      const { numDeletedRows } = await tables(trx)
        .deleteFrom('workspace')
        .where('project_id', '=', projectId)
        .where('id', '=', id)
        .executeTakeFirst()
      return numDeletedRows > 0n
    },

    /** Of all projects: the sweep has no asker. */
    listUnusedSince: async (moment: Date): Promise<Workspace[]> => {
      const rows = await db.selectFrom('workspace').selectAll().where('used_at', '<', moment.getTime()).limit(100).execute()
      return rows.map(toWorkspace)
    },

    /** Of all projects, by whom a folder of files is compared with the records. */
    listIds: async (): Promise<ReadonlySet<number>> => {
      const rows = await db.selectFrom('workspace').select('id').execute()
      return new Set(rows.map(({ id }) => id))
    },
  }
}

const toWorkspace = (row: Selectable<Tables['workspace']>): Workspace => ({
  id: row.id,
  projectId: row.project_id,
  branchId: row.branch_id,
  componentId: row.component_id,
  configurationId: row.configuration_id,
  configurationVersion: row.configuration_version,
  backendSize: row.backend_size,
  loginType: row.login_type,
  readOnlyStorageAccess: row.read_only_storage_access === 1,
  statementTimeoutSeconds: row.statement_timeout_seconds,
  passwordHash: row.password_hash,
  createdAt: new Date(row.created_at),
  usedAt: new Date(row.used_at),
  creator: { tokenId: row.creator_token_id, description: row.creator_description },
  ...(row.acting_token_id !== null && { actingTokenId: row.acting_token_id }),
})
