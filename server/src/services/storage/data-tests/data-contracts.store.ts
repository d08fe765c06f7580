// Data contracts in the metadata database: one per table of a branch, by the id of the table.

import type { Generated, Selectable } from 'kysely'
import { type Db, type Trx, withTables } from '../../../engines/metadata-db/dialects.ts'
import type { TestPlace } from './data-tests.store.ts'
import type { RenamedColumn } from './renamed-columns.ts'
import { contractAfterRename } from './renamed-in-contract.ts'

interface Tables {
  data_contract: {
    id: Generated<number>
    project_id: number
    branch_id: number
    table_id: string
    text: string
    creator_token_id: number
    creator_description: string
    created_at: number
    updated_at: number
  }
}

export interface ContractRecord {
  readonly projectId: number
  readonly branchId: number
  readonly tableId: string
  readonly text: string
  readonly creator: { readonly id: number; readonly description: string }
  readonly createdAt: Date
  readonly updatedAt: Date
}

const tables = (db: Db) => withTables<Tables>(db)

export function createContractsStore(database: Db) {
  const db = tables(database)

  return {
    /** Of the branch itself, else of the default branch. */
    find: async ({ projectId, branchId, defaultBranchId }: TestPlace, tableId: string): Promise<ContractRecord | undefined> => {
      const rows = await db
        .selectFrom('data_contract')
        .selectAll()
        .where('project_id', '=', projectId)
        .where('branch_id', 'in', [branchId, defaultBranchId])
        .where('table_id', '=', tableId)
        .execute()
      const row = rows.find((one) => one.branch_id === branchId) ?? rows[0]
      return row && toContract(row)
    },

    list: async (projectId: number, branchId: number, from: Db = database): Promise<ContractRecord[]> => {
      const rows = await tables(from)
        .selectFrom('data_contract')
        .selectAll()
        .where('project_id', '=', projectId)
        .where('branch_id', '=', branchId)
        .orderBy('table_id')
        .execute()
      return rows.map(toContract)
    },

    save: async (trx: Trx, contract: ContractRecord): Promise<void> => {
      const { text, updatedAt } = contract
      await tables(trx)
        .insertInto('data_contract')
        .values({
          project_id: contract.projectId,
          branch_id: contract.branchId,
          table_id: contract.tableId,
          text,
          creator_token_id: contract.creator.id,
          creator_description: contract.creator.description,
          created_at: contract.createdAt.getTime(),
          updated_at: updatedAt.getTime(),
        })
        .onConflict((conflict) =>
          conflict.columns(['project_id', 'branch_id', 'table_id']).doUpdateSet({ text, updated_at: updatedAt.getTime() }),
        )
        .execute()
    },

    renameColumn: async (trx: Trx, projectId: number, branchId: number, renamed: RenamedColumn): Promise<void> => {
      const found = await tables(trx)
        .selectFrom('data_contract')
        .select(['id', 'text'])
        .where('project_id', '=', projectId)
        .where('branch_id', '=', branchId)
        .where('table_id', '=', renamed.tableId)
        .executeTakeFirst()
      if (!found) return
      const text = contractAfterRename(found.text, renamed)
      if (text === found.text) return
      await tables(trx)
        .updateTable('data_contract')
        .set({ text })
        .where('project_id', '=', projectId)
        .where('id', '=', found.id)
        .execute()
    },

    /** False if there is none. */
    remove: async (trx: Trx, projectId: number, branchId: number, tableId: string): Promise<boolean> => {
      const { numDeletedRows } = await tables(trx)
        .deleteFrom('data_contract')
        .where('project_id', '=', projectId)
        .where('branch_id', '=', branchId)
        .where('table_id', '=', tableId)
        .executeTakeFirst()
      return numDeletedRows > 0n
    },

    removeOfBranch: async (trx: Trx, projectId: number, branchId: number): Promise<void> => {
      await tables(trx)
        .deleteFrom('data_contract')
        .where('project_id', '=', projectId)
        .where('branch_id', '=', branchId)
        .execute()
    },

    removeOfBucket: async (trx: Trx, projectId: number, branchId: number, bucketId: string): Promise<void> => {
      const found = await tables(trx)
        .selectFrom('data_contract')
        .select(['id', 'table_id'])
        .where('project_id', '=', projectId)
        .where('branch_id', '=', branchId)
        .execute()
      const ids = found.flatMap(({ id, table_id }) => (table_id.slice(0, table_id.lastIndexOf('.')) === bucketId ? [id] : []))
      if (ids.length > 0)
        await tables(trx).deleteFrom('data_contract').where('project_id', '=', projectId).where('id', 'in', ids).execute()
    },
  }
}

const toContract = (row: Selectable<Tables['data_contract']>): ContractRecord => ({
  projectId: row.project_id,
  branchId: row.branch_id,
  tableId: row.table_id,
  text: row.text,
  creator: { id: row.creator_token_id, description: row.creator_description },
  createdAt: new Date(row.created_at),
  updatedAt: new Date(row.updated_at),
})
