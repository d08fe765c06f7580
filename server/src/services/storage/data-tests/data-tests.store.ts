// The tables of data tests and of their runs.

import { isDeepStrictEqual } from 'node:util'
import type { Generated, Selectable } from 'kysely'
import { type Db, type Trx, withTables } from '../../../engines/metadata-db/dialects.ts'
import { readStored } from '../../../kit/stored-json.ts'
import { afterRename, type RenamedColumn } from './renamed-columns.ts'
import type { Outcome, Severity } from './run-tests.ts'
import type { TestRule, TestType } from './test-rules.ts'

interface DataTestTables {
  data_test: {
    id: Generated<number>
    project_id: number
    branch_id: number
    bucket_id: string
    table_id: string
    name: string
    description: string
    type: string
    parameters: string
    severity: string
    is_enabled: number
    creator: string
    created_at: number
    updated_at: number
  }
  data_test_run: {
    id: Generated<number>
    project_id: number
    branch_id: number
    table_id: string
    status: string
    is_load: number
    storage_job_id: number | null
    run_id: string | null
    source: string | null
    rows_count: number
    content: string
    started_at: number
    ended_at: number
  }
}

export interface DataTestRecord {
  readonly id: number
  readonly projectId: number
  readonly branchId: number
  readonly tableId: string
  readonly name: string
  readonly description: string
  readonly rule: TestRule
  readonly severity: Severity
  readonly isEnabled: boolean
  readonly creator: { readonly id: number; readonly description: string }
  readonly createdAt: Date
  readonly updatedAt: Date
}

export type NewDataTest = Omit<DataTestRecord, 'id'>

export interface TestRunRecord extends Outcome {
  readonly id: number
  readonly projectId: number
  readonly branchId: number
  readonly tableId: string
  /** Part of a load; else it was requested. */
  readonly isLoad: boolean
  /** The program that ran the tests; absent: the stack. */
  readonly source?: 'dbt' | undefined
  readonly storageJobId: number | null
  readonly runId: string | null
  readonly startedAt: Date
  readonly endedAt: Date
}

/** Of a table; older ones are deleted. */
export const KEPT_RUNS = 100

/** Where tests are looked for: those of a branch, and those of the default branch that it does not replace. */
export interface TestPlace {
  readonly projectId: number
  readonly branchId: number
  readonly defaultBranchId: number
}

export interface TestFilter {
  readonly tableId?: string | undefined
  /** Undefined: all. */
  readonly bucketIds?: readonly string[] | undefined
  /** Enabled ones that the stack runs. */
  readonly onlyRun?: boolean
}

export type DataTestsStore = ReturnType<typeof createDataTestsStore>

export function createDataTestsStore(database: Db) {
  const db = withTables<DataTestTables>(database)
  const inPlace = ({ projectId, branchId, defaultBranchId }: TestPlace, { tableId, bucketIds, onlyRun }: TestFilter) => {
    let query = db
      .selectFrom('data_test as t')
      .where('t.project_id', '=', projectId)
      .where('t.branch_id', 'in', [...new Set([branchId, defaultBranchId])])
      .where((eb) =>
        eb.or([
          eb('t.branch_id', '=', branchId),
          eb.not(
            eb.exists(
              eb
                .selectFrom('data_test as own')
                .select('own.id')
                .where('own.project_id', '=', projectId)
                .where('own.branch_id', '=', branchId)
                .whereRef('own.table_id', '=', 't.table_id')
                .whereRef('own.name', '=', 't.name'),
            ),
          ),
        ]),
      )
    if (tableId !== undefined) query = query.where('t.table_id', '=', tableId)
    if (bucketIds) query = query.where('t.bucket_id', 'in', [...bucketIds])
    if (onlyRun) query = query.where('t.is_enabled', '=', 1).where('t.type', '!=', 'dbt')
    return query
  }

  return {
    async list(place: TestPlace, filter: TestFilter, page: { readonly limit: number; readonly offset: number }) {
      if (filter.bucketIds?.length === 0) return { tests: [], total: 0 }
      const query = inPlace(place, filter)
      const rows = await query
        .selectAll('t')
        .orderBy('t.table_id')
        .orderBy('t.name')
        .limit(page.limit)
        .offset(page.offset)
        .execute()
      const { total } = await query.select((eb) => eb.fn.countAll().as('total')).executeTakeFirstOrThrow()
      return { tests: rows.map(toTest), total: Number(total) }
    },

    /** Those that a load of the table has to pass. */
    async ofTable(place: TestPlace, tableId: string): Promise<readonly DataTestRecord[]> {
      const rows = await inPlace(place, { tableId, onlyRun: true }).selectAll('t').orderBy('t.id').execute()
      return rows.map(toTest)
    },

    /** Tables that have tests. */
    async tablesTested(place: TestPlace, filter: TestFilter): Promise<readonly string[]> {
      if (filter.bucketIds?.length === 0) return []
      const rows = await inPlace(place, filter).select('t.table_id').distinct().orderBy('t.table_id').execute()
      return rows.map(({ table_id }) => table_id)
    },

    async find(projectId: number, id: number): Promise<DataTestRecord | undefined> {
      const row = await db
        .selectFrom('data_test')
        .selectAll()
        .where('project_id', '=', projectId)
        .where('id', '=', id)
        .executeTakeFirst()
      return row && toTest(row)
    },

    async count(trx: Trx, projectId: number, branchId: number, tableId: string): Promise<number> {
      const { n } = await withTables<DataTestTables>(trx)
        .selectFrom('data_test')
        .select((eb) => eb.fn.countAll().as('n'))
        .where('project_id', '=', projectId)
        .where('branch_id', '=', branchId)
        .where('table_id', '=', tableId)
        .where('type', '!=', 'dbt')
        .executeTakeFirstOrThrow()
      return Number(n)
    },

    /** What people and agents wrote in the branch, without those of dbt. */
    async ofBranch(from: Db, projectId: number, branchId: number): Promise<readonly DataTestRecord[]> {
      const rows = await withTables<DataTestTables>(from)
        .selectFrom('data_test')
        .selectAll()
        .where('project_id', '=', projectId)
        .where('branch_id', '=', branchId)
        .where('type', '!=', 'dbt')
        .orderBy('id')
        .execute()
      return rows.map(toTest)
    },

    /** The test of that name in the branch itself. */
    async findNamed(
      from: Db,
      projectId: number,
      branchId: number,
      { tableId, name }: { readonly tableId: string; readonly name: string },
    ): Promise<DataTestRecord | undefined> {
      const row = await withTables<DataTestTables>(from)
        .selectFrom('data_test')
        .selectAll()
        .where('project_id', '=', projectId)
        .where('branch_id', '=', branchId)
        .where('table_id', '=', tableId)
        .where('name', '=', name)
        .executeTakeFirst()
      return row && toTest(row)
    },

    /** Of the branch itself, those of dbt included. */
    async allOfTable(trx: Trx, projectId: number, branchId: number, tableId: string): Promise<readonly DataTestRecord[]> {
      const rows = await withTables<DataTestTables>(trx)
        .selectFrom('data_test')
        .selectAll()
        .where('project_id', '=', projectId)
        .where('branch_id', '=', branchId)
        .where('table_id', '=', tableId)
        .orderBy('id')
        .execute()
      return rows.map(toTest)
    },

    async insert(trx: Trx, test: NewDataTest): Promise<DataTestRecord> {
      const row = await withTables<DataTestTables>(trx)
        .insertInto('data_test')
        .values({
          project_id: test.projectId,
          branch_id: test.branchId,
          bucket_id: test.tableId.slice(0, test.tableId.lastIndexOf('.')),
          table_id: test.tableId,
          creator: JSON.stringify(test.creator),
          created_at: test.createdAt.getTime(),
          ...changeable(test),
        })
        .returningAll()
        .executeTakeFirstOrThrow()
      return toTest(row)
    },

    async update(trx: Trx, test: DataTestRecord): Promise<boolean> {
      const row = await withTables<DataTestTables>(trx)
        .updateTable('data_test')
        .set(changeable(test))
        .where('project_id', '=', test.projectId)
        .where('id', '=', test.id)
        .returning('id')
        .executeTakeFirst()
      return row !== undefined
    },

    /** Tests of the table, and those of other tables that refer to it. */
    async renameColumn(trx: Trx, projectId: number, branchId: number, renamed: RenamedColumn): Promise<void> {
      const rows = await withTables<DataTestTables>(trx)
        .selectFrom('data_test')
        .selectAll()
        .where('project_id', '=', projectId)
        .where('branch_id', '=', branchId)
        .where((eb) => eb.or([eb('table_id', '=', renamed.tableId), eb('type', '=', 'relationships')]))
        .execute()
      for (const before of rows.map(toTest)) {
        const rule = afterRename(before.rule, before.tableId, renamed)
        if (!isDeepStrictEqual(rule, before.rule)) await this.update(trx, { ...before, rule })
      }
    },

    async remove(trx: Trx, projectId: number, id: number): Promise<boolean> {
      const row = await withTables<DataTestTables>(trx)
        .deleteFrom('data_test')
        .where('project_id', '=', projectId)
        .where('id', '=', id)
        .returning('id')
        .executeTakeFirst()
      return row !== undefined
    },

    async removeOfBucket(trx: Trx, projectId: number, branchId: number, bucketId: string): Promise<void> {
      await withTables<DataTestTables>(trx)
        .deleteFrom('data_test')
        .where('project_id', '=', projectId)
        .where('branch_id', '=', branchId)
        .where('bucket_id', '=', bucketId)
        .execute()
    },

    async removeOfBranch(trx: Trx, projectId: number, branchId: number): Promise<void> {
      for (const table of ['data_test', 'data_test_run'] as const)
        await withTables<DataTestTables>(trx)
          .deleteFrom(table)
          .where('project_id', '=', projectId)
          .where('branch_id', '=', branchId)
          .execute()
    },

    async insertRun(trx: Trx, run: Omit<TestRunRecord, 'id'>): Promise<TestRunRecord> {
      const tables = withTables<DataTestTables>(trx)
      const { results, examples } = run
      const row = await tables
        .insertInto('data_test_run')
        .values({
          project_id: run.projectId,
          branch_id: run.branchId,
          table_id: run.tableId,
          status: run.status,
          is_load: run.isLoad ? 1 : 0,
          storage_job_id: run.storageJobId,
          run_id: run.runId,
          source: run.source ?? null,
          rows_count: run.rows,
          content: JSON.stringify({ results, examples }),
          started_at: run.startedAt.getTime(),
          ended_at: run.endedAt.getTime(),
        })
        .returning('id')
        .executeTakeFirstOrThrow()
      const ofTable = (query: typeof tables) =>
        query
          .selectFrom('data_test_run')
          .select('id')
          .where('project_id', '=', run.projectId)
          .where('branch_id', '=', run.branchId)
          .where('table_id', '=', run.tableId)
      const last = await ofTable(tables).orderBy('id', 'desc').offset(KEPT_RUNS).limit(1).executeTakeFirst()
      if (last)
        await tables
          .deleteFrom('data_test_run')
          .where('project_id', '=', run.projectId)
          .where('branch_id', '=', run.branchId)
          .where('table_id', '=', run.tableId)
          .where('id', '<=', last.id)
          .execute()
      return { ...run, id: row.id }
    },

    /** The newest first. */
    async listRuns(
      projectId: number,
      branchId: number,
      tableId: string,
      page: { readonly limit: number; readonly offset: number },
    ): Promise<readonly TestRunRecord[]> {
      const rows = await db
        .selectFrom('data_test_run')
        .selectAll()
        .where('project_id', '=', projectId)
        .where('branch_id', '=', branchId)
        .where('table_id', '=', tableId)
        .orderBy('id', 'desc')
        .limit(page.limit)
        .offset(page.offset)
        .execute()
      return rows.map(toRun)
    },
  }
}

const changeable = ({ name, description, rule: { type, ...parameters }, severity, isEnabled, updatedAt }: NewDataTest) => ({
  name,
  description,
  type,
  parameters: JSON.stringify(parameters),
  severity,
  is_enabled: isEnabled ? 1 : 0,
  updated_at: updatedAt.getTime(),
})

const toTest = (row: Selectable<DataTestTables['data_test']>): DataTestRecord => ({
  id: row.id,
  projectId: row.project_id,
  branchId: row.branch_id,
  tableId: row.table_id,
  name: row.name,
  description: row.description,
  // Written by `changeable` from a rule of that type.
  rule: { type: row.type as TestType, ...readStored<object>(row.parameters) } as TestRule,
  severity: row.severity as Severity,
  isEnabled: row.is_enabled === 1,
  creator: readStored<DataTestRecord['creator']>(row.creator),
  createdAt: new Date(row.created_at),
  updatedAt: new Date(row.updated_at),
})

const toRun = (row: Selectable<DataTestTables['data_test_run']>): TestRunRecord => ({
  id: row.id,
  projectId: row.project_id,
  branchId: row.branch_id,
  tableId: row.table_id,
  status: row.status as Outcome['status'], // written above
  isLoad: row.is_load === 1,
  storageJobId: row.storage_job_id,
  runId: row.run_id,
  source: row.source === 'dbt' ? 'dbt' : undefined,
  rows: row.rows_count,
  ...readStored<Pick<Outcome, 'results' | 'examples'>>(row.content),
  startedAt: new Date(row.started_at),
  endedAt: new Date(row.ended_at),
})
