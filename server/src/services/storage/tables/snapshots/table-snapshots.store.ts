// States of tables in the metadata database: the ones that loads leave behind, for travelling back in time, and the ones that people keep.

import type { Generated, Selectable } from 'kysely'
import { type Db, type Trx, withTables } from '../../../../engines/metadata-db/dialects.ts'
import { referencedKeys, type TableSnapshot } from '../../../../engines/table-engine/snapshot.ts'
import { readStored } from '../../../../kit/stored-json.ts'

interface Tables {
  data_table: { id: Generated<number>; project_id: number }
  table_state: {
    id: Generated<number>
    project_id: number
    data_table: number
    value: string
    created_at: number
    commit_snapshot: string | null
    commit_digest: string | null
    /** When the next state took its place; null: it is the current one. */
    superseded_at: Generated<number | null>
    tidied_from: number | null
  }
  table_snapshot: {
    id: Generated<number>
    project_id: number
    data_table: number
    table_id: string
    description: string
    value: string
    creator_token_id: number
    creator_token_description: string
    created_at: number
    data_file_id: number | null
    metadata: string | null
  }
}

/** Metadata of a table and its columns. */
export type KeptMetadata = readonly {
  readonly column?: string
  readonly provider: string
  readonly key: string
  readonly value: string
}[]

/** Of a state that another program committed. */
export interface StateCommit {
  readonly snapshotId?: string | undefined
  readonly digest: string
}

export interface StoredState {
  readonly id: number
  readonly snapshot: TableSnapshot
  readonly createdAt: Date
}

export interface SnapshotRecord extends StoredState {
  readonly projectId: number
  readonly tableKey: number
  readonly tableId: string
  readonly description: string
  /** A file with its rows; snapshots of earlier versions have none. */
  readonly dataFileId: number | undefined
  readonly metadata: KeptMetadata
  readonly creatorToken: { readonly id: number; readonly description: string }
}

/** Between two writes of one writer there are a few; more are not looked at. */
const MAX_TIDIED = 100

export function createSnapshotsStore(database: Db) {
  const db = withTables<Tables>(database)

  return {
    insertState: async (
      trx: Trx,
      { projectId, key }: { readonly projectId: number; readonly key: number },
      snapshot: TableSnapshot,
      at: Date,
      { commit, tidiedFrom = null }: { readonly commit?: StateCommit | undefined; readonly tidiedFrom?: number | null } = {},
    ): Promise<number> => {
      refuseForeignFiles(projectId, snapshot)
      const { id } = await withTables<Tables>(trx)
        .insertInto('table_state')
        .values({
          project_id: projectId,
          data_table: key,
          value: JSON.stringify(snapshot),
          created_at: at.getTime(),
          commit_snapshot: commit?.snapshotId ?? null,
          commit_digest: commit?.digest ?? null,
          tidied_from: tidiedFrom,
        })
        .returning('id')
        .executeTakeFirstOrThrow()
      await withTables<Tables>(trx)
        .updateTable('table_state')
        .set({ superseded_at: at.getTime() })
        .where('data_table', '=', key)
        .where('id', '<', id)
        .where('superseded_at', 'is', null)
        .execute()
      return id
    },

    /** What people keep outlives its table. */
    removeStatesOf: async (trx: Trx, tableKey: number): Promise<void> => {
      await withTables<Tables>(trx).deleteFrom('table_state').where('data_table', '=', tableKey).execute()
    },

    findState: async (id: number): Promise<StoredState | undefined> => {
      const row = await db.selectFrom('table_state').selectAll().where('id', '=', id).executeTakeFirst()
      return row && toState(row)
    },

    /** A state by its number, if it is one of this table. */
    findStateOf: async (tableKey: number, id: number): Promise<StoredState | undefined> => {
      const row = await db
        .selectFrom('table_state')
        .selectAll()
        .where('id', '=', id)
        .where('data_table', '=', tableKey)
        .executeTakeFirst()
      return row && toState(row)
    },

    /** Whether `to` has the rows of the earlier state `from`: only files were rewritten in between. */
    isTidied: async (
      { projectId, key }: { readonly projectId: number; readonly key: number },
      from: number,
      to: number,
      trx?: Trx,
    ): Promise<boolean> => {
      if (from >= to) return from === to
      const rows = await (trx ? withTables<Tables>(trx) : db)
        .selectFrom('table_state')
        .select(['id', 'tidied_from'])
        .where('project_id', '=', projectId)
        .where('data_table', '=', key)
        .where('id', '>', from)
        .where('id', '<=', to)
        .orderBy('id')
        .limit(MAX_TIDIED)
        .execute()
      // Each from the one before it: a state in between may have been removed, and it may have changed rows.
      return rows.at(-1)?.id === to && rows.every((row, at) => row.tidied_from === (rows[at - 1]?.id ?? from))
    },

    /** Whether a state of the table came from this request. */
    hasCommit: async (tableKey: number, digest: string): Promise<boolean> => {
      const query = db.selectFrom('table_state').select('id').where('data_table', '=', tableKey)
      return (await query.where('commit_digest', '=', digest).limit(1).executeTakeFirst()) !== undefined
    },

    /** The states of a table that can be travelled to, the oldest first, with the numbers that other programs gave them. */
    listStates: async (
      projectId: number,
      tableKey: number,
    ): Promise<{ readonly id: number; readonly createdAtMs: number; readonly snapshotId: string | null }[]> =>
      db
        .selectFrom('table_state')
        .select(['id', 'created_at as createdAtMs', 'commit_snapshot as snapshotId'])
        .where('project_id', '=', projectId)
        .where('data_table', '=', tableKey)
        .orderBy('id')
        .execute(),

    /** The state of a table at a moment; undefined when it was not there yet, or that is too long ago. */
    findStateAt: async (tableKey: number, at: Date): Promise<StoredState | undefined> => {
      const row = await db
        .selectFrom('table_state')
        .selectAll()
        .where('data_table', '=', tableKey)
        .where('created_at', '<=', at.getTime())
        .orderBy('created_at', 'desc')
        .orderBy('id', 'desc')
        .limit(1)
        .executeTakeFirst()
      return row && toState(row)
    },

    // Snapshots that people keep

    keep: async (trx: Trx, kept: Omit<SnapshotRecord, 'id'>): Promise<SnapshotRecord> => {
      refuseForeignFiles(kept.projectId, kept.snapshot)
      const row = await withTables<Tables>(trx)
        .insertInto('table_snapshot')
        .values({
          project_id: kept.projectId,
          data_table: kept.tableKey,
          table_id: kept.tableId,
          description: kept.description,
          value: JSON.stringify(kept.snapshot),
          creator_token_id: kept.creatorToken.id,
          creator_token_description: kept.creatorToken.description,
          created_at: kept.createdAt.getTime(),
          data_file_id: kept.dataFileId ?? null,
          metadata: JSON.stringify(kept.metadata),
        })
        .returning('id')
        .executeTakeFirstOrThrow()
      return { ...kept, id: row.id }
    },

    findSnapshot: async (projectId: number, id: number): Promise<SnapshotRecord | undefined> => {
      const row = await db
        .selectFrom('table_snapshot')
        .selectAll()
        .where('project_id', '=', projectId)
        .where('id', '=', id)
        .executeTakeFirst()
      return row && toSnapshot(row)
    },

    listSnapshots: async (projectId: number, tableKey: number, limit: number, offset: number): Promise<SnapshotRecord[]> =>
      (
        await db
          .selectFrom('table_snapshot')
          .selectAll()
          .where('project_id', '=', projectId)
          .where('data_table', '=', tableKey)
          .orderBy('id', 'desc')
          .limit(limit)
          .offset(offset)
          .execute()
      ).map(toSnapshot),

    /** What was removed, if it was there. */
    removeKept: async (trx: Trx, projectId: number, id: number): Promise<SnapshotRecord | undefined> => {
      const row = await withTables<Tables>(trx)
        .deleteFrom('table_snapshot')
        .where('project_id', '=', projectId)
        .where('id', '=', id)
        .returningAll()
        .executeTakeFirst()
      return row && toSnapshot(row)
    },

    /** Removes states that were replaced before the moment: time travel to just after it still finds the one of then. */
    forgetSnapshotsBefore: async (trx: Trx, moment: Date): Promise<number> => {
      const { numDeletedRows } = await withTables<Tables>(trx)
        .deleteFrom('table_state')
        .where('superseded_at', '<', moment.getTime())
        .executeTakeFirstOrThrow()
      return Number(numDeletedRows)
    },

    /** What differs after tables or kept snapshots of a project have come or gone, by project. */
    async tableCounts(): Promise<ReadonlyMap<number, string>> {
      const counts = new Map<number, string>()
      for (const table of ['data_table', 'table_snapshot'] as const) {
        const rows = await db
          .selectFrom(table)
          .select(({ fn }) => ['project_id', fn.countAll<number>().as('count'), fn.max<number>('id').as('last')])
          .groupBy('project_id')
          .execute()
        for (const { project_id: id, count, last } of rows) counts.set(id, `${counts.get(id) ?? ''} ${table} ${count} ${last}`)
      }
      return counts
    },

    /** Every state of a project, in pieces, for finding out which objects are needed. */
    async *everySnapshot(projectId: number): AsyncGenerator<TableSnapshot> {
      for (const table of ['table_state', 'table_snapshot'] as const) {
        for (let after = 0; ; ) {
          const rows = await db
            .selectFrom(table)
            .select(['id', 'value'])
            .where('project_id', '=', projectId)
            .where('id', '>', after)
            .orderBy('id')
            .limit(200)
            .execute()
          for (const row of rows) yield readStored<TableSnapshot>(row.value)
          const last = rows.at(-1)
          if (!last) break
          after = last.id
        }
      }
    },
  }
}

/** The sweep looks at one project at a time: a state that named files of another one would lose them. */
function refuseForeignFiles(projectId: number, snapshot: TableSnapshot): void {
  const foreign = referencedKeys(snapshot).find((key) => Number(PROJECT_OF_KEY.exec(key)?.[1] ?? projectId) !== projectId)
  if (foreign !== undefined) throw new Error(`A state of project ${projectId} would name ${foreign}, a file of another project.`)
}

const PROJECT_OF_KEY = /^tables\/(\d+)\//

// The values are written by this file, hence of this shape.
const toState = (row: Selectable<Tables['table_state']>): StoredState => ({
  id: row.id,
  snapshot: readStored<TableSnapshot>(row.value),
  createdAt: new Date(row.created_at),
})

const toSnapshot = (row: Selectable<Tables['table_snapshot']>): SnapshotRecord => ({
  id: row.id,
  projectId: row.project_id,
  tableKey: row.data_table,
  tableId: row.table_id,
  description: row.description,
  snapshot: readStored<TableSnapshot>(row.value),
  creatorToken: { id: row.creator_token_id, description: row.creator_token_description },
  dataFileId: row.data_file_id ?? undefined,
  metadata: row.metadata === null ? [] : readStored<KeptMetadata>(row.metadata),
  createdAt: new Date(row.created_at),
})
