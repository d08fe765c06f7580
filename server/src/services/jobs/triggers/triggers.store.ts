// Triggers in the metadata database.

import type { Generated, Selectable } from 'kysely'
import { type Db, type Trx, withTables } from '../../../engines/metadata-db/dialects.ts'

interface Tables {
  table_trigger: {
    id: Generated<number>
    project_id: number
    token_id: number
    component: string
    configuration_id: string
    cool_down_minutes: number
    seen: string
    creator_token_id: number
    creator_description: string
    last_run_at: number
    ready_at: number
  }
}

/** A table of a trigger, and its last import at the time of the trigger's last run (epoch milliseconds; null when there was none). */
export interface SeenTable {
  readonly tableId: string
  readonly importedAt: number | null
}

export interface Trigger {
  readonly id: number
  readonly projectId: number
  readonly tokenId: number
  readonly component: string
  readonly configurationId: string
  readonly coolDownMinutes: number
  readonly seen: readonly SeenTable[]
  readonly creatorToken: { readonly id: number; readonly description: string }
  readonly lastRunAt: Date
}

export function createTriggersStore(database: Db) {
  const db = withTables<Tables>(database)

  return {
    list: async (projectId: number): Promise<Trigger[]> => {
      const rows = await db.selectFrom('table_trigger').selectAll().where('project_id', '=', projectId).orderBy('id').execute()
      return rows.map(toTrigger)
    },

    find: async (projectId: number, id: number): Promise<Trigger | undefined> => {
      const row = await db
        .selectFrom('table_trigger')
        .selectAll()
        .where('project_id', '=', projectId)
        .where('id', '=', id)
        .executeTakeFirst()
      return row && toTrigger(row)
    },

    /** The first trigger that runs with a token. */
    findOfToken: async (projectId: number, tokenId: number): Promise<Trigger | undefined> => {
      const row = await db
        .selectFrom('table_trigger')
        .selectAll()
        .where('project_id', '=', projectId)
        .where('token_id', '=', tokenId)
        .orderBy('id')
        .limit(1)
        .executeTakeFirst()
      return row && toTrigger(row)
    },

    /** Of all projects: those whose cool-down is over, from `afterId` on. */
    listReady: async (now: Date, afterId: number, limit: number): Promise<Trigger[]> => {
      const rows = await db
        .selectFrom('table_trigger')
        .selectAll()
        .where('ready_at', '<=', now.getTime())
        .where('id', '>', afterId)
        .orderBy('id')
        .limit(limit)
        .execute()
      return rows.map(toTrigger)
    },

    insert: async (trx: Trx, trigger: Omit<Trigger, 'id'>): Promise<Trigger> => {
      const { id } = await withTables<Tables>(trx)
        .insertInto('table_trigger')
        .values({
          ...columnsOf(trigger),
          project_id: trigger.projectId,
          creator_token_id: trigger.creatorToken.id,
          creator_description: trigger.creatorToken.description,
        })
        .returning('id')
        .executeTakeFirstOrThrow()
      return { ...trigger, id }
    },

    /** Only if it has not run since it was read. */
    replace: async (trx: Trx, before: Trigger, after: Trigger): Promise<boolean> => {
      const { numUpdatedRows } = await withTables<Tables>(trx)
        .updateTable('table_trigger')
        .set(columnsOf(after))
        .where('project_id', '=', before.projectId)
        .where('id', '=', before.id)
        .where('last_run_at', '=', before.lastRunAt.getTime())
        .executeTakeFirst()
      return numUpdatedRows > 0n
    },

    remove: async (trx: Trx, projectId: number, id: number): Promise<boolean> => {
      const { numDeletedRows } = await withTables<Tables>(trx)
        .deleteFrom('table_trigger')
        .where('project_id', '=', projectId)
        .where('id', '=', id)
        .executeTakeFirst()
      return numDeletedRows > 0n
    },
  }
}

const columnsOf = (trigger: Omit<Trigger, 'id'>) => ({
  token_id: trigger.tokenId,
  component: trigger.component,
  configuration_id: trigger.configurationId,
  cool_down_minutes: trigger.coolDownMinutes,
  seen: JSON.stringify(trigger.seen),
  last_run_at: trigger.lastRunAt.getTime(),
  ready_at: trigger.lastRunAt.getTime() + trigger.coolDownMinutes * 60_000,
})

const toTrigger = (row: Selectable<Tables['table_trigger']>): Trigger => ({
  id: row.id,
  projectId: row.project_id,
  tokenId: row.token_id,
  component: row.component,
  configurationId: row.configuration_id,
  coolDownMinutes: row.cool_down_minutes,
  seen: JSON.parse(row.seen) as SeenTable[], // written by columnsOf
  creatorToken: { id: row.creator_token_id, description: row.creator_description },
  lastRunAt: new Date(row.last_run_at),
})
