// Which tables have a history, and how far it goes.

import { type Generated, type Selectable, sql } from 'kysely'
import { type Db, type Trx, withTables } from '../../../engines/metadata-db/dialects.ts'
import { readStored } from '../../../kit/stored-json.ts'
import type { Actor } from '../../../model/actor.ts'

interface Tables {
  data_table: { id: number; project_id: number; snapshot: number | null }
  table_history: {
    id: Generated<number>
    project_id: number
    branch_id: number
    table_id: string
    table_key: number
    /** The last state that is in the log; null before the first. */
    last_state: number | null
    actor: string
    problem: string | null
    created_at: number
    updated_at: number
  }
}

export interface TableHistory {
  readonly id: number
  readonly projectId: number
  readonly branchId: number
  readonly tableId: string
  readonly tableKey: number
  readonly lastState: number | null
  readonly actor: Actor
  readonly problem: string | null
  readonly updatedAt: Date
}

const tables = (db: Db) => withTables<Tables>(db)

export function createTableHistoryStore(database: Db) {
  const db = tables(database)
  return {
    find: async (projectId: number, branchId: number, tableId: string): Promise<TableHistory | undefined> => {
      const row = await db
        .selectFrom('table_history')
        .selectAll()
        .where('project_id', '=', projectId)
        .where('branch_id', '=', branchId)
        .where('table_id', '=', tableId)
        .executeTakeFirst()
      return row && toHistory(row)
    },

    insert: async (
      trx: Trx,
      { projectId, branchId, tableId, tableKey, actor }: Omit<TableHistory, 'id' | 'lastState' | 'problem' | 'updatedAt'>,
      at: Date,
    ): Promise<void> => {
      await tables(trx)
        .insertInto('table_history')
        .values({
          project_id: projectId,
          branch_id: branchId,
          table_id: tableId,
          table_key: tableKey,
          last_state: null,
          actor: JSON.stringify(actor),
          problem: null,
          created_at: at.getTime(),
          updated_at: at.getTime(),
        })
        .onConflict((conflict) => conflict.columns(['project_id', 'branch_id', 'table_id']).doNothing())
        .execute()
    },

    isKept: async (trx: Trx, projectId: number, branchId: number, tableId: string): Promise<boolean> => {
      const row = await tables(trx)
        .selectFrom('table_history')
        .select('id')
        .where('project_id', '=', projectId)
        .where('branch_id', '=', branchId)
        .where('table_id', '=', tableId)
        .executeTakeFirst()
      return row !== undefined
    },

    /** False if there is none. */
    remove: async (trx: Trx, projectId: number, branchId: number, tableId: string): Promise<boolean> => {
      const { numDeletedRows } = await tables(trx)
        .deleteFrom('table_history')
        .where('project_id', '=', projectId)
        .where('branch_id', '=', branchId)
        .where('table_id', '=', tableId)
        .executeTakeFirst()
      return numDeletedRows > 0n
    },

    removeOfBranch: async (trx: Trx, projectId: number, branchId: number): Promise<void> => {
      await tables(trx)
        .deleteFrom('table_history')
        .where('project_id', '=', projectId)
        .where('branch_id', '=', branchId)
        .execute()
    },

    /** Of all projects, the ones whose table has another state than the last one of the log: the loop has no caller. */
    listDue: async (limit: number): Promise<TableHistory[]> => {
      const rows = await db
        .selectFrom('table_history')
        .innerJoin('data_table', 'data_table.id', 'table_history.table_key')
        .selectAll('table_history')
        .whereRef('data_table.project_id', '=', 'table_history.project_id')
        .where(sql<boolean>`data_table.snapshot <> coalesce(table_history.last_state, 0)`)
        .orderBy('table_history.id')
        .limit(limit)
        .execute()
      return rows.map(toHistory)
    },

    /** The log goes up to `to` now. False if another node was faster. */
    advance: async (trx: Trx, { id, lastState }: TableHistory, to: number, at: Date): Promise<boolean> => {
      const { numUpdatedRows } = await tables(trx)
        .updateTable('table_history')
        .set({ last_state: to, problem: null, updated_at: at.getTime() })
        .where('id', '=', id)
        .where(lastState === null ? sql<boolean>`last_state is null` : sql<boolean>`last_state = ${lastState}`)
        .executeTakeFirst()
      return numUpdatedRows > 0n
    },

    fail: async (trx: Trx, { id }: TableHistory, problem: string): Promise<void> => {
      await tables(trx)
        .updateTable('table_history')
        .set({ problem: problem.slice(0, 1000) })
        .where('id', '=', id)
        .execute()
    },
  }
}

const toHistory = (row: Selectable<Tables['table_history']>): TableHistory => ({
  id: row.id,
  projectId: row.project_id,
  branchId: row.branch_id,
  tableId: row.table_id,
  tableKey: row.table_key,
  lastState: row.last_state,
  actor: readStored<Actor>(row.actor),
  problem: row.problem,
  updatedAt: new Date(row.updated_at),
})
