import { join } from 'node:path'
import type { Trx } from '../../../engines/metadata-db/dialects.ts'
import { createSqlEngine } from '../../../engines/sql/engine.ts'
import type { SqlEngineSettings } from '../../../engines/sql/sql-engine.ts'
import { PlatformError } from '../../../kit/errors.ts'
import type { Core } from '../../../model/core.ts'
import type { DbtTestResult } from '../../../model/dbt/nodes.ts'
import { NO_ORIGIN } from '../../../model/event.ts'
import { defineModule } from '../../../model/module.ts'
import type { RunScope } from '../../../model/run-ports.ts'
import type { Scope } from '../../../model/scope.ts'
import type { BranchesModule } from '../../configuration/branches/branches.module.ts'
import type { ComponentsModule } from '../../configuration/components/components.module.ts'
import type { JobRecordsModule } from '../../jobs/queue/job-records.module.ts'
import type { EventsModule } from '../../stack/events/events.module.ts'
import type { BucketsModule } from '../buckets/buckets.module.ts'
import type { FilesModule } from '../files/files.module.ts'
import type { LineageModule } from '../lineage/lineage.module.ts'
import type { ObjectsModule } from '../s3/s3.module.ts'
import type { StorageJobsModule } from '../storage-jobs/storage-jobs.module.ts'
import type { TablesModule } from '../tables/tables.module.ts'
import { createBisect } from './bisect.ts'
import { contractsRoutes } from './contracts.routes.ts'
import { createContracts } from './data-contracts.ts'
import { dataTestsRoutes } from './data-tests.routes.ts'
import { createDataTests } from './data-tests.ts'
import { createDbtTests } from './dbt-tests.ts'
import { createProposedTests } from './proposed-tests.ts'

export interface DataTestsModuleDeps {
  readonly core: Core
  readonly objects: ObjectsModule
  readonly branches: BranchesModule
  readonly buckets: BucketsModule
  readonly tables: TablesModule
  readonly files: FilesModule
  readonly storageJobs: StorageJobsModule
  readonly components: ComponentsModule
  readonly jobRecords: JobRecordsModule
  readonly events: Pick<EventsModule, 'ofObject'>
  readonly lineage: LineageModule
  readonly settings: SqlEngineSettings
}

/** Loads wait for each other here, never for people who query. */
const SESSIONS = 2
const WAIT_MS = 60 * 60_000

/** Of extractions, with every request and answer. */
const RECORDING_TAG = 'http-exchanges'
const [MAX_RECORDINGS, MAX_RECORDING_BYTES] = [20, 1 << 30]

export type DataTestsModule = Awaited<ReturnType<typeof createDataTestsModule>>

export async function createDataTestsModule(deps: DataTestsModuleDeps) {
  const { core, objects, branches, buckets, tables, files, storageJobs, components, jobRecords, events, lineage, settings } = deps
  const { db, inTransaction, clock, recordEvent, subscribe } = core
  const engine = await createSqlEngine({
    openLocal: objects.store.openLocal,
    scratchDir: join(core.dataDir, 'data-test-scratch'), // on the disk of the objects, so that files are linked instead of copied
    settings: { ...settings, sessions: SESSIONS, waitMs: WAIT_MS },
  })
  /** In a branch that has the bucket but not the table, the table of the default branch is meant. */
  const getTable = (scope: Scope, tableId: string) =>
    tables.get(scope, tableId).catch((error: unknown) => {
      if (scope.branch.isDefault || !(error instanceof PlatformError && error.kind === 'not-found')) throw error
      return tables.parts.catalog.getInDefaultBranch(scope, tableId)
    })
  const readSnapshot = async (scope: Scope, tableId: string) =>
    (await tables.parts.catalog.reading(await getTable(scope, tableId))).snapshot
  const tests = createDataTests({
    ...{ db, inTransaction, clock, recordEvent, engine },
    contractTests: (...args) => contracts.testsFor(...args),
    findTable: tables.sqlTables.find,
    ofState: tables.sqlTables.ofState,
    getTable,
    readSnapshot,
    defaultBranchId: branches.defaultId,
    saveFile: files.save,
  })
  const contracts = createContracts({
    ...{ db, inTransaction, clock, recordEvent, readSnapshot },
    placeOf: tests.placeOf,
    checkRule: tests.checkRule,
    readOwnSnapshot: async (scope, tableId) => {
      const found = (await tables.parts.catalog.list(scope)).find(
        ({ id, bucket }) => id === tableId && bucket.branchId === scope.branch.id,
      )
      return found && (await tables.parts.catalog.reading(found)).snapshot
    },
    usedBy: async (scope, tableId) => (await lineage.usedBy(scope, tableId)).readBy,
    runOn: (scope, tableId, all, snapshot) =>
      tests.runTests(all, {
        ...{ tableId, scope, snapshot, rowsBefore: undefined, history: () => [] },
        ...{ loadedAt: clock.now().getTime(), now: clock.now().getTime(), signal: new AbortController().signal },
      }),
  })
  const dbtTests = createDbtTests({ clock, inTransaction, store: tests.store, tests })
  const bisect = createBisect({
    clock,
    runTests: tests.runTests,
    listStates: async (scope, tableId) => {
      const table = await tables.get(scope, tableId)
      if (table.source) throw new PlatformError('storage.dataTests.notOwnTable', { table: tableId })
      return tables.parts.store.listStates(scope.actor.projectId, table.data.key)
    },
    readState: async (scope, tableId, id) =>
      (await tables.parts.store.findStateOf((await tables.get(scope, tableId)).data.key, id))?.snapshot,
    eventsOf: (projectId, tableId, from, to) => events.ofObject(projectId, { objectType: 'table', objectId: tableId, from, to }),
    findJob: async (projectId, id) => {
      const job = await jobRecords.find(projectId, id)
      return (
        job && {
          id: job.id,
          componentId: job.component_id,
          configurationId: job.configuration_id,
          configurationVersion: job.config_version,
        }
      )
    },
    recordingsOf: async ({ actor, branch }, runId) => {
      const found = await files.list(actor, { tags: [RECORDING_TAG], runId, limit: MAX_RECORDINGS }, branch)
      return found
        .filter(({ isSliced, sizeBytes }) => !isSliced && (sizeBytes ?? 0) <= MAX_RECORDING_BYTES)
        .map(({ id, key }) => ({ fileId: id, open: async () => (await objects.store.get(key))?.body }))
    },
    canonicalId: components.canonicalId,
    getTest: async (scope, id) => tests.get(scope, id),
    checkRule: tests.checkRule,
  })
  const proposed = createProposedTests({ db, clock, recordEvent, tests: tests.store, contracts: contracts.store })
  subscribe('proposal.changesListed', proposed.list)
  subscribe('proposal.accepted', proposed.apply)
  subscribe('proposal.undone', proposed.undo)
  subscribe('branch.beforeMerge', contracts.checkMerge)
  subscribe('event.recorded', async (trx, { projectId }, { event, objectId, branchId, params }) => {
    if (event !== 'storage.tableColumnsUpdated' || params?.renamedTo === undefined || objectId === undefined) return
    const renamed = { tableId: objectId, from: String(params.column), to: String(params.renamedTo) }
    const ofBranch = branchId ?? (await branches.defaultId(projectId))
    await tests.store.renameColumn(trx, projectId, ofBranch, renamed)
    await contracts.store.renameColumn(trx, projectId, ofBranch, renamed)
  })
  subscribe('branch.deleted', async (trx, { projectId, id }) => {
    await tests.store.removeOfBranch(trx, projectId, id)
    await contracts.store.removeOfBranch(trx, projectId, id)
  })
  subscribe('bucket.emptied', async (trx, projectId, bucketKey) => {
    const bucket = await buckets.ofTables.findByKey(bucketKey)
    if (bucket) {
      await tests.store.removeOfBucket(trx, projectId, bucket.branchId, bucket.id)
      await contracts.store.removeOfBucket(trx, projectId, bucket.branchId, bucket.id)
    }
    return []
  })
  return defineModule({
    name: 'data-tests',
    routes: [dataTestsRoutes(tests, dbtTests, storageJobs.create), contractsRoutes(contracts, bisect, storageJobs.create)],
    jobHandlers: { dataTestsRun: tests.runNow, tableBisect: bisect.run },
    background: [{ stop: engine.close }],
    check: tests.check,
    /** Of a job that ran dbt. */
    recordDbtTests: async (
      trx: Trx,
      { actor, branchId, isDefaultBranch, runId }: RunScope,
      results: readonly DbtTestResult[],
    ): Promise<void> => {
      const scope = { actor, branch: { id: branchId, isDefault: isDefaultBranch } }
      await dbtTests.record(trx, scope, { ...NO_ORIGIN, runId }, results)
    },
  })
}
