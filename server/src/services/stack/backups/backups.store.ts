// Backups in the metadata database. They are the operator's: no row belongs to a project.

import type { Generated, Selectable } from 'kysely'
import { type Db, isUniqueViolation, withTables } from '../../../engines/metadata-db/dialects.ts'

interface Tables {
  backup_run: {
    id: Generated<number>
    /** Of a planned one; unique. */
    due_at: number | null
    started_at: number
    ended_at: number | null
    /** No object is removed before this time. */
    hold_until: number
    folder: string
    error: string | null
    /** When retention removed its files. */
    removed_at: number | null
    drill_started_at: number | null
    drill_hold_until: number | null
    drill_ended_at: number | null
    drill_result: string | null
    drill_note: string | null
  }
  object_removal: { object_key: string }
  restored_copy: { restored_at: number }
}

export type BackupRow = Selectable<Tables['backup_run']>

export interface NewRun {
  readonly dueAt: number | null
  readonly startedAt: number
  readonly holdUntil: number
  readonly folder: string
}

export function createBackupsStore(database: Db) {
  const db = withTables<Tables>(database)

  return {
    /** Undefined when another node makes the backup that is due. */
    async begin({ dueAt, startedAt, holdUntil, folder }: NewRun): Promise<number | undefined> {
      try {
        const { id } = await db
          .insertInto('backup_run')
          .values({ due_at: dueAt, started_at: startedAt, hold_until: holdUntil, folder })
          .returning('id')
          .executeTakeFirstOrThrow()
        return id
      } catch (error) {
        if (isUniqueViolation(error)) return undefined
        throw error
      }
    },

    hold: async (id: number, until: number): Promise<void> => {
      await db.updateTable('backup_run').set({ hold_until: until }).where('id', '=', id).execute()
    },

    end: async (id: number, endedAt: number, error: string | null): Promise<void> => {
      await db.updateTable('backup_run').set({ ended_at: endedAt, hold_until: 0, error }).where('id', '=', id).execute()
    },

    /** The newest first. */
    list: (limit: number): Promise<BackupRow[]> =>
      db.selectFrom('backup_run').selectAll().orderBy('id', 'desc').limit(limit).execute(),

    find: (id: number): Promise<BackupRow | undefined> =>
      db.selectFrom('backup_run').selectAll().where('id', '=', id).executeTakeFirst(),

    markRemoved: async (folders: readonly string[], at: number): Promise<void> => {
      if (folders.length === 0) return
      await db
        .updateTable('backup_run')
        .set({ removed_at: at })
        .where('folder', 'in', folders)
        .where('removed_at', 'is', null)
        .execute()
    },

    /** False while a drill of any backup runs. */
    async beginDrill(id: number, startedAt: number, holdUntil: number): Promise<boolean> {
      const begun = await db
        .updateTable('backup_run')
        .set({
          drill_started_at: startedAt,
          drill_hold_until: holdUntil,
          drill_ended_at: null,
          drill_result: null,
          drill_note: null,
        })
        .where('id', '=', id)
        .where(({ not, exists, selectFrom }) =>
          not(exists(selectFrom('backup_run as other').select('other.id').where('other.drill_hold_until', '>', startedAt))),
        )
        .returning('id')
        .executeTakeFirst()
      return begun !== undefined
    },

    holdDrill: async (id: number, until: number): Promise<void> => {
      await db.updateTable('backup_run').set({ drill_hold_until: until }).where('id', '=', id).execute()
    },

    endDrill: async (id: number, endedAt: number, result: string, note: string): Promise<void> => {
      await db
        .updateTable('backup_run')
        .set({ drill_ended_at: endedAt, drill_hold_until: 0, drill_result: result, drill_note: note })
        .where('id', '=', id)
        .execute()
    },

    isHeld: async (now: number): Promise<boolean> =>
      (await db.selectFrom('backup_run').select('id').where('hold_until', '>', now).limit(1).executeTakeFirst()) !== undefined,

    /** When the newest good one ended. */
    lastGoodAt: async (): Promise<number | undefined> => {
      const query = db
        .selectFrom('backup_run')
        .select((e) => e.fn.max('ended_at').as('at'))
        .where('error', 'is', null)
      return (await query.executeTakeFirst())?.at ?? undefined
    },

    /** When the newest planned one was due. */
    lastDueAt: async (): Promise<number | undefined> =>
      (
        await db
          .selectFrom('backup_run')
          .select((e) => e.fn.max('due_at').as('at'))
          .executeTakeFirst()
      )?.at ?? undefined,

    removeLater: async (keys: readonly string[]): Promise<void> => {
      if (keys.length === 0) return
      await db
        .insertInto('object_removal')
        .values(keys.map((key) => ({ object_key: key })))
        .onConflict((conflict) => conflict.column('object_key').doNothing())
        .execute()
    },

    listRemovals: async (limit: number): Promise<readonly string[]> =>
      (await db.selectFrom('object_removal').select('object_key').limit(limit).execute()).map((row) => row.object_key),

    forgetRemovals: async (keys: readonly string[]): Promise<void> => {
      await db.deleteFrom('object_removal').where('object_key', 'in', keys).execute()
    },

    markRestored: async (now: number): Promise<void> => {
      await db.insertInto('restored_copy').values({ restored_at: now }).execute()
    },

    /** Undefined in a stack that is not a copy. */
    restoredAt: async (): Promise<Date | undefined> => {
      const row = await db.selectFrom('restored_copy').select('restored_at').limit(1).executeTakeFirst()
      return row && new Date(row.restored_at)
    },

    forgetRestored: async (): Promise<void> => {
      await db.deleteFrom('restored_copy').execute()
    },
  }
}
