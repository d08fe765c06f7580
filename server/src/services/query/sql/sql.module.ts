import { join } from 'node:path'
import { createSqlEngine } from '../../../engines/sql/engine.ts'
import type { SqlEngineSettings } from '../../../engines/sql/sql-engine.ts'
import { DEFAULT_LIMITS } from '../../../kit/default-limits.ts'
import type { Core } from '../../../model/core.ts'
import { defineModule } from '../../../model/module.ts'
import type { FilesModule } from '../../storage/files/files.module.ts'
import type { ObjectsModule } from '../../storage/s3/s3.module.ts'
import type { StorageJobsModule } from '../../storage/storage-jobs/storage-jobs.module.ts'
import type { TablesModule } from '../../storage/tables/tables.module.ts'
import type { UsageModule } from '../../storage/usage/usage.module.ts'
import { createQueries } from './queries.ts'
import { queryRoutes } from './query.routes.ts'
import { createQueryHistory } from './query-history.ts'
import { createQueryExport, createSaveResult } from './result-files.ts'
import { traceRelations } from './script-columns.ts'
import { createScripts } from './scripts.ts'

export interface SqlSettings extends SqlEngineSettings {
  /** Disk for the temporary tables of all connections to the PostgreSQL port. */
  readonly temporaryMb?: number
}

export interface SqlModuleDeps {
  readonly core: Core
  readonly objects: ObjectsModule
  readonly tables: TablesModule
  readonly files: FilesModule
  readonly storageJobs: StorageJobsModule
  readonly usage: UsageModule
  readonly settings: SqlSettings
}

export type SqlModule = Awaited<ReturnType<typeof createSqlModule>>

export async function createSqlModule({ core, objects, tables, files, storageJobs, usage, settings }: SqlModuleDeps) {
  // On the disk of the objects, so that files are linked instead of copied.
  const scratchDir = join(core.dataDir, 'sql-scratch')
  const engine = await createSqlEngine({ openLocal: objects.store.openLocal, scratchDir, settings })
  const { find: findTable, list: listTables, ofRun: openPart } = tables.sqlTables
  const memoryMb = settings.memoryMb ?? DEFAULT_LIMITS.sql.memoryMb
  /** A session that belongs to no run has ended. */
  const onSession = (projectId: number, ms: number) => usage.queryEnded(projectId, null, ms)
  const saveResult = createSaveResult(files.save)
  const queries = createQueries({ engine, findTable, listTables, onSession })
  const onFailure = (err: unknown) => core.log.warn({ err }, 'a query could not be added to the history of the project')
  const history = createQueryHistory({ db: core.db, clock: core.clock, onFailure })
  return defineModule({
    name: 'sql',
    routes: [queryRoutes(queries, history, storageJobs.create)],
    jobHandlers: { queryExport: createQueryExport({ engine, findTable, saveResult, onSession }) },
    background: [{ stop: engine.close }],
    engine,
    queries,
    scratchDir,
    memoryMb,
    temporaryMb: settings.temporaryMb ?? DEFAULT_LIMITS.sql.temporaryMb,
    timeoutMs: settings.timeoutMs ?? DEFAULT_LIMITS.sql.timeoutMs,
    onSession,
    saveResult,
    /** What the columns of the relations of a workspace are made of. */
    traceRelations,
    /** Scripts of SQL transformations, for the job runner. */
    scripts: createScripts({ engine, findTable, openPart, memoryMb, onSession: usage.queryEnded }),
  })
}
