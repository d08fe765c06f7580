// Tables of runs in the metadata database: the metadata of Iceberg as its text, changed only over the text it was read with.

import { type Db, type Trx, withTables } from '../../../engines/metadata-db/dialects.ts'
import { readStored } from '../../../kit/stored-json.ts'
import type { RunTarget } from '../../../model/run-ports.ts'

interface Tables {
  iceberg_run_table: {
    token_id: number
    project_id: number
    name: string
    folder: string
    target: string | null
    metadata: string | null
    created_at: number
  }
}

/** Whose tables: those of one token. */
export interface RunOwner {
  readonly projectId: number
  readonly tokenId: number
}

export interface RunTableRow {
  readonly name: string
  readonly folder: string
  readonly target: RunTarget | undefined
  /** Text of the metadata; undefined: the table has not been created yet. */
  readonly metadata: string | undefined
}

export type RunTablesStore = ReturnType<typeof createRunTablesStore>

export function createRunTablesStore(database: Db) {
  const db = withTables<Tables>(database)
  const rowsOf = ({ projectId, tokenId }: RunOwner) =>
    db.selectFrom('iceberg_run_table').selectAll().where('token_id', '=', tokenId).where('project_id', '=', projectId)
  const rowOf = ({ name, folder, target, metadata }: Tables['iceberg_run_table']): RunTableRow => ({
    name,
    folder,
    target: target === null ? undefined : readStored<RunTarget>(target),
    metadata: metadata ?? undefined,
  })

  return {
    async list(owner: RunOwner): Promise<readonly RunTableRow[]> {
      return (await rowsOf(owner).orderBy('name').execute()).map(rowOf)
    },

    async find(owner: RunOwner, name: string): Promise<RunTableRow | undefined> {
      const row = await rowsOf(owner).where('name', '=', name).executeTakeFirst()
      return row && rowOf(row)
    },

    async insert(trx: Trx, { projectId, tokenId }: RunOwner, rows: readonly RunTableRow[], now: Date): Promise<void> {
      const values = rows.map(({ name, folder, target, metadata }) => ({
        token_id: tokenId,
        project_id: projectId,
        name,
        folder,
        target: target ? JSON.stringify(target) : null,
        metadata: metadata ?? null,
        created_at: now.getTime(),
      }))
      await withTables<Tables>(trx).insertInto('iceberg_run_table').values(values).execute()
    },

    /** Answers whether the table was still as it was read. */
    async replace(trx: Trx, { projectId, tokenId }: RunOwner, before: RunTableRow, metadata: string): Promise<boolean> {
      const { numUpdatedRows } = await withTables<Tables>(trx)
        .updateTable('iceberg_run_table')
        .set({ metadata })
        .where('token_id', '=', tokenId)
        .where('project_id', '=', projectId)
        .where('name', '=', before.name)
        .where('metadata', before.metadata === undefined ? 'is' : '=', before.metadata ?? null)
        .executeTakeFirst()
      return numUpdatedRows > 0n
    },

    /** One table, or all of the run. */
    async remove(trx: Trx, { projectId, tokenId }: RunOwner, name?: string): Promise<void> {
      const query = withTables<Tables>(trx)
        .deleteFrom('iceberg_run_table')
        .where('token_id', '=', tokenId)
        .where('project_id', '=', projectId)
      await (name === undefined ? query : query.where('name', '=', name)).execute()
    },

    /** What runs left that ended without a word. */
    async removeBefore(trx: Trx, moment: Date): Promise<void> {
      await withTables<Tables>(trx).deleteFrom('iceberg_run_table').where('created_at', '<', moment.getTime()).execute()
    },
  }
}
