// Tables data_app, data_app_run, data_app_log, data_app_link.

import type { Generated, Selectable, Updateable } from 'kysely'
import { type Db, type Trx, withTables } from '../../../engines/metadata-db/dialects.ts'

export type DesiredState = 'running' | 'stopped'
export type RunState = 'starting' | 'running' | 'stopped' | 'failed'

interface Tables {
  data_app: {
    id: Generated<number>
    project_id: number
    branch_id: number
    component_id: string
    configuration_id: string
    desired_state: DesiredState
    /** Another number after every deployment and every stop: instances of an earlier one end. */
    generation: number
    /** What was deployed, and by whom; null until then. */
    config_version: number | null
    token_id: number | null
    auto_suspend_seconds: number
    auto_restart: number
    created_at: number
    updated_at: number
    last_request_at: number | null
    last_start_at: number | null
    /** Null until it is requested. */
    password_cipher: string | null
    password_token_id: number | null
  }
  data_app_run: {
    id: Generated<number>
    project_id: number
    app_id: number
    node: string
    state: RunState
    config_version: number
    /** The token that the run reads tables with. */
    token_id: number | null
    started_at: number
    /** When its node last reported that it runs. */
    seen_at: number
    ended_at: number | null
    reason: string | null
  }
  data_app_log: { id: Generated<number>; project_id: number; app_id: number; at: number; level: string; text: string }
  data_app_link: { hash: string; project_id: number; app_id: number; token_id: number; expires_at: number }
}

export type AppRow = Selectable<Tables['data_app']>
export type RunRow = Selectable<Tables['data_app_run']>
export type LogLine = Omit<Selectable<Tables['data_app_log']>, 'id'>
export type LinkRow = Selectable<Tables['data_app_link']>
export type AppKey = Pick<AppRow, 'project_id' | 'branch_id' | 'component_id' | 'configuration_id'>

export interface AppFilter {
  readonly componentId: string | undefined
  readonly branchId: number | undefined
  readonly offset: number
  readonly limit: number
}

/** Of each app. */
const KEPT_LINES = 1_000
const KEPT_RUNS = 100

export type AppsStore = ReturnType<typeof createAppsStore>

export function createAppsStore(database: Db) {
  const db = withTables<Tables>(database)
  const at = (trx: Trx) => withTables<Tables>(trx)
  return {
    /** Undefined: the configuration has its app already. */
    insert: (trx: Trx, app: Omit<AppRow, 'id'>): Promise<AppRow | undefined> =>
      at(trx)
        .insertInto('data_app')
        .values(app)
        .onConflict((c) => c.columns(['project_id', 'branch_id', 'component_id', 'configuration_id']).doNothing())
        .returningAll()
        .executeTakeFirst(),

    find: (projectId: number, id: number, trx?: Trx): Promise<AppRow | undefined> =>
      (trx ? at(trx) : db)
        .selectFrom('data_app')
        .selectAll()
        .where('project_id', '=', projectId)
        .where('id', '=', id)
        .executeTakeFirst(),

    /** In any project: for URLs that only carry the app, before authentication. */
    findAnywhere: (id: number): Promise<AppRow | undefined> =>
      db.selectFrom('data_app').selectAll().where('id', '=', id).executeTakeFirst(),

    findAll: (ids: readonly number[]): Promise<AppRow[]> =>
      ids.length === 0 ? Promise.resolve([]) : db.selectFrom('data_app').selectAll().where('id', 'in', ids).execute(),

    findOf: (key: AppKey): Promise<AppRow | undefined> =>
      db
        .selectFrom('data_app')
        .selectAll()
        .where('project_id', '=', key.project_id)
        .where('branch_id', '=', key.branch_id)
        .where('component_id', '=', key.component_id)
        .where('configuration_id', '=', key.configuration_id)
        .executeTakeFirst(),

    list(projectId: number, { componentId, branchId, offset, limit }: AppFilter): Promise<AppRow[]> {
      let query = db.selectFrom('data_app').selectAll().where('project_id', '=', projectId)
      if (componentId !== undefined) query = query.where('component_id', '=', componentId)
      if (branchId !== undefined) query = query.where('branch_id', '=', branchId)
      return query.orderBy('id').offset(offset).limit(limit).execute()
    },

    async count(projectId: number): Promise<number> {
      const { n } = await db
        .selectFrom('data_app')
        .select((e) => e.fn.countAll().as('n'))
        .where('project_id', '=', projectId)
        .executeTakeFirstOrThrow()
      return Number(n)
    },

    update: (trx: Trx, app: AppRow, change: Updateable<Tables['data_app']>): Promise<AppRow | undefined> =>
      at(trx)
        .updateTable('data_app')
        .set(change)
        .where('project_id', '=', app.project_id)
        .where('id', '=', app.id)
        .where('generation', '=', app.generation)
        .returningAll()
        .executeTakeFirst(),

    /** Replaces the one that was read; undefined if another request was faster. */
    setPassword: (trx: Trx, app: AppRow, cipher: string, tokenId: number): Promise<AppRow | undefined> =>
      at(trx)
        .updateTable('data_app')
        .set({ password_cipher: cipher, password_token_id: tokenId })
        .where('project_id', '=', app.project_id)
        .where('id', '=', app.id)
        .where('password_cipher', app.password_cipher === null ? 'is' : '=', app.password_cipher)
        .returningAll()
        .executeTakeFirst(),

    /** With its runs, lines and links. */
    async remove(trx: Trx, { project_id, id }: AppRow): Promise<void> {
      await at(trx).deleteFrom('data_app').where('project_id', '=', project_id).where('id', '=', id).execute()
    },

    async used(trx: Trx, id: number, when: number): Promise<void> {
      await at(trx).updateTable('data_app').set({ last_request_at: when }).where('id', '=', id).execute()
    },

    async insertRun(trx: Trx, run: Omit<RunRow, 'id'>): Promise<number> {
      const { id } = await at(trx).insertInto('data_app_run').values(run).returning('id').executeTakeFirstOrThrow()
      await at(trx).updateTable('data_app').set({ last_start_at: run.started_at }).where('id', '=', run.app_id).execute()
      const last = at(trx)
        .selectFrom('data_app_run')
        .select('id')
        .where('app_id', '=', run.app_id)
        .orderBy('id', 'desc')
        .offset(KEPT_RUNS)
        .limit(1)
      await at(trx).deleteFrom('data_app_run').where('app_id', '=', run.app_id).where('id', '<=', last).execute()
      return id
    },

    async updateRun(trx: Trx, id: number, change: Updateable<Tables['data_app_run']>): Promise<void> {
      await at(trx).updateTable('data_app_run').set(change).where('id', '=', id).where('ended_at', 'is', null).execute()
    },

    listRuns: (app: AppRow, limit: number): Promise<RunRow[]> =>
      db
        .selectFrom('data_app_run')
        .selectAll()
        .where('project_id', '=', app.project_id)
        .where('app_id', '=', app.id)
        .orderBy('id', 'desc')
        .limit(limit)
        .execute(),

    /** Those that have not ended, of several apps. */
    listOpenRuns: (projectId: number, appIds: readonly number[]): Promise<RunRow[]> =>
      appIds.length === 0
        ? Promise.resolve([])
        : db
            .selectFrom('data_app_run')
            .selectAll()
            .where('project_id', '=', projectId)
            .where('app_id', 'in', appIds)
            .where('ended_at', 'is', null)
            .execute(),

    /** Runs whose node has had no heartbeat since, of all projects. */
    listLost: (before: number): Promise<RunRow[]> =>
      db.selectFrom('data_app_run').selectAll().where('ended_at', 'is', null).where('seen_at', '<', before).limit(100).execute(),

    async addLines(trx: Trx, appId: number, lines: readonly LogLine[]): Promise<void> {
      await at(trx)
        .insertInto('data_app_log')
        .values([...lines])
        .execute()
      const last = at(trx)
        .selectFrom('data_app_log')
        .select('id')
        .where('app_id', '=', appId)
        .orderBy('id', 'desc')
        .offset(KEPT_LINES)
        .limit(1)
      await at(trx).deleteFrom('data_app_log').where('app_id', '=', appId).where('id', '<=', last).execute()
    },

    /** The last ones, in the order of their output. */
    async tail(app: AppRow, lines: number, since: number | undefined): Promise<Omit<LogLine, 'project_id' | 'app_id'>[]> {
      let query = db
        .selectFrom('data_app_log')
        .select(['at', 'level', 'text'])
        .where('project_id', '=', app.project_id)
        .where('app_id', '=', app.id)
      if (since !== undefined) query = query.where('at', '>=', since)
      return (await query.orderBy('id', 'desc').limit(lines).execute()).reverse()
    },

    async insertLink(trx: Trx, link: LinkRow, now: number): Promise<void> {
      await at(trx).deleteFrom('data_app_link').where('expires_at', '<=', now).execute()
      await at(trx).insertInto('data_app_link').values(link).execute()
    },

    findLink: (hash: string): Promise<LinkRow | undefined> =>
      db.selectFrom('data_app_link').selectAll().where('hash', '=', hash).executeTakeFirst(),
  }
}
