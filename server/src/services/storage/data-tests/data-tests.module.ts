import { join } from 'node:path'
import { createSqlEngine } from '../../../engines/sql/engine.ts'
import type { SqlEngineSettings } from '../../../engines/sql/sql-engine.ts'
import { PlatformError } from '../../../kit/errors.ts'
import type { Core } from '../../../model/core.ts'
import { defineModule } from '../../../model/module.ts'
import type { Scope } from '../../../model/scope.ts'
import type { BranchesModule } from '../../configuration/branches/branches.module.ts'
import type { BucketsModule } from '../buckets/buckets.module.ts'
import type { FilesModule } from '../files/files.module.ts'
import type { ObjectsModule } from '../s3/s3.module.ts'
import type { StorageJobsModule } from '../storage-jobs/storage-jobs.module.ts'
import type { TablesModule } from '../tables/tables.module.ts'
import { dataTestsRoutes } from './data-tests.routes.ts'
import { createDataTests } from './data-tests.ts'

export interface DataTestsModuleDeps {
  readonly core: Core
  readonly objects: ObjectsModule
  readonly branches: BranchesModule
  readonly buckets: BucketsModule
  readonly tables: TablesModule
  readonly files: FilesModule
  readonly storageJobs: StorageJobsModule
  readonly settings: SqlEngineSettings
}

/** Loads wait for each other here, never for people who query. */
const SESSIONS = 2
const WAIT_MS = 60 * 60_000

export type DataTestsModule = Awaited<ReturnType<typeof createDataTestsModule>>

export async function createDataTestsModule(deps: DataTestsModuleDeps) {
  const { core, objects, branches, buckets, tables, files, storageJobs, settings } = deps
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
  const tests = createDataTests({
    ...{ db, inTransaction, clock, recordEvent, engine },
    findTable: tables.sqlTables.find,
    ofState: tables.sqlTables.ofState,
    getTable,
    readSnapshot: async (scope, tableId) => (await tables.parts.catalog.reading(await getTable(scope, tableId))).snapshot,
    defaultBranchId: branches.defaultId,
    saveFile: files.save,
  })
  subscribe('branch.deleted', (trx, { projectId, id }) => tests.store.removeOfBranch(trx, projectId, id))
  subscribe('bucket.emptied', async (trx, projectId, bucketKey) => {
    const bucket = await buckets.ofTables.findByKey(bucketKey)
    if (bucket) await tests.store.removeOfBucket(trx, projectId, bucket.branchId, bucket.id)
    return []
  })
  return defineModule({
    name: 'data-tests',
    routes: [dataTestsRoutes(tests, storageJobs.create)],
    jobHandlers: { dataTestsRun: tests.runNow },
    background: [{ stop: engine.close }],
    check: tests.check,
  })
}
