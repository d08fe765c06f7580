// Components that nodes share, in the metadata database.

import { sql } from 'kysely'
import { type Db, type Trx, withTables } from '../../../engines/metadata-db/dialects.ts'

export interface SharedRow {
  readonly component: string
  /** Which data folder it comes from. */
  readonly node: string
  /** A cipher: descriptions may have passwords of registries and parameters in them. */
  readonly description: string
  /** Of its folder; null: it has none that is shared. */
  readonly digest: string | null
  /** Whether a node that has not got its folder can run it. */
  readonly is_runnable: number
  readonly published_at: number
}

interface Tables {
  shared_component: SharedRow
}

export function createSharedComponentsStore(database: Db) {
  const db = withTables<Tables>(database)
  return {
    /** Another text whenever anything changed. */
    async stamp(): Promise<string> {
      const { count, last } = await db
        .selectFrom('shared_component')
        .select([sql<number>`count(*)`.as('count'), sql<number | null>`max(published_at)`.as('last')])
        .executeTakeFirstOrThrow()
      return `${count} ${last}`
    },

    list: (): Promise<SharedRow[]> => db.selectFrom('shared_component').selectAll().orderBy('published_at').execute(),

    /** In place of what the node had before. */
    async replace(trx: Trx, node: string, rows: readonly Omit<SharedRow, 'node' | 'published_at'>[], now: number): Promise<void> {
      const tx = withTables<Tables>(trx)
      const { last } = await tx
        .selectFrom('shared_component')
        .select(sql<number | null>`max(published_at)`.as('last'))
        .executeTakeFirstOrThrow()
      const published_at = Math.max(now, (last ?? 0) + 1)
      await tx.deleteFrom('shared_component').where('node', '=', node).execute()
      for (const row of rows)
        await tx
          .insertInto('shared_component')
          .values({ ...row, node, published_at })
          .execute()
    },
  }
}
