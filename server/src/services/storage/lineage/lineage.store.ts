// The tables of lineage and freshness.

import { claimRows, type Db, lockRows, type Trx, withTables } from '../../../engines/metadata-db/dialects.ts'
import { statement } from '../../../engines/metadata-db/statement.ts'
import { readStored } from '../../../kit/stored-json.ts'
import type { ColumnOrigin, TableUse } from '../../../model/lineage.ts'

interface LineageTables {
  lineage_use: {
    project_id: number
    branch_id: number
    component_id: string
    configuration_id: string
    row_id: string
    table_id: string
    direction: 'read' | 'write'
    job_id: number
    used_at: number
    /** JSON of ColumnOrigin[], of what was written; null when it is not known. */
    columns: string | null
  }
  table_freshness: {
    project_id: number
    branch_id: number
    table_id: string
    /** JSON: the moments of the last loads, the oldest first. */
    loads: string
    last_at: number
    usual_ms: number | null
    /** From then on the table is late; null while nothing is usual yet. */
    due_at: number | null
    late_since: number | null
    token_id: number
    token_description: string
  }
}

export type UseRow = Omit<LineageTables['lineage_use'], 'columns'>
export type FreshnessRow = LineageTables['table_freshness']
type TableAt = Pick<FreshnessRow, 'project_id' | 'branch_id' | 'table_id'>

const tables = (db: Db) => withTables<LineageTables>(db)

// Every load and every run executes these queries.

const freshnessAt = statement((db, at: TableAt) =>
  tables(db)
    .selectFrom('table_freshness')
    .selectAll()
    .where('project_id', '=', at.project_id)
    .where('branch_id', '=', at.branch_id)
    .where('table_id', '=', at.table_id)
    .$call(lockRows(db)),
)

const saveFreshness = statement((db, row: FreshnessRow) =>
  tables(db)
    .insertInto('table_freshness')
    .values(row)
    .onConflict((conflict) =>
      conflict.columns(['project_id', 'branch_id', 'table_id']).doUpdateSet((e) => ({
        loads: e.ref('excluded.loads'),
        last_at: e.ref('excluded.last_at'),
        usual_ms: e.ref('excluded.usual_ms'),
        due_at: e.ref('excluded.due_at'),
        late_since: null,
        token_id: e.ref('excluded.token_id'),
        token_description: e.ref('excluded.token_description'),
      })),
    )
    .returning('table_id'),
)

const saveUse = statement((db, row: LineageTables['lineage_use']) =>
  tables(db)
    .insertInto('lineage_use')
    .values(row)
    .onConflict((conflict) =>
      conflict
        .columns(['project_id', 'branch_id', 'table_id', 'direction', 'component_id', 'configuration_id', 'row_id'])
        .doUpdateSet((e) => ({
          job_id: e.ref('excluded.job_id'),
          used_at: e.ref('excluded.used_at'),
          columns: e.ref('excluded.columns'),
        })),
    )
    .returning('job_id'),
)

const USE = [
  'project_id',
  'branch_id',
  'component_id',
  'configuration_id',
  'row_id',
  'table_id',
  'direction',
  'job_id',
  'used_at',
] as const

/** Columns of wider tables are not kept. */
const MAX_COLUMN_BYTES = 200_000

function columnsText(columns: readonly ColumnOrigin[] | undefined): string | null {
  const text = columns === undefined ? null : JSON.stringify(columns)
  return text === null || Buffer.byteLength(text) > MAX_COLUMN_BYTES ? null : text
}

/** Most rows that one answer is made of. */
const MAX_USES = 20_000

export type LineageStore = ReturnType<typeof createLineageStore>

export function createLineageStore(database: Db) {
  const db = tables(database)
  return {
    async recordUse(trx: Trx, { read, written, columns, ...use }: TableUse, now: number): Promise<void> {
      const row = (table_id: string, direction: UseRow['direction'], text: string | null = null) => ({
        project_id: use.projectId,
        branch_id: use.branchId,
        component_id: use.componentId,
        configuration_id: use.configurationId,
        row_id: use.rowId ?? '',
        table_id,
        direction,
        job_id: use.jobId,
        used_at: now,
        columns: text,
      })
      // In one order, so that two runs never wait for each other.
      for (const id of [...new Set(read)].sort()) await saveUse(trx, row(id, 'read'))
      for (const id of [...new Set(written)].sort()) await saveUse(trx, row(id, 'write', columnsText(columns[id])))
    },

    listUses: (projectId: number, branchId: number): Promise<UseRow[]> =>
      db
        .selectFrom('lineage_use')
        .select(USE)
        .where('project_id', '=', projectId)
        .where('branch_id', '=', branchId)
        .orderBy('used_at', 'desc')
        .limit(MAX_USES)
        .execute(),

    listUsesOf: (projectId: number, branchId: number, tableId: string): Promise<UseRow[]> =>
      db
        .selectFrom('lineage_use')
        .select(USE)
        .where('project_id', '=', projectId)
        .where('branch_id', '=', branchId)
        .where('table_id', '=', tableId)
        .orderBy('used_at', 'desc')
        .execute(),

    /** The source columns of table columns, with the configuration that wrote them. */
    listColumns: async (
      projectId: number,
      branchId: number,
      tableIds: readonly string[],
    ): Promise<(UseRow & { columns: ColumnOrigin[] })[]> => {
      if (tableIds.length === 0) return []
      const rows = await db
        .selectFrom('lineage_use')
        .selectAll()
        .where('project_id', '=', projectId)
        .where('branch_id', '=', branchId)
        .where('direction', '=', 'write')
        .where('table_id', 'in', tableIds)
        .where('columns', 'is not', null)
        .execute()
      return rows.map((row) => ({ ...row, columns: readStored<ColumnOrigin[]>(row.columns ?? '[]') }))
    },

    findForUpdate: async (trx: Trx, at: TableAt): Promise<FreshnessRow | undefined> => (await freshnessAt(trx, at))[0],

    save: async (trx: Trx, row: FreshnessRow): Promise<void> => {
      await saveFreshness(trx, row)
    },

    remove: async (trx: Trx, at: TableAt): Promise<void> => {
      await tables(trx)
        .deleteFrom('table_freshness')
        .where('project_id', '=', at.project_id)
        .where('branch_id', '=', at.branch_id)
        .where('table_id', '=', at.table_id)
        .execute()
    },

    /** The latest first, then those that are due next, then those of which nothing is usual yet. */
    listFreshness: (projectId: number, branchId: number): Promise<FreshnessRow[]> =>
      db
        .selectFrom('table_freshness')
        .selectAll()
        .where('project_id', '=', projectId)
        .where('branch_id', '=', branchId)
        .orderBy('due_at', (order) => order.asc().nullsLast())
        .orderBy('table_id')
        .limit(MAX_USES)
        .execute(),

    findFreshness: (projectId: number, branchId: number, tableId: string): Promise<FreshnessRow | undefined> =>
      db
        .selectFrom('table_freshness')
        .selectAll()
        .where('project_id', '=', projectId)
        .where('branch_id', '=', branchId)
        .where('table_id', '=', tableId)
        .executeTakeFirst(),

    /** Tables of all projects that became late, each reported to one caller only. */
    async takeLate(trx: Trx, now: number, limit: number): Promise<readonly FreshnessRow[]> {
      const due = await tables(trx)
        .selectFrom('table_freshness')
        .selectAll()
        .where('late_since', 'is', null)
        .where('due_at', '<', now)
        .orderBy('due_at')
        .limit(limit)
        .$call(claimRows(trx))
        .execute()
      for (const row of due)
        await tables(trx)
          .updateTable('table_freshness')
          .set({ late_since: now })
          .where('project_id', '=', row.project_id)
          .where('branch_id', '=', row.branch_id)
          .where('table_id', '=', row.table_id)
          .execute()
      return due
    },
  }
}
