// Comments on tables.

import type { Generated, Selectable } from 'kysely'
import { type Db, type Trx, withTables } from '../../../engines/metadata-db/dialects.ts'

interface Tables {
  table_comment: {
    id: Generated<number>
    project_id: number
    branch_id: number
    table_id: string
    author: string
    author_token_id: number
    text: string
    created_at: number
    edited_at: number | null
  }
}

export type CommentRow = Selectable<Tables['table_comment']>

/** Whose comments: of a table in a branch. */
export interface CommentPlace {
  readonly projectId: number
  readonly branchId: number
  readonly tableId: string
}

export function createTableCommentsStore(database: Db) {
  const db = withTables<Tables>(database)
  const own = (trx: Trx) => withTables<Tables>(trx)
  return {
    list: ({ projectId, branchId, tableId }: CommentPlace): Promise<CommentRow[]> =>
      db
        .selectFrom('table_comment')
        .selectAll()
        .where('project_id', '=', projectId)
        .where('branch_id', '=', branchId)
        .where('table_id', '=', tableId)
        .orderBy('id')
        .execute(),

    find: ({ projectId, branchId, tableId }: CommentPlace, id: number): Promise<CommentRow | undefined> =>
      db
        .selectFrom('table_comment')
        .selectAll()
        .where('project_id', '=', projectId)
        .where('branch_id', '=', branchId)
        .where('table_id', '=', tableId)
        .where('id', '=', id)
        .executeTakeFirst(),

    insert: (trx: Trx, row: Omit<CommentRow, 'id'>): Promise<CommentRow> =>
      own(trx).insertInto('table_comment').values(row).returningAll().executeTakeFirstOrThrow(),

    change: (trx: Trx, projectId: number, id: number, text: string, at: number): Promise<CommentRow | undefined> =>
      own(trx)
        .updateTable('table_comment')
        .set({ text, edited_at: at })
        .where('project_id', '=', projectId)
        .where('id', '=', id)
        .returningAll()
        .executeTakeFirst(),

    remove: async (trx: Trx, projectId: number, id: number): Promise<void> => {
      await own(trx).deleteFrom('table_comment').where('project_id', '=', projectId).where('id', '=', id).execute()
    },

    removeOfTable: async (trx: Trx, { projectId, branchId, tableId }: CommentPlace): Promise<void> => {
      await own(trx)
        .deleteFrom('table_comment')
        .where('project_id', '=', projectId)
        .where('branch_id', '=', branchId)
        .where('table_id', '=', tableId)
        .execute()
    },

    removeOfBucket: async (trx: Trx, projectId: number, branchId: number, bucketId: string): Promise<void> => {
      await own(trx)
        .deleteFrom('table_comment')
        .where('project_id', '=', projectId)
        .where('branch_id', '=', branchId)
        .where((e) => e.fn<string>('substr', ['table_id', e.lit(1), e.val(bucketId.length + 1)]), '=', `${bucketId}.`)
        .execute()
    },

    removeOfBranch: async (trx: Trx, projectId: number, branchId: number): Promise<void> => {
      await own(trx).deleteFrom('table_comment').where('project_id', '=', projectId).where('branch_id', '=', branchId).execute()
    },
  }
}
