// Tables that a proposal creates, and metadata that it sets on tables of the default branch, in SQL.

import type { Generated, Selectable } from 'kysely'
import { type Db, type Trx, withTables } from '../../../../engines/metadata-db/dialects.ts'
import { readStored } from '../../../../kit/stored-json.ts'
import type { TypedColumn } from '../changes/table-types.ts'
import type { TableLayout } from '../tables.store.ts'

interface Tables {
  proposed_table: {
    id: Generated<number>
    project_id: number
    branch_id: number
    table_id: string
    definition: string | null
    metadata: string
  }
}

export interface NewTable {
  readonly name: string
  readonly displayName: string
  readonly columns: readonly TypedColumn[]
  readonly primaryKey: readonly string[]
  readonly typed: boolean
  readonly layout?: TableLayout
}

/** Of a column, or (null) of the table itself. */
export interface MetadataValue {
  readonly column: string | null
  readonly provider: string
  readonly key: string
  readonly value: string
}

export interface ProposedTable {
  readonly tableId: string
  /** Undefined: it is a table of the default branch. */
  readonly definition: NewTable | undefined
  readonly metadata: readonly MetadataValue[]
}

interface Place {
  readonly projectId: number
  readonly branchId: number
}

const table = (db: Db) => withTables<Tables>(db)

export async function listProposed(db: Db, { projectId, branchId }: Place): Promise<ProposedTable[]> {
  const rows = await table(db)
    .selectFrom('proposed_table')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('branch_id', '=', branchId)
    .orderBy('id')
    .execute()
  return rows.map(proposedOf)
}

export async function findProposed(db: Db, { projectId, branchId }: Place, tableId: string): Promise<ProposedTable | undefined> {
  const row = await table(db)
    .selectFrom('proposed_table')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('branch_id', '=', branchId)
    .where('table_id', '=', tableId)
    .executeTakeFirst()
  return row && proposedOf(row)
}

export async function saveProposed(trx: Trx, { projectId, branchId }: Place, proposed: ProposedTable): Promise<void> {
  const content = {
    definition: proposed.definition ? JSON.stringify(proposed.definition) : null,
    metadata: JSON.stringify(proposed.metadata),
  }
  await table(trx)
    .insertInto('proposed_table')
    .values({ project_id: projectId, branch_id: branchId, table_id: proposed.tableId, ...content })
    .onConflict((conflict) => conflict.columns(['project_id', 'branch_id', 'table_id']).doUpdateSet(content))
    .execute()
}

export async function removeProposedOfBranch(trx: Trx, { projectId, branchId }: Place): Promise<void> {
  await table(trx).deleteFrom('proposed_table').where('project_id', '=', projectId).where('branch_id', '=', branchId).execute()
}

const proposedOf = (row: Selectable<Tables['proposed_table']>): ProposedTable => ({
  tableId: row.table_id,
  definition: row.definition === null ? undefined : readStored<NewTable>(row.definition),
  metadata: readStored<readonly MetadataValue[]>(row.metadata),
})
