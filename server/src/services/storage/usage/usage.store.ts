// Tables usage_day, usage_storage and project_limit.

import { sql } from 'kysely'
import { type Db, type Trx, withTables } from '../../../engines/metadata-db/dialects.ts'
import { statement } from '../../../engines/metadata-db/statement.ts'

export const COUNTERS = ['jobs', 'failed_jobs', 'job_ms', 'sql_ms', 'rows_in', 'bytes_in', 'bytes_out', 'byte_seconds'] as const
type Counter = (typeof COUNTERS)[number]
export type Counters = Readonly<Record<Counter, number>>

interface Tables {
  usage_day: { project_id: number; day: string; component_id: string; configuration_id: string } & Record<Counter, number>
  usage_storage: { project_id: number; measured_at: number }
  project_limit: { project_id: number; name: string; value: number }
}

/** Whose work it was; empty texts outside of jobs. */
export interface UsageOwner {
  readonly projectId: number
  readonly componentId: string
  readonly configurationId: string
}

export interface UsageQuery {
  readonly from: string
  /** The last day, included. */
  readonly to: string
}

export type UsageDay = Counters & { readonly day: string; readonly componentId: string; readonly configurationId: string }

export type UsageStore = ReturnType<typeof createUsageStore>

export function createUsageStore(database: Db) {
  const db = withTables<Tables>(database)

  return {
    async add(trx: Trx, owner: UsageOwner, day: string, counters: Partial<Counters>): Promise<void> {
      const added = Object.fromEntries(COUNTERS.map((name) => [name, Math.round(counters[name] ?? 0)])) as Counters // one for each
      await withTables<Tables>(trx)
        .insertInto('usage_day')
        .values({
          project_id: owner.projectId,
          day,
          component_id: owner.componentId,
          configuration_id: owner.configurationId,
          ...added,
        })
        .onConflict((conflict) =>
          conflict
            .columns(['project_id', 'day', 'component_id', 'configuration_id'])
            .doUpdateSet(
              Object.fromEntries(COUNTERS.map((name) => [name, sql`usage_day.${sql.ref(name)} + excluded.${sql.ref(name)}`])),
            ),
        )
        .execute()
    },

    async list(projectId: number, { from, to }: UsageQuery): Promise<readonly UsageDay[]> {
      const rows = await db
        .selectFrom('usage_day')
        .selectAll()
        .where('project_id', '=', projectId)
        .where('day', '>=', from)
        .where('day', '<=', to)
        .orderBy('day')
        .orderBy('component_id')
        .orderBy('configuration_id')
        .execute()
      return rows.map((row) => ({
        day: row.day,
        componentId: row.component_id,
        configurationId: row.configuration_id,
        ...countersOf(row),
      }))
    },

    rowsOfDay: async (trx: Trx, projectId: number, day: string): Promise<number> => {
      const row = await withTables<Tables>(trx)
        .selectFrom('usage_day')
        .select((e) => e.fn.sum<number | string | null>('rows_in').as('rows'))
        .where('project_id', '=', projectId)
        .where('day', '=', day)
        .executeTakeFirst()
      return Number(row?.rows ?? 0)
    },

    /** Of all time, by project: for the metrics of the stack. */
    async totals(): Promise<readonly (Counters & { readonly projectId: number })[]> {
      const rows = await db
        .selectFrom('usage_day')
        .select('project_id')
        .select((e) => COUNTERS.map((name) => e.fn.sum<number>(name).as(name)))
        .groupBy('project_id')
        .execute()
      return rows.map((row) => ({ projectId: Number(row.project_id), ...countersOf(row) }))
    },

    /** When the storage of the project was measured before; undefined the first time. The time is `at` from now on. */
    async takeMeasured(trx: Trx, projectId: number, at: number): Promise<number | undefined> {
      const tables = withTables<Tables>(trx)
      const before = await tables
        .selectFrom('usage_storage')
        .select('measured_at')
        .where('project_id', '=', projectId)
        .executeTakeFirst()
      await tables
        .insertInto('usage_storage')
        .values({ project_id: projectId, measured_at: at })
        .onConflict((conflict) => conflict.column('project_id').doUpdateSet({ measured_at: at }))
        .execute()
      return before && Number(before.measured_at)
    },

    async limits(on: Db | Trx, projectId: number): Promise<ReadonlyMap<string, number>> {
      const rows = await limitsOf(on, { projectId })
      return new Map(rows.map(({ name, value }) => [name, Number(value)]))
    },

    /** Projects that have a limit of this name. */
    limitsNamed: async (on: Db | Trx, name: string): Promise<ReadonlyMap<number, number>> => {
      const rows = await limitsNamed(on, { name })
      return new Map(rows.map((row) => [Number(row.project_id), Number(row.value)]))
    },

    async setLimit(trx: Trx, projectId: number, name: string, value: number | undefined): Promise<void> {
      const tables = withTables<Tables>(trx)
      if (value === undefined)
        await tables.deleteFrom('project_limit').where('project_id', '=', projectId).where('name', '=', name).execute()
      else
        await tables
          .insertInto('project_limit')
          .values({ project_id: projectId, name, value })
          .onConflict((conflict) => conflict.columns(['project_id', 'name']).doUpdateSet({ value }))
          .execute()
    },
  }
}

// Read by every file and every load, and by the detail of a token.
const limitsOf = statement((db, { projectId }: { projectId: number }) =>
  withTables<Tables>(db)
    .selectFrom('project_limit')
    .select(['name', 'value'])
    .where('project_id', '=', projectId)
    .orderBy('name'),
)

// Read by every claim of jobs.
const limitsNamed = statement((db, { name }: { name: string }) =>
  withTables<Tables>(db).selectFrom('project_limit').select(['project_id', 'value']).where('name', '=', name),
)

/** PostgreSQL answers sums as text. */
const countersOf = (row: Readonly<Record<Counter, number | string>>): Counters =>
  Object.fromEntries(COUNTERS.map((name) => [name, Number(row[name])])) as Counters // one for each
