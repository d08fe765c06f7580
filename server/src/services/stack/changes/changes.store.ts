// The log of changes.
//  (1) A row is written in the transaction of the change itself.
//  (2) Rows are read in an order that later rows never break into: by id on SQLite, which has one writer; on PostgreSQL by transaction,
//      and only of transactions that are older than every one still open.

import { type Generated, type Selectable, sql } from 'kysely'
import { type Db, dialectOf, type Trx, withTables } from '../../../engines/metadata-db/dialects.ts'
import { statement } from '../../../engines/metadata-db/statement.ts'
import type { NewChange } from '../../../model/change.ts'

interface Tables {
  change: {
    id: Generated<number>
    tx: Generated<number>
    project_id: number
    kind: NewChange['kind']
    object_id: string
    state: string
    version: number | null
    branch_id: number | null
    component_id: string | null
    token_id: number | null
    created_at: number
  }
}

/** Where a reader is in the log. */
export interface Position {
  readonly tx: number
  readonly id: number
}

export interface Change extends NewChange, Position {
  readonly createdAt: number
}

const tables = (db: Db) => withTables<Tables>(db)

type NewRow = Omit<Selectable<Tables['change']>, 'id' | 'tx'>

const insertOne = statement((db, row: NewRow) => tables(db).insertInto('change').values(row))

/** Of one statement: SQLite takes 32,766 values. */
const ROWS_AT_ONCE = 500

const rowOf = (change: NewChange, now: number): NewRow => ({
  project_id: change.projectId,
  kind: change.kind,
  object_id: change.objectId,
  state: change.state,
  version: change.version,
  branch_id: change.branchId,
  component_id: change.componentId,
  token_id: change.tokenId,
  created_at: now,
})

const afterId = statement((db, { id, limit }: { id: number; limit: number }) =>
  tables(db).selectFrom('change').selectAll().where('id', '>', id).orderBy('id').limit(limit),
)

/** Transactions below this number have all ended. */
const SETTLED = sql<number>`pg_snapshot_xmin(pg_current_snapshot())::text::bigint`

const afterTransaction = statement((db, { tx, id, limit }: Position & { limit: number }) =>
  tables(db)
    .selectFrom('change')
    .selectAll()
    .where((e) => e(e.refTuple('tx', 'id'), '>', e.tuple(tx, id)))
    .where('tx', '<', SETTLED)
    .orderBy('tx')
    .orderBy('id')
    .limit(limit),
)

export type ChangesStore = ReturnType<typeof createChangesStore>

export function createChangesStore(db: Db) {
  const isPostgres = dialectOf(db) === 'postgres'

  return {
    /** Several in one statement: nodes that claim jobs on PostgreSQL wait for each other while this is written. */
    insert: async (trx: Trx, changes: readonly NewChange[], now: number): Promise<void> => {
      const rows = changes.map((change) => rowOf(change, now))
      if (rows.length === 1) return void (await insertOne(trx, rows[0]!)) // the usual case
      for (let at = 0; at < rows.length; at += ROWS_AT_ONCE)
        await tables(trx)
          .insertInto('change')
          .values(rows.slice(at, at + ROWS_AT_ONCE))
          .execute()
    },

    /** Of all projects, in order. */
    listAfter: async ({ tx, id }: Position, limit: number): Promise<Change[]> =>
      (isPostgres ? await afterTransaction(db, { tx, id, limit }) : await afterId(db, { id, limit })).map(toChange),

    /** Everything that is visible now lies at or before it, everything that follows lies after it. */
    end: async (): Promise<Position> => {
      if (isPostgres) {
        const { settled } = await db.selectNoFrom(SETTLED.as('settled')).executeTakeFirstOrThrow()
        return { tx: Number(settled) - 1, id: Number.MAX_SAFE_INTEGER }
      }
      const row = await tables(db)
        .selectFrom('change')
        .select((e) => e.fn.max('id').as('id'))
        .executeTakeFirst()
      return { tx: 0, id: Number(row?.id ?? 0) }
    },

    /** Everything that was recorded after this time lies after it. */
    endBefore: async (time: number): Promise<Position> => {
      const newest = await tables(db)
        .selectFrom('change')
        .select('id')
        .where('created_at', '<', time)
        .orderBy('id', 'desc')
        .limit(1)
        .executeTakeFirst()
      const id = Number(newest?.id ?? 0)
      if (!isPostgres) return { tx: 0, id }
      // In the order of transactions, which is another than that of ids: before all newer ones, and before those that are still open.
      const { tx, settled } = await tables(db)
        .selectFrom('change')
        .select((e) => [e.fn.min('tx').as('tx'), SETTLED.as('settled')])
        .where('id', '>', id)
        .executeTakeFirstOrThrow()
      return { tx: Math.min(Number(tx ?? settled), Number(settled)) - 1, id: Number.MAX_SAFE_INTEGER }
    },

    sweep: async (before: number): Promise<void> => {
      // The newest row stays: SQLite does not reuse its number then.
      await tables(db)
        .deleteFrom('change')
        .where('created_at', '<', before)
        .where('id', '<', (e) => e.selectFrom('change').select((max) => max.fn.max('id').as('id')))
        .execute()
    },
  }
}

const toChange = (row: Selectable<Tables['change']>): Change => ({
  id: Number(row.id),
  tx: Number(row.tx),
  projectId: row.project_id,
  kind: row.kind,
  objectId: row.object_id,
  state: row.state,
  version: row.version === null ? null : Number(row.version),
  branchId: row.branch_id,
  componentId: row.component_id,
  tokenId: row.token_id,
  createdAt: row.created_at,
})

export const isAfter = (a: Position, b: Position): boolean => a.tx > b.tx || (a.tx === b.tx && a.id > b.id)
