// Runs the tests of a table over one of its states, in a SQL session of its own: one query counts the failures of all tests that SQL can
// express, custom SQL runs statement by statement, and figures of the snapshot itself cost nothing.
//  1. A test that cannot be run (wrong SQL, out of time, out of memory, a column that is gone) has the status `error` and counts as failed.
//  2. Nothing of a session reads other projects: tables are found with the rights of a reader of this project and branch.

import { randomUUID } from 'node:crypto'
import type { SqlEngine, SqlSession, SqlTable, SqlValue } from '../../../engines/sql/sql-engine.ts'
import { singleStatement } from '../../../engines/sql/statements.ts'
import { type Column, countRows, primaryKeyNames, type TableSnapshot } from '../../../engines/table-engine/snapshot.ts'
import { identifier } from '../../../engines/table-engine/sql.ts'
import type { QueryRequest } from '../../../engines/table-engine/table-engine.ts'
import { PlatformError } from '../../../kit/errors.ts'
import { readerOf, type Scope } from '../../../model/scope.ts'
import { columnsNamed, type TestRule, type TestType } from './test-rules.ts'
import { type ColumnOfCounts, countsQuery, failuresQuery, rowTest, type TestedTables } from './test-sql.ts'
import { measuredOf, measureSql, unusual } from './usual-band.ts'

export type Severity = 'warn' | 'stop'

export interface DataTest {
  readonly id: number
  readonly name: string
  readonly severity: Severity
  readonly rule: TestRule
}

export interface TestResult {
  readonly testId: number
  readonly name: string
  readonly type: TestType
  readonly severity: Severity
  readonly status: 'passed' | 'failed' | 'error'
  /** Rows that failed; null where rows are not what is tested, or the test could not be run. */
  readonly failures: number | null
  readonly message: string | null
  /** The rows that failed, as a file. */
  readonly fileId: number | null
  /** What a test of the usual band measured, and of what. */
  readonly measured?: { readonly of: string; readonly value: number | null }
}

export interface Example {
  readonly tests: string
  readonly row: Readonly<Record<string, string | null>>
}

export interface Outcome {
  readonly status: 'passed' | 'warning' | 'failed'
  readonly rows: number
  readonly results: readonly TestResult[]
  readonly examples: readonly Example[]
}

/** A state of a table, and what is known about it. */
export interface TestedState {
  readonly tableId: string
  readonly scope: Scope
  readonly snapshot: TableSnapshot
  /** Rows of the state before a load; undefined for the current state. */
  readonly rowsBefore: number | undefined
  /** Epoch milliseconds of the last load; undefined before the first. */
  readonly loadedAt: number | undefined
  /** What earlier loads measured for a test, the newest first. */
  readonly history: (testId: number, of: string) => readonly number[]
  readonly now: number
  readonly signal: AbortSignal
  /** Rows of custom SQL are examples as well. They may be of other tables, which not every reader of this one may see. */
  readonly showsQueries?: boolean
  /** Keeps rows aside, and returns the id of the file; without it they are only counted. Custom SQL may have read other tables. */
  readonly keep?: ((name: string, bytes: AsyncIterable<Uint8Array>, ofOtherTables: boolean) => Promise<number>) | undefined
}

export interface RunTestsDeps {
  readonly engine: Pick<SqlEngine, 'open'>
  readonly findTable: (scope: Scope, bucketId: string, name: string) => Promise<SqlTable | undefined>
  readonly ofState: (request: QueryRequest, version: string) => SqlTable
  /** The columns of another table; undefined if it does not exist. */
  readonly columnsOf: (scope: Scope, tableId: string) => Promise<readonly Column[] | undefined>
}

const MAX_KEPT_ROWS = 100_000
const MAX_EXAMPLES = 20
const MAX_CELL = 200
/** Of all tests of a table together: a load holds the lock of its table meanwhile. */
const RUN_MS = 15 * 60_000
/** Of the text of one query; the engine takes twice as much. */
const MAX_QUERY = 400_000

export type RunTests = ReturnType<typeof createRunTests>

export function createRunTests({ engine, findTable, ofState, columnsOf }: RunTestsDeps) {
  return async (tests: readonly DataTest[], state: TestedState): Promise<Outcome> => {
    const { scope, tableId, snapshot, signal } = state
    const [schema, name] = placeOf(tableId)
    const candidate = ofState({ snapshot }, randomUUID())
    const deadline = performance.now() + RUN_MS
    let open: Promise<SqlSession> | undefined

    const session = (): Promise<SqlSession> => {
      open ??= engine.open({
        mode: 'read',
        reader: JSON.stringify(['data-tests', readerOf(scope)]),
        findTable: async (bucketId, table) =>
          bucketId === schema && table === name ? candidate : findTable(scope, bucketId, table),
        signal,
      })
      return open
    }

    async function close(): Promise<void> {
      const closing = open
      open = undefined
      await closing?.then(
        (one) => one.close(),
        () => {},
      )
    }

    /** A process that dies takes its session along; once it may have been killed for a reason that is not ours. */
    async function withSession<T>(work: (session: SqlSession, timeoutMs: number) => Promise<T>): Promise<T> {
      for (let attempt = 1; ; attempt++) {
        const timeoutMs = deadline - performance.now()
        if (timeoutMs <= 0) throw new PlatformError('storage.dataTests.tooSlow', { table: tableId, minutes: RUN_MS / 60_000 })
        try {
          return await work(await session(), timeoutMs)
        } catch (error) {
          const isDead = error instanceof PlatformError && error.code === 'sql.workerDied'
          if (isDead) await close()
          if (!isDead || attempt > 1) throw error
        }
      }
    }

    const rowsOf = (sql: string, limit?: number): Promise<readonly (readonly SqlValue[])[]> =>
      withSession(async (one, timeoutMs) => {
        const { batches } = await one.query(sql, { signal, timeoutMs, ...(limit !== undefined && { limit }) })
        return (await Array.fromAsync(batches)).flat()
      })

    const keepRows = (fileName: string, sql: string, ofOtherTables: boolean): Promise<number> =>
      withSession(async (one, timeoutMs) => {
        const { bytes, end } = await one.copy(sql, 'csv', { signal, timeoutMs, limit: MAX_KEPT_ROWS })
        return state.keep!(fileName, bytes, ofOtherTables).catch((error: unknown) => end.then(() => Promise.reject(error)))
      })

    try {
      return await runAll({ tests, state, columnsOf, rowsOf, keepRows })
    } finally {
      await close()
    }
  }
}

interface Run {
  readonly tests: readonly DataTest[]
  readonly state: TestedState
  readonly columnsOf: RunTestsDeps['columnsOf']
  readonly rowsOf: (sql: string, limit?: number) => Promise<readonly (readonly SqlValue[])[]>
  readonly keepRows: (fileName: string, sql: string, ofOtherTables: boolean) => Promise<number>
}

/** A test that SQL counts. */
interface Counted {
  readonly test: DataTest
  readonly column: ColumnOfCounts
  /** Of tests that rows pass one by one. */
  readonly condition?: string
}

async function runAll(run: Run): Promise<Outcome> {
  const { tests, state } = run
  const results = new Map<DataTest, TestResult>()
  const counted: Counted[] = []
  const tested = await testedTables(run)
  for (const test of tests) {
    const prepared = prepare(test, state, tested)
    if ('status' in prepared) results.set(test, prepared)
    else counted.push(prepared)
  }
  for (const batch of inBatches(counted))
    for (const [test, result] of await countBatch(run, tested.table, batch)) results.set(test, result)
  const examples = await keepFailedRows(run, tested.table, counted, results)
  const listed = tests.map((test) => results.get(test)!) // every test was prepared
  const bad = listed.filter(({ status }) => status !== 'passed')
  const status = bad.some(({ severity }) => severity === 'stop') ? 'failed' : bad.length > 0 ? 'warning' : 'passed'
  return { status, rows: countRows(state.snapshot), results: listed, examples }
}

/** The tables of relations are looked up once each. */
async function testedTables({ tests, state, columnsOf }: Run): Promise<TestedTables> {
  const { scope, tableId, snapshot } = state
  const others = new Map<string, readonly Column[]>()
  for (const { rule } of tests)
    if (rule.type === 'relationships' && !others.has(rule.toTable))
      others.set(rule.toTable, rule.toTable === tableId ? snapshot.columns : ((await columnsOf(scope, rule.toTable)) ?? []))
  return {
    table: sqlName(tableId),
    snapshot,
    referred: (id, name) => {
      const column = others.get(id)?.find((one) => one.name === name)
      return column && { table: sqlName(id), column }
    },
  }
}

const placeOf = (tableId: string): readonly [string, string] => {
  const at = tableId.lastIndexOf('.')
  return [tableId.slice(0, at), tableId.slice(at + 1)]
}

const sqlName = (tableId: string): string => placeOf(tableId).map(identifier).join('.')

function prepare(test: DataTest, state: TestedState, tested: TestedTables): TestResult | Counted {
  const { rule } = test
  const missing = columnsNamed(rule).find((name) => !state.snapshot.columns.some((column) => column.name === name))
  if (missing !== undefined) return broken(test, `Column ${missing} does not exist in the table.`)
  if (rule.type === 'rowCount') return judged(test, rowCountProblem(rule, countRows(state.snapshot), state.rowsBefore))
  if (rule.type === 'usual') {
    const sql = measureSql(rule, state.snapshot.typed)
    if (sql !== undefined) return { test, column: { kind: 'aggregate', sql } }
    const rows = countRows(state.snapshot)
    if (rule.measure === 'rows') return compared(test, rows, state)
    return state.rowsBefore === undefined ? passed(test) : compared(test, rows - state.rowsBefore, state)
  }
  if (rule.type === 'schema') return judged(test, schemaProblem(rule, state.snapshot))
  if (rule.type === 'freshness' && rule.column === undefined) return judged(test, ageProblem(rule, state, state.loadedAt))
  if (rule.type === 'freshness')
    return {
      test,
      column: { kind: 'aggregate', sql: `epoch_ms(max(TRY_CAST(t.${identifier(rule.column ?? '')} AS TIMESTAMP)))` },
    }
  if (rule.type === 'sql') return { test, column: { kind: 'query', sql: '' } }
  if (rule.type === 'dbt') return passed(test) // never among those that are run
  if (rule.type === 'relationships' && !tested.referred(rule.toTable, rule.toColumn))
    return broken(test, `Column ${rule.toColumn} of table ${rule.toTable} does not exist.`)
  const prepared = rowTest(rule, tested)
  return prepared ? { test, column: prepared.count, condition: prepared.condition } : passed(test)
}

/** Custom SQL alone; what stays together fits into one query. */
function inBatches(counted: readonly Counted[]): Counted[][] {
  const batches: Counted[][] = []
  let length = MAX_QUERY
  for (const one of counted) {
    if (one.test.rule.type === 'sql') batches.unshift([one])
    else if (length + one.column.sql.length > MAX_QUERY) {
      batches.push([one])
      length = one.column.sql.length
    } else {
      batches.at(-1)!.push(one)
      length += one.column.sql.length
    }
  }
  return batches
}

/** If the query for all of them fails, each has one of its own, so that only the test that is wrong has the error. */
async function countBatch(
  run: Run,
  table: string,
  batch: readonly Counted[],
): Promise<readonly (readonly [DataTest, TestResult])[]> {
  try {
    const [row = []] = await run.rowsOf(await queryOf(table, batch))
    return batch.map(({ test }, i) => [test, resultOf(test, row[i] ?? null, run.state)] as const)
  } catch (error) {
    if (!isOfTheTest(error)) throw error
    const [only] = batch
    if (only && batch.length === 1) return [[only.test, broken(only.test, error.message)]]
    const alone = []
    for (const one of batch) alone.push(...(await countBatch(run, table, [one])))
    return alone
  }
}

async function queryOf(table: string, batch: readonly Counted[]): Promise<string> {
  const [only] = batch
  if (only?.test.rule.type !== 'sql')
    return countsQuery(
      table,
      batch.map(({ column }) => column),
    )
  return `SELECT count(*) FROM ${await nested(only.test.rule.sql)}`
}

/** A query of the user's as a relation. A comment at its end ends with the line. */
export const nested = async (sql: string): Promise<string> => `(\n${(await singleStatement(sql)).text}\n) q`

/** What is wrong with the test itself, rather than with the stack or the caller's patience. */
const isOfTheTest = (error: unknown): error is PlatformError =>
  error instanceof PlatformError &&
  !['sql.cancelled', 'sql.diskFull'].includes(error.code) &&
  (error.code === 'sql.workerDied' || !['transient', 'bug'].includes(error.kind) || error.code.startsWith('storage.dataTests.'))

function resultOf(test: DataTest, value: SqlValue, state: TestedState): TestResult {
  const { rule } = test
  if (rule.type === 'freshness') return judged(test, ageProblem(rule, state, value === null ? undefined : Number(value)))
  if (rule.type === 'usual') return compared(test, value === null ? null : Number(value), state)
  const failures = Number(value)
  if (failures === 0) return { ...passed(test), failures: 0 }
  return { ...passed(test), status: 'failed', failures, message: `${rowsText(failures)} ${reasonOf(rule)}.` }
}

const rowsText = (rows: number): string => (rows === 1 ? '1 row' : `${rows} rows`)

/** Completes "3 rows ...". */
function reasonOf(rule: TestRule): string {
  switch (rule.type) {
    case 'notNull':
      return `without a value in ${rule.columns.join(', ')}`
    case 'unique':
      return `with a repeated value of ${rule.columns.join(', ')}`
    case 'acceptedValues':
      return `with a value of ${rule.column} that is not accepted`
    case 'range':
      return `with a value of ${rule.column} outside ${rule.min ?? '-infinity'} to ${rule.max ?? 'infinity'}`
    case 'pattern':
      return `with a value of ${rule.column} that does not match the pattern`
    case 'relationships':
      return `with a value of ${rule.column} that ${rule.toTable}.${rule.toColumn} does not have`
    default:
      return 'returned by the query'
  }
}

const passed = ({ id, name, severity, rule }: DataTest): TestResult => ({
  testId: id,
  name,
  type: rule.type,
  severity,
  status: 'passed',
  failures: null,
  message: null,
  fileId: null,
})

const broken = (test: DataTest, message: string): TestResult => ({
  ...passed(test),
  status: 'error',
  message: `The test could not be run: ${message}`.slice(0, 2000),
})

/** With what was measured, which is the history of later loads. */
function compared(test: DataTest, value: number | null, { history }: TestedState): TestResult {
  if (test.rule.type !== 'usual') return passed(test)
  const of = measuredOf(test.rule)
  return { ...judged(test, unusual(test.rule, value, history(test.id, of))), measured: { of, value } }
}

const judged = (test: DataTest, problem: string | undefined): TestResult =>
  problem === undefined ? passed(test) : { ...passed(test), status: 'failed', message: problem }

function rowCountProblem(
  { min, max, maxChangePercent }: Extract<TestRule, { type: 'rowCount' }>,
  rows: number,
  before: number | undefined,
): string | undefined {
  if (min !== undefined && rows < min) return `The table has ${rowsText(rows)}, fewer than ${min}.`
  if (max !== undefined && rows > max) return `The table has ${rowsText(rows)}, more than ${max}.`
  if (maxChangePercent === undefined || before === undefined || before === 0) return undefined
  const change = (100 * Math.abs(rows - before)) / before
  if (change <= maxChangePercent) return undefined
  return `The number of rows changes from ${before} to ${rows}, by ${change.toFixed(1)} %, more than ${maxChangePercent} %.`
}

function ageProblem(
  { column, maxAgeMinutes }: Extract<TestRule, { type: 'freshness' }>,
  { now }: TestedState,
  newest: number | undefined,
): string | undefined {
  const what = column === undefined ? 'load' : `value of ${column}`
  if (newest === undefined) return `The table has no ${what} that is a time.`
  const minutes = Math.floor((now - newest) / 60_000)
  return minutes <= maxAgeMinutes
    ? undefined
    : `The newest ${what} is ${minutes} minutes old (${new Date(newest).toISOString()}), more than ${maxAgeMinutes}.`
}

function schemaProblem(
  { columns, primaryKey, allowsOtherColumns = false }: Extract<TestRule, { type: 'schema' }>,
  snapshot: TableSnapshot,
): string | undefined {
  const problems: string[] = []
  const actual = new Map(snapshot.columns.map((column) => [column.name, column]))
  for (const { name, type, nullable } of columns) {
    const column = actual.get(name)
    if (!column) problems.push(`column ${name} is missing`)
    else if (type !== undefined && column.type !== type) problems.push(`column ${name} is ${column.type}, not ${type}`)
    else if (nullable !== undefined && snapshot.typed && column.nullable !== nullable)
      problems.push(`column ${name} is ${column.nullable ? '' : 'not '}nullable`)
  }
  const expected = new Set(columns.map(({ name }) => name))
  const others = allowsOtherColumns ? [] : [...actual.keys()].filter((name) => !expected.has(name))
  if (others.length > 0) problems.push(`the contract does not have the columns ${others.slice(0, 20).join(', ')}`)
  const key = primaryKeyNames(snapshot)
  if (primaryKey && primaryKey.join() !== key.join())
    problems.push(`the primary key is (${key.join(', ')}), not (${primaryKey.join(', ')})`)
  if (problems.length === 0) return undefined
  return `The table breaks its contract: ${problems.slice(0, 20).join('; ')}.`
}

/** Rows that fail tests go into one file with their reasons, what custom SQL returned into a file for each. They are a help: without them the results hold. */
async function keepFailedRows(
  { state, rowsOf, keepRows }: Run,
  table: string,
  counted: readonly Counted[],
  results: Map<DataTest, TestResult>,
): Promise<readonly Example[]> {
  const failed = counted.flatMap(({ test, condition }) => {
    const result = results.get(test)
    return result?.status === 'failed' && result.failures !== null ? [{ test, condition, result }] : []
  })
  const byRow = failed.flatMap(({ test, condition, result }) => (condition === undefined ? [] : [{ test, condition, result }]))
  const examples: Example[] = []
  const columns = state.snapshot.columns.map(({ name }) => name)
  const attempt = async (work: () => Promise<void>): Promise<void> => {
    await work().catch((error: unknown) => {
      if (!isOfTheTest(error)) throw error
    })
  }
  if (byRow.length > 0)
    await attempt(async () => {
      const reasons = byRow.map(({ test, condition }) => ({ reason: test.name, condition }))
      const sql = failuresQuery(table, reasons, columns)
      for (const [tests, ...row] of await rowsOf(sql, MAX_EXAMPLES)) examples.push(exampleOf(String(tests), columns, row))
      if (!state.keep) return
      const fileId = await keepRows(`${state.tableId}.failed-rows.csv`, sql, false)
      for (const { test, result } of byRow) results.set(test, { ...result, fileId })
    })
  for (const { test, condition, result } of failed) {
    const { keep } = state
    const { rule } = test
    if (condition !== undefined || rule.type !== 'sql') continue
    if (state.showsQueries)
      await attempt(async () => {
        for (const row of await rowsOf(`SELECT * FROM ${await nested(rule.sql)}`, MAX_EXAMPLES))
          examples.push(
            exampleOf(
              test.name,
              row.map((_, i) => `column ${i + 1}`),
              row,
            ),
          )
      })
    if (!keep) continue
    await attempt(async () => {
      const name = test.name.replaceAll(/[^\w.-]+/g, '_').slice(0, 100)
      const fileId = await keepRows(`${state.tableId}.${name}.failed-rows.csv`, `SELECT * FROM ${await nested(rule.sql)}`, true)
      results.set(test, { ...result, fileId })
    })
  }
  return examples
}

const exampleOf = (tests: string, columns: readonly string[], row: readonly SqlValue[]): Example => ({
  tests: tests.slice(0, 1000),
  row: Object.fromEntries(columns.slice(0, 100).map((name, i) => [name, cellOf(row[i] ?? null)])),
})

const cellOf = (value: SqlValue): string | null => (value === null ? null : String(value).slice(0, MAX_CELL))
