// Rules of tests on data. They belong to a table of a branch, by its id: a table that is dropped and created again keeps them. A branch runs
// the tests of the default branch, too; one of its own with the same name replaces such a test in it. A token that only proposes changes a
// test of the default branch by such a test of its own.

import { type Db, isUniqueViolation, type Trx } from '../../../engines/metadata-db/dialects.ts'
import type { SqlEngine, SqlTable } from '../../../engines/sql/sql-engine.ts'
import { type Column, countRows } from '../../../engines/table-engine/snapshot.ts'
import type { QueryRequest } from '../../../engines/table-engine/table-engine.ts'
import type { Clock } from '../../../kit/clock.ts'
import { PlatformError } from '../../../kit/errors.ts'
import { singleQuoted } from '../../../kit/text/single-quoted.ts'
import { type Actor, creatorTokenOf, seesWholeProject, tablePermissionOf } from '../../../model/actor.ts'
import { type EventSource, eventOf, type Origin, type RecordEvent } from '../../../model/event.ts'
import type { CheckedLoad, CheckLoad, LoadCandidate } from '../../../model/load-check.ts'
import { readerOf, type Scope } from '../../../model/scope.ts'
import type { JobHandler, NewStorageJob, StorageJob } from '../../../model/storage-job.ts'
import { createDataTestsStore, type DataTestRecord, type TestPlace, type TestRunRecord } from './data-tests.store.ts'
import { createRunTests, type DataTest, nested, type Outcome, type Severity, type TestedState } from './run-tests.ts'
import { columnsNamed, type OwnTestType, parametersOf, readRule, type TestRule } from './test-rules.ts'

/** A table, seen from here. */
export interface TestedTable {
  readonly id: string
  readonly source: object | undefined
  readonly data: { readonly lastImportAt: Date | undefined }
}

export interface DataTestsDeps {
  readonly db: Db
  readonly inTransaction: <T>(work: (trx: Trx) => Promise<T>) => Promise<T>
  readonly clock: Clock
  readonly recordEvent: RecordEvent
  readonly engine: Pick<SqlEngine, 'open'>
  readonly findTable: (scope: Scope, bucketId: string, name: string) => Promise<SqlTable | undefined>
  readonly ofState: (request: QueryRequest, version: string) => SqlTable
  readonly getTable: (scope: Scope, tableId: string) => Promise<TestedTable>
  readonly readSnapshot: (scope: Scope, tableId: string) => Promise<LoadCandidate['after']>
  readonly defaultBranchId: (projectId: number) => Promise<number>
  /** Tests that the contract of a table adds to those that people wrote. */
  readonly contractTests: (place: TestPlace, tableId: string, snapshot: LoadCandidate['after']) => Promise<readonly DataTest[]>
  readonly saveFile: (
    scope: Scope,
    name: string,
    bytes: AsyncIterable<Uint8Array>,
    origin: Origin,
    tags: readonly string[],
  ) => Promise<number>
}

export interface TestInput {
  readonly name?: string | undefined
  readonly description?: string | undefined
  readonly type?: OwnTestType | undefined
  readonly parameters?: Readonly<Record<string, unknown>> | undefined
  readonly severity?: Severity | undefined
  readonly isEnabled?: boolean | undefined
}

/** More would make every load of the table slow. */
const MAX_TESTS_OF_TABLE = 200
const FAILED_ROWS_TAG = 'data-test-failures'

export type DataTests = ReturnType<typeof createDataTests>

export function createDataTests(deps: DataTestsDeps) {
  const { db, inTransaction, clock, recordEvent, engine, findTable, getTable, readSnapshot, defaultBranchId, saveFile } = deps
  const store = createDataTestsStore(db)
  const runTests = createRunTests({ engine, findTable, ofState: deps.ofState, columnsOf })

  async function columnsOf(scope: Scope, tableId: string): Promise<readonly Column[] | undefined> {
    try {
      return (await readSnapshot(scope, tableId)).columns
    } catch (error) {
      if (error instanceof PlatformError && error.kind === 'not-found') return undefined
      throw error
    }
  }

  const placeOf = async ({ actor: { projectId }, branch }: Scope): Promise<TestPlace> => ({
    projectId,
    branchId: branch.id,
    defaultBranchId: branch.isDefault ? branch.id : await defaultBranchId(projectId),
  })

  // ------------------------------------------------------------------------------------------------------------- keeping tests

  async function list(scope: Scope, tableId: string | undefined, page: { readonly limit: number; readonly offset: number }) {
    const bucketIds = seesWholeProject(scope.actor) ? undefined : Object.keys(scope.actor.bucketPermissions)
    return store.list(await placeOf(scope), { tableId, bucketIds }, page)
  }

  async function get(scope: Scope, id: number): Promise<DataTestRecord> {
    const test = await store.find(scope.actor.projectId, id)
    const { branchId, defaultBranchId: home } = await placeOf(scope)
    if (!test || ![branchId, home].includes(test.branchId)) throw notFound(id)
    if (tablePermissionOf(scope.actor, test.tableId) === undefined) throw new PlatformError('accessDenied')
    return test
  }

  /** It may belong to the default branch, which only proposals may take it from. */
  async function getForChange(scope: Scope, id: number): Promise<DataTestRecord> {
    const test = await get(scope, id)
    requireWrite(scope.actor, test.tableId)
    const isOwn = test.branchId === scope.branch.id
    if (!isOwn && (!scope.actor.onlyProposes || test.rule.type === 'dbt'))
      throw new PlatformError('storage.dataTests.otherBranch', { name: test.name })
    return test
  }

  async function create(scope: Scope, tableId: string, input: TestInput, origin: Origin): Promise<DataTestRecord> {
    requireWrite(scope.actor, tableId)
    const table = await getTable(scope, tableId)
    if (table.source) throw new PlatformError('storage.dataTests.notOwnTable', { table: tableId })
    const { name = '', description = '', type, parameters = {}, severity = 'stop', isEnabled = true } = input
    if (type === undefined) throw new PlatformError('storage.dataTests.invalid', { reason: 'The type of the test is missing' })
    const rule = readRule(type, parameters)
    await checkRule(scope, tableId, rule)
    const now = clock.now()
    const test = {
      ...{ projectId: scope.actor.projectId, branchId: scope.branch.id, tableId, name, description, rule, severity, isEnabled },
      ...{ creator: creatorTokenOf(scope.actor), createdAt: now, updatedAt: now },
    }
    return inTransaction(async (trx) => {
      checkCount(await store.count(trx, test.projectId, test.branchId, tableId), tableId)
      const created = await store.insert(trx, test).catch(nameTaken(name, tableId))
      await recordEvent(trx, scope.actor, testEvent('storage.dataTestCreated', created), origin)
      return created
    })
  }

  async function update(scope: Scope, id: number, input: TestInput, origin: Origin): Promise<DataTestRecord> {
    const test = await getForChange(scope, id)
    const { name = test.name, description = test.description, severity = test.severity, isEnabled = test.isEnabled } = input
    if (test.rule.type === 'dbt') return updateOfDbt(scope, test, input, origin)
    const type = input.type ?? test.rule.type
    if (input.type !== undefined && input.type !== test.rule.type && input.parameters === undefined)
      throw new PlatformError('storage.dataTests.invalid', { reason: 'Another type needs its parameters' })
    const rule = input.parameters === undefined ? test.rule : readRule(type, input.parameters)
    if (input.parameters !== undefined) await checkRule(scope, test.tableId, rule)
    if (test.branchId !== scope.branch.id) {
      if (name !== test.name) throw new PlatformError('storage.dataTests.proposedRemoval', { name: test.name })
      const own = { name, description, severity, isEnabled, type: rule.type as OwnTestType, parameters: parametersOf(rule) } // not of dbt
      return create(scope, test.tableId, own, origin)
    }
    const changed = { ...test, name, description, severity, isEnabled, rule, updatedAt: clock.now() }
    await inTransaction(async (trx) => {
      if (!(await store.update(trx, changed).catch(nameTaken(name, test.tableId)))) throw notFound(id)
      await recordEvent(trx, scope.actor, testEvent('storage.dataTestUpdated', changed), origin)
    })
    return changed
  }

  /** Its name, its severity and what it tests are of the dbt project: the next results would bring them back. */
  async function updateOfDbt(scope: Scope, test: DataTestRecord, input: TestInput, origin: Origin): Promise<DataTestRecord> {
    const { description = test.description, isEnabled = test.isEnabled, ...others } = input
    if (Object.values(others).some((value) => value !== undefined))
      throw new PlatformError('storage.dataTests.invalid', {
        reason: `Test ${test.name} comes from dbt: change it in the dbt project. Only description and isEnabled can be changed here`,
      })
    const changed = { ...test, description, isEnabled, updatedAt: clock.now() }
    await inTransaction(async (trx) => {
      if (!(await store.update(trx, changed))) throw notFound(test.id)
      await recordEvent(trx, scope.actor, testEvent('storage.dataTestUpdated', changed), origin)
    })
    return changed
  }

  async function remove(scope: Scope, id: number, origin: Origin): Promise<void> {
    const test = await getForChange(scope, id)
    if (test.branchId !== scope.branch.id) throw new PlatformError('storage.dataTests.proposedRemoval', { name: test.name })
    await inTransaction(async (trx) => {
      if (!(await store.remove(trx, test.projectId, id))) throw notFound(id)
      await recordEvent(trx, scope.actor, testEvent('storage.dataTestDeleted', test), origin)
    })
  }

  /** With the rights of the creator: what the test names must exist and be readable to them. */
  async function checkRule(scope: Scope, tableId: string, rule: TestRule): Promise<void> {
    const known = new Set((await readSnapshot(scope, tableId)).columns.map(({ name }) => name))
    const missing = columnsNamed(rule).find((name) => !known.has(name))
    if (missing !== undefined) throw noColumn(missing, tableId)
    if (rule.type === 'relationships') {
      const columns = (await readSnapshot(scope, rule.toTable)).columns
      if (!columns.some(({ name }) => name === rule.toColumn)) throw noColumn(rule.toColumn, rule.toTable)
    }
    if (rule.type !== 'sql' && rule.type !== 'pattern') return
    await using session = await engine.open({
      mode: 'read',
      reader: readerOf(scope),
      findTable: (schema, name) => findTable(scope, schema, name),
    })
    if (rule.type === 'pattern') {
      await session.execute(`SELECT regexp_full_match('', ${singleQuoted(rule.pattern)})`)
      return
    }
    await session.describe(rule.sql)
    await session.describe(`SELECT count(*) FROM ${await nested(rule.sql)}`)
  }

  // ------------------------------------------------------------------------------------------------------------- running tests

  const check: CheckLoad = async (candidate) => {
    const { job, branchId, tableId } = candidate
    const place = { projectId: job.projectId, branchId, defaultBranchId: await defaultBranchId(job.projectId) }
    const tests = [...(await deps.contractTests(place, tableId, candidate.after)), ...(await store.ofTable(place, tableId))]
    if (tests.length === 0) return UNTESTED
    const startedAt = clock.now()
    const outcome = await runTests(tests, {
      ...stateFor(job, place, tableId, candidate.signal),
      history: await historyFor(place, tableId, tests),
      snapshot: candidate.after,
      rowsBefore: candidate.before ? countRows(candidate.before) : 0,
      loadedAt: startedAt.getTime(),
    })
    const run = { ...runOf(job, place, tableId, true), ...outcome, startedAt, endedAt: clock.now() }
    if (outcome.status === 'failed') {
      const saved = isRehearsal(job) ? undefined : await inTransaction((trx) => record(trx, job, run))
      throw refusal(run, saved?.id)
    }
    const warnings = outcome.results.flatMap((result) =>
      result.status === 'passed' ? [] : [`Data test ${result.name} of ${tableId} failed: ${result.message}`],
    )
    return { warnings, record: async (trx) => void (await record(trx, job, run)) }
  }

  const startRun = async (scope: Scope, tableId: string): Promise<NewStorageJob> => {
    await getTable(scope, tableId)
    return { operationName: 'dataTestsRun', operationParams: { tableId }, input: { tableId }, tableId, branchId: scope.branch.id }
  }

  /** The current state of a table. A test that fails is a result, not a failure of the job. */
  const runNow: JobHandler = async ({ job, signal, publish }) => {
    const { tableId } = job.input as { readonly tableId: string } // written by startRun
    const home = await defaultBranchId(job.projectId)
    const place = { projectId: job.projectId, branchId: job.branchId ?? home, defaultBranchId: home }
    const state = stateFor(job, place, tableId, signal)
    const table = await getTable(state.scope, tableId)
    const snapshot = await readSnapshot(state.scope, tableId)
    const tests = [...(await deps.contractTests(place, tableId, snapshot)), ...(await store.ofTable(place, tableId))]
    const startedAt = clock.now()
    const outcome = await runTests(tests, {
      ...state,
      history: await historyFor(place, tableId, tests),
      snapshot,
      rowsBefore: undefined,
      loadedAt: table.data.lastImportAt?.getTime(),
    })
    const run = { ...runOf(job, place, tableId, false), ...outcome, startedAt, endedAt: clock.now() }
    await publish(async (trx) => ({ results: runView(await record(trx, job, run)) }))
  }

  /** What published loads measured: runs on demand measure a state again, and a load that was stopped is not part of the table. */
  async function historyFor(
    { projectId, branchId }: TestPlace,
    tableId: string,
    tests: readonly DataTest[],
  ): Promise<TestedState['history']> {
    if (!tests.some(({ rule }) => rule.type === 'usual')) return () => []
    const runs = await store.listRuns(projectId, branchId, tableId, { limit: 100, offset: 0 })
    const results = runs.filter(({ isLoad, status }) => isLoad && status !== 'failed').flatMap((run) => run.results)
    return (testId, of) =>
      results.flatMap(({ testId: id, measured }) =>
        id === testId && measured?.of === of && measured.value !== null ? [measured.value] : [],
      )
  }

  function stateFor(
    job: StorageJob,
    { branchId, defaultBranchId: home }: TestPlace,
    tableId: string,
    signal: AbortSignal,
  ): Pick<TestedState, 'tableId' | 'scope' | 'signal' | 'now' | 'keep'> {
    const scope: Scope = { actor: readerOfProject(job.source), branch: { id: branchId, isDefault: branchId === home } }
    const ofNoToken: Scope = { ...scope, actor: { ...scope.actor, tokenId: NO_TOKEN, tokenDescription: 'Tests on data' } }
    return {
      tableId,
      scope,
      signal,
      now: clock.now().getTime(),
      ...(!isRehearsal(job) && {
        keep: (name, bytes, ofOtherTables) =>
          saveFile(ofOtherTables ? ofNoToken : scope, name, bytes, job.origin, [FAILED_ROWS_TAG]),
      }),
    }
  }

  const record = (trx: Trx, { source, origin }: Pick<StorageJob, 'source' | 'origin'>, run: Omit<TestRunRecord, 'id'>) =>
    recordRun(trx, source, origin, run)

  async function recordRun(
    trx: Trx,
    source: EventSource,
    origin: Origin,
    run: Omit<TestRunRecord, 'id'>,
  ): Promise<TestRunRecord> {
    const saved = await store.insertRun(trx, run)
    if (run.status !== 'passed') {
      const name = run.status === 'failed' ? 'storage.dataTestsFailed' : 'storage.dataTestsWarned'
      const failed = run.results.filter(({ status }) => status !== 'passed').map((result) => result.name)
      const about = { objectId: run.tableId, objectName: run.tableId, branchId: run.branchId }
      await recordEvent(trx, source, eventOf(name, { runId: saved.id, isLoad: run.isLoad, failed }, about), origin)
    }
    return saved
  }

  async function listRuns(scope: Scope, tableId: string, page: { readonly limit: number; readonly offset: number }) {
    await getTable(scope, tableId)
    return store.listRuns(scope.actor.projectId, scope.branch.id, tableId, page)
  }

  async function tablesTested(scope: Scope): Promise<readonly string[]> {
    const bucketIds = seesWholeProject(scope.actor) ? undefined : Object.keys(scope.actor.bucketPermissions)
    return store.tablesTested(await placeOf(scope), { bucketIds, onlyRun: true })
  }

  return {
    placeOf,
    checkRule,
    runTests,
    recordRun,
    requireWrite,
    getTable,
    list,
    get,
    create,
    update,
    remove,
    check,
    startRun,
    runNow,
    listRuns,
    tablesTested,
    store,
  }
}

const UNTESTED: CheckedLoad = { warnings: [], record: async () => {} }

/** A dry run has no job, and leaves nothing behind. */
const isRehearsal = ({ id }: StorageJob): boolean => id === 0

const runOf = (job: StorageJob, { projectId, branchId }: TestPlace, tableId: string, isLoad: boolean) => ({
  ...{ projectId, branchId, tableId, isLoad },
  storageJobId: job.id,
  runId: job.origin.runId,
})

/** The file belongs to none: those see it who may read all files. */
const NO_TOKEN = 0

/**
 * Tests run with the same rights for every load of the table: what they may name was checked with the rights of their creator. This actor only
 * reads, and owns the files of failed rows as the token that loads; what custom SQL returned belongs to no token.
 */
export const readerOfProject = (source: EventSource): Actor => ({
  ...source,
  isMasterToken: false,
  canManageBuckets: false,
  canManageTokens: false,
  canReadAllFileUploads: false,
  canPurgeTrash: false,
  canReadAllProjectEvents: false,
  canManageDevBranches: false,
  bucketPermissions: {},
  componentAccess: [],
  role: 'viewer',
})

function requireWrite(actor: Actor, tableId: string): void {
  const permission = tablePermissionOf(actor, tableId)
  if (permission !== 'write' && permission !== 'manage') throw new PlatformError('accessDenied')
}

const notFound = (id: number) => new PlatformError('storage.dataTests.notFound', { id })
const noColumn = (column: string, table: string) => new PlatformError('storage.dataTests.noColumn', { column, table })

export const nameTaken = (name: string, table: string) => (error: unknown) => {
  throw isUniqueViolation(error) ? new PlatformError('storage.dataTests.alreadyExists', { name, table }) : error
}

/** Of one more. */
export function checkCount(count: number, table: string): void {
  if (count >= MAX_TESTS_OF_TABLE) throw new PlatformError('storage.dataTests.tooMany', { table, limit: MAX_TESTS_OF_TABLE })
}

export const testEvent = (
  event: 'storage.dataTestCreated' | 'storage.dataTestUpdated' | 'storage.dataTestDeleted',
  { id, name, tableId, branchId, rule, severity }: DataTestRecord,
) => eventOf(event, { id, name, type: rule.type, severity }, { objectId: tableId, objectName: tableId, branchId })

function refusal({ tableId, results }: Pick<TestRunRecord, 'tableId'> & Outcome, runId: number | undefined): PlatformError {
  const failed = results.filter(({ status, severity }) => status !== 'passed' && severity === 'stop')
  const lines = failed.slice(0, 5).map(({ name, message }) => `${name}: ${message?.replace(/\.$/, '')}`)
  const more = failed.length > lines.length ? `; and ${failed.length - lines.length} more` : ''
  const fileIds = [...new Set(failed.flatMap(({ fileId }) => (fileId === null ? [] : [fileId])))]
  const rows = fileIds.length > 0 ? ` The rows that failed are in file ${fileIds.join(', ')}.` : ''
  return new PlatformError(
    'storage.dataTests.failed',
    { table: tableId, tests: lines.join('; ') + more, rows },
    { params: { dataTestRunId: runId ?? null, failedTests: failed.map(({ name }) => name), fileIds } },
  )
}

export const runView = (run: TestRunRecord) => ({
  id: String(run.id),
  tableId: run.tableId,
  status: run.status,
  trigger: run.source ?? (run.isLoad ? ('load' as const) : ('manual' as const)),
  rowsCount: run.rows,
  storageJobId: run.storageJobId,
  runId: run.runId,
  startedAt: run.startedAt.toISOString(),
  endedAt: run.endedAt.toISOString(),
  results: run.results.map((result) => ({ ...result, testId: String(result.testId) })),
  examples: run.examples.map(({ tests, row }) => ({ tests, row })),
})
