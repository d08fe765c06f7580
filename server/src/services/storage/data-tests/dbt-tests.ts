// Tests that dbt ran, in the list of data tests: each is a test of its table that the stack does not run, and a run of dbt is a run of theirs.

import { createHash } from 'node:crypto'
import type { Trx } from '../../../engines/metadata-db/dialects.ts'
import type { Clock } from '../../../kit/clock.ts'
import { PlatformError } from '../../../kit/errors.ts'
import { type Actor, creatorTokenOf, tablePermissionOf } from '../../../model/actor.ts'
import type { DbtTestResult } from '../../../model/dbt/nodes.ts'
import { type DbtArtifacts, testResultsIn, testsIn } from '../../../model/dbt/results.ts'
import type { Origin } from '../../../model/event.ts'
import type { Scope } from '../../../model/scope.ts'
import type { DataTestRecord, DataTestsStore, TestRunRecord } from './data-tests.store.ts'
import { type DataTests, nameTaken } from './data-tests.ts'
import type { Outcome, TestResult } from './run-tests.ts'

export interface DbtTestsDeps {
  readonly clock: Clock
  readonly inTransaction: <T>(work: (trx: Trx) => Promise<T>) => Promise<T>
  readonly store: Pick<DataTestsStore, 'allOfTable' | 'insert' | 'update'>
  readonly tests: Pick<DataTests, 'recordRun' | 'requireWrite' | 'getTable'>
}

export interface DbtImport extends Partial<DbtArtifacts> {
  /** Buckets of the schemas of the dbt project. */
  readonly schemas: readonly { readonly schema: string; readonly bucket: string }[]
  /** The table of tests whose table is not known. */
  readonly tableId: string | undefined
}

export interface Imported {
  readonly runs: readonly TestRunRecord[]
  /** Results that belong to no table of the project, or to one that has no room for their tests. */
  readonly leftOut: number
}

/** More would make the list of the table useless. */
const MAX_TESTS_OF_TABLE = 1_000
const BUCKET = /^(in|out)\.c-/

export type DbtTests = ReturnType<typeof createDbtTests>

export function createDbtTests({ clock, inTransaction, store, tests }: DbtTestsDeps) {
  /** Tables that the caller may not write are left out: callers may not define tests of them. */
  async function record(trx: Trx, scope: Scope, origin: Origin, results: readonly DbtTestResult[]): Promise<Imported> {
    const runs: TestRunRecord[] = []
    let leftOut = 0
    const allowed = results.filter(({ tableId }) => mayWrite(scope.actor, tableId))
    for (const [tableId, ofTable] of Map.groupBy(allowed, (one) => one.tableId)) {
      const { kept: reported, left } = await keep(trx, scope, tableId, ofTable)
      leftOut += left
      const now = clock.now()
      runs.push(
        await tests.recordRun(trx, scope.actor, origin, {
          ...{ projectId: scope.actor.projectId, branchId: scope.branch.id, tableId, isLoad: false, source: 'dbt' as const },
          ...{ storageJobId: null, runId: origin.runId, startedAt: now, endedAt: now },
          ...outcomeOf(reported),
        }),
      )
    }
    return { runs, leftOut }
  }

  /** Creates the tests that are new as long as there is room, and answers the results of those that count and how many are left out. */
  async function keep(
    trx: Trx,
    { actor, branch }: Scope,
    tableId: string,
    results: readonly DbtTestResult[],
  ): Promise<{ readonly kept: readonly TestResult[]; readonly left: number }> {
    const known = await store.allOfTable(trx, actor.projectId, branch.id, tableId)
    const byId = new Map(known.flatMap((test) => (test.rule.type === 'dbt' ? [[test.rule.uniqueId, test] as const] : [])))
    const names = new Set(known.map(({ name }) => name))
    const kept: TestResult[] = []
    let left = 0
    for (const result of results) {
      if (!byId.has(result.id) && byId.size >= MAX_TESTS_OF_TABLE) {
        left++
        continue
      }
      const test = await keepOne(trx, { actor, branch }, result, byId.get(result.id), names)
      byId.set(result.id, test)
      if (test.isEnabled) kept.push(resultOf(test, result))
    }
    return { kept, left }
  }

  async function keepOne(
    trx: Trx,
    { actor, branch }: Scope,
    { id, name, check, column, severity, tableId }: DbtTestResult,
    before: DataTestRecord | undefined,
    names: Set<string>,
  ): Promise<DataTestRecord> {
    const rule = { type: 'dbt' as const, uniqueId: id, check, ...(column !== null && { column }) }
    const now = clock.now()
    if (before) {
      if (before.severity === severity && JSON.stringify(before.rule) === JSON.stringify(rule)) return before
      const changed = { ...before, severity, rule, updatedAt: now }
      await store.update(trx, changed)
      return changed
    }
    const free = freeName(name, id, names)
    names.add(free)
    const test = {
      ...{ projectId: actor.projectId, branchId: branch.id, tableId, name: free, description: '', rule, severity },
      ...{ isEnabled: true, creator: creatorTokenOf(actor), createdAt: now, updatedAt: now },
    }
    return store.insert(trx, test).catch(nameTaken(free, tableId)) // by another caller meanwhile
  }

  async function importResults(
    scope: Scope,
    { runResults, manifest, schemas, tableId }: DbtImport,
    origin: Origin,
  ): Promise<Imported> {
    const buckets = new Map(schemas.map(({ schema, bucket }) => [schema.toLowerCase(), bucket]))
    const tableOf = (schema: string, name: string) => {
      const bucket = buckets.get(schema.toLowerCase()) ?? (BUCKET.test(schema) ? schema : undefined)
      return bucket === undefined ? undefined : `${bucket}.${name}`
    }
    const artifacts = { manifest, runResults }
    const total = testResultsIn(artifacts)
    if (total === 0)
      throw new PlatformError('storage.dataTests.invalid', {
        reason: 'runResults has no results of tests: it is the run_results.json of dbt test or dbt build',
      })
    const found = testsIn(artifacts, tableOf, tableId)
    for (const id of new Set(found.map((one) => one.tableId))) {
      tests.requireWrite(scope.actor, id)
      const table = await tests.getTable(scope, id)
      if (table.source) throw new PlatformError('storage.dataTests.notOwnTable', { table: id })
    }
    const { runs, leftOut } = await inTransaction((trx) => record(trx, scope, origin, found))
    return { runs, leftOut: total - found.length + leftOut }
  }

  return { record, importResults }
}

/** Names of tests are unique in their table, and tests of users may have any. */
function freeName(name: string, id: string, names: ReadonlySet<string>): string {
  let free = name
  for (let attempt = 0; names.has(free); attempt++) {
    const hash = createHash('sha256').update(attempt === 0 ? id : `${id} ${attempt}`)
    free = `${name.slice(0, 190)}_${hash.digest('hex').slice(0, 8)}`
  }
  return free
}

function mayWrite(actor: Actor, tableId: string): boolean {
  const permission = tablePermissionOf(actor, tableId)
  return permission === 'write' || permission === 'manage'
}

const resultOf = (test: DataTestRecord, { status, failures, message, severity }: DbtTestResult): TestResult => ({
  ...{ testId: test.id, name: test.name, type: 'dbt', severity, status, failures, fileId: null },
  message: status === 'passed' ? null : (message ?? 'dbt reports a failure without a message.'),
})

function outcomeOf(results: readonly TestResult[]): Outcome {
  const bad = results.filter(({ status }) => status !== 'passed')
  const status = bad.some(({ severity }) => severity === 'stop') ? 'failed' : bad.length > 0 ? 'warning' : 'passed'
  return { status, rows: 0, results, examples: [] }
}
